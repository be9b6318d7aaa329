import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Preview, PreviewRequest } from '../../app/preview.ts';
import { previewAnswer } from './answers.ts';
import { serve } from './operation.ts';
import { presentOf, type PreviewBody, previewBody } from './schemas.ts';
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
    async ({ body }) => ({ status: 200, body: wirePreview(preview(requestOf(body))) }),
  );
}

function requestOf({ schedule, after, when = '', timezone = '', now, count }: PreviewBody): PreviewRequest {
  const instant = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  if (schedule !== undefined) return { schedule: presentOf(schedule), after: instant(after), count };
  return { when, timezone, now: instant(now), count };
}
