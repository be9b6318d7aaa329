import type { Say } from '../english.ts';
import { momentOffers, Question, type Way } from '../faults.ts';
import { any, compiled, words } from '../languages/compiled.ts';
import { UNITS } from './amount.ts';
import type { Cursor } from './cursor.ts';

/** Words of time that leave something open, with the question about it. */
interface Vague {
  readonly is: 'vague';
  readonly isTurn?: boolean;
  readonly fault: Question;
}

const patterns = compiled(({ words: w, units }) => ({
  vague: words(
    String.raw`(?<wait>in\s+(?:a\s+(?:few|bit|while|moment)|some|several)(?:\s+(?<unit>${any(Object.values(units))}))?)|(?<rhythm>(?:every|each)\s+(?:few|couple(?:\s+of)?|so\s+often)(?:\s+(?<often>${any(Object.values(units))}))?)|soon|later(?!\s+than)|asap|sometime|someday|right\s+now|immediately`,
  ),
  nextSpan: words(
    String.raw`(?:sometime\s+)?(?:${w.next})\s+(?:(?<week>${units.week})|(?<month>${units.month})|(?<year>${units.year}))`,
  ),
  // "In 5 check oven" and "in five to check" lack the unit.
  noUnit: words(
    String.raw`in\s+(?:(?<count>\d{1,4})(?=\s*$|\s*[,:;.!?]|\s+to\s)|(?<figure>\d{1,3})(?=\s+\p{L})|(?<word>two|three|four|five|ten|fifteen|twenty|thirty)(?=\s*$|\s+to\s))`,
  ),
  dayEnd: words(
    String.raw`(?:by\s+|at\s+)?(?:the\s+)?(?:eod|cob|end\s+of\s+(?:the\s+|my\s+)?(?:work(?:ing)?\s*|business\s+)?day|close\s+of\s+(?:business|play))`,
  ),
  dayTurn: words(
    String.raw`(?:at|by|before|after|around)\s+(?:(?:tea|bed|dinner|supper|breakfast)\s?time|dawn|dusk|sunrise|sunset|sundown|breakfast|lunch|dinner|supper|bed)|(?:before|after)\s+(?:work|school)(?!\s+(?:club|care|trip|hours))|last\s+thing(?:\s+at\s+night)?`,
  ),
}));

/** `in 5` lacks its unit. */
export function unitless(cursor: Cursor): Vague | null {
  const begin = cursor.begin();
  const lone = cursor.take(patterns(cursor.language).noUnit)?.groups;
  const figure = lone?.['count'] ?? lone?.['figure'] ?? lone?.['word'];
  if (figure === undefined) return null;
  const ways = (['minutes', 'hours', 'days'] as const).map((unit): Way => ({
    text: (say) => say.offers[unit](figure),
    edits: [{ begin, end: cursor.at, text: `in ${figure} ${unit}` }],
  }));
  return { is: 'vague', fault: new Question((say) => say.whatUnit(figure), ways, ['unit']) };
}

/** `in a couple of hours` is a wait; what says no number is vague. */
export function vague(cursor: Cursor): Vague | null {
  const p = patterns(cursor.language);
  const begin = cursor.begin();
  const match = cursor.take(p.vague);
  if (match === null) return null;
  const { rhythm: isRhythm, unit, often, wait: waits } = match.groups ?? {};
  const name = UNITS.find((each) => each === (unit ?? often ?? 'day').replace(/s$/, '')) ?? 'day';
  const way = (text: Say, words: string): Way => ({ text, edits: [{ begin, end: cursor.at, text: words }] });
  const ways =
    isRhythm === undefined
      ? waits === undefined
        ? momentOffers.map(([offer, words]): Way => way((say) => say.offers[offer], words))
        : /^(?:hour|day|week|month)/.test(unit ?? '')
          ? [2, 3].map((count) => way((say) => say.offers.inUnits(count, name), `in ${count} ${name}s`))
          : [5, 10, 30].map((count) => way((say) => say.offers.inUnits(count, 'minute'), `in ${count} minutes`))
      : [2, 3].map((count) => way((say) => say.offers.everyUnits(count, name), `every ${count} ${name}s`));
  return {
    is: 'vague',
    fault: new Question((say) => (isRhythm === undefined ? say.when : say.howOften), ways, ['time']),
  };
}

const TURN_HOURS: ReadonlyArray<readonly [of: RegExp, ...hours: readonly string[]]> = [
  [/dawn|sunrise|breakfast|before\s+(?:work|school)/, '7:00', '8:00', '9:00'],
  [/lunch/, '12:00', '13:00', '14:00'],
  [/bed|last/, '21:00', '22:00', '23:00'],
  [/./, '17:00', '18:00', '20:00'],
];

/** `end of day` and `after lunch` are other hours for everybody. */
export function turnOfDay(cursor: Cursor): Vague | null {
  const p = patterns(cursor.language);
  const begin = cursor.begin();
  const said = (cursor.take(p.dayEnd) ?? cursor.take(p.dayTurn))?.[0].trim();
  if (said === undefined) return null;
  const [, ...hours] = TURN_HOURS.find(([of]) => of.test(said)) ?? [];
  const ways = hours.map((text) => ({ text, edits: [{ begin, end: cursor.at, text: `at ${text}` }] }));
  return { is: 'vague', isTurn: true, fault: new Question((say) => say.turnOfDay(said), ways, ['time']) };
}

const SPAN_OFFERS = {
  week: [
    ['monday', 'monday next week'],
    ['wednesday', 'wednesday next week'],
    ['friday', 'friday next week'],
  ],
  month: [
    ['first', 'the 1st of next month'],
    ['fifteenth', 'the 15th of next month'],
    ['lastDay', 'the last day of next month'],
  ],
  year: [['newYear', '1 january']],
} as const;

/** A whole span of days: the day in it is asked for. */
export function nextSpan(cursor: Cursor): Vague | { readonly is: 'week'; readonly fault: Question } | null {
  const begin = cursor.begin();
  const groups = cursor.take(patterns(cursor.language).nextSpan)?.groups;
  if (groups === undefined) return null;
  const span = groups['week'] === undefined ? (groups['month'] === undefined ? 'year' : 'month') : 'week';
  const ways = SPAN_OFFERS[span].map(([name, words]): Way => ({
    text: (say) => say.offers[name],
    edits: [{ begin, end: cursor.at, text: words }],
  }));
  const fault = new Question((say) => say.dayOfNext[span], ways, ['day']);
  return span === 'week' ? { is: 'week', fault } : { is: 'vague', fault };
}
