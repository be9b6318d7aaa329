import { iso } from '../../domain/schedule/time/calendar.ts';
import { parseInstant } from '../../domain/schedule/time/zone.ts';
import { CliFault, exitCodes, usage } from '../faults.ts';
import { lengthOf } from '../options.ts';
import type { Session } from '../session.ts';
import { hostZone } from '../times.ts';

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/i;

/**
 * An instant as people write it: with an offset as it stands, a length of time from now, else whatever the server reads as
 * a moment, on the clock of the zone.
 */
export async function instantOf(session: Session, text: string, timezone: string): Promise<string> {
  return (await momentOf(session, text, timezone)).at;
}

interface Moment {
  readonly at: string;
  /** No time of the day was said. */
  readonly isDay: boolean;
}

async function momentOf({ client }: Session, text: string, timezone: string): Promise<Moment> {
  if (instant.test(text)) return { at: iso(Date.parse(text)), isDay: false };
  const ms = lengthOf(text);
  if (ms !== null && /[a-z]/i.test(text)) return { at: iso((await client.now()) + ms), isDay: false };
  const {
    schedule,
    text: rest = '',
    assumed = [],
  } = await client.call('previewSchedule', {
    body: { when: text, timezone, count: 1 },
  });
  if (schedule.kind !== 'once' || schedule.once_at === null || rest.trim() !== '') {
    throw usage(`"${text.slice(0, 60)}" is no single moment. Write 2027-01-31T09:00:00Z, "monday 9:00" or 2h.`);
  }
  return { at: schedule.once_at, isDay: assumed.some(({ what }) => what === 'day') };
}

/** The same, where a day alone means one hour of it: a pause ends with the night, a snooze comes in the morning. */
export async function dayOrInstantOf(
  session: Session,
  text: string,
  { timezone, hour }: { readonly timezone: string; readonly hour: string },
): Promise<string> {
  const { at, isDay } = await momentOf(session, text, timezone);
  return isDay ? instantOf(session, `${text} at ${hour}`, timezone) : at;
}

const day = /^\d{4}-\d\d-\d\d$/;
const dayAndTime = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?$/i;

/** A day alone is its first minute. */
export function withTime<Text extends string | undefined>(text: Text): Text | string {
  return text !== undefined && day.test(text) ? `${text}T00:00` : text;
}

/**
 * The edge of a stretch of time that is looked at, which mostly lies in the past: a day, a day and a time on the clock of
 * the zone, an instant, or a length of time ago.
 */
export async function edgeOf(session: Session, text: string, timezone: string): Promise<string> {
  const written = withTime(text.trim());
  if (dayAndTime.test(written)) return iso(parseInstant(written, timezone, 'start_at'));
  const ms = lengthOf(written);
  if (ms !== null && /[a-z]/i.test(written)) return iso((await session.client.now()) - ms);
  try {
    return await instantOf(session, written, timezone);
  } catch (error) {
    if (!(error instanceof CliFault) || error.exitCode !== exitCodes.usage) throw error;
    const example = 'Write 2027-01-31, "2027-01-31 09:00", 2027-01-31T09:00:00Z, or 2h for two hours ago.';
    throw new CliFault(error.code, `"${text.slice(0, 60)}" is no moment that is known here. ${example}`, {
      exitCode: exitCodes.usage,
      cause: error,
    });
  }
}

/** The edges of a stretch that were typed. */
export async function stretchOf(
  session: Session,
  typed: { readonly from?: string | undefined; readonly to?: string | undefined },
) {
  const edge = (text: string | undefined) => (text === undefined ? undefined : edgeOf(session, text, hostZone()));
  return { from: await edge(typed.from), to: await edge(typed.to) };
}
