import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/messages.ts';
import type { Messages } from '../../app/use-cases/messages.ts';
import { serve } from '../operation.ts';
import { wireRun } from './wire.ts';

export interface MessageRoutes {
  readonly messages: Messages;
}

/** Texts that belong to no task. */
export function serveMessages(app: OpenAPIHono, { messages }: MessageRoutes): void {
  serve(app, api.postMessage, async ({ body, idempotencyKey, traceId }) => {
    const run = await messages.post({
      threadKey: body.thread_key,
      text: body.text,
      source: body.source,
      userKey: body.user_key,
      mode: body.delivery_mode,
      idempotencyKey,
      traceId,
    });
    return { status: 202, body: wireRun(run) };
  });
}
