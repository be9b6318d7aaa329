import { z } from 'zod';
import * as limits from '../domain/limits.ts';
import { isTimezone } from '../domain/schedule/time/zone-name.ts';
import { operation, instant, instantSent, strict, text, timezone } from './operation.ts';

/** A field of another kind may be sent as null, so that a schedule that was read can be sent back. */
const absent = z.null().optional();

const kinds = 'a schedule is an object whose kind is once, cron, rrule or interval';

const once = strict({
  kind: z.literal('once'),
  once_at: z.string().meta({
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
  cron: z.string().meta({
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
  rrule: z.string().meta({
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
  interval: z.string().meta({
    description: 'An ISO-8601 duration.',
    example: 'PT15M',
  }),
  start_at: z.string().nullish().meta({ description: 'The anchor; the moment of the request when absent.' }),
  from: z.enum(['start', 'completion']).nullish(),
  timezone,
  once_at: absent,
  cron: absent,
  rrule: absent,
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

export const warning = strict({ code: z.string(), message: z.string() }).meta({ id: 'Warning' });

const previewShape = strict({
  schedule: scheduleInput.optional(),
  after: instantSent
    .optional()
    .meta({ description: 'With schedule: the runs after this instant; the present one when absent.' }),
  when: z.string().max(limits.instructionsLengthMax).optional().meta({
    description: 'A when in plain words, and the text behind it.',
    example: 'every weekday at 9:00 stand up',
  }),
  timezone: timezone.optional().meta({ description: 'With when: the IANA time zone in which it is read.' }),
  now: instantSent
    .optional()
    .meta({ description: 'With when: what "tomorrow" counts from; the present instant when absent.' }),
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

const previewBody = previewShape
  .superRefine((body, context) => {
    const fault = previewFault(body);
    if (fault !== null) context.addIssue({ code: 'custom', path: fault[0], message: fault[1] });
  })
  .meta({
    id: 'PreviewRequest',
    description: 'Either a schedule, or a when in plain words with the zone in which it is read.',
    anyOf: [{ required: ['schedule'] }, { required: ['when', 'timezone'] }],
    example: { when: 'every weekday at 9:00', timezone: 'Europe/Madrid', count: 3 },
  });

const previewAnswer = strict({
  next: z.array(instant),
  description: z.string(),
  min_gap_seconds: z.number().nullable(),
  warnings: z.array(warning),
  schedule: scheduleAnswer,
  text: z.string().optional().meta({ description: 'With when: the text behind it.' }),
  timezone: z.string().optional().meta({ description: 'With when: the zone it was read in, or the one it names.' }),
});

export const scheduleOperations = {
  previewSchedule: operation({
    tag: 'schedules',
    summary: 'Calculate a schedule without creating anything',
    method: 'post',
    path: '/v1/schedules/preview',
    body: previewBody,
    answer: previewAnswer,
  }),
} as const;
