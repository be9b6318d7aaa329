import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import { isTimezone } from '../domain/schedule/time/zone-name.ts';
import { operation, facts, instant, instantSent, strict, text, timezone } from './operation.ts';

/** A field of another kind may be sent as null, so that a schedule that was read can be sent back. */
const absent = z.null().optional();

const kinds = 'a schedule is an object whose kind is once, cron, rrule or interval';

const foreign = { once_at: absent, cron: absent, rrule: absent, interval: absent, start_at: absent, from: absent };

const once = strict({
  ...foreign,
  kind: z.literal('once'),
  once_at: z.string().meta({
    description: 'With an offset or Z an instant, without one the clock of the zone.',
    example: '2027-01-31T09:00:00Z',
  }),
  start_at: z.string().nullish().meta({
    description: 'Of a wait, as in "in 2 hours", when it began: such a moment stays when the zone of its chat changes.',
  }),
  timezone,
});
const cron = strict({
  ...foreign,
  kind: z.literal('cron'),
  cron: z.string().meta({ description: 'Five fields.', example: '0 9 * * 1-5' }),
  timezone,
});
const rrule = strict({
  ...foreign,
  kind: z.literal('rrule'),
  rrule: z.string().meta({
    description:
      'A recurrence rule of RFC 5545, or its lines: DTSTART, up to 24 RRULE (several rhythms), EXRULE (whole days that are left out again and again), EXDATE (also VALUE=DATE, a whole day) and RDATE.',
    example: 'FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0',
  }),
  timezone,
});
const interval = strict({
  ...foreign,
  kind: z.literal('interval'),
  interval: z.string().meta({ description: 'An ISO-8601 duration.', example: 'PT15M' }),
  start_at: z.string().nullish().meta({ description: 'The anchor; the moment of the request when absent.' }),
  from: z.enum(['start', 'completion']).nullish(),
  timezone,
});

export const scheduleInput = z
  .discriminatedUnion('kind', [once, cron, rrule, interval], { error: kinds })
  .meta({ id: 'ScheduleInput' });

export const scheduleAnswer = strict({
  kind: z.enum(['once', 'cron', 'rrule', 'interval']),
  once_at: instant.nullable(),
  cron: text,
  rrule: text,
  interval: text,
  start_at: instant.nullable(),
  from: z.enum(['start', 'completion']).nullable(),
  timezone: z.string(),
}).meta({ id: 'Schedule' });

const warning = strict({ code: z.string(), message: z.string() }).meta({ id: 'Warning' });
/** The sentences, as clients of jagc read them, and the same with their codes. */
export const warned = {
  warnings: z.array(z.string()),
  warning_details: z.array(warning).meta({ description: 'The same warnings, each with its code.' }),
};

/** A time in plain words, in the place of a schedule. */
export const inWords = {
  when: z.string().max(limits.instructionsLengthMax).optional().meta({
    description: 'A when in plain words, and the text behind it.',
    example: 'every weekday at 9:00 stand up',
  }),
  timezone: timezone.optional().meta({ description: 'With when: the IANA time zone in which it is read.' }),
  language: z.string().max(limits.languageLengthMax).optional().meta({
    description: 'With when: the language in which it is written; English is read in every case.',
    example: 'en',
  }),
};

/** Parts that the words left out, and that were assumed. */
export const assumed = z
  .array(
    strict({
      what: z.enum(['hour', 'day', 'part', 'passed', 'date', 'kind', 'zone', 'spelling']),
      text: z.string().meta({ example: '15:00' }),
      other: strict({ text: z.string(), when: z.string() })
        .nullable()
        .meta({ description: 'The other reading: its words, and the when written so that it is read that way.' }),
    }),
  )
  .meta({ description: 'With when: what was not said, and was assumed.' });

interface Worded {
  readonly schedule?: unknown;
  readonly when?: string | undefined;
  readonly timezone?: string | undefined;
  readonly language?: string | undefined;
}

/** Either a schedule or words; both in one object, because a union of two would tell about both where one has a slip. */
export function wordsFault({ schedule, when, timezone: zone, language }: Worded): [string[], string] | null {
  if (schedule === undefined && when === undefined) return [[], 'send either schedule, or when and timezone'];
  if (schedule !== undefined && when !== undefined) return [['when'], 'send either schedule or when, not both'];
  if (when === undefined) {
    if (language !== undefined) return [['language'], 'it goes with when'];
    return zone === undefined ? null : [['timezone'], 'it goes with when; a schedule names its zone inside'];
  }
  if (zone === undefined) return [['timezone'], 'it is missing'];
  return isTimezone(zone) ? null : [['timezone'], 'it is not a time zone; write its IANA name, such as Europe/Madrid'];
}

/** A check over several fields of a body. */
export function refuses<Body>(faultOf: (body: Body) => [string[], string] | null) {
  return (body: Body, context: z.core.$RefinementCtx): void => {
    const fault = faultOf(body);
    if (fault !== null) context.addIssue({ code: 'custom', path: fault[0], message: fault[1] });
  };
}

const previewShape = strict({
  schedule: scheduleInput.optional(),
  after: instantSent
    .optional()
    .meta({ description: 'With schedule: the runs after this instant; the present one when absent.' }),
  ...inWords,
  now: instantSent
    .optional()
    .meta({ description: 'With when: what "tomorrow" counts from; the present instant when absent.' }),
  count: z.int().min(1).max(limits.previewCountMax).optional(),
});
export type PreviewBody = z.output<typeof previewShape>;

function previewFault(body: PreviewBody): [string[], string] | null {
  const { when, after, now } = body;
  if (when !== undefined && after !== undefined) return [['after'], 'it goes with schedule; with when, send now'];
  const fault = wordsFault(body);
  if (fault !== null || when !== undefined || now === undefined) return fault;
  return [['now'], 'it goes with when; with schedule, send after'];
}

const previewBody = previewShape.superRefine(refuses(previewFault)).meta({
  id: 'PreviewRequest',
  description: 'Either a schedule, or a when in plain words with the zone in which it is read.',
  anyOf: [{ required: ['schedule'] }, { required: ['when', 'timezone'] }],
  example: { when: 'every weekday at 9:00', timezone: 'Europe/Madrid', count: 3 },
});

const previewAnswer = strict({
  next: z.array(instant),
  description: z.string(),
  min_gap_seconds: z.number().nullable(),
  ...warned,
  schedule: scheduleAnswer,
  text: z.string().optional().meta({ description: 'With when: the text behind it.' }),
  policies: facts
    .optional()
    .meta({ description: 'With when: the policies that it asks for, as in "every day at 8 until done".' }),
  timezone: z.string().optional().meta({ description: 'With when: the zone it was read in, or the one it names.' }),
  assumed: assumed.optional(),
  for_whom: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'With when: the @name at its beginning; null without one.' }),
});

export const scheduleOperations = {
  previewSchedule: operation('post', '/v1/schedules/preview', {
    scope: 'read',
    tag: 'schedules',
    summary: 'Calculate a schedule without creating anything',
    body: previewBody,
    answer: previewAnswer,
  }),
} as const;
