import { z } from '@hono/zod-openapi';
import * as limits from '../../domain/limits.ts';
import { isTimezone } from '../../domain/schedule/schedule.ts';

/** What clients send. The shape is checked here; what it means is checked by the domain, which also words the refusal. */

/** An object of exactly these fields; another one is refused by name, together with what is allowed. */
export function strict<S extends z.core.$ZodShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const allowed = Object.keys(shape).join(', ') || 'none';
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `this field is not known here; known are: ${allowed}` : undefined,
  });
}

export const nothing = strict({});
export const noBody = nothing.optional();

/** A field of another kind may be sent as null, so that a schedule that was read can be sent back. */
const absent = z.null().optional();
const timezone = z.string().openapi({ description: 'An IANA time zone.', example: 'Europe/Madrid' });
const kinds = 'a schedule is an object whose kind is once, cron, rrule or interval';

const once = strict({
  kind: z.literal('once'),
  once_at: z.string().openapi({
    description: 'With an offset or Z an instant, without one the clock of the zone.',
    example: '2027-01-31T09:00:00Z',
  }),
  timezone,
  cron: absent,
  rrule: absent,
  interval: absent,
  start_at: absent,
  from: absent,
});
const cron = strict({
  kind: z.literal('cron'),
  cron: z.string().openapi({
    description: 'Five fields.',
    example: '0 9 * * 1-5',
  }),
  timezone,
  once_at: absent,
  rrule: absent,
  interval: absent,
  start_at: absent,
  from: absent,
});
const rrule = strict({
  kind: z.literal('rrule'),
  rrule: z.string().openapi({
    description: 'A recurrence rule of RFC 5545.',
    example: 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0',
  }),
  timezone,
  once_at: absent,
  cron: absent,
  interval: absent,
  start_at: absent,
  from: absent,
});
const interval = strict({
  kind: z.literal('interval'),
  interval: z.string().openapi({
    description: 'An ISO-8601 duration.',
    example: 'PT15M',
  }),
  start_at: z.string().nullish().openapi({ description: 'The anchor; the moment of the request when absent.' }),
  from: z.enum(['start', 'completion']).nullish(),
  timezone,
  once_at: absent,
  cron: absent,
  rrule: absent,
});

const scheduleInput = z
  .discriminatedUnion('kind', [once, cron, rrule, interval], { error: kinds })
  .openapi('ScheduleInput');

/** The use cases know no null: a field that is null was not sent. */
export function presentOf(schedule: z.output<typeof scheduleInput>) {
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

const duration = z.string().max(32).openapi({ description: 'An ISO-8601 duration of fixed length.', example: 'PT10M' });
const instant = z.iso
  .datetime({ offset: true, error: 'it is an instant with its offset, such as 2027-01-31T09:00:00Z' })
  .openapi({ description: 'An instant with its offset.', example: '2027-01-31T09:00:00Z' });

const policyShape = {
  missed: z.enum(['skip', 'once', 'all', 'ask']),
  missed_limit: z.int().min(1).max(limits.missedLimitMax),
  grace: duration,
  unknown: z.enum(['resend', 'ask']),
  overlap: z.enum(['skip', 'queue', 'replace', 'allow']),
  retry: strict({
    attempts: z.int().min(1).max(limits.retryAttemptsMax).optional(),
    base: duration.optional(),
    factor: z.number().min(1).max(limits.retryFactorMax).optional(),
    cap: duration.optional(),
    jitter: z.number().min(0).max(limits.retryJitterMax).optional(),
  }),
  timeout: duration,
  auto_pause: z
    .int()
    .min(0)
    .max(limits.autoPauseMax)
    .openapi({ description: `0 (off) or ${limits.autoPauseMin} to ${limits.autoPauseMax}.` }),
  start_at: instant,
  until: instant,
  max_runs: z.int().min(1).max(limits.maxRunsMax),
  max_age: duration,
  jitter: duration,
  priority: z.int().min(1).max(10),
  approval: z.enum(['none', 'required']),
  quiet: strict({
    from: z.string().max(5).optional(),
    to: z.string().max(5).optional(),
    mode: z.enum(['hold', 'silent', 'off']),
  }).openapi({ description: 'Clock times such as 22:00 in the zone of the task; `off` is heard at any time.' }),
  ack: strict({
    nag_every: duration.optional(),
    nag_limit: z.int().min(0).max(limits.nagLimitMax).optional(),
  }).openapi({ description: 'Somebody must say that it is done, and is reminded until they do.' }),
};

const onExisting = z.enum(['fail', 'upsert', 'add']);

type Resettable = { [K in keyof typeof policyShape]: z.ZodOptional<z.ZodNullable<(typeof policyShape)[K]>> };
const resettable = Object.fromEntries(
  Object.entries(policyShape).map(([name, policy]) => [name, policy.nullish()]),
) as Resettable;

const action = z
  .looseObject({ kind: z.string().openapi({ example: 'message' }) })
  .openapi('Action', { description: 'What a run does; the settings beside kind belong to the kind.' });
const title = z.string().openapi({ maxLength: limits.titleLengthMax });
const instructions = z.string().openapi({ maxLength: limits.instructionsLengthMax });
const subject = z.string().nullable().openapi({ maxLength: limits.subjectLengthMax });
const tags = z.array(z.string().openapi({ maxLength: limits.tagLengthMax })).openapi({ maxItems: limits.tagsMax });
const facts = z.record(z.string(), z.unknown());

export const createBody = strict({
  title: title.optional(),
  instructions,
  action: action.optional(),
  schedule: scheduleInput,
  policies: strict({ ...policyShape, on_existing: onExisting })
    .partial()
    .optional(),
  subject: subject.optional(),
  tags: tags.optional(),
  context: facts.optional(),
}).openapi('TaskCreate');

export const patchBody = strict({
  title,
  instructions,
  action,
  schedule: scheduleInput,
  policies: strict(resettable),
  subject,
  tags,
  context: facts,
  enabled: z.boolean(),
})
  .partial()
  .refine((patch) => Object.keys(patch).length > 0, { error: 'name at least one field to change' })
  .openapi('TaskPatch', { description: 'The fields to change; a policy that is null goes back to its default.' });

const previewShape = strict({
  schedule: scheduleInput.optional(),
  after: instant
    .optional()
    .openapi({ description: 'With schedule: the runs after this instant; the present one when absent.' }),
  when: z.string().max(limits.instructionsLengthMax).optional().openapi({
    description: 'A when in plain words, and the text behind it.',
    example: 'every weekday at 9:00 stand up',
  }),
  timezone: timezone.optional().openapi({ description: 'With when: the IANA time zone in which it is read.' }),
  now: instant
    .optional()
    .openapi({ description: 'With when: what "tomorrow" counts from; the present instant when absent.' }),
  count: z.int().min(1).max(limits.previewCountMax).optional(),
});
export type PreviewBody = z.output<typeof previewShape>;

/** Both ways in one object, because a union of two would refuse a slip in one of them by telling about both. */
function previewFault({ schedule, after, when, timezone: zone, now }: PreviewBody): [string[], string] | null {
  if (schedule === undefined && when === undefined) return [[], 'send either schedule, or when and timezone'];
  if (schedule !== undefined && when !== undefined) return [['when'], 'send either schedule or when, not both'];
  if (when === undefined) {
    if (zone !== undefined) return [['timezone'], 'it goes with when; a schedule names its zone inside'];
    return now === undefined ? null : [['now'], 'it goes with when; with schedule, send after'];
  }
  if (after !== undefined) return [['after'], 'it goes with schedule; with when, send now'];
  if (zone === undefined) return [['timezone'], 'it is missing'];
  return isTimezone(zone) ? null : [['timezone'], 'it is not a time zone; write its IANA name, such as Europe/Madrid'];
}

export const previewBody = previewShape
  .superRefine((body, context) => {
    const fault = previewFault(body);
    if (fault !== null) context.addIssue({ code: 'custom', path: fault[0], message: fault[1] });
  })
  .openapi('PreviewRequest', {
    description: 'Either a schedule, or a when in plain words with the zone in which it is read.',
    anyOf: [{ required: ['schedule'] }, { required: ['when', 'timezone'] }],
  });

/** A number in a query is text until it is read. */
export function whole(max: number, preset: number) {
  const error = `it is a whole number from 1 to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, { error })
    .transform(Number)
    .pipe(z.int().min(1, { error }).max(max, { error }))
    .default(preset)
    .openapi({ type: 'integer', minimum: 1, maximum: max, default: preset });
}

/** Longer than any text that is searched for; a search is not a place for a document. */
const searchLengthMax = 200;
export const page = {
  limit: whole(limits.pageMax, limits.pageDefault),
  cursor: z.string().max(200).optional().openapi({ description: 'The next_cursor of the page before.' }),
};
const filters = {
  state: z.enum(['all', 'enabled', 'disabled']).default('all'),
  q: z.string().max(searchLengthMax).optional().openapi({ description: 'Text in the title or the instructions.' }),
  tag: z.string().max(searchLengthMax).optional(),
  subject: z.string().max(searchLengthMax).optional(),
};

export const pauseBody = strict({
  until: instant
    .optional()
    .openapi({ description: 'When the pause ends by itself; without it, when somebody resumes.' }),
}).optional();
export const skipBody = strict({
  count: z.int().min(1).max(limits.skipMax).default(1),
  from: instant.optional().openapi({
    description: 'The next run as the person saw it. When another is next by now, nothing is skipped.',
  }),
}).prefault({});
export const snoozeBody = strict({ for: duration.optional(), until: instant.optional() })
  .refine((body) => (body.for === undefined) !== (body.until === undefined), {
    error: 'name either "for", a duration such as PT10M, or "until", an instant',
  })
  .openapi('Snooze');
export const answerBody = z.union([
  strict({
    answer: z
      .enum(['latest', 'all', 'none'])
      .openapi({ description: 'Which of the missed slots run after all: the latest of them, all of them, or none.' }),
  }),
  strict({ run: z.boolean().openapi({ description: 'true is answer: all; false is answer: none.' }) }),
]);
export const undoBody = strict({
  entry_id: z.string().max(32).optional().openapi({ description: 'The change to undo; without it, the latest one.' }),
}).prefault({});
export const purgeQuery = strict({
  dry_run: z.enum(['true', 'false']).default('false').openapi({ description: 'true only counts what would go.' }),
});

export const threadTasksQuery = strict({ ...filters, ...page });
export const tasksQuery = strict({ thread_key: z.string().optional(), ...filters, ...page });
export const runsQuery = strict({
  status: z.enum(['pending', 'dispatched', 'succeeded', 'failed', 'skipped', 'missed', 'cancelled']).optional(),
  ...page,
});
export const nextQuery = strict({ count: whole(limits.previewCountMax, limits.previewCountDefault) });

export const taskParams = strict({ task_id: z.string() });
export const runParams = strict({ run_id: z.string() });
export const threadParams = strict({
  thread_key: z.string().openapi({
    description: 'telegram:chat:<id>, telegram:chat:<id>:topic:<n>, or any other prefix.',
    example: 'cli:default',
  }),
});
