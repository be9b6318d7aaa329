import { structuredPatch } from 'diff';
import type { DifferenceAnswer, DifferenceAsk } from '../pool/child.ts';

/** Two texts of 3,000 different lines take a second without this, and a difference of so many lines is read by nobody. */
const bounds = { maxEditLength: 500, timeout: 300, context: 1 } as const;
/** A screen or two of a phone. */
const linesMax = 60;
const lineLengthMax = 300;

/** Values that people take in at a glance, such as two prices. */
const glanceMax = 100;

/** The lines that are gone and that are new, with a line around them; null where too much differs to be read. */
export function difference({ before, after }: DifferenceAsk): DifferenceAnswer {
  if (isGlance(before) && isGlance(after)) return { text: `${before} → ${after}` };
  const patch = structuredPatch('', '', lined(before), lined(after), undefined, undefined, bounds);
  if (patch === undefined) return { text: null };
  if (patch.hunks.length === 0) return { text: 'They differ in spaces at the ends of lines alone.' };
  const lines = patch.hunks.flatMap((hunk, index) => [...(index === 0 ? [] : ['…']), ...hunk.lines.map(told)]);
  const more = lines.length - linesMax;
  // Lines that are left out are counted, so that nobody takes the rest for all of it.
  const shown = more > 0 ? [...lines.slice(0, linesMax), `… and ${more} more lines`] : lines;
  return { text: shown.join('\n') };
}

function isGlance(text: string): boolean {
  return text !== '' && text.length <= glanceMax && !text.includes('\n');
}

/** Signs that nobody sees make no difference: a last line without an end, blanks at the end of a line, and how lines end. */
function lined(text: string): string {
  const lines = text.replace(/[^\S\n]+$/gm, '');
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
}

/** The sign stands apart from the line, so that `- 5` is no number. */
function told(line: string): string {
  const text = `${line.slice(0, 1)} ${line.slice(1)}`;
  return text.length > lineLengthMax ? `${text.slice(0, lineLengthMax - 1)}…` : text;
}
