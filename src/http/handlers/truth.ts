import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/truth.ts';
import type { Truth } from '../../app/why/truth.ts';
import { serveEventStream } from '../events/events.ts';
import type { EventStreams } from '../events/stream.ts';
import { serve } from '../operation.ts';
import { readPlace, wireAnswer, wireDeed, wireDowntime, wireEvent, wirePlace } from './truth-wire.ts';

export interface TruthRoutes {
  readonly truth: Truth;
  /** Absent where nobody stays long enough to listen; then events come in pages alone. */
  readonly streams?: EventStreams;
}

/** What was, is and will be, and why. */
export function serveTruth(app: OpenAPIHono, { truth, streams }: TruthRoutes): void {
  serveWhy(app, truth);
  if (streams !== undefined) serveEventStream(app, streams);
  serveFeeds(app, truth);
}

function serveWhy(app: OpenAPIHono, truth: Truth): void {
  serve(app, api.whyTask, async ({ params: { task_id: taskId }, query: { at, from, to, limit, cursor } }) => {
    const window = cursor === undefined ? null : readPlace(cursor);
    const page = await truth.why(taskId, { at, from, to, after: window, limit });
    const next = page.next === null ? null : wirePlace({ ...page.next, from: page.from, to: page.to });
    return {
      status: 200,
      body: {
        task_id: taskId,
        timezone: page.timezone,
        answers: page.answers.map(wireAnswer),
        summary: page.summary,
        next_cursor: next,
      },
    };
  });
}

function serveFeeds(app: OpenAPIHono, truth: Truth): void {
  serve(app, api.listEvents, async ({ query: { after = null, task_id: taskId = null, kind = null, limit } }) => {
    const page = await truth.readEvents({ after, taskId, kind, limit });
    return { status: 200, body: { events: page.events.map(wireEvent), next_cursor: page.next } };
  });
  serve(app, api.listAudit, async ({ query: { task_id: taskId = null, limit, cursor = null } }) => {
    const page = await truth.readAudit({ taskId, limit, cursor });
    return { status: 200, body: { entries: page.items.map(wireDeed), next_cursor: page.next } };
  });
  serve(app, api.listDowntimes, async ({ query: { limit } }) => ({
    status: 200,
    body: { downtimes: (await truth.listDowntimes(limit)).map(wireDowntime) },
  }));
}
