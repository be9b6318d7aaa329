import { parseSchedule, type Schedule } from '../schedule/schedule.ts';
import { iso, weekdayOf } from '../schedule/time/calendar.ts';
import type { AskedPolicies } from './beside.ts';
import { eitherQuestion } from './doubts.ts';
import { Question, refusal, type Way, momentOffers } from './faults.ts';
import { type Chosen, chosenIn } from './find.ts';
import { languagesOf } from './languages/compiled.ts';
import type { Language } from './languages/language.ts';
import { suspectIn, type Beside, type Leftover, type Suspect } from './leftover.ts';
import { machineRead } from './machine.ts';
import { type Manners, mannersAt, politeless } from './manners.ts';
import { meaningOf } from './meaning/meaning.ts';
import { type Plan, planOf } from './meaning/plan.ts';
import { dayLabel, type Note, type Reading, today } from './meaning/reading.ts';
import type { Line } from './pieces/cursor.ts';
import { plainLine } from './pieces/cursor.ts';
import type { Run } from './pieces/piece.ts';
import type { Setting } from './setting.ts';

/** A text taken apart: its time, and the words that are left of it. */
export interface WordsRead {
  readonly schedule: Schedule;
  readonly words: string;
  readonly text: string;
  readonly policies: AskedPolicies;
  readonly notes: readonly Note[];
  readonly forWhom: string | null;
}

/** So many letters are looked at from the beginning of a line, and as many from its end. */
const WINDOW = 240;

/** Small letters of one line, in its place among all that was written; the middle of a long line is not looked at. */
function lineOf(whole: string, begin: number, language: Language): Line {
  const newline = whole.indexOf('\n', begin);
  const end = newline === -1 ? whole.length : newline;
  const plain = plainLine(unlinked(whole.slice(begin, end)));
  const isLong = plain.length > 2 * WINDOW;
  const seen = isLong
    ? `${plain.slice(0, WINDOW)}${'\0'.repeat(plain.length - 2 * WINDOW)}${plain.slice(-WINDOW)}`
    : plain;
  // The end of the line stands behind it: "urgent" counts there.
  return { plain: `${'\0'.repeat(begin)}${seen}${newline === -1 ? '' : '\n'}`, begin, end, language };
}

/** Addresses of pages and people hold figures that are no times, and so do the names of sites: `monday.com`. */
function unlinked(line: string): string {
  const plain = line.replaceAll(SITE, (name) => '\0'.repeat(name.length));
  return plain.slice(0, 2 * WINDOW).includes('://') || plain.includes('@')
    ? plain.replaceAll(/\S*(?:[a-z]:\/\/|\w@\w+\.[a-z])\S*/gi, (link) => '\0'.repeat(link.length))
    : plain;
}

const SITE = /(?<![\w.@/-])[a-z][\w-]{0,40}\.(?:com|org|net|io|dev|app|info|gov|edu)(?![\w-])/gi;

/** Reads in the language of the setting, and then in English. */
export function wordsRead(whole: string, setting: Setting): WordsRead | null {
  for (const language of languagesOf(setting.language, setting.languages)) {
    const found = readIn(whole, language, setting);
    if (found !== null) return found;
  }
  return null;
}

function readIn(whole: string, language: Language, setting: Setting): WordsRead | null {
  const manners = mannersAt(whole, 0, language);
  const machine = machineRead(whole, manners.end, setting);
  if (machine !== null) {
    const { schedule, end, notes = [] } = machine;
    const line = lineOf(whole, manners.end, language);
    const text = politeless(whole.slice(end), manners.reminds, language);
    askLeftover(
      {
        line,
        whole,
        spans: [{ begin: manners.end, end }],
        isSeries: true,
        endsBare: false,
        endsOpen: false,
        hasDay: true,
        lacksHour: false,
      },
      '',
    );
    return {
      schedule,
      words: whole.slice(manners.end, end).trim(),
      text,
      policies: {},
      notes,
      forWhom: manners.forWhom,
    };
  }
  const first = lineOf(whole, manners.end, language);
  const chosen = chosenIn(first);
  if (chosen !== null) return readChosen({ chosen, line: first, whole, manners, setting });
  const lastAt = whole.lastIndexOf('\n') + 1;
  if (lastAt === 0) return null;
  const line = lineOf(whole, lastAt, language);
  const last = chosenIn(line);
  return last === null || !last.runs.some(({ isTail }) => isTail)
    ? null
    : readChosen({ chosen: last, line, whole, manners, setting });
}

interface Choice {
  readonly chosen: Chosen;
  readonly line: Line;
  readonly whole: string;
  readonly manners: Manners;
  readonly setting: Setting;
}

function readChosen({ chosen, line, whole, manners, setting }: Choice): WordsRead {
  const { pieces, runs } = chosen;
  const ledOf = ({ begin, end }: Span) => ({ begin: led(whole, manners.end, begin), end });
  const said = runs.map(ledOf).map(({ begin, end }) => whole.slice(begin, end).trim());
  const words = said.join(' ');
  const spans = runs.flatMap((run) => withoutName(run, runs)).map(ledOf);
  const text = textOf(whole, spans, manners, line.language);
  try {
    const plan = planOf(pieces);
    const reading: Reading = {
      setting: { ...setting, timezone: plan.timezone ?? setting.timezone },
      whole,
      text,
      notes: [],
      kept: '',
      maxRuns: null,
    };
    const schedule = asOffset(meaningOf(plan, reading), plan, setting);
    const isSeries = schedule.kind !== 'once';
    const hasDay = pieces.some(({ is }) => is === 'days' || is === 'rhythm' || is === 'wait');
    // "At 14 morning run" cannot be in the morning.
    const isParted = plan.groups.some(({ part }) => part !== null);
    const endsOpen = !isParted && !/(?:^|\D)(?:1[3-9]|2\d|0\d?)(?:[:.h]?\d\d)?$|[ap]\.?m\.?$/i.test(words);
    const endsBare = /(?:^|\s|@)\d{1,2}$|\d\s*(?:h|hours?)$/i.test(words);
    const policies = { ...plan.policies, ...(reading.maxRuns === null ? {} : { max_runs: reading.maxRuns }) };
    const own = reading.kept === '' || text === '' ? text : `${text}\n(${reading.kept})`;
    const found = { schedule, words, text: own, policies, notes: reading.notes, forWhom: manners.forWhom };
    if (plan.doubtfulZone !== null && plan.timezone !== setting.timezone)
      reading.notes.push(zoneNote(plan.doubtfulZone, { line, whole, spans }));
    noteShortDay(runs, reading, { line, whole, spans });
    const lacksHour = reading.notes.some(({ what }) => what === 'day' || what === 'part');
    if (chosen.isOpen) askLeftover({ line, whole, spans, isSeries, endsBare, endsOpen, hasDay, lacksHour }, words);
    return found;
  } catch (error) {
    if (!(error instanceof Question)) throw error;
    // "First sunday after easter" has more to ask than "every month, or once?".
    const beside = { isSeries: true, endsBare: false, endsOpen: false, hasDay: true, lacksHour: false };
    if (error.missing.length === 0 && chosen.isOpen) askLeftover({ line, whole, spans, ...beside }, words);
    if (error.sofar === '') error.sofar = words;
    throw error;
  }
}

/** "Friday film night" comes at night, and the night is a part of its name: no other word says that it is a time. */
function withoutName({ pieces, isHead, begin, end }: Run, runs: readonly Run[]): readonly Span[] {
  const [piece, next] = pieces;
  const isTime = isHead || (next === undefined && runs.length === 1) || runs.some((other) => other.end === begin);
  if (piece?.is !== 'part' || piece.isSaid || isTime) return [{ begin, end }];
  return next === undefined ? [] : [{ begin: next.begin, end }];
}

/** A distance from UTC is clear for a moment; a series needs a place, whose clocks change. */
function asOffset(schedule: Schedule, { isOffset }: Plan, { timezone, now }: Setting): Schedule {
  if (!isOffset) return schedule;
  if (schedule.kind !== 'once') throw refusal('zone', 'zone_offset', (say) => say.offset);
  return parseSchedule({ kind: 'once', once_at: iso(schedule.onceAt), timezone }, now);
}

const SPOKEN_HOUR = /^(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$/i;

/** "Before 9" is offered as 9, and 930 behind a day as 9:30. */
function hourOf(said: string): string {
  if (SPOKEN_HOUR.test(said)) return `at ${said}`;
  const { hour, minute } = /^(?<hour>[1-9])(?<minute>[0-5]\d)$/.exec(said)?.groups ?? {};
  if (hour !== undefined) return `at ${hour}:${minute ?? ''}`;
  return said.replace(/^(?:before|after|by|around|about|past)\s+(?=\d)/i, 'at ');
}

/** A preposition that stands before the time goes with it: "by 5pm", "for friday". */
const LEADS = /(?:^|\s)(?:by|on|at)\s+$|^(?:for|about)\s+$/i;

function led(whole: string, from: number, begin: number): number {
  if (/^(?:at|on|by|@)/i.test(whole.slice(begin, begin + 2))) return begin;
  const lead = LEADS.exec(whole.slice(Math.max(from, begin - 12), begin))?.[0];
  return lead === undefined ? begin : begin - lead.trimStart().length;
}

/** "Sun cream at 11" is for a Sunday, or tells of cream. */
function noteShortDay(
  runs: readonly Run[],
  { notes, setting }: Reading,
  at: Pick<Left, 'line' | 'whole' | 'spans'>,
): void {
  const alone = runs.find(({ pieces, isFollowed }) => {
    const [piece] = pieces;
    return pieces.length === 1 && isFollowed && piece?.is === 'days' && piece.isWeak && piece.days.kind === 'weekdays';
  });
  const [day] = alone?.pieces ?? [];
  if (alone === undefined || runs.length < 2 || day?.is !== 'days' || day.days.kind !== 'weekdays') return;
  const [weekday = 0] = day.days.weekdays;
  // "Fri" and "mon" are no other words.
  if (weekday !== 0 && weekday !== 6) return;
  const ahead = (weekday - weekdayOf(today(setting)) + 7) % 7;
  notes.push({ what: 'date', text: dayLabel(today(setting) + ahead, setting), other: asText(alone, at) });
}

/** `at 9 Rome flight`: the place right behind the time is its zone, and could begin the text. */
function zoneNote(place: Span, at: Pick<Left, 'line' | 'whole' | 'spans'>): Note {
  const said = at.whole.slice(place.begin, place.end);
  return { what: 'zone', text: (say) => say.zoneOf(said), other: asText(place, at) };
}

/** Words of the time, read as words of the text. */
function asText(place: Span, { line, whole, spans }: Pick<Left, 'line' | 'whole' | 'spans'>): Way {
  const said = whole.slice(place.begin, place.end).trim();
  const parts = spans.flatMap(({ begin, end }) =>
    place.begin < begin || place.end > end
      ? [{ begin, end }]
      : [
          { begin, end: place.begin },
          { begin: place.end, end },
        ],
  );
  const time = parts.map(({ begin, end }) => whole.slice(begin, end).trim()).join(' ');
  const edits = parts.map((part) => ({ ...part, text: '' }));
  return {
    text: (say) => say.offers.isText(said),
    edits: [{ begin: line.begin, end: line.begin, text: `${time.trim()}\n` }, ...edits],
  };
}

/** The pieces of text between the times, joined. */
function textOf(whole: string, spans: readonly Span[], manners: Manners, language: Language): string {
  const parts: string[] = [];
  let from = manners.end;
  for (const { begin, end } of spans) {
    parts.push(whole.slice(from, begin));
    from = end;
  }
  // A mark alone behind the time ends the sentence of which it was a part.
  const end = whole.slice(from);
  const [head = '', ...rest]: readonly string[] = [...parts, /^[\s.!?)]+$/.test(end) ? '' : end];
  const joined = rest.reduce((text, part) => {
    const [own, behind] = unwrapped(text, part);
    const before = withoutMarks(own);
    if (before === '') return behind;
    if (/^[\s.,;:!?-]+$/.test(part)) return before;
    return `${before}${/^\s*\n/.test(behind) ? '\n' : ' '}${behind.replace(/^[\s,;:)|]+/, '')}`;
  }, head);
  return politeless(withoutEnd(joined, rest.at(-1)?.trim() === ''), manners.reminds, language);
}

const WRAPS: Readonly<Record<string, string>> = { '[': ']', '"': '"', '“': '”', '(': ')' };

/** Brackets and quotes around the time go with it. */
function unwrapped(before: string, behind: string): readonly [before: string, behind: string] {
  const [own, next] = [before.trimEnd(), behind.trimStart()];
  const close = WRAPS[own.at(-1) ?? ''];
  return close !== undefined && next.startsWith(close) ? [own.slice(0, -1), next.slice(1)] : [before, behind];
}

/** Without the comma or the dash before the time. By hand, because a pattern would look at a long row of dashes again and again. */
function withoutMarks(text: string): string {
  let end = text.length;
  while (end > 0 && /[\s,;:(|–—-]/u.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function withoutEnd(text: string, isLast: boolean): string {
  return isLast ? withoutMarks(text) : text;
}

interface Span {
  readonly begin: number;
  readonly end: number;
}

interface Left extends Beside {
  readonly line: Line;
  readonly whole: string;
  readonly spans: readonly Span[];
}

function leftoversOf({ line, spans }: Left): readonly Leftover[] {
  const { plain: text, begin, end, language } = line;
  const edges = [begin, ...spans.flatMap((span) => [span.begin, span.end]), end];
  return Array.from({ length: spans.length + 1 }, (_none, index) => ({
    text,
    words: language.leftovers,
    begin: edges[2 * index] ?? begin,
    end: edges[2 * index + 1] ?? end,
    isBehind: index > 0,
    isBefore: index < spans.length,
  }));
}

const MARKED = /^\s*(?:[:;!?]+|\.+(?!\d)|-+(?=\s|$))/;

/**
 * The second look at what is left as text. What looks like time there is asked about: as a part of the time, where it can be
 * one, or as text.
 */
function askLeftover(left: Left, sofar: string): void {
  for (const leftover of leftoversOf(left)) {
    if (leftover.isBehind && MARKED.test(left.line.plain.slice(leftover.begin, leftover.end))) continue;
    const suspect = unknownPlace(leftover, left) ?? suspectIn(leftover, left);
    if (suspect !== null && !isQuoted(suspect, left.line)) throw leftQuestion(suspect, left, sofar);
  }
}

/** Tell sam "see you at 8" holds somebody's words. */
function isQuoted({ begin, end }: Span, { plain, begin: from }: Line): boolean {
  const isInside = plain.slice(from, begin).split('"').length % 2 === 0;
  return isInside && plain.slice(end).split('\n', 1)[0]?.includes('"') === true;
}

/** A name with a capital behind "in", right behind the time, stands where a zone does. Rooms and their like are none. */
const PLACE =
  /^\s+in\s+(?!(?:Room|Building|Hall|Office|Studio|Lab|Zoom|Teams|Slack|Discord|Skype|Meet|Google|Court|House|Class|Terminal|Gate|Platform|Hospital|School|January|February|March|April|May|June|July|August|September|October|November|December)\b)\p{Lu}\p{Ll}+(?=\s+\p{Ll}|\s*$)/u;

function unknownPlace({ begin, end, isBehind }: Leftover, { whole }: Left): Suspect | null {
  const found = isBehind ? PLACE.exec(whole.slice(begin, end))?.[0] : undefined;
  if (found === undefined) return null;
  return { begin: begin + found.length - found.trimStart().length, end: begin + found.length, isDangling: false };
}

function timeOf(spans: readonly Span[], { plain }: Line): string {
  return spans.map(({ begin, end }) => plain.slice(begin, end).trim()).join(' ');
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** "8 30" and "no, seven" end in the hour of the time behind them. */
const HOUR_LAST =
  /(?<=^|no,?\s)(?:\d{1,2}(?:\s\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$/i;

/** "Nex friday 9 x" has its text behind the time; of "tickets for monday" all of it is the text. */
function danglingQuestion(
  { begin, end }: Span,
  { whole, spans, line }: Pick<Left, 'line' | 'whole' | 'spans'>,
): Question {
  const at = { begin: line.begin, end: line.begin };
  const written = timeOf(spans, line);
  const isFirst = whole.slice(line.begin, begin).trim() === '';
  const hour = isFirst ? HOUR_LAST.exec(whole.slice(begin, end).trim())?.[0].replace(/\s/, ':') : undefined;
  const meant = hour === undefined ? written : `${written} at ${hour}`;
  const gone = isFirst ? [{ begin, end, text: '' }, ...spans.map((span) => ({ ...span, text: '' }))] : [];
  const first: Way = { text: capital(meant), edits: [{ ...at, text: `${meant}\n` }, ...gone] };
  const others = momentOffers.filter(([, words]) => words !== meant);
  const ways = others.map(([name, words]): Way => ({
    text: (say) => capital(say.offers[name]),
    edits: [{ ...at, text: `${words}\n` }],
  }));
  return new Question((say) => say.whenToCome, [first, ...ways], ['time']);
}

function leftQuestion({ begin, end, isDangling }: Suspect, { whole, spans, line }: Left, sofar: string): Question {
  const said = whole.slice(begin, end).trim();
  if (isDangling) return danglingQuestion({ begin, end }, { whole, spans, line });
  if (/^(?:at|@)$/i.test(said)) {
    const ways = ['9:00', '12:00', '18:00'].map((text) => ({ text, edits: [{ begin: end, end, text: ` ${text}` }] }));
    return new Question((say) => say.whatTime, ways, ['time']);
  }
  const time = spans.map((span) => whole.slice(span.begin, span.end).trim()).join(' ');
  const either = eitherQuestion({ begin, end }, { whole, spans, line }, time);
  if (either !== null) return either;
  const outside = [
    { begin: line.begin, end: line.begin, text: `${time}\n` },
    ...spans.map((span) => ({ ...span, text: '' })),
  ];
  const asText: Way = { text: (say) => say.offers.isText(said), edits: outside };
  const asTime: Way = {
    text: (say) => say.offers.isTime(said),
    reads: hourOf(said) === said ? said : undefined,
    edits: [
      { begin: line.begin, end: line.begin, text: `${time} ${hourOf(said)}\n` },
      ...spans.map((span) => ({ ...span, text: '' })),
      { begin, end, text: '' },
    ],
  };
  const question = new Question((say) => say.belongs(said), [asTime, asText]);
  question.alone = (say) => say.cannotBelong(said);
  question.sofar = sofar === '' ? time : sofar;
  return question;
}
