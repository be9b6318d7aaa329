import type { OpenAPIHono } from '@hono/zod-openapi';
import * as api from '../../api/runs.ts';
import * as truthApi from '../../api/truth.ts';
import type { Messages } from '../../app/use-cases/messages.ts';
import type { Runs } from '../../app/use-cases/runs.ts';
import type { Truth } from '../../app/why/truth.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import { type EventStreams, serveEventStream } from '../events/stream.ts';
import { serve } from '../serving.ts';
import type { TaskRoutes } from './tasks.ts';
import { readPlace, wireAnswer, wireDeed, wireDowntime, wireEvent, wirePlace } from './truth-wire.ts';
import { iso, wireResult, wireRun, wireTask, wireTaskRun } from './wire.ts';

export interface RunRoutes {
  readonly runs: Runs;
}

/** What has run, and what is coming. */
export function serveRuns(app: OpenAPIHono, needs: TaskRoutes & TruthRoutes & RunRoutes): void {
  serveList(app, needs);
  serveReading(app, needs);
  serveCancel(app, needs);
  serveRepeats(app, needs);
}

function serveList(app: OpenAPIHono, { runs }: RunRoutes): void {
  serve(app, api.listRuns, async ({ query }) => {
    const { thread_key: threadKey, from, to } = query;
    const page = await runs.list({
      status: query.status ?? null,
      taskId: query.task_id ?? null,
      thread: threadKey === undefined ? null : parseThreadKey(threadKey),
      source: query.source ?? null,
      subject: query.subject ?? null,
      tags: query.tag,
      text: query.q ?? null,
      from: from === undefined ? null : Date.parse(from),
      to: to === undefined ? null : Date.parse(to),
      limit: query.limit,
      cursor: query.cursor ?? null,
    });
    return { status: 200, body: { runs: page.items.map(wireRun), next_cursor: page.next } };
  });
  serve(app, api.getRunResult, async ({ params }) => ({
    status: 200,
    body: wireResult(await runs.result(params.run_id)),
  }));
}

function serveReading(app: OpenAPIHono, { tasks, truth }: TaskRoutes & TruthRoutes): void {
  serve(app, api.listTaskRuns, async ({ params, query }) => {
    const { status = null, limit, cursor = null } = query;
    const page = await tasks.listRuns({ taskId: params.task_id, status, limit, cursor });
    return { status: 200, body: { task_runs: page.items.map(wireTaskRun), next_cursor: page.next } };
  });
  serve(app, api.listNextRuns, async ({ params, query }) => {
    const next = await truth.upcoming(params.task_id, query.count);
    return { status: 200, body: { next: next.map(iso) } };
  });
  serve(app, api.getRun, async ({ params }) => ({ status: 200, body: wireRun(await tasks.getRun(params.run_id)) }));
}

function serveCancel(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  serve(app, api.cancelRun, async ({ params, traceId }) => {
    const { cancelled, run } = await tasks.cancelRun(params.run_id, actor, traceId);
    return { status: 200, body: { cancelled, run: wireRun(run) } };
  });
}

const repeats = { retry: api.retryRun, replay: api.replayRun } as const;

function serveRepeats(app: OpenAPIHono, { tasks, actor }: TaskRoutes): void {
  for (const kind of ['retry', 'replay'] as const) {
    serve(app, repeats[kind], async ({ params, idempotencyKey, traceId }) => {
      const { task, taskRun } = await tasks.repeat(kind, params.run_id, { actor, idempotencyKey, traceId });
      return { status: 200, body: { task: wireTask(task), task_run: wireTaskRun(taskRun) } };
    });
  }
}

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
      idempotencyKey: idempotencyKey?.key ?? null,
      traceId,
    });
    return { status: 202, body: wireRun(run) };
  });
}

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
  serve(app, truthApi.whyTask, async ({ params: { task_id: taskId }, query: { at, from, to, limit, cursor } }) => {
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
  serve(app, truthApi.listEvents, async ({ query: { after = null, task_id: taskId = null, kind = null, limit } }) => {
    const page = await truth.readEvents({ after, taskId, kind, limit });
    return { status: 200, body: { events: page.events.map(wireEvent), next_cursor: page.next } };
  });
  serve(app, truthApi.listAudit, async ({ query: { task_id: taskId = null, limit, cursor = null } }) => {
    const page = await truth.readAudit({ taskId, limit, cursor });
    return { status: 200, body: { entries: page.items.map(wireDeed), next_cursor: page.next } };
  });
  serve(app, truthApi.listDowntimes, async ({ query: { limit } }) => ({
    status: 200,
    body: { downtimes: (await truth.listDowntimes(limit)).map(wireDowntime) },
  }));
}
