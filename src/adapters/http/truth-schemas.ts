import { z } from '@hono/zod-openapi';
import * as limits from '../../domain/limits.ts';
import { deliveryAnswer, instant } from './answers.ts';
import { page, strict, whole } from './schemas.ts';

/** What is asked about the truth, and what is told. */

const asked = z
  .string()
  .max(40)
  .optional()
  .openapi({ description: 'With an offset or Z an instant, without one the clock of the zone of the task.' });
const taskId = z.string().max(64).optional().openapi({ description: 'Of this task alone.' });

export const whyQuery = strict({
  at: asked.openapi({
    description: 'One instant, alone. To the minute it stands for whatever happened in that minute.',
    example: '2026-11-18T09:00',
  }),
  from: asked.openapi({ description: '24 hours before `to` when absent.' }),
  to: asked.openapi({ description: 'Now when absent.' }),
  ...page,
});
export const eventsQuery = strict({
  after: z.string().max(200).optional().openapi({
    description: 'A cursor; `latest` begins after the newest event, nothing with the oldest that is kept.',
  }),
  task_id: taskId,
  limit: whole(limits.eventPageMax, limits.eventPageDefault),
});
export const auditQuery = strict({ task_id: taskId, ...page });
export const downtimesQuery = strict({ limit: whole(limits.pageMax, limits.pageDefault) });

const facts = z.record(z.string(), z.unknown());
const cursor = z.string().nullable().openapi({ description: 'Null on the last page.' });
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
  source: z.string(),
  late_ms: z.number().openapi({ description: 'How long after its slot it was taken up.' }),
  started_after_ms: z.number().openapi({ description: 'How long after its slot its work began.' }),
  attempts: strict({ count: z.int(), last_error_message: z.string().nullable() }),
  deliveries: z.array(deliveryAnswer.pick(deliveryFields()).extend({ cause: z.string().nullable() })),
  done: strict({
    status: z.enum(['open', 'done', 'given_up', 'superseded', 'dropped']),
    reminders: z.int(),
    at: instant.nullable(),
    by: z.string().nullable(),
  }).openapi({ description: 'Whether somebody has said that it is done, where somebody has or is asked to.' }),
  replay_of: z.string(),
  audit: strict({ entry_id: z.string(), at: instant, actor: z.string(), verb: z.string() }),
  gap: strict({ gap_id: z.string(), count: z.int() }),
  version: z.int().openapi({ description: 'The version of the task that was in force.' }),
  error_message: z.string(),
})
  .partial()
  .openapi('Evidence');

function deliveryFields() {
  return {
    delivery_id: true,
    part: true,
    status: true,
    thread_key: true,
    message_id: true,
    error_message: true,
    delivered_at: true,
  } as const;
}

export const whyAnswer = strict({
  at: instant.nullable().openapi({ description: 'For a point in time.' }),
  from: instant.nullable().openapi({ description: 'For a stretch of time; null also where it has no beginning.' }),
  to: instant.nullable().openapi({ description: 'For a stretch of time; null also where it has no end.' }),
  slot: instant.nullable().openapi({ description: 'The slot it is about; null when it is about none, or several.' }),
  decision,
  cause: z.string().openapi({ description: 'One machine word.', example: 'overlap' }),
  evidence,
  line: z.string().openapi({
    description: 'The answer in plain English, with times on the clock of the zone of the task.',
    example: 'Wed 18 Nov 09:00: skipped, because the run before it was still going (policy overlap: skip).',
  }),
}).openapi('WhyAnswer');

export const whyPage = strict({
  task_id: z.string(),
  timezone: z.string(),
  answers: z.array(whyAnswer),
  summary: z.partialRecord(decision, z.int()).openapi({ description: 'Counts of this page; a gap counts its slots.' }),
  next_cursor: cursor,
});

const event = strict({
  cursor: z.string(),
  at: instant,
  kind: z.string(),
  task_id: z.string().nullable(),
  ref: z.string().nullable().openapi({ description: 'The row it is about.' }),
  data: facts.nullable(),
}).openapi('Event');
export const eventPage = strict({
  events: z.array(event),
  next_cursor: z.string().openapi({ description: 'Where to go on, also when nothing has come yet.' }),
});

export const auditEntry = strict({
  entry_id: z.string(),
  at: instant,
  actor: z.string(),
  verb: z.string(),
  task_id: z.string().nullable(),
  state_before: state,
  state_after: state,
  before: facts.nullable(),
  after: facts.nullable(),
}).openapi('AuditEntry');
export const auditPage = strict({ entries: z.array(auditEntry), next_cursor: cursor });

const counts = { missed: z.int(), late: z.int(), asked: z.int(), skipped: z.int() };
export const downtimeAnswer = strict({
  downtime_id: z.string(),
  from: instant,
  to: instant,
  counts: strict(counts)
    .nullable()
    .openapi({ description: 'In slots. Null until every slot of that time was decided about.' }),
  threads: z.array(
    strict({ thread_key: z.string(), ...counts, tasks: z.array(z.string()), more_tasks: z.int() }).openapi(
      'DowntimeThread',
    ),
  ),
  more_threads: z.int(),
  reported_at: instant.nullable(),
}).openapi('Downtime');
export const downtimesAnswer = strict({ downtimes: z.array(downtimeAnswer) });
