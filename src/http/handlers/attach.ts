import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/attach.ts';
import { serve } from '../operation.ts';
import type { TaskRoutes } from './tasks.ts';
import { wireTask } from './wire.ts';

export function serveAttach(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.attachTask, async ({ params: { task_id: taskId }, body, idempotencyKey, traceId }) => {
    const { task, entryId } = await tasks.attach({ taskId, actor, idempotencyKey, traceId }, body.thread_key);
    return { status: 200, body: { task: wireTask(task), entry_id: entryId } };
  });
}
