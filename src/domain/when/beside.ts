import { nagEveryDefaultMs, nagEveryMaxMs, nagEveryMinMs, nagLimitDefault } from '../limits.ts';
import { HOUR_MS, MINUTE_MS } from '../schedule/time/calendar.ts';
import { durationText } from '../schedule/time/duration.ts';

/** The policies that words can ask for. */
export interface AskedPolicies {
  readonly ack?: { readonly nag_every: string; readonly nag_limit: number } | undefined;
  readonly quiet?: { readonly mode: 'off' } | undefined;
  /** "10 times", where several rhythms are counted together. */
  readonly max_runs?: number | undefined;
}

/** Words that ask for policies, and where they stand. */
export interface Beside {
  readonly begin: number;
  readonly end: number;
  readonly policies: AskedPolicies;
}

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

/** Further on no such words are looked for. */
const LOOKED_AT = 260;

function taken(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function lengthOf(pattern: RegExp, text: string, at: number): number {
  return taken(pattern, text, at)?.[0].length ?? 0;
}

function every({ groups }: RegExpExecArray): string | null {
  const unit = groups?.['unit']?.toLowerCase().startsWith('h') === true ? HOUR_MS : MINUTE_MS;
  const ms = Number(groups?.['count'] ?? 1) * unit;
  return ms < nagEveryMinMs || ms > nagEveryMaxMs ? null : durationText(ms);
}

interface Parts {
  done: boolean;
  every: string | null;
  urgent: boolean;
  isNag: boolean;
}

/** One part of such words; answers with where it ends. */
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

function policiesOf({ done, every: nagEvery, urgent }: Parts): AskedPolicies {
  const asks = done || nagEvery !== null;
  return {
    ...(asks ? { ack: { nag_every: nagEvery ?? durationText(nagEveryDefaultMs), nag_limit: nagLimitDefault } } : {}),
    ...(urgent ? { quiet: { mode: 'off' } } : {}),
  };
}

/** The words that begin with the blanks, the comma or the bracket there. */
export function besideAt(text: string, begin: number): Beside | null {
  const open = lengthOf(OPEN, text, begin);
  const first = begin + (open === 0 ? lengthOf(MARKS, text, begin) : open);
  const parts: Parts = { done: false, every: null, urgent: false, isNag: false };
  const last = partsEnd(text, first, parts);
  const close = open === 0 ? 0 : lengthOf(CLOSE, text, last);
  const isClosed = (open === 0) === (close === 0);
  return isWhole(parts) && isClosed ? { begin, end: last + close, policies: policiesOf(parts) } : null;
}

function besideIn(text: string): readonly Beside[] {
  return [...text.matchAll(BEGIN)].flatMap(({ index }) => besideAt(text, index) ?? []);
}

/** "Until done" alone ends a text without a comma as well; "wait until done" is the text's own. */
const UNMARKED = new RegExp(String.raw`^(?:[,[]|(?:and\s+)?(?:ask|until|till|'?til)${END})`, 'iu');
const WAITING = /(?:^|\s)(?:wait|stay|cook|bake|boil|roast|fry|grill|simmer)$/i;

/** At the very end, behind a comma, in brackets, or as plain words. */
export function besideLast(words: string): Beside | null {
  const text = words.trimEnd();
  const from = Math.max(0, text.length - LOOKED_AT);
  const found = besideIn(text.slice(from)).find(({ begin, end }) => {
    const isMarked = UNMARKED.test(text.slice(from + begin).trimStart());
    const isEnd = /^[.!]?$/.test(text.slice(from + end));
    return isMarked && isEnd && !WAITING.test(text.slice(0, from + begin));
  });
  return found === undefined ? null : { ...found, begin: from + found.begin, end: from + found.end };
}
