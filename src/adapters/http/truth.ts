import type { OpenAPIHono } from '@hono/zod-openapi';
import type { Truth } from '../../app/truth/truth.ts';
import { serve } from './operation.ts';
import { taskParams } from './schemas.ts';
import {
  auditPage,
  auditQuery,
  downtimesAnswer,
  downtimesQuery,
  eventPage,
  eventsQuery,
  whyPage,
  whyQuery,
} from './truth-schemas.ts';
import { readPlace, wireAnswer, wireDeed, wireDowntime, wireEvent, wirePlace } from './truth-wire.ts';

export interface TruthRoutes {
  readonly truth: Truth;
}

/** What was, is and will be, and why. */
export function serveTruth(app: OpenAPIHono, { truth }: TruthRoutes): void {
  serveWhy(app, truth);
  serveFeeds(app, truth);
}

function serveWhy(app: OpenAPIHono, truth: Truth): void {
  serve(
    app,
    {
      id: 'whyTask',
      tag: 'runs',
      summary: 'Why a task ran, or did not run, at an instant or in a stretch of time; deleted tasks included',
      method: 'get',
      path: '/v1/tasks/{task_id}/why',
      params: taskParams,
      query: whyQuery,
      answer: whyPage,
      refuses: ['invalid_cursor'],
    },
    async ({ params: { task_id: taskId }, query: { at, from, to, limit, cursor } }) => {
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
    },
  );
}

const tag = 'operations';

function serveFeeds(app: OpenAPIHono, truth: Truth): void {
  serve(
    app,
    {
      id: 'listEvents',
      tag,
      summary: 'What happened, in the order in which it became true; go on with next_cursor and miss nothing',
      method: 'get',
      path: '/v1/events',
      query: eventsQuery,
      answer: eventPage,
      refuses: ['invalid_cursor'],
    },
    async ({ query: { after = null, task_id: taskId = null, limit } }) => {
      const page = await truth.readEvents({ after, taskId, limit });
      return { status: 200, body: { events: page.events.map(wireEvent), next_cursor: page.next } };
    },
  );
  serve(
    app,
    {
      id: 'listAudit',
      tag,
      summary: 'Who did what to which task, newest first',
      method: 'get',
      path: '/v1/audit',
      query: auditQuery,
      answer: auditPage,
      refuses: ['invalid_cursor'],
    },
    async ({ query: { task_id: taskId = null, limit, cursor = null } }) => {
      const page = await truth.readAudit({ taskId, limit, cursor });
      return { status: 200, body: { entries: page.items.map(wireDeed), next_cursor: page.next } };
    },
  );
  serve(
    app,
    {
      id: 'listDowntimes',
      tag,
      summary: 'When nobody was there, and what that cost, newest first',
      method: 'get',
      path: '/v1/downtimes',
      query: downtimesQuery,
      answer: downtimesAnswer,
    },
    async ({ query: { limit } }) => ({
      status: 200,
      body: { downtimes: (await truth.listDowntimes(limit)).map(wireDowntime) },
    }),
  );
}
