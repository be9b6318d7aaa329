import { askDayAlone, askFour, askMonth, askMove, askSum, isSum } from './doubts.ts';
import { edited, Question } from './faults.ts';
import type { Language } from './languages/language.ts';
import { planOf } from './meaning/plan.ts';
import { isEnd } from './meaning/spans.ts';
import type { Bound } from './pieces/bounds.ts';
import { Cursor, type Line, plainLine } from './pieces/cursor.ts';
import { isElapsed, isShort, type Piece, pieceAt, type Run } from './pieces/piece.ts';

const START = /(?<![\p{L}\p{N}_'.,:/@#$€£&=+-])(?:[\p{L}\p{N}@~]|\+(?=\d)|\((?=\p{L}))|(?<=[\s(,][@(,])[\p{L}\p{N}]/gu;
const JOIN = /\s*,?\s*(?:(?:and|&)\s+(?:also\s+)?)?\(?/y;
const CLOSE = /\s*\)/y;
/** A text goes on behind a time only where a word ends. */
const EDGE = /(?=$|[\s:;,.!?()[\]"'@-]|\p{Extended_Pictographic}|\p{Cc})/uy;
const WORD_NEXT = /\s+(?:["'([]\s*)?[\p{L}\p{N}]/uy;
const HOUR_NEXT = /\s+(?:at\s+)?\d/uy;
const SHORT_WORD = /\s+[\p{L}\p{N}]/uy;

/** Some pieces behind a time, before a word, belong to neither for sure: "at 7 evening walk". */
function isDoubtful(piece: Piece, before: readonly Piece[], cursor: Cursor): boolean {
  const last = before.at(-1);
  switch (piece.is) {
    case 'days':
      return isSecondDay(piece, before, cursor);
    case 'times':
      return isBehind(last, 'times') && /^ *$/.test(cursor.text.slice(last?.end, piece.begin));
    case 'part':
      return !piece.isSaid && isBehind(last, 'times', 'wait') && cursor.has(SHORT_WORD);
    case 'rhythm':
      return piece.isAdverb && isBehind(last, 'times', 'days') && cursor.has(SHORT_WORD) && !cursor.has(HOUR_NEXT);
    default:
      return isOfText(piece, before);
  }
}

/** Beside an hour, "after lunch" and "for 30 minutes" tell of the matter itself. */
function isOfText(piece: Piece, before: readonly Piece[]): boolean {
  if (piece.is === 'vague') return piece.isTurn === true && before.some(({ is }) => is === 'times');
  return piece.is === 'bound' && before.length > 0 && isDuration(piece.bound, before);
}

/** "At 6pm for 30 minutes" tells how long the matter takes; only a rhythm of minutes or hours ends so soon. */
function isDuration(bound: Bound, before: readonly Piece[]): boolean {
  return bound.is === 'lasting' && isShort(bound.amount) && !isElapsed(before);
}

const ELAPSED_NEXT = /\s*,?\s*(?:every|each)\s+(?:\d|half|hour|quarter|minute|few|other\s+hour)/y;

/** Words before a time that are none: "cook 20 minutes at 7pm", "walk for 30 minutes at 6pm", "24.04 tomorrow". */
function isBeside([first, second]: readonly Piece[], cursor: Cursor): boolean {
  if (first?.is === 'bound') return second === undefined && isDuration(first.bound, []) && !cursor.has(ELAPSED_NEXT);
  if (first?.is === 'length') return second !== undefined && isShort(first.amount);
  const isFigure = first?.is === 'days' && first.isWeak && first.days.kind === 'date';
  return isFigure && second?.is === 'days' && second.days.kind === 'ahead';
}

/** "Movie night fri 8pm": behind a word of the text, and where the hour says all itself, a part of the day is text. */
function isTextPart([first, second]: readonly Piece[], cursor: Cursor): boolean {
  if (first?.is !== 'part' || second?.is !== 'days' || first.isSaid || first.plural) return false;
  const isBehindWord = /\p{L}\s$/u.test(cursor.text.slice(Math.max(0, first.begin - 2), first.begin));
  return isBehindWord && cursor.has(WHOLE_TIME_NEXT);
}

const WHOLE_TIME_NEXT = /\s*,?\s*(?:at\s+|@\s*)?(?:\d{1,2}(?:[:.]\d\d)?\s*[ap]\.?m|(?:1[3-9]|2[0-3])[:.]\d\d)/y;

function isBehind(last: Piece | undefined, ...kinds: ReadonlyArray<Piece['is']>): boolean {
  return last !== undefined && kinds.includes(last.is);
}

/** Behind a whole time, or "every day", a day before a word may begin the text: "every day at 9 monday report". */
function isSecondDay(piece: Extract<Piece, { is: 'days' }>, before: readonly Piece[], cursor: Cursor): boolean {
  const last = before.at(-1);
  // "17:00 mon-thu, 16:00 fri" has a time for each.
  const isEach = isBehind(last, 'times') && isBehind(before.at(-2), 'days') && last?.joint !== null;
  if (isEach || !before.some(({ is }) => is === 'days' || is === 'rhythm')) return false;
  if (piece.isWeak && !cursor.has(HOUR_NEXT)) return true;
  const isOne = piece.days.kind === 'weekdays' && piece.days.weekdays.length === 1 && !piece.days.plural;
  const isSaid = /^(?:on|this|next|and)\b|^,/.test(cursor.text.slice(piece.begin, piece.end).trimStart());
  return isOne && !isSaid && cursor.has(SHORT_WORD) && !cursor.has(HOUR_NEXT) && isWhole(piece, before, cursor);
}

function isWhole(piece: Piece, before: readonly Piece[], cursor: Cursor): boolean {
  const last = before.at(-1);
  if (before.some(({ is }) => is === 'times' || is === 'minutes' || is === 'hours')) return true;
  const isDaily = last?.is === 'rhythm' && last.rhythm.kind === 'calendar' && last.rhythm.unit === 'day';
  return isDaily && !isTimeNext(cursor, [...before, piece]);
}

function isTimeNext(cursor: Cursor, before: readonly Piece[]): boolean {
  const { at } = cursor;
  const piece = pieceAt(cursor, before);
  cursor.at = at;
  return piece !== null;
}

function jointOf(between: string): NonNullable<Piece['joint']> | null {
  return /\band\b|&/.test(between) ? 'and' : between.includes(',') ? 'comma' : null;
}

function runAt(cursor: Cursor, begin: number): { readonly pieces: readonly Piece[]; readonly end: number } | null {
  cursor.at = begin;
  const pieces: Piece[] = [];
  let end = begin;
  for (;;) {
    const before = cursor.at;
    if (pieces.length > 0) cursor.take(JOIN);
    const joined = cursor.at;
    const piece = pieceAt(cursor, pieces) ?? (joined === before ? null : plainPiece(cursor, before, pieces));
    if (piece === null || isDoubtful(piece, pieces, cursor) || !cursor.has(EDGE)) break;
    pieces.push({ ...piece, joint: jointOf(cursor.text.slice(before, piece.begin)) });
    if (pieces.length <= 2 && (isBeside(pieces, cursor) || isTextPart(pieces, cursor))) return null;
    if (cursor.text.slice(before, piece.end).includes('(')) cursor.take(CLOSE);
    end = cursor.at;
    if (pieces.length >= PIECES_MAX) break;
  }
  return pieces.length === 0 ? null : { pieces, end };
}

/** The joint may belong to the piece itself: `, until done`. */
function plainPiece(cursor: Cursor, at: number, pieces: readonly Piece[]): Piece | null {
  cursor.at = at;
  return pieceAt(cursor, pieces);
}

/** No time that a person writes has more parts. */
const PIECES_MAX = 24;

function runsIn({ plain, begin, end, language }: Line): readonly Run[] {
  const cursor = new Cursor(plain.slice(0, end + 1), language);
  const runs: Run[] = [];
  START.lastIndex = begin;
  for (;;) {
    const at = START.exec(cursor.text)?.index;
    if (at === undefined) return runs;
    const from = START.lastIndex - 1;
    const found = runAt(cursor, cursor.text.charAt(at) === '(' ? at : from);
    if (found === null) continue;
    const { pieces, end: last } = found;
    const start = pieces[0]?.begin ?? at;
    cursor.at = last;
    const isTail = /^[\s.!?)]*$/.test(plain.slice(last, last + 40)) && end - last < 40;
    const isHead = plain.slice(begin, start).trim() === '';
    runs.push({ begin: start, end: last, pieces, isHead, isTail, isFollowed: cursor.has(WORD_NEXT) });
    START.lastIndex = last;
  }
}

interface Has {
  readonly time: boolean;
  readonly day: boolean;
  readonly rhythm: boolean;
  readonly elapsed: boolean;
}

function has(pieces: readonly Piece[]): Has {
  const some = (...kinds: ReadonlyArray<Piece['is']>) => pieces.some(({ is }) => kinds.includes(is));
  return {
    time: some('times', 'wait', 'length', 'part'),
    day: some('days', 'rhythm', 'week', 'vague'),
    rhythm: some('rhythm') || pieces.some((piece) => piece.is === 'days' && comesBack(piece)),
    elapsed: pieces.some((piece) => piece.is === 'rhythm' && piece.rhythm.kind === 'elapsed'),
  };
}

function comesBack({ days }: Extract<Piece, { is: 'days' }>): boolean {
  if (days.kind === 'weekdays') return days.plural || days.weekdays.length > 1;
  return (days.kind === 'monthDays' || days.kind === 'nth') && (days.of === 'month' || days.of === 'quarter');
}

/** Words that say a time wherever they stand; others do so only beside such words, or alone. */
function isStrong(piece: Piece, run: Run): boolean {
  switch (piece.is) {
    case 'times':
    case 'wait':
    case 'hours':
    case 'minutes':
      return true;
    case 'rhythm':
      return !(piece.isAdverb && run.pieces.length === 1 && run.isFollowed);
    case 'days':
      return !piece.isWeak || run.pieces.length > 1;
    case 'part':
      return piece.isSaid;
    case 'vague':
    case 'week':
      return piece.fault instanceof Question;
    default:
      return false;
  }
}

/** A part of the day is less than an hour: "saturday night" may be the name of a film. */
function worth(run: Run): number {
  const { time, day, rhythm } = has(run.pieces);
  const isPart = run.pieces.every(({ is }) => is === 'days' || is === 'part');
  return (time ? (isPart ? 1 : 4) : 0) + (day ? 4 : 0) + (rhythm ? 2 : 0) + (run.isHead ? 3 : run.isTail ? 2 : 0);
}

/** Where no words say a time for sure, those at the beginning or at the end may. */
function isLone(run: Run): boolean {
  const [piece] = run.pieces;
  if (piece === undefined || !(run.isHead || run.isTail)) return false;
  if (piece.is === 'part') return run.isHead && run.isTail;
  if (piece.is === 'bound') return piece.bound.is === 'range';
  if (piece.is === 'days' && piece.days.kind === 'monthDays') return run.isTail || run.isHead === run.isTail;
  return piece.is === 'days' || piece.is === 'length' || piece.is === 'rhythm';
}

/** The runs that belong to the time, with their pieces; the others are text. */
export interface Chosen {
  readonly runs: readonly Run[];
  readonly pieces: readonly Piece[];
  /** No mark says that the rest is text. */
  readonly isOpen: boolean;
}

function isBound(piece: Piece): boolean {
  return piece.is === 'bound' || piece.is === 'policies';
}

/** True where this run says what the time lacks. */
function adds(run: Run, pieces: readonly Piece[]): boolean {
  const isEdge = run.isHead || run.isTail;
  const some = (...kinds: ReadonlyArray<Piece['is']>) => run.pieces.some(({ is }) => kinds.includes(is));
  if (some('vague', 'week', 'wait', 'length')) return false;
  if (run.pieces.every(isBound)) return isEdge && addsBounds(run, pieces);
  if (pieces.some(({ is }) => is === 'wait')) return isEdge && addsHour(run, pieces);
  const known = has(pieces);
  if (some('hours', 'minutes')) return known.elapsed && !has(run.pieces).day;
  return addsTime(run, known);
}

function addsBounds(run: Run, pieces: readonly Piece[]): boolean {
  return has(pieces).rhythm && run.pieces.every((piece) => isFittingBound(piece, pieces));
}

/** "In 3 days call mum at 9" has its hour at the end. */
function addsHour(run: Run, pieces: readonly Piece[]): boolean {
  const { time, day } = has(run.pieces);
  return time && !day && pieces.every((piece) => piece.is !== 'wait' || !isShort(piece.amount));
}

function addsTime(run: Run, known: Has): boolean {
  const own = has(run.pieces);
  const isStrongRun = run.pieces.some((piece) => isStrong(piece, run));
  if ((own.time && (known.time || known.elapsed)) || (own.day && known.day)) return false;
  if (own.day && !isStrongRun) return run.isHead;
  return (own.time || own.day) && (isStrongRun || run.isHead || run.isTail);
}

function isFittingBound(piece: Piece, pieces: readonly Piece[]): boolean {
  if (piece.is !== 'bound') return true;
  const { bound } = piece;
  if (pieces.some((other) => other.is === 'bound' && other.bound.is === bound.is && bound.is !== 'except'))
    return false;
  return bound.is !== 'lasting' || isEnd(planOf(pieces), bound.amount);
}

/** Behind such a mark stands text, whatever it looks like; only an end or an exception of the series counts. */
const MARK = /\s*(?:[:!?]+|\.+(?!\d)|-+(?=\s+(?!\d)|$))/y;

function isMarked(plain: string, { end, isHead, isTail }: Run): boolean {
  MARK.lastIndex = end;
  return isHead && !isTail && MARK.test(plain);
}

/** The words that say when: those that stand together, and those that say what these lack. */
export function chosenIn(line: Line): Chosen | null {
  const runs = runsIn(line).filter((run) => !isNamedByHour(run, line));
  const strong = runs.filter((run) => run.pieces.some((piece) => isStrong(piece, run)));
  const candidates = strong.length > 0 ? strong : runs.filter(isLone);
  const head = candidates.find((run) => isMarked(line.plain, run));
  const [main] = head === undefined ? candidates.toSorted((a, b) => worth(b) - worth(a) || a.begin - b.begin) : [head];
  if (main === undefined) {
    const vague = runs.flatMap(({ pieces }) => pieces).find((piece) => piece.is === 'vague');
    if (vague !== undefined) throw vague.fault;
    askFour(line);
    askDayAlone(runs, line);
    askMonth(line);
    return null;
  }
  askSum(main, line);
  askMove(main, line);
  const taken = [main];
  let { pieces } = main;
  const others = runs.filter(
    (run) => run !== main && (head === undefined || (run.isTail && run.pieces.every(isEndPiece))),
  );
  for (const run of others.toSorted((a, b) => Number(b.isTail) - Number(a.isTail) || a.begin - b.begin)) {
    if (!adds(run, pieces) || isSum(run, line)) continue;
    taken.push(run);
    pieces = [...pieces, ...run.pieces].sort((a, b) => a.begin - b.begin);
  }
  refuseImpossible(others);
  taken.sort((a, b) => a.begin - b.begin);
  return { runs: taken, pieces, isOpen: head === undefined };
}

const ARTICLE_BEFORE = /(?:^|\s)(?:the|an?|my|our|your|his|her|their|that)\s+$/;

/** "Take the 8:15 train tomorrow" names a train by its hour. */
function isNamedByHour({ begin, pieces, isFollowed }: Run, { plain, begin: from }: Line): boolean {
  return isFollowed && pieces.every(({ is }) => is === 'times') && ARTICLE_BEFORE.test(plain.slice(from, begin));
}

function isEndPiece(piece: Piece): boolean {
  return (
    piece.is === 'bound' && (piece.bound.is === 'until' || piece.bound.is === 'except' || piece.bound.is === 'lasting')
  );
}

/** Stands for a time in front of words that only go with one. */
const BEFORE: readonly Piece[] = [
  {
    is: 'rhythm',
    isAdverb: false,
    rhythm: { kind: 'calendar', unit: 'day', every: 1, quarters: false },
    days: null,
    part: null,
    promised: null,
    begin: 0,
    end: 0,
  },
  { is: 'times', times: [], begin: 0, end: 0 },
];

function isAdded(piece: Piece): boolean {
  return isBound(piece) || piece.is === 'zone';
}

/** The pieces of words that go with a time and are none: "until friday", "except tomorrow", "in Tokyo". */
function addedIn(words: string, language: Language): readonly Piece[] | null {
  const cursor = new Cursor(`${words}\n`, language);
  const pieces: Piece[] = [];
  while (!/^[\s.!]*$/.test(cursor.text.slice(cursor.at))) {
    if (pieces.length > 0) cursor.take(JOIN);
    const piece = pieceAt(cursor, [...BEFORE, ...pieces]);
    if (piece === null || !isAdded(piece) || !cursor.has(EDGE) || pieces.length >= PIECES_MAX) return null;
    pieces.push(piece);
  }
  return pieces.length === 0 ? null : pieces;
}

/** A bound and a zone take the place of another one of their kind. */
function isReplaced(piece: Piece, by: readonly Piece[]): boolean {
  if (piece.is !== 'bound') return piece.is === 'zone' && by.some(({ is }) => is === 'zone');
  return (
    piece.bound.is !== 'except' && by.some((other) => other.is === 'bound' && isSameEdge(piece.bound, other.bound))
  );
}

const ENDS: ReadonlySet<Bound['is']> = new Set(['until', 'lasting', 'count', 'range']);
const STARTS: ReadonlySet<Bound['is']> = new Set(['starting', 'now', 'range']);

function isSameEdge({ is: one }: Bound, { is: other }: Bound): boolean {
  return [ENDS, STARTS].some((edges) => edges.has(one) && edges.has(other));
}

/** A time with words that only go with one, in the place of those that it has; null for words of any other kind. */
export function withAdded(time: string, words: string, language: Language): string | null {
  const added = addedIn(plainLine(words), language);
  if (added === null) return null;
  const plain = plainLine(time);
  const chosen = chosenIn({ plain: `${plain}\n`, begin: 0, end: plain.length, language });
  const pieces = chosen?.pieces ?? [];
  const gone = pieces.filter((piece) => isReplaced(piece, added)).map(({ begin, end }) => ({ begin, end, text: '' }));
  // A zone stands right behind the hour, and everything else at the end.
  const hour = added[0]?.is === 'zone' ? pieces.findLast(({ is }) => is === 'times') : undefined;
  const at = hour?.end ?? time.length;
  return edited(time, [...gone, { begin: at, end: at, text: ` ${words}` }]).trim();
}

const IMPOSSIBLE: ReadonlySet<unknown> = new Set(['no_such_time', 'no_such_date']);

/** A time that no clock shows is no text either. */
function refuseImpossible(runs: readonly Run[]): void {
  for (const piece of runs.flatMap((run) => run.pieces)) {
    if (piece.is !== 'vague' || piece.fault instanceof Question) continue;
    if (IMPOSSIBLE.has(piece.fault.details?.['reason'])) throw piece.fault;
  }
}
