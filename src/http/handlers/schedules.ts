import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/schedules.ts';
import type { Preview, PreviewRequest } from '../../app/tasks/preview.ts';
import { serve } from '../operation.ts';
import { wirePreview } from './wire.ts';

export function serveSchedules(app: OpenAPIHono, preview: (request: PreviewRequest) => Preview): void {
  serve(app, api.previewSchedule, async ({ body }) => ({ status: 200, body: wirePreview(preview(requestOf(body))) }));
}

/** The use cases know no null: a field that is null was not sent. */
export function presentOf(schedule: api.ScheduleInput) {
  const text = (value: string | null | undefined) => value ?? undefined;
  const { kind, once_at, cron: fields, rrule: rule, interval: every, start_at, from } = schedule;
  return {
    kind,
    once_at: text(once_at),
    cron: text(fields),
    rrule: text(rule),
    interval: text(every),
    start_at: text(start_at),
    from: from ?? undefined,
    timezone: schedule.timezone,
  };
}

function requestOf({ schedule, after, when = '', timezone = '', now, count }: api.PreviewBody): PreviewRequest {
  const instant = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));
  if (schedule !== undefined) return { schedule: presentOf(schedule), after: instant(after), count };
  return { when, timezone, now: instant(now), count };
}
