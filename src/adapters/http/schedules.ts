import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Preview, PreviewRequest } from '../../app/preview.ts';
import { previewAnswer } from './answers.ts';
import { serve } from './operation.ts';
import { presentOf, previewBody } from './schemas.ts';
import { wirePreview } from './wire.ts';

export function serveSchedules(app: OpenAPIHono, preview: (request: PreviewRequest) => Preview): void {
  serve(
    app,
    {
      id: 'previewSchedule',
      tag: 'schedules',
      summary: 'Calculate a schedule without creating anything',
      method: 'post',
      path: '/v1/schedules/preview',
      body: previewBody,
      answer: previewAnswer,
    },
    async ({ body }) => {
      const after = body.after === undefined ? undefined : Date.parse(body.after);
      return {
        status: 200,
        body: wirePreview(preview({ schedule: presentOf(body.schedule), after, count: body.count })),
      };
    },
  );
}
