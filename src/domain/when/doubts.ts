import { MONTH_NAMES, nth } from '../schedule/words/words.ts';
import { Question, momentOffers, type Way } from './faults.ts';
import { any, compiled, placeOf } from './languages/compiled.ts';
import type { Line } from './pieces/cursor.ts';
import type { Run } from './pieces/piece.ts';

/** Words that look like a time and may be none: sums, tasks that are moved, four figures. They are asked about. */

/** "Pay 8.45 every friday" names a sum, or an hour. */
const SUM_BEFORE =
  /\b(?:pays?|owes?|costs?|price|charge|transfer|deposit|spend|invoice|version|chapter|section|release|v)\s*$/;

export function isSum({ begin, pieces: [first] }: Run, { plain, begin: from }: Line): boolean {
  const said = first?.is === 'times' ? plain.slice(first.begin, first.end) : '';
  return /^\d+\.\d+$/.test(said) && SUM_BEFORE.test(plain.slice(from, begin));
}

export function askSum(run: Run, line: Line): void {
  const { plain, begin: from } = line;
  const { begin, end, pieces } = run;
  const [first, ...others] = pieces;
  if (first === undefined || !isSum(run, line)) return;
  const said = plain.slice(first.begin, first.end);
  const rest = plain.slice(others[0]?.begin ?? end, end);
  throw new Question(
    (say) => say.isTime(said),
    [
      { text: (say) => say.offers.aTime, edits: [{ begin, end: begin, text: 'at ' }] },
      {
        text: (say) => say.offers.text,
        edits: [
          { begin: from, end: from, text: `${rest === '' ? 'tomorrow' : rest}\n` },
          { begin: first.end, end, text: '' },
        ],
      },
    ],
  );
}

/** "Move it from monday to tuesday" tells of days, and not when it should come. */
const MOVES = /\b(?:moved?|re-?schedule[ds]?|shift(?:ed)?|postponed?|changed?)\b[^\n]{0,60}$/;

export function askMove({ begin }: Run, { plain, begin: from }: Line): void {
  if (!/^(?:from|to)\b/.test(plain.slice(begin).trimStart()) || !MOVES.test(plain.slice(from, begin))) return;
  const ways = momentOffers.map(([name, words]): Way => ({
    text: (say) => say.offers[name],
    edits: [{ begin: from, end: from, text: `${words}\n` }],
  }));
  throw new Question((say) => say.whenToCome, ways, ['time']);
}

/** "1730 leave" says no hour for sure, and nothing else in it is a time. */
const FOUR =
  /^\s*(?<figures>(?:1\d|2[0-3])[0-5]\d)(?=\s+\p{L})(?!\s+(?:hrs|hours|km|kg|mb|gb|people|euros?|dollars?|pounds?)\b)/u;

export function askFour({ plain, begin, end }: Line): void {
  const match = FOUR.exec(plain.slice(begin, end));
  const figures = match?.groups?.['figures'];
  if (match === null || figures === undefined) return;
  const to = begin + match[0].length;
  const clock = `${figures.slice(0, 2)}:${figures.slice(2)}`;
  throw new Question(
    (say) => say.isTheTime(figures),
    [
      { text: clock, edits: [{ begin: to - figures.length, end: to, text: clock }] },
      ...momentOffers.map(([name, words]): Way => ({
        text: (say) => say.offers.textAt(say.offers[name]),
        edits: [{ begin, end: begin, text: `${words}\n` }],
      })),
    ],
    ['time'],
  );
}

/** "20th pay the plumber" begins with a day, or with a number of something: "20th anniversary dinner". */
export function askDayAlone(runs: readonly Run[], { begin }: Line): void {
  const [first] = runs;
  const [piece, more] = first?.pieces ?? [];
  if (first?.isHead !== true || more !== undefined || piece?.is !== 'days' || piece.days.kind !== 'monthDays') return;
  const [day = 0] = piece.days.days;
  const said = nth(day);
  throw new Question(
    (say) => say.isTheDay(said),
    [
      {
        text: (say) => say.offers.onThe(said),
        edits: [{ begin: first.begin, end: first.end, text: `on the ${said}` }],
      },
      ...momentOffers.map(([name, words]): Way => ({
        text: (say) => say.offers.textAt(say.offers[name]),
        edits: [{ begin, end: begin, text: `${words}\n` }],
      })),
    ],
    ['time'],
  );
}

const monthPatterns = compiled(({ months, words: w }) => ({
  lead: new RegExp(String.raw`(?<![\p{L}\p{N}])(?:${w.inMonth})\s+(?<name>${any(months)})(?![\p{L}\p{N}'])`, 'iu'),
}));

/** "In december buy a tree" lacks the day. */
export function askMonth({ plain, begin, end, language }: Line): void {
  const match = monthPatterns(language).lead.exec(plain.slice(begin, end));
  const month = placeOf(language.months, match?.groups?.['name'] ?? '');
  if (match === null || month === -1) return;
  const at = begin + match.index;
  const name = (MONTH_NAMES[month] ?? '').toLowerCase();
  const ways = MONTH_DAYS.map(([offer, words]): Way => ({
    text: (say) => say.offers[offer],
    edits: [{ begin: at, end: at + match[0].length, text: `${words} ${name}` }],
  }));
  throw new Question((say) => say.dayOfMonth(month), ways, ['day']);
}

const MONTH_DAYS = [
  ['first', 'on the 1st of'],
  ['fifteenth', 'on the 15th of'],
  ['lastDay', 'on the last day of'],
] as const;

const EITHER_WORD = String.raw`\d[\d:.]*(?:\s?[ap]m)?|\p{L}+day|mon|tues?|wed|thu(?:rs)?|fri|sat|sun|noon|midnight|tomorrow|tonight`;
const EITHER = new RegExp(
  String.raw`(?<![\p{L}\d])(?<one>${EITHER_WORD})\s+or\s+(?<other>${EITHER_WORD})(?![\p{L}\d])`,
  'giu',
);

interface Span {
  readonly begin: number;
  readonly end: number;
}

/** "At 9 or 10", "monday or tuesday": one of the two. */
export function eitherQuestion(
  { begin, end }: Span,
  { whole, spans, line }: { readonly whole: string; readonly spans: readonly Span[]; readonly line: Line },
  time: string,
): Question | null {
  const match = [...whole.matchAll(EITHER)].find(
    ({ index, 0: text }) => index < end + 4 && index + text.length > begin,
  );
  const { one = '', other = '' } = match?.groups ?? {};
  if (match === undefined) return null;
  const last = match.index + match[0].length;
  // "9 or 10 tomorrow": a figure before the day is no hour by itself.
  const isBefore = spans.every((span) => span.begin > match.index) && /^\d+$/.test(one);
  const gone = [{ begin: match.index, end: last }, ...spans].map((span) => ({ ...span, text: '' }));
  const way = (said: string): Way => ({
    text: said,
    edits: isBefore
      ? [{ begin: line.begin, end: line.begin, text: `${time} at ${said}\n` }, ...gone]
      : [{ begin: match.index, end: last, text: said }],
  });
  return new Question((say) => say.whichTime(one, other), [way(one), way(other)]);
}
