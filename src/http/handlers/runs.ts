import type { PartsOf } from '../../api/operations.ts';
import { wire } from '../../api/wire.ts';
import type { Downtime } from '../../app/ports/upkeep.ts';
import type { Deed, EventRow } from '../../app/ports/why.ts';
import type { Answer, Evidence } from '../../app/why/answers.ts';
import type { Window } from '../../app/why/truth.ts';
import { AppError } from '../../domain/errors.ts';
import { taskSourceOf } from '../../domain/run.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { threadKeyOf } from '../../domain/thread.ts';
import { FileAnswer, type Asked, type Handlers, type HttpRooms } from '../serving.ts';
import {
  instantOf,
  statesOf,
  threadOf,
  wireAsked,
  wirePause,
  wireRun,
  wireSnoozes,
  wireStanding,
  wireTask,
  wireTaskRun,
} from './wire.ts';

/** Runs that were and runs that come, the reasons, and the feeds that tell of them. */
export const runHandlers = {
  listRuns: async ({ query }, { runs }) => {
    const { subject = null, tag: tags, q: text = null } = query;
    const { limit, cursor = null } = query;
    const stretch = { from: instantOf(query.from), to: instantOf(query.to) };
    const thread = threadOf(query.thread_key);
    const page = await runs.list({
      states: statesOf(query),
      ...originOf(query),
      thread,
      subject,
      tags,
      text,
      ...stretch,
      limit,
      cursor,
    });
    return { runs: page.items.map(wireRun), next_cursor: page.next };
  },
  getRunResult: async ({ params }, { runs }) => {
    const { id, output, finishedAt, ...run } = await runs.result(params.run_id);
    return { run_id: id, output, ...wireStanding(run), ...wire({ finishedAt }) };
  },
  getRunAttachment: async ({ params }, { runs }) => new FileAnswer(await runs.attachment(params.run_id, params.n)),
  listTaskRuns: async ({ params, query: { status = null, limit, cursor = null } }, { tasks }) => {
    const page = await tasks.listRuns({ taskId: params.task_id, status, limit, cursor });
    return { task_runs: page.items.map(wireTaskRun), next_cursor: page.next };
  },
  listNextRuns: async ({ params, query }, { truth }) => {
    const next = await truth.upcoming(params.task_id, query.count);
    const snoozes = await truth.snoozesOf([params.task_id]);
    return { next: next.map(iso), snoozed: wireSnoozes(snoozes.get(params.task_id)) };
  },
  getRun: async ({ params }, { tasks }) => wireRun(await tasks.getRun(params.run_id)),
  cancelRun: async ({ params, traceId }, { tasks, actor }) => {
    const { cancelled, run } = await tasks.cancelRun(params.run_id, actor, traceId);
    return { cancelled, run: wireRun(run) };
  },
  retryRun: (asked, rooms) => repeated('retry', asked, rooms),
  replayRun: (asked, rooms) => repeated('replay', asked, rooms),
  postMessage: async ({ body, idempotencyKey, traceId }, { messages }) => {
    const { thread_key: threadKey, text, source, user_key: userKey, sound, delivery_mode: mode, images = [] } = body;
    if (images.length > 0) throw new AppError('images_unavailable', 'Images are not taken yet: send the text alone.');
    return wireRun(
      await messages.post({
        threadKey,
        text,
        source,
        userKey,
        mode: sound ?? (mode === 'followUp' || mode === 'steer' ? 'normal' : mode),
        idempotencyKey: idempotencyKey?.key ?? null,
        traceId,
      }),
    );
  },
  whyTask: async ({ params: { task_id: taskId }, query: { at, from, to, lately, limit, cursor } }, { truth }) => {
    if (lately === 'true') {
      if ([at, from, to, cursor].some((one) => one !== undefined)) throw latelyAlone();
      const { timezone, answers, summary } = await truth.lately(taskId);
      return { task_id: taskId, timezone, answers: answers.map(wireAnswer), summary, next_cursor: null };
    }
    const window = cursor === undefined ? null : readPlace(cursor);
    const page = await truth.why(taskId, { at, from, to, after: window, limit });
    return {
      task_id: taskId,
      timezone: page.timezone,
      answers: page.answers.map(wireAnswer),
      summary: page.summary,
      next_cursor: page.next === null ? null : wirePlace({ ...page.next, from: page.from, to: page.to }),
    };
  },
  listEvents: async ({ query: { after = null, task_id: taskId = null, kind = null, limit } }, { truth }) => {
    const page = await truth.readEvents({ after, taskId, kind, limit });
    return { events: page.events.map(wireEvent), next_cursor: page.next };
  },
  listAudit: async ({ query: { task_id: taskId = null, limit, cursor = null } }, { truth }) => {
    const page = await truth.readAudit({ taskId, limit, cursor });
    return { entries: page.items.map(wireDeed), next_cursor: page.next };
  },
  listDowntimes: async ({ query: { limit } }, { truth }) => ({
    downtimes: (await truth.listDowntimes(limit)).map(wireDowntime),
  }),
} satisfies Partial<Handlers>;

function latelyAlone(): AppError {
  const message = 'Send lately alone, or at, or from and to.';
  return new AppError('invalid_request', message, { details: { field: 'lately', example: 'lately=true' } });
}

/** A source that names a task stands for its id, by which its runs are found; one beside the id of another finds nothing. */
function originOf(query: PartsOf<'listRuns'>['read']['query']) {
  const { source = null, task_id: taskId = null } = query;
  const ofTask = source?.startsWith('task:') === true ? source.slice('task:'.length) : null;
  return ofTask === null || (taskId ?? ofTask) !== ofTask ? { source, taskId } : { source: null, taskId: ofTask };
}

async function repeated(
  kind: 'retry' | 'replay',
  { params, idempotencyKey, traceId }: Asked<'retryRun'>,
  { tasks, actor, clock, kindPauses }: HttpRooms,
) {
  const { task, taskRun } = await tasks.repeat(kind, params.run_id, { actor, idempotencyKey, traceId });
  return { task: wireTask(task, { clock }), ...(await wireAsked(task, taskRun, { kindPauses })) };
}

type WireAnswer = PartsOf<'whyTask'>['answer']['answers'][number];

function wireAnswer({ from, to, slot, evidence, ...answer }: Answer): WireAnswer {
  const orNull = (instant: number | null) => (instant === null ? null : iso(instant));
  return { ...wire(answer), from: orNull(from), to: orNull(to), slot: orNull(slot), evidence: wireEvidence(evidence) };
}

/** Absent evidence is not told: JSON knows no undefined. */
function wireEvidence(told: Evidence): WireAnswer['evidence'] {
  const { attempts, deliveries, ack, deed, gap, error, kindPaused, ...evidence } = told;
  return {
    ...wire(evidence),
    ...(attempts && { attempts: wireTries(attempts) }),
    ...(kindPaused && { kind_paused: wirePause(kindPaused) }),
    ...(deliveries && {
      deliveries: deliveries.map(({ id, part, status, thread, messageId, cause, error: fault, deliveredAt }) => ({
        delivery_id: id,
        thread_key: threadKeyOf(thread),
        error_message: fault,
        ...wire({ part, status, messageId, cause, deliveredAt }),
      })),
    }),
    ...(ack && { done: { ...wire({ status: ack.status, at: ack.doneAt, by: ack.doneBy }), reminders: ack.nags } }),
    ...(deed && { audit: { entry_id: deed.id, ...wire({ at: deed.at, actor: deed.actor, verb: deed.verb }) } }),
    ...(gap && { gap: { gap_id: gap.id, count: gap.count } }),
    ...(error !== undefined && { error_message: error }),
  };
}

function wireTries({ count, lastError, last }: NonNullable<Evidence['attempts']>) {
  return {
    count,
    last_error_message: lastError,
    last_worker: last === null ? null : wire(last.worker),
    last_job_id: last?.jobId ?? null,
  };
}

/** The place of the next page holds the stretch of the first one, so that a page needs nothing but its cursor. */
function wirePlace({ at, rank, from, to }: Window): string {
  return Buffer.from(`why:${from}:${to}:${at}:${rank}`).toString('base64url');
}

function readPlace(cursor: string): Window {
  const text = Buffer.from(cursor, 'base64url').toString();
  const found = /^why:(-?\d{1,15}):(-?\d{1,15}):(-?\d{1,15}):([0-3])$/.exec(text);
  if (found === null || Buffer.from(text).toString('base64url') !== cursor) {
    throw new AppError('invalid_cursor', 'This cursor was not made by this list; start again without one.');
  }
  const [, from, to, at, rank] = found.map(Number);
  return { from: from ?? 0, to: to ?? 0, at: at ?? 0, rank: rank ?? 0 };
}

/** The events of a page and those of a stream are told alike. */
export function wireEvent({ data, ...event }: EventRow): PartsOf<'listEvents'>['answer']['events'][number] {
  const { kind, taskId } = event;
  if (taskId !== null && kind.startsWith('run.'))
    return { ...wire(event), data: { ...data, source: taskSourceOf(taskId) } };
  return { ...wire(event), data: data === null ? null : { ...data } };
}

function wireDeed({ id, before, after, ...deed }: Deed): PartsOf<'listAudit'>['answer']['entries'][number] {
  const facts = { before: before === null ? null : { ...before }, after: after === null ? null : { ...after } };
  return { entry_id: id, ...wire(deed), ...facts };
}

function wireDowntime({ id, ...downtime }: Downtime): PartsOf<'listDowntimes'>['answer']['downtimes'][number] {
  const { from, to, cause } = downtime;
  return { downtime_id: id, ...wire(downtime), from: iso(from), to: iso(to), cause: cause ?? 'process' };
}
