import { english } from './languages/english.ts';

/** Words of times that are often misspelt. Short ones are too near to other words. */
const KNOWN = english.spelling.known;
const OTHERS: ReadonlySet<string> = new Set([...english.spelling.others, ...KNOWN]);

/** So far are slips looked for. */
const LOOKED_AT = 200;

/** So many letters may be wrong; what is longer is still clear with two. */
function slipsMax(word: string): number {
  return word.length >= 8 ? 2 : 1;
}

const { units: UNITS, countedBy } = english.spelling;
/** A unit behind "every" or "in 2". */
const COUNTED = new RegExp(
  String.raw`(?<![\p{L}\p{N}_])(?<before>(?:${countedBy})\s+\d{1,3}\s+|(?:every|each)\s+)(?<unit>[a-z]{3,7})(?![\p{L}\p{N}_'.-]*\p{L})`,
  'giu',
);

/** The only word that is near it, or null. */
function nearest(written: string, known: readonly string[] = KNOWN): string | null {
  if (OTHERS.has(written) || known.includes(written)) return null;
  const near = known.filter(
    (word) =>
      word.startsWith(written[0] ?? '') &&
      Math.abs(word.length - written.length) <= slipsMax(word) &&
      editDistance(written, word) <= slipsMax(word),
  );
  const [first] = near.sort((a, b) => editDistance(written, a) - editDistance(written, b));
  return first ?? null;
}

interface Slip {
  readonly written: string;
  readonly meant: string;
}

/** The words with those spelled right that are near to a word of time; null where none is. */
export function mended(words: string): { readonly words: string; readonly slips: readonly Slip[] } | null {
  const slips: Slip[] = [];
  const line = /^[^\n]{0,200}/.exec(words.slice(0, LOOKED_AT))?.[0] ?? '';
  const right = line.replaceAll(/(?<![\p{L}\p{N}_'@#/.-])[A-Za-z]{4,12}(?![\p{L}\p{N}_'.-]*\p{L})/gu, (written) => {
    const meant = nearest(written.toLowerCase());
    if (meant === null) return written;
    slips.push({ written, meant });
    return meant;
  });
  const all = right.replaceAll(COUNTED, (whole: string, before: string, written: string) => {
    const meant = nearest(written.toLowerCase(), UNITS);
    if (meant === null) return whole;
    slips.push({ written, meant });
    return `${before}${meant}`;
  });
  return slips.length === 0 ? null : { words: `${all}${words.slice(line.length)}`, slips };
}

/** How many letters are missing, too many, wrong or in the place of their neighbours. */
export function editDistance(written: string, meant: string): number {
  const rows: number[][] = [Array.from({ length: meant.length + 1 }, (_none, index) => index)];
  const cost = (at: number, to: number) => rows[at]?.[to] ?? 0;
  for (let at = 1; at <= written.length; at += 1) {
    rows.push([at]);
    for (let to = 1; to <= meant.length; to += 1) {
      const changed = cost(at - 1, to - 1) + (written[at - 1] === meant[to - 1] ? 0 : 1);
      const isSwapped = at > 1 && to > 1 && written.slice(at - 2, at) === swapped(meant.slice(to - 2, to));
      const others = [cost(at - 1, to) + 1, cost(at, to - 1) + 1, ...(isSwapped ? [cost(at - 2, to - 2) + 1] : [])];
      rows[at]?.push(Math.min(changed, ...others));
    }
  }
  return cost(written.length, meant.length);
}

function swapped(pair: string): string {
  return `${pair.charAt(1)}${pair.charAt(0)}`;
}
