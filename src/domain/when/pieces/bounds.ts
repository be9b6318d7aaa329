import { monthLength } from '../../schedule/time/calendar.ts';
import { refusal } from '../faults.ts';
import { any, compiled, placeOf, valueOf, words } from '../languages/compiled.ts';
import { type Amount, amountAt } from './amount.ts';
import { type ClockTime, oneTime } from './clock.ts';
import type { Cursor } from './cursor.ts';
import { type Days, daysAt } from './days.ts';

/** An edge of a series: a day, a time of today, or the end of a span. */
export interface Edge {
  readonly days: Days | null;
  readonly time: ClockTime | null;
  readonly span: 'day' | 'week' | 'weekend' | 'month' | 'year' | null;
}

/** Days that are left out; each as it was written, `to` for a range. */
export type Except = ReadonlyArray<{ readonly days: Days; readonly to: Days | null } | { readonly month: number }>;

export type Bound =
  | { readonly is: 'until'; readonly edge: Edge }
  | { readonly is: 'starting'; readonly edge: Edge }
  /** `from 5 to 9 december`, `in december`. */
  | { readonly is: 'range'; readonly edge: Edge; readonly to: Edge }
  | { readonly is: 'lasting'; readonly amount: Amount }
  | { readonly is: 'count'; readonly count: number }
  | { readonly is: 'except'; readonly except: Except; readonly isShort: boolean }
  | { readonly is: 'now' };

const patterns = compiled(({ numbers, months, parts, words: w, units }) => ({
  until: words(
    String.raw`(?:${w.until}|${w.lastTime}(?:\s+(?:is|on|at))?|(?<=\bfrom\s[a-z0-9 ]{3,20}\s)to(?=\s+(?:the\s+)?(?:\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?)?${any(months)}))`,
  ),
  endOf: words(
    String.raw`(?:the\s+)?end\s+of\s+(?:the\s+|this\s+)?(?:(?<day>day)|(?<week>week)(?!end)|(?<weekend>weekend)|(?<month>month)|(?<year>year))`,
  ),
  starting: words(
    String.raw`(?:${w.starting})(?:\s+(?:on|from|at|in))?|${w.from}(?!\s+now)(?:\s+(?:on|the))?|as\s+from`,
  ),
  nowOn: words(String.raw`(?:${w.from}\s+(?:${w.now}|today)\s+on|(?:${w.starting})\s+(?:${w.now}|today))(?!\s+at)`),
  onwards: words('on(?:wards?)?(?=$|\\s+\\D|\\s*[,:;.])'),
  lasting: new RegExp(
    String.raw`\s*(?:${w.for}|over|during)\s+(?:(?:the|these)\s+)?(?:next\s+|coming\s+|following\s+)?(?=[\p{L}\d])`,
    'yu',
  ),
  theNext: words(String.raw`(?:the\s+)?next(?=\s+(?:\d|${any(Object.keys(numbers))}))`),
  unit: words(String.raw`(?:(?<week>${units.week})|(?<month>${units.month})|(?<year>${units.year}))`),
  times: words(
    String.raw`(?:for\s+)?(?:a\s+total\s+of\s+|the\s+next\s+)?(?<count>\d{1,5}|${any(Object.keys(numbers))})\s*(?:${w.times})(?:\s+(?:in\s+total|${w.only}))?`,
  ),
  timesBehind: words(String.raw`x\s?(?<count>\d{1,4})`),
  once: words(String.raw`(?:for\s+)?(?:(?<once>once)|(?<twice>twice))\s+${w.only}`),
  except: words(String.raw`\(?\s*(?:and\s+)?(?:${w.except})(?:\s+(?:on|in|from|for|at))?(?:\s+the(?=\s+\p{L}))?`),
  inMonth: words(
    String.raw`(?:in|during|throughout|of)\s+(?<name>${any(months)})(?!\s*(?:,|and|or|to|-|the|on|\d)(?![\p{L}]))`,
  ),
  months: words(
    String.raw`(?:(?:${w.from}|${w.between})\s+(?=\S+\s+(?:${w.to}|${w.and})\s)|(?:${w.starting})\s+(?:in\s+|from\s+)?)(?<from>${any(months)})(?:\s*(?:${w.to}|${w.and})\s*(?<to>${any(months)}))?(?!\s+\d)|(?:${w.through})\s+(?:the\s+end\s+of\s+)?(?<through>${any(months)})(?!\s+\d)`,
  ),
  close: /\s*\)/y,
  // The end of a day is its night.
  night: words(parts.night),
  month: words(String.raw`(?:in\s+)?(?<name>${any(months)})`),
  link: new RegExp(String.raw`\s*(?:,\s*(?:(?:${w.and}|or)\s+)?|(?:${w.and})\s+|or\s+)(?:on\s+|in\s+)?`, 'yu'),
  to: new RegExp(String.raw`\s*(?:to|-|until|till|'?til|through|thru)\s*`, 'yu'),
  and: words(w.and),
  between: words(w.between),
  from: words(w.from),
  rangeDays: new RegExp(
    String.raw`\s*(?<from>\d{1,2}(?:st|nd|rd|th)?(?:\s*(?:,|and)\s*\d{1,2}(?:st|nd|rd|th)?){0,12}?)\s*(?:(?<to>-|to|until|through)|,\s*(?:and\s)?|and)\s*(?=\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?${any(months)})`,
    'yu',
  ),
  rangeMonth: new RegExp(
    String.raw`\s*(?<month>${any(months)})\.?\s+(?<from>\d{1,2})(?:st|nd|rd|th)?\s*(?:-|to|until)\s*(?<to>\d{1,2})(?:st|nd|rd|th)?(?![\d:.]|\s?[ap]m)`,
    'yu',
  ),
}));

function edgeAt(cursor: Cursor): Edge | null {
  const end = cursor.take(patterns(cursor.language).endOf)?.groups;
  if (end !== undefined) {
    const span = (['day', 'weekend', 'week', 'month', 'year'] as const).find((name) => end[name] !== undefined);
    return { days: null, time: null, span: span ?? null };
  }
  const days = cursor.attempt(oneDay);
  if (days !== null) {
    cursor.take(patterns(cursor.language).night);
    return { days, time: cursor.attempt((at) => saidClock(at)), span: null };
  }
  const time = oneTime(cursor);
  return time === null ? null : { days: null, time, span: null };
}

const AT_NEXT = /\s*(?:at\s|@|\d{1,2}:\d\d)/y;

function saidClock(cursor: Cursor): ClockTime | null {
  return cursor.has(AT_NEXT) ? oneTime(cursor) : null;
}

/** A day that comes once: the first one that it names. */
function oneDay(cursor: Cursor): Days | null {
  const days = daysAt(cursor)?.days ?? null;
  if (days?.kind === 'weekdays')
    return days.weekdays.length === 1 || days.which !== 'any' || !days.plural ? days : null;
  return days;
}

function until(cursor: Cursor): Bound | null {
  const p = patterns(cursor.language);
  if (cursor.take(p.until) === null) return null;
  const edge = edgeAt(cursor);
  return edge === null ? null : { is: 'until', edge };
}

function starting(cursor: Cursor): Bound | null {
  const p = patterns(cursor.language);
  if (cursor.take(p.nowOn) !== null) return { is: 'now' };
  const isFrom = cursor.has(/\s*from\b/y);
  if (cursor.take(p.starting) === null) return null;
  const edge = edgeAt(cursor) ?? nextSpan(cursor);
  // "From 9 to 17" are the hours of a rhythm.
  if (edge === null || (isFrom && edge.time !== null && edge.days === null && cursor.has(p.to))) return null;
  cursor.take(p.onwards);
  return { is: 'starting', edge };
}

const NEXT_SPAN = words('next\\s+(?:(?<week>week)|(?<month>month)|(?<year>year))');

function nextSpan(cursor: Cursor): Edge | null {
  const groups = cursor.take(NEXT_SPAN)?.groups;
  if (groups === undefined) return null;
  return {
    days: null,
    time: null,
    span: groups['week'] === undefined ? (groups['month'] === undefined ? 'year' : 'month') : 'week',
  };
}

function lasting(cursor: Cursor): Bound | null {
  const p = patterns(cursor.language);
  if (cursor.take(p.lasting) === null && cursor.take(p.theNext) === null) return null;
  const amount = amountAt(cursor);
  if (amount !== null) return { is: 'lasting', amount };
  const unit = cursor.take(p.unit)?.groups;
  const name = (['week', 'month', 'year'] as const).find((each) => unit?.[each] !== undefined);
  return name === undefined ? null : { is: 'lasting', amount: [{ value: 1, unit: name }] };
}

function count(cursor: Cursor): Bound | null {
  const p = patterns(cursor.language);
  const found = (cursor.take(p.times) ?? cursor.take(p.timesBehind))?.groups?.['count'];
  if (found === undefined) {
    const only = cursor.take(p.once)?.groups;
    return only === undefined ? null : { is: 'count', count: only['twice'] === undefined ? 1 : 2 };
  }
  const value = valueOf(cursor.language.numbers, found);
  if (value === 0) throw refusal('end', 'zero', (say) => say.noRuns);
  return { is: 'count', count: value };
}

type Exception = Except[number];

/** Days with "and" between them are single days, and the ends of a range behind "between". */
function exceptionsAt(cursor: Cursor): readonly Exception[] | null {
  const p = patterns(cursor.language);
  const isBetween = cursor.take(p.between) !== null;
  const before = cursor.take(p.rangeDays)?.groups;
  const first = exceptionAt(cursor, isBetween);
  if (first === null || before === undefined || !('days' in first) || first.days.kind !== 'date') {
    return first === null || before !== undefined ? null : [first];
  }
  const { days } = first;
  const more = [...(before['from'] ?? '').matchAll(/\d+/g)].map(([day]) => ({
    ...days,
    date: { ...days.date, day: Number(day) },
  }));
  if (more.some(({ date: { day, month } }) => day < 1 || day > monthLength(2_000, month))) return null;
  const [from] = more;
  if (from !== undefined && more.length === 1 && (isBetween || before['to'] !== undefined))
    return [{ days: from, to: days }];
  return [...more, days].map((each) => ({ days: each, to: null }));
}

function exceptionAt(cursor: Cursor, isBetween: boolean): Exception | null {
  const p = patterns(cursor.language);
  const inMonth = cursor.take(p.rangeMonth)?.groups;
  if (inMonth !== undefined) return monthRange(cursor, inMonth);
  const found = daysAt(cursor)?.days ?? null;
  if (found === null) {
    const name = cursor.take(p.month)?.groups?.['name'];
    return name === undefined ? null : { month: monthOf(cursor, name) };
  }
  return { days: found, to: rangeEnd(cursor, found, isBetween) };
}

function rangeEnd(cursor: Cursor, { kind }: Days, isBetween: boolean): Days | null {
  if (kind !== 'date' && kind !== 'ahead') return null;
  const { to, and } = patterns(cursor.language);
  return cursor.attempt((at) => ((at.take(to) ?? (isBetween ? at.take(and) : null)) === null ? null : laterDay(at)));
}

function monthOf({ language }: Cursor, name: string): number {
  return placeOf(language.months, name) + 1;
}

/** `december 24 to 26`. */
function monthRange(cursor: Cursor, { month = '', from, to }: Readonly<Record<string, string | undefined>>): Exception {
  const made = (day: string | undefined): Days => ({
    kind: 'date',
    date: { year: null, month: monthOf(cursor, month), day: Number(day) },
    other: null,
    weekday: null,
    early: 0,
  });
  return { days: made(from), to: made(to) };
}

function laterDay(cursor: Cursor): Days | null {
  const days = daysAt(cursor)?.days ?? null;
  return days?.kind === 'date' || days?.kind === 'ahead' ? days : null;
}

function except(cursor: Cursor): Bound | null {
  const p = patterns(cursor.language);
  const lead = cursor.take(p.except)?.[0];
  if (lead === undefined) return null;
  const first = exceptionsAt(cursor);
  if (first === null) return null;
  const all = [...first];
  for (;;) {
    const next = cursor.attempt((at) => (at.take(p.link) === null ? null : exceptionsAt(at)));
    if (next === null) break;
    all.push(...next);
  }
  cursor.take(p.close);
  return { is: 'except', except: all, isShort: /^\s*(?:no|not|never)\b/.test(lead) };
}

function onDate(days: Days): Edge {
  return { days, time: null, span: null };
}

/** `5-9 december`, `from 1 dec to 24 dec`. */
function range(cursor: Cursor): Bound | null {
  cursor.take(patterns(cursor.language).from);
  const [found, more] = exceptionsAt(cursor) ?? [];
  if (found === undefined || more !== undefined || 'month' in found) return null;
  if (found.to === null || found.days.kind !== 'date') return null;
  return { is: 'range', edge: onDate(found.days), to: onDate(found.to) };
}

/** Behind what comes back: `every monday in december`, `from february to may`, `starting january`, `through december`. */
export function monthAt(cursor: Cursor): Bound | null {
  const p = patterns(cursor.language);
  const name = cursor.take(p.inMonth)?.groups?.['name'];
  if (name !== undefined) return { is: 'range', edge: edgeOfMonth(cursor, name, 1), to: edgeOfMonth(cursor, name, -1) };
  const { from, to, through } = cursor.take(p.months)?.groups ?? {};
  if (through !== undefined) return { is: 'until', edge: edgeOfMonth(cursor, through, -1) };
  if (from === undefined) return null;
  const edge = edgeOfMonth(cursor, from, 1);
  return to === undefined ? { is: 'starting', edge } : { is: 'range', edge, to: edgeOfMonth(cursor, to, -1) };
}

/** Its first day, or its last one. */
function edgeOfMonth(cursor: Cursor, name: string, day: 1 | -1): Edge {
  const date = { year: null, month: monthOf(cursor, name), day };
  return onDate({ kind: 'date', date, other: null, weekday: null, early: 0 });
}

const THIS_SPAN = words('this\\s+(?:(?<week>week)|(?<month>month)|(?<year>year))');

/** Behind what comes back: `every day this week`. */
export function thisSpanAt(cursor: Cursor): Bound | null {
  const groups = cursor.take(THIS_SPAN)?.groups;
  const span = (['week', 'month', 'year'] as const).find((name) => groups?.[name] !== undefined);
  return span === undefined ? null : { is: 'until', edge: { days: null, time: null, span } };
}

/** A start, an end, or what is left out. */
export function boundAt(cursor: Cursor): Bound | null {
  return cursor.first([except, range, until, count, lasting, starting]);
}
