import { clockText } from '../schedule/time/calendar.ts';
import type { Draft } from './draft.ts';
import { refusal } from './refusal.ts';

/** The runs of a rhythm inside a day, and the cron fields that say them, where there are some. */
export interface DayTimes {
  readonly times: readonly number[];
  readonly rhythm: string | null;
}

const DAY_MINUTES = 1_440;

function stepped(from: number, to: number, step: number): number[] {
  const times: number[] = [];
  for (let time = from; time <= to; time += step) times.push(time);
  return times;
}

function hourField(from: number, to: number, step: number): string {
  if (from === 0 && to === 24 - step) return step === 1 ? '*' : `*/${step}`;
  if (from === to) return String(from);
  return `${from}-${to}${step === 1 ? '' : `/${step}`}`;
}

/** Steps of whole hours: `0 8-18/2`. */
function hourSteps(times: readonly number[], minutes: readonly number[], step: number): string {
  const hours = times.map((time) => Math.floor(time / 60));
  return `${minutes.join()} ${hourField(hours[0] ?? 0, hours.at(-1) ?? 0, step / 60)}`;
}

/** Steps inside the hour, where the first and the last hour hold as many as the others: a quarter past 9 to 16:45. */
function minuteSteps(times: readonly number[], step: number): string | null {
  const [first = 0, last = 0] = [times[0], times.at(-1)];
  const isWhole = 60 % step === 0 && first % 60 < step && (last % 60) + step >= 60;
  if (!isWhole) return null;
  const minute = step === 1 ? '*' : first % 60 === 0 ? `*/${step}` : `${first % 60}-59/${step}`;
  return `${minute} ${hourField(Math.floor(first / 60), Math.floor(last / 60), 1)}`;
}

function fieldsOf(times: readonly number[], step: number): string | null {
  if (times.length === 1) return null;
  return step % 60 === 0 ? hourSteps(times, [(times[0] ?? 0) % 60], step) : minuteSteps(times, step);
}

/** Both ends belong to the hours: "every 2 hours from 8 to 18" runs at 8 and at 18. */
function betweenHours({ from, to }: NonNullable<Draft['hours']>, step: number): DayTimes {
  const [begin, end] = [from.minute, to.minute];
  if (to.open && begin <= DAY_MINUTES / 2 && begin > end) {
    throw refusal(
      'rhythm',
      'ambiguous_half',
      `From ${clockText(begin * 60)} to ${clockText(end * 60)} goes through the night; say am and pm, or write the hours on the clock of 24.`,
    );
  }
  if (begin <= end) {
    const times = stepped(begin, end, step);
    return { times, rhythm: fieldsOf(times, step) };
  }
  const times = stepped(begin, end + DAY_MINUTES, step).map((time) => time % DAY_MINUTES);
  return { times: [...new Set(times)].sort((a, b) => a - b), rhythm: null };
}

function atMinutes(draft: Draft, minutes: readonly number[], step: number): DayTimes {
  if (step !== 60 && draft.hours === null) {
    throw refusal('rhythm', 'which_hours', 'It is not said in which hours; say from when to when.');
  }
  if (step % 60 !== 0) throw refusal('rhythm', 'contradiction', 'Minutes of the hour go with a rhythm of hours.');
  const [from, to] = draft.hours === null ? [0, 23 * 60] : [draft.hours.from.minute, draft.hours.to.minute];
  if (from % 60 !== 0 || to % 60 !== 0 || from > to) {
    throw refusal('rhythm', 'contradiction', 'The minutes are named twice; write the hours without minutes.');
  }
  const hours = stepped(from, to, step);
  const times = hours.flatMap((hour) => minutes.map((minute) => hour + minute));
  const within = draft.hours === null ? times : times.filter((time) => time <= to);
  const isFull = within.length === times.length;
  return { times: within, rhythm: isFull ? hourSteps(hours, minutes, step) : null };
}

/** `every 15 minutes on weekdays` goes round the clock from midnight, so it has to come out even. */
function roundTheClock(step: number): DayTimes {
  if (DAY_MINUTES % step !== 0 || (step > 60 ? step % 60 !== 0 : 60 % step !== 0)) {
    throw refusal(
      'rhythm',
      'uneven_rhythm',
      'This rhythm does not come out even with the day; say from when to when it goes.',
    );
  }
  const times = stepped(0, DAY_MINUTES - 1, step);
  return { times, rhythm: fieldsOf(times, step) };
}

export function timesOfRhythm(draft: Draft, seconds: number): DayTimes {
  const step = seconds / 60;
  if (!Number.isInteger(step)) {
    throw refusal('rhythm', 'seconds', 'Inside certain hours or days a rhythm has whole minutes.');
  }
  if (step >= DAY_MINUTES)
    throw refusal('rhythm', 'contradiction', 'This rhythm is longer than the day; name times of the day.');
  if (draft.minutes !== null) return atMinutes(draft, draft.minutes, step);
  return draft.hours === null ? roundTheClock(step) : betweenHours(draft.hours, step);
}
