import { nagEveryDefaultMs, nagEveryMaxMs, nagEveryMinMs, nagLimitDefault } from '../../../domain/limits.ts';
import { HOUR_MS, MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import { textAfter } from '../../../domain/when/remainder.ts';
import type { ConversationRooms } from '../conversation.ts';
import type { Kept } from '../kit/drafts.ts';
import { readOr, readTimeAlone, readWords, textIn, type ReadWords, type Speaking } from '../kit/reading.ts';

/**
 * What can be asked for beside the time and the text: "until done", "and nag me every 15 minutes", "urgent". It counts
 * right behind the time, and at the very end behind a comma or in brackets; everywhere else it is text, as in "bake until
 * done".
 */
type Policies = NonNullable<Kept['policies']>;

export interface Asked extends ReadWords {
  readonly policies: Policies | undefined;
}

type Rooms = Pick<ConversationRooms, 'preview' | 'clock'>;

const END = String.raw`(?![\p{L}\p{N}'])`;
const DONE = new RegExp(
  String.raw`(?:ask(?:\s+(?:me|us))?\s+)?(?:until|till|'?til)\s+(?:it(?:\s+is|['’]s)\s+)?(?:done|confirmed|(?:i|we|someone|somebody)\s+confirm(?:s|ed)?)${END}(?!\s+(?:with|by|or|but)${END})`,
  'iuy',
);
const NAG = new RegExp(
  String.raw`(?<verb>nag|remind|ask)(?:\s+(?:me|us))?(?:\s+again)?\s+(?:every|each)\s+(?:(?<count>\d{1,4})\s*)?(?<unit>m|mins?|minutes?|h|hrs?|hours?)${END}`,
  'iuy',
);
/** "Urgent" begins many a text, so it has to be set apart from it. */
const URGENT = /urgent(?=\s*[:\]]|\s*\n)/iy;
const JOIN = /\s*,?\s*(?:and\s+)?/iy;
const MARKS = /[\s,]*/y;
const OPEN = /[\s,]*\[\s*/y;
const CLOSE = /\s*\]/y;

/** Where one may begin: behind a blank, a comma or a bracket. */
const BEGIN = /[\s,[]+(?:and\s+)?(?=(?:ask|until|till|'?til|nag|remind|urgent)\b)/giu;
const LOOKED_AT = 260;

interface Clause {
  readonly begin: number;
  readonly end: number;
  readonly policies: Policies;
}

function taken(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function every({ groups }: RegExpExecArray): string | null {
  const unit = groups?.['unit']?.toLowerCase().startsWith('h') === true ? HOUR_MS : MINUTE_MS;
  const ms = Number(groups?.['count'] ?? 1) * unit;
  return ms < nagEveryMinMs || ms > nagEveryMaxMs ? null : `PT${ms / MINUTE_MS}M`;
}

interface Parts {
  done: boolean;
  every: string | null;
  urgent: boolean;
  isNag: boolean;
}

/** One part of a clause; answers with where it ends. */
function part(text: string, at: number, parts: Parts): number | null {
  const done = parts.done ? null : taken(DONE, text, at);
  if (done !== null) {
    parts.done = true;
    return at + done[0].length;
  }
  const nag = parts.every === null ? taken(NAG, text, at) : null;
  if (nag !== null) {
    parts.every = every(nag);
    parts.isNag = nag.groups?.['verb']?.toLowerCase() === 'nag';
    return parts.every === null ? null : at + nag[0].length;
  }
  const urgent = parts.urgent ? null : taken(URGENT, text, at);
  if (urgent === null) return null;
  parts.urgent = true;
  return at + urgent[0].length;
}

/** The clause that begins with the blanks, the comma or the bracket there. */
function clauseAt(text: string, begin: number): Clause | null {
  const open = lengthOf(OPEN, text, begin);
  const first = begin + (open === 0 ? lengthOf(MARKS, text, begin) : open);
  const parts: Parts = { done: false, every: null, urgent: false, isNag: false };
  const last = partsEnd(text, first, parts);
  const close = open === 0 ? 0 : lengthOf(CLOSE, text, last);
  const isClosed = (open === 0) === (close === 0);
  return isWhole(parts) && isClosed ? { begin, end: last + close, policies: policiesOf(parts) } : null;
}

function lengthOf(pattern: RegExp, text: string, at: number): number {
  return taken(pattern, text, at)?.[0].length ?? 0;
}

function partsEnd(text: string, from: number, parts: Parts): number {
  for (let end = from; ;) {
    const next = part(text, end + lengthOf(JOIN, text, end), parts);
    if (next === null) return end;
    end = next;
  }
}

/** "Remind me every hour" alone may be what the text is about. */
function isWhole({ done, urgent, every: nagEvery, isNag }: Parts): boolean {
  return done || urgent || (nagEvery !== null && isNag);
}

function policiesOf({ done, every: nagEvery, urgent }: Parts): Policies {
  const asks = done || nagEvery !== null;
  return {
    ...(asks
      ? { ack: { nag_every: nagEvery ?? `PT${nagEveryDefaultMs / MINUTE_MS}M`, nag_limit: nagLimitDefault } }
      : {}),
    ...(urgent ? { quiet: { mode: 'off' as const } } : {}),
  };
}

function clausesIn(text: string): readonly Clause[] {
  return [...text.matchAll(BEGIN)].flatMap(({ index }) => clauseAt(text, index) ?? []);
}

/** At the very end, behind a comma or in brackets. */
function lastClause(words: string): Clause | null {
  const text = words.trimEnd();
  const from = Math.max(0, text.length - LOOKED_AT);
  const found = clausesIn(text.slice(from)).find(({ begin, end }) => {
    const mark = text
      .slice(from + begin)
      .trimStart()
      .charAt(0);
    return (mark === ',' || mark === '[') && /^[.!]?$/.test(text.slice(from + end));
  });
  return found === undefined ? null : { ...found, begin: from + found.begin, end: from + found.end };
}

/** Right behind the time: what stands before it is a time, and nothing else. */
function behindTime(words: string, speaking: Speaking, rooms: Rooms): Asked | null {
  const line = /^[^\n]*\n?/.exec(words.slice(0, LOOKED_AT))?.[0] ?? '';
  for (const { begin, end, policies } of clausesIn(line)) {
    const [time, behind] = [words.slice(0, begin), words.slice(end)];
    const alone = readOr(() => readTimeAlone(time, speaking, rooms));
    if (alone === null || textIn(alone) !== '') continue;
    // More of the time may follow, such as its zone or its last day.
    const whole = /^\s*\S/.test(behind) ? readOr(() => readWords(`${time}${behind}`, speaking, rooms)) : null;
    const read = whole ?? { ...alone, preview: { ...alone.preview, text: textAfter(behind, false) } };
    return { ...read, policies };
  }
  return null;
}

/** A time and a text with what is asked for beside them. `read` reads what is left without that. */
export function readAsked(
  words: string,
  { speaking, rooms }: { readonly speaking: Speaking; readonly rooms: Rooms },
  read: typeof readWords,
): Asked {
  const last = lastClause(words);
  const before = last === null ? words : words.slice(0, last.begin);
  const inside = behindTime(before, speaking, rooms);
  const policies = { ...inside?.policies, ...last?.policies };
  const asked = inside ?? read(before, speaking, rooms);
  return { ...asked, policies: Object.keys(policies).length === 0 ? undefined : policies };
}

/** What was there already, and what is asked for now. */
export function keptWith(kept: Kept, policies: Policies | undefined): Kept {
  return policies === undefined ? kept : { ...kept, policies: { ...kept.policies, ...policies } };
}
