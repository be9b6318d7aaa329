import { messagePartLengthMax, messagePartsMax } from './limits.ts';

/**
 * The life of a delivery, one message part. `sending` is committed before the call leaves, so that a crash in between is
 * seen as what it is. `delivered` needs the ids that the platform returned. `unknown` means that the call left and no
 * answer came; evidence settles it. `blocked` waits for a person to mend the cause and is looked at again by itself.
 *
 *   pending | blocked -> sending -> delivered | unknown | failed | pending (refused before it left, or told to wait) | blocked
 *   unknown -> delivered (it arrived) | pending (it did not) | failed
 *   pending | blocked -> failed (too old, or its task was deleted)
 */
export type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'unknown' | 'blocked' | 'failed';

/** Lanes of the outbox, served in this order: what a person waits for first, decoration last. */
export const outboxRanks = { answer: 0, result: 1, card: 2, progress: 3 } as const;

/**
 * Cuts a text into messages of at most 4,096 UTF-16 units: at a paragraph, else a line, else a space, else between two
 * graphemes, so that no emoji is torn. Text is never dropped unless it exceeds the limit of parts, and then the last
 * part says so.
 */
export function splitText(text: string, max: number = messagePartLengthMax): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > max && parts.length < messagePartsMax - 1) {
    const cut = cutPoint(rest, max);
    parts.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  if (rest.length > max) {
    const notice = '\n[cut: the text is too long for a chat]';
    rest = rest.slice(0, cutPoint(rest, max - notice.length)).trimEnd() + notice;
  }
  parts.push(rest);
  // A platform refuses a message of nothing but blanks, and nobody misses it.
  return parts.filter((part) => part.trim() !== '');
}

function cutPoint(text: string, max: number): number {
  const head = text.slice(0, max + 1);
  for (const separator of ['\n\n', '\n', ' ']) {
    const at = head.lastIndexOf(separator, max);
    // A cut in the first third would make a crumb of a message, so a finer separator is better.
    if (at >= max / 3) return at;
  }
  return graphemeBoundary(text, max);
}

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

function graphemeBoundary(text: string, max: number): number {
  const from = Math.max(0, max - 256);
  let boundary = from;
  for (const { index } of segmenter.segment(text.slice(from, max + 64))) {
    if (from + index > max) break;
    boundary = from + index;
  }
  // One grapheme of 256 units is noise rather than text; then the surrogate pair alone is kept whole.
  if (boundary > from) return boundary;
  return isHighSurrogate(text, max - 1) ? max - 1 : max;
}

function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
