import { z } from 'zod';
import { eventKinds, isOfKind } from '../domain/event.ts';
import * as limits from '../domain/limits.ts';
import { operation, cursor, facts, instant, page, strict, taskParams, text, whole } from './operation.ts';
import { attempt, deliveryAnswer } from './runs.ts';

/** Questions about the truth, and their answers. */

const asked = z
  .string()
  .max(40)
  .optional()
  .meta({ description: 'With an offset or Z an instant, without one the clock of the zone of the task.' });
const taskId = z.string().max(64).optional().meta({ description: 'Of this task alone.' });

const whyQuery = strict({
  at: asked.meta({
    description: 'One instant, alone. To the minute it stands for whatever happened in that minute.',
    example: '2026-11-18T09:00',
  }),
  from: asked.meta({ description: '24 hours before `to` when absent.' }),
  to: asked.meta({ description: 'Now when absent.' }),
  lately: z.enum(['true', 'false']).default('false').meta({
    description: 'true, alone: in brief what happened last, what is snoozed and what comes next, as the chat tells it.',
  }),
  ...page,
});
export const eventsQuery = strict({
  after: z.string().max(200).optional().meta({
    description: 'A cursor; `latest` begins after the newest event, nothing with the oldest that is kept.',
  }),
  task_id: taskId,
  kind: z
    .string()
    .max(40)
    .refine((kind) => eventKinds.some((known) => isOfKind(known, kind)), {
      error: 'there is no such kind of event; write one such as run.failed, or the beginning of some such as run.',
    })
    .optional()
    .meta({
      description: 'Of this kind alone; with a point at the end, of all kinds that begin so.',
      example: 'run.',
    }),
  limit: whole(limits.eventPageMax, limits.eventPageDefault),
});
const auditQuery = strict({ task_id: taskId, ...page });
const downtimesQuery = strict({ limit: page.limit });

const state = z.enum(['active', 'paused', 'completed', 'deleted']).nullable();

const decision = z.enum([
  'ran',
  'late',
  'failed',
  'running',
  'waiting',
  'skipped',
  'missed',
  'cancelled',
  'gap',
  'paused',
  'completed',
  'deleted',
  'not_created',
  'no_slot',
  'planned',
  'due',
  'unrecorded',
]);

const evidence = strict({
  task_run_id: z.string(),
  run_id: z.string(),
  run_number: z.int(),
  source: z.string(),
  late_ms: z.number().meta({ description: 'How long after its slot it was taken up.' }),
  started_after_ms: z.number().meta({ description: 'How long after its slot its work began.' }),
  attempts: strict({
    count: z.int(),
    last_error_message: text,
    last_worker: attempt.shape.worker.nullable(),
    last_job_id: attempt.shape.job_id,
  }),
  kind_paused: strict({ kind: z.string(), since: instant, by: z.string() }).meta({
    description: 'Its kind of actions is paused, so its run waits.',
  }),
  deliveries: z.array(
    deliveryAnswer
      .pick({
        delivery_id: true,
        part: true,
        status: true,
        thread_key: true,
        message_id: true,
        error_message: true,
        delivered_at: true,
      })
      .extend({ cause: text }),
  ),
  done: strict({
    status: z.enum(['open', 'done', 'given_up', 'superseded', 'dropped']),
    reminders: z.int(),
    at: instant.nullable(),
    by: text,
  }).meta({ description: 'Whether somebody has said that it is done, where somebody has or is asked to.' }),
  replay_of: z.string(),
  audit: strict({ entry_id: z.string(), at: instant, actor: z.string(), verb: z.string() }),
  gap: strict({ gap_id: z.string(), count: z.int() }),
  version: z.int().meta({ description: 'The version of the task that was in force.' }),
  error_message: z.string(),
})
  .partial()
  .meta({ id: 'Evidence' });

const whyAnswer = strict({
  at: instant.nullable().meta({ description: 'For a point in time.' }),
  from: instant.nullable().meta({ description: 'For a stretch of time; null also where it has no beginning.' }),
  to: instant.nullable().meta({ description: 'For a stretch of time; null also where it has no end.' }),
  slot: instant.nullable().meta({ description: 'The slot it is about; null when it is about none, or several.' }),
  decision,
  cause: z.string().meta({ description: 'One machine word.', example: 'overlap' }),
  evidence,
  line: z.string().meta({
    description: 'The answer in plain English, with times on the clock of the zone of the task.',
    example: 'Wed 18 Nov 09:00: skipped, because the run before it was still running (policy overlap: skip).',
  }),
}).meta({ id: 'WhyAnswer' });

const whyPage = strict({
  task_id: z.string(),
  timezone: z.string(),
  answers: z.array(whyAnswer),
  summary: z.partialRecord(decision, z.int()).meta({ description: 'Counts of this page; a gap counts its slots.' }),
  next_cursor: cursor,
});

const event = strict({
  cursor: z.string(),
  at: instant,
  kind: z.string(),
  task_id: text,
  ref: text.meta({ description: 'The row it is about.' }),
  data: facts.nullable().meta({ description: 'Of a run of a task with its source: task:<task_id>.' }),
}).meta({ id: 'Event' });
const eventPage = strict({
  events: z.array(event),
  next_cursor: z.string().meta({ description: 'Where to continue, also when nothing has come yet.' }),
});

const auditEntry = strict({
  entry_id: z.string(),
  at: instant,
  actor: z.string(),
  verb: z.string(),
  task_id: text,
  state_before: state,
  state_after: state,
  before: facts.nullable(),
  after: facts.nullable(),
  trace_id: text.meta({
    description: 'The x-request-id of the request in whose course it was done, where there was one.',
  }),
}).meta({ id: 'AuditEntry' });
const auditPage = strict({ entries: z.array(auditEntry), next_cursor: cursor });

const downtimeAnswer = strict({
  downtime_id: z.string(),
  from: instant,
  to: instant,
  cause: z
    .enum(['process', 'database'])
    .meta({ description: 'process: none was there. database: one was, and nothing could be written.' }),
  counts: strict({ missed: z.int(), late: z.int(), asked: z.int(), skipped: z.int() })
    .nullable()
    .meta({ description: 'In slots. Null until every slot of that time was decided about.' }),
  reported_at: instant.nullable(),
}).meta({ id: 'Downtime' });
const downtimesAnswer = strict({ downtimes: z.array(downtimeAnswer) });

const feed = { tag: 'operations', method: 'get' } as const;

export const truthOperations = {
  whyTask: operation('get', '/v1/tasks/{task_id}/why', {
    scope: 'read',
    tag: 'runs',
    summary: 'Why a task ran, or did not run, at an instant or in a stretch of time; deleted tasks included',
    params: taskParams,
    query: whyQuery,
    answer: whyPage,
    refuses: ['invalid_cursor'],
  }),
  listEvents: operation('get', '/v1/events', {
    scope: 'read',
    ...feed,
    summary: 'What happened, in the order in which it became true; continue with next_cursor and miss nothing',
    query: eventsQuery,
    answer: eventPage,
    stream:
      'With accept: text/event-stream the events come as they happen: the cursor as id, the kind as event, the event in JSON as data. It continues behind the header Last-Event-ID, or behind after.',
  }),
  listAudit: operation('get', '/v1/audit', {
    scope: 'read',
    ...feed,
    summary: 'Who did what to which task, newest first',
    query: auditQuery,
    answer: auditPage,
    refuses: ['invalid_cursor'],
  }),
  listDowntimes: operation('get', '/v1/downtimes', {
    scope: 'read',
    ...feed,
    summary: 'When the server was down, or nothing could be written, and what that cost, newest first',
    query: downtimesQuery,
    answer: downtimesAnswer,
  }),
} as const;
