import { z } from '@hono/zod-openapi';
import { strict } from './schemas.ts';

/** What clients are told: the words of the API, whatever the code calls them inside. */

export const instant = z.string().openapi({
  format: 'date-time',
  description: 'ISO-8601, UTC, with milliseconds.',
  example: '2027-01-31T09:00:00.000Z',
});
const facts = z.record(z.string(), z.unknown());
const text = z.string().nullable();

const schedule = strict({
  kind: z.enum(['once', 'cron', 'rrule', 'interval']),
  once_at: instant.nullable(),
  cron: text,
  rrule: text,
  interval: text,
  start_at: instant.nullable(),
  from: z.enum(['start', 'completion']).nullable(),
  timezone: z.string(),
}).openapi('Schedule');

export const taskAnswer = strict({
  task_id: z.string(),
  number: z.int().openapi({ description: 'Counts per chat.' }),
  version: z.int().openapi({ description: 'Counts the changes.' }),
  title: z.string(),
  instructions: z.string(),
  action: z.looseObject({ kind: z.string() }),
  schedule,
  enabled: z.boolean(),
  state: z.enum(['active', 'paused', 'completed', 'deleted']),
  next_run_at: instant.nullable(),
  creator_thread_key: z.string(),
  execution_thread_key: text.openapi({ description: 'Null until the first result needs the topic.' }),
  delivery_target: strict({
    provider: z.string(),
    route: strict({ chat_id: z.string(), message_thread_id: z.int().optional() }),
    metadata: strict({ creator_message_thread_id: z.int().optional() }),
  }),
  owner_user_key: z.string(),
  policies: facts.openapi({ description: 'The policies that were chosen; the others follow their defaults.' }),
  context: facts,
  subject: text,
  tags: z.array(z.string()),
  counters: strict({ runs: z.int(), failures: z.int(), consecutive_failures: z.int(), bounded_runs: z.int() }),
  paused_reason: text,
  resume_at: instant.nullable().openapi({ description: 'When the pause ends by itself.' }),
  created_at: instant,
  updated_at: instant,
  last_run_at: instant.nullable(),
  last_run_status: z.enum(['succeeded', 'failed', 'cancelled']).nullable(),
  last_error_message: text,
}).openapi('Task');

const attempt = strict({
  attempt: z.int(),
  status: z.enum(['running', 'succeeded', 'failed', 'timed_out', 'interrupted', 'cancelled']),
  started_at: instant,
  finished_at: instant.nullable(),
  duration_ms: z.number().nullable(),
  http_status: z.int().nullable(),
  error_message: text,
}).openapi('Attempt');

export const deliveryAnswer = strict({
  delivery_id: z.string(),
  part: z.int(),
  status: z.enum(['pending', 'sending', 'delivered', 'unknown', 'blocked', 'failed']),
  thread_key: z.string(),
  chat_id: text,
  message_thread_id: z.int().nullable(),
  message_id: z.int().nullable(),
  error_message: text,
  created_at: instant,
  delivered_at: instant.nullable(),
}).openapi('Delivery');

const work = { attempts: z.array(attempt), deliveries: z.array(deliveryAnswer) };

export const taskRunAnswer = strict({
  task_run_id: z.string(),
  task_id: z.string(),
  scheduled_for: instant,
  idempotency_key: z.string(),
  run_id: text,
  status: z.enum(['pending', 'dispatched', 'succeeded', 'failed', 'skipped', 'missed', 'cancelled']),
  source: z.string().openapi({ description: 'What asked for it.' }),
  reason: text.openapi({ description: 'Why it did not simply run.' }),
  replay_of: text.openapi({ description: 'The task_run that is done again.' }),
  late_ms: z.number(),
  error_message: text,
  created_at: instant,
  updated_at: instant,
  ...work,
}).openapi('TaskRun');

export const runAnswer = strict({
  run_id: z.string(),
  source: z.string(),
  idempotency_key: z.string(),
  task_id: text,
  task_run_id: text,
  status: z.enum(['queued', 'running', 'backoff', 'waiting', 'succeeded', 'failed', 'cancelled']),
  output: facts.nullable(),
  error_message: text,
  created_at: instant,
  started_at: instant.nullable(),
  finished_at: instant.nullable(),
  ...work,
}).openapi('Run');

const warning = strict({ code: z.string(), message: z.string() }).openapi('Warning');
const cursor = text.openapi({ description: 'Null on the last page.' });

export const oneTask = strict({ task: taskAnswer });
const entryId = text.openapi({ description: 'The entry of the audit, to undo it by; null when nothing changed.' });
export const changedTask = strict({ task: taskAnswer, entry_id: entryId });
const changes = z
  .record(z.string(), strict({ before: z.unknown(), after: z.unknown() }))
  .openapi({ description: 'Each field that is not what it was.' });
export const editedTask = strict({ task: taskAnswer, warnings: z.array(warning), changes, entry_id: entryId });
export const undoneTask = strict({
  task: taskAnswer,
  entry_id: entryId,
  undone: strict({ entry_id: z.string(), verb: z.string(), at: instant }),
});
export const versionList = strict({
  versions: z.array(
    strict({
      version: z.int(),
      at: instant,
      actor: z.string(),
      definition: strict({
        title: z.string(),
        instructions: z.string(),
        action: z.looseObject({ kind: z.string() }),
        schedule,
        policies: facts,
        subject: text,
        tags: z.array(z.string()),
      }).openapi('Definition'),
    }),
  ),
});
export const cancelledRun = strict({
  cancelled: z.boolean().openapi({ description: 'False when it had ended in another way already.' }),
  run: runAnswer,
});
export const bulkAnswer = strict({
  changed: z.int(),
  left: z.int().openapi({ description: 'Tasks that stay as they are, because the verb does not fit them.' }),
});
export const purgeAnswer = strict({
  deleted: z.boolean(),
  counts: strict({
    tasks: z.int(),
    active: z.int(),
    paused: z.int(),
    completed: z.int(),
    live_runs: z.int(),
    open_deliveries: z.int(),
  }),
});
export const writtenTask = strict({ task: taskAnswer, warnings: z.array(warning) });
export const taskPage = strict({ tasks: z.array(taskAnswer), next_cursor: cursor });
export const deleted = strict({ deleted: z.literal(true) });
export const ranNow = strict({ task: taskAnswer, task_run: taskRunAnswer });
export const taskRunPage = strict({ task_runs: z.array(taskRunAnswer), next_cursor: cursor });
export const nextRuns = strict({ next: z.array(instant) });
export const previewAnswer = strict({
  next: z.array(instant),
  description: z.string(),
  min_gap_seconds: z.number().nullable(),
  warnings: z.array(warning),
  schedule,
  text: z.string().optional().openapi({ description: 'With when: the text behind it.' }),
  timezone: z.string().optional().openapi({ description: 'With when: the zone it was read in, or the one it names.' }),
});
export const healthAnswer = z.looseObject({ ok: z.boolean() }).openapi('Health');
export const versionAnswer = strict({ name: z.literal('cronogram'), version: z.string() });
export const document = z.looseObject({ openapi: z.string() });

export const errorAnswer = strict({
  error: strict({ code: z.string(), message: z.string(), details: facts.optional() }),
}).openapi('Error');
