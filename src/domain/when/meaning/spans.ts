import { englishReader, type ReaderWords } from '../english.ts';
import { Question, type Way } from '../faults.ts';
import { spanOf } from '../pieces/amount.ts';
import type { Days } from '../pieces/days.ts';
import { boundsOf } from './edges.ts';
import type { Group, Plan } from './plan.ts';
import { clock, dayEdit, dayLabel, type Reading, today } from './reading.ts';
import { hoursOfDay } from './times.ts';

/** Hours and days from one to another, of something that lasts or of a series. */

/** Hours of a day that are as long may be those of a rhythm: "every weekday 9-17". */
const SPAN_MAX = 4 * 60;

/** A range of hours on a day is where something begins and ends. It comes when that begins, and the text keeps the hours. */
export function takeStart(group: Group, isSeries: boolean, reading: Reading): void {
  const { hours, rhythm } = group;
  if (hours === null || rhythm?.kind === 'elapsed') return;
  const { whole } = reading;
  const { from, to } = hours;
  const assumed: Reading['notes'] = [];
  const ends = hoursOfDay(group, { ...reading, notes: assumed });
  const begin = whole.slice(0, from.begin).replace(/(?:from|between)\s*$/i, '').length;
  const said = whole.slice(begin, to.end).trim();
  const way = (minute: number) => ({
    text: (say: ReaderWords) => say.offers.at(clock(minute)),
    edits: [
      {
        begin,
        end: to.end,
        text: `${begin === 0 ? '' : ' '}at ${clock(minute)}`.replace(
          /^ /,
          /\s$/.test(whole.slice(0, begin)) ? '' : ' ',
        ),
      },
      { begin: whole.length, end: whole.length, text: `\n(${said})` },
    ],
  });
  if (ends !== null) askIdiom(said, ends, way);
  if (ends === null || (isSeries && (ends.to - ends.from + 1_440) % 1_440 > SPAN_MAX))
    throw new Question((say) => say.whenToCome, ends === null ? [] : [way(ends.from), way(ends.to)]);
  Object.assign(group, { times: [{ ...from, minute: ends.from, open: false, half: true }], hours: null });
  const half = assumed.find(({ text }) => text === clock(ends.from));
  reading.notes.push(half ?? { what: 'hour', text: clock(ends.from), other: way(ends.to) });
  reading.kept = said;
}

/** "5 to 9" is 08:55 as well. */
function askIdiom(
  said: string,
  ends: { readonly from: number; readonly to: number },
  way: (minute: number) => Way,
): void {
  const before = /^(?<count>5|10|20|25)\s+to\s+\d{1,2}$/i.exec(said)?.groups?.['count'];
  if (before === undefined) return;
  const [idiom, start] = [way((ends.to % 720) - Number(before)), way(ends.from)];
  throw new Question((say) => say.whenToCome, [{ ...idiom, edits: idiom.edits.slice(0, 1) }, start]);
}

/** "5-9 december at 9" is every day of these, or when something begins that lasts so long. */
export function askRangeOfDays(plan: Plan, at: NonNullable<Plan['rangeAt']>, reading: Reading): never {
  const { starting } = boundsOf(plan, reading);
  const first = starting?.day ?? today(reading.setting);
  throw new Question(
    (say) => say.dailyOrOnce,
    [
      { text: (say) => say.offers.daily, edits: [{ begin: at.begin, end: at.begin, text: 'every day ' }] },
      { text: (say) => say.offers.once(dayLabel(first, reading.setting)(say)), edits: [dayEdit(at, first)] },
    ],
  );
}

export function askDaily(
  { boundsAt }: Plan,
  { daysAt, begin, end, times }: Group,
  days: Days,
  { whole, setting }: Reading,
): never {
  const span = { begin: daysAt?.begin ?? begin, end: daysAt?.end ?? end };
  const isAhead = days.kind === 'ahead';
  // English is read beside every language.
  const said = isAhead
    ? dayLabel(today(setting) + days.days, setting)(englishReader).slice(4)
    : whole.slice(span.begin, span.end);
  const text = `every day starting ${said.trim().replace(/^on\s+/i, '')}`;
  const bounds = boundsAt.map((at) => whole.slice(at.begin, at.end).trim()).join(' ');
  // A moment that is said whole may have an end in its text: "tomorrow at 9 until friday".
  const once: Way = {
    text: (say) => say.offers.onceOnly,
    edits: [
      ...boundsAt.map((at) => ({ ...at, text: '' })),
      { begin: whole.length, end: whole.length, text: `\n(${bounds})` },
    ],
  };
  const daily: Way = { text: (say) => say.offers.daily, edits: [{ ...span, text }] };
  if (times === null) throw new Question((say) => say.dailyUntil, [daily]);
  throw new Question((say) => say.dailyOrOnce, [daily, once]);
}

/** True where a length is no shorter than two turns of the rhythm: else it is how long the matter itself takes. */
export function isEnd({ groups: [first] }: Plan, lasting: NonNullable<Plan['lasting']>): boolean {
  const { months, days, seconds } = spanOf(lasting);
  const length = months * 30 * 86_400 + days * 86_400 + seconds;
  const { rhythm = null, days: named = null } = first ?? {};
  if (rhythm?.kind === 'elapsed') return length >= 2 * rhythm.seconds;
  const unit = rhythm?.unit ?? (named?.kind === 'weekdays' ? 'week' : 'month');
  const turn = { day: 1, week: named?.kind === 'weekdays' && named.weekdays.length > 1 ? 2 : 7, month: 30, year: 365 }[
    unit
  ];
  return length >= 2 * turn * (rhythm?.every ?? 1) * 86_400;
}
