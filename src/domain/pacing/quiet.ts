import { DAY_MS, dayOfWall, HOUR_MS, MINUTE_MS } from '../schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../schedule/time/zone.ts';

/** Results wait in quiet hours for the end of them, or come without a sound. */
export type QuietMode = 'hold' | 'silent';

/** Clock times such as `22:00`. They may span midnight. */
export interface Quiet {
  readonly from: string;
  readonly to: string;
  readonly mode: QuietMode;
}

/** A task has quiet hours of its own, or `off` for what is urgent enough to be heard at any time. */
export interface QuietInput {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly mode: QuietMode | 'off';
}

const clock = /^([01]\d|2[0-3]):([0-5]\d)$/;

export function isClock(text: string): boolean {
  return clock.test(text);
}

/** The name of what is wrong with such hours; null when nothing is. */
export function quietFault({
  from,
  to,
  mode,
}: QuietInput): 'quietOffWithHours' | 'quietWithoutHours' | 'quietWithoutEnd' | null {
  if (mode === 'off') return from === undefined && to === undefined ? null : 'quietOffWithHours';
  if (from === undefined || to === undefined || !isClock(from) || !isClock(to)) return 'quietWithoutHours';
  return from === to ? 'quietWithoutEnd' : null;
}

/** The quiet hours that hold for a task: its own, else those of its chat; null when it may be heard at any time. */
export function quietFor(task: QuietInput | null, chat: Quiet | null): Quiet | null {
  if (task === null) return chat;
  const { from, to, mode } = task;
  return mode === 'off' || from === undefined || to === undefined ? null : { from, to, mode };
}

/**
 * The end of the quiet hours in which the instant lies; null when it lies in none. They begin at their first minute, and at
 * their last one they are over. An end that the clocks skip comes when they have jumped; one that they show twice, at the
 * first time.
 */
export function quietUntil({ from, to }: Quiet, timezone: string, instant: number): number | null {
  const today = dayOfWall(toWall(timezone, instant)) * DAY_MS;
  // Hours that began yesterday may still last.
  for (const day of [today - DAY_MS, today]) {
    const begin = resolveShifted(timezone, day + timeOf(from));
    const end = resolveShifted(timezone, (timeOf(to) > timeOf(from) ? day : day + DAY_MS) + timeOf(to));
    if (begin <= instant && instant < end) return end;
  }
  return null;
}

function timeOf(text: string): number {
  const [, hours = '0', minutes = '0'] = clock.exec(text) ?? [];
  return Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
}
