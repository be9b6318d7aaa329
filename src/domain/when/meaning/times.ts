import { englishReader } from '../english.ts';
import { Question, refusal, type Way } from '../faults.ts';
import type { DayPart } from '../languages/language.ts';
import type { ClockTime } from '../pieces/clock.ts';
import { hourOfPart, type PartOfDay } from '../setting.ts';
import type { Group } from './plan.ts';
import { clock, type Reading, timeEdit } from './reading.ts';

/** The hours that a part of the day has on the clock of 24, and the ones that it moves there. */
const PARTS: Record<DayPart, { readonly own: readonly [number, number]; readonly moved: readonly [number, number] }> = {
  morning: { own: [0, 11], moved: [13, 12] },
  afternoon: { own: [12, 18], moved: [1, 6] },
  evening: { own: [16, 23], moved: [4, 11] },
  night: { own: [18, 23], moved: [6, 11] },
};

const NAMES: Readonly<Record<DayPart, PartOfDay>> = {
  morning: 'morning',
  afternoon: 'afternoon',
  evening: 'evening',
  night: 'tonight',
};

/** `9 in the evening` is 21:00, `2 at night` is 02:00; `9pm in the morning` is refused. */
function inPart({ minute, open }: ClockTime, part: DayPart): number {
  const hour = Math.floor(minute / 60);
  const { own, moved } = PARTS[part];
  if (part === 'night' && (hour < 6 || (hour === 12 && open))) return hour === 12 ? minute - 720 : minute;
  if (hour >= own[0] && hour <= own[1]) return minute;
  if (open && hour >= moved[0] && hour <= moved[1]) return minute + 720;
  throw refusal('clock', 'other_part', (say) => say.notInPart(clock(minute), part));
}

export function isAfternoon({ minute, open }: ClockTime): boolean {
  return open && minute >= 60 && minute < 7 * 60;
}

/** In "8 and 9pm" the first one may be in the evening as well. */
function askHalf(times: readonly ClockTime[], reading: Reading): void {
  const doubtful = times.find(
    ({ open, minute }) =>
      open &&
      !isAfternoon({ minute, open } as ClockTime) &&
      minute < 720 &&
      times.some((other) => other.half && other.minute > minute + 720),
  );
  if (doubtful === undefined) return;
  const way = (minute: number) => ({ text: clock(minute), edits: [timeEdit(doubtful, minute, reading)] });
  throw new Question(
    (say) => say.whichTime(clock(doubtful.minute), clock(doubtful.minute + 720)),
    [way(doubtful.minute), way(doubtful.minute + 720)],
  );
}

const DINNER = /\b(?:dinner|supper)\b/i;

/** Minutes since midnight of a time that was said. A bare 1 to 6 is the afternoon. */
export function minuteOf(time: ClockTime, part: DayPart | null, reading: Reading): number {
  if (time.named !== null)
    return time.named === 'noon' ? hourOfPart('noon', reading.setting) : hourOfPart('midnight', reading.setting);
  if (part !== null) return inPart(time, part);
  const { minute } = time;
  if (isAfternoon(time)) {
    const text = clock(minute);
    reading.notes.push({
      what: 'hour',
      text: clock(minute + 720),
      other: { text, edits: [timeEdit(time, minute, reading)] },
    });
    return minute + 720;
  }
  if (time.open && minute < 720 && DINNER.test(reading.text)) {
    const evening = { text: clock(minute + 720), edits: [timeEdit(time, minute + 720, reading)] };
    reading.notes.push({ what: 'hour', text: clock(minute), other: evening });
  } else if (time.assumed || time.about)
    reading.notes.push({ what: 'hour', text: clock(minute), other: otherThanHour(time, reading) });
  return minute;
}

/** The figure in "tomorrow 9 tickets" may count what the text is about. */
function otherThanHour({ begin, end, assumed }: ClockTime, { whole, text }: Reading) {
  const behind = /^\s+(\p{L}[\p{L}'-]*)/u.exec(whole.slice(end, end + 60))?.[1];
  if (!assumed || behind === undefined || !text.startsWith(behind)) return null;
  return { text: `“${whole.slice(begin, end)} ${behind}”`, edits: [{ begin, end: begin, text: '\n' }] };
}

/** The times of a group, ascending. A part of the day alone has an hour of its own, and so has a day alone. */
export function minutesOf(group: Group, reading: Reading): readonly number[] {
  const { times, part, days, promised } = group;
  const named = part ?? (days?.kind === 'ahead' && days.night ? 'night' : null);
  if (promised?.of === 'times' && (times?.length ?? 0) !== promised.count) {
    throw new Question((say) => say.whichTimes(promised.count), offers(promised.count, group), ['time']);
  }
  if (times === null) {
    const minute = hourOfPart(named === null ? 'morning' : NAMES[named], reading.setting);
    reading.notes.push({ what: named === null ? 'day' : 'part', text: clock(minute), other: null });
    return [minute];
  }
  askHalf(times, reading);
  return [...new Set(times.map((time) => minuteOf(time, named, reading)))].sort((a, b) => a - b);
}

const SPREAD: Readonly<Record<number, readonly string[]>> = {
  2: ['9:00', '21:00'],
  3: ['8:00', '14:00', '20:00'],
  4: ['8:00', '12:00', '16:00', '20:00'],
};

function offers(count: number, { end, times }: Group): readonly Way[] {
  const at = SPREAD[count];
  const [from, to] = [times?.[0]?.begin ?? end, times?.at(-1)?.end ?? end];
  return at === undefined
    ? []
    : [
        {
          text: (say) => say.offers.times(at),
          edits: [{ begin: from, end: to, text: `${times === null ? ' ' : ''}at ${englishReader.offers.times(at)}` }],
        },
      ];
}
