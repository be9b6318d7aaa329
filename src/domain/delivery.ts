import { messagePartLengthMax, messagePartsMax } from './limits.ts';

/**
 * The life of a delivery, one message part. `sending` is committed before the call leaves, so that a crash in between is
 * seen as what it is. `delivered` needs the ids that Telegram returned. `unknown` means that the call left and no
 * answer came; evidence settles it. `blocked` waits for a person to mend the cause and is looked at again by itself.
 *
 *   pending | blocked -> sending -> delivered | unknown | failed | pending (refused before it left, or told to wait) | blocked
 *   unknown -> delivered (it arrived) | pending (it did not) | failed
 *   pending | blocked -> failed (too old, or its task was deleted)
 */
export type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'unknown' | 'blocked' | 'failed';

/**
 * The pinning of a card, the closing, opening or naming of a task's topic, the removal of a message of ours, and the removal
 * of a topic with everything in it.
 */
export type DeliveryDeed = 'pin' | 'close' | 'open' | 'rename' | 'remove' | 'removeTopic';

/** Codes under which clients know a cause; another cause is its own code. */
const codesOfCauses: ReadonlyMap<string, string> = new Map([
  ['topics_off', 'telegram_topics_unavailable'],
  ['no_topic_right', 'telegram_topics_unavailable'],
  ['topic_in_doubt', 'telegram_topics_unavailable'],
  ['topic_gone', 'telegram_topic_not_found'],
  ['topic_astray', 'misrouted'],
]);

interface Obstructed {
  readonly status: DeliveryStatus;
  readonly cause: string | null;
  readonly error: string | null;
}

/** The word for programs about what stands in the way of a delivery, or stood there in the end. */
export function deliveryCode({ status, cause, error }: Obstructed): string | null {
  if (status !== 'blocked' && status !== 'failed') return null;
  if (cause === null) return 'other';
  // The chat is as good as gone either way, but only a person can block the bot, and take that back.
  if (cause === 'chat_gone' && /bot was blocked|USER_IS_BLOCKED/i.test(error ?? '')) return 'bot_blocked';
  return codesOfCauses.get(cause) ?? cause;
}

/**
 * A message (the answer to a person, what a run brought back, a word about the task, or its card), or a deed on what is
 * there already.
 */
export type DeliveryKind = 'answer' | 'result' | 'notice' | 'card' | DeliveryDeed;

/** Ranks of the outbox, served in this order: what a person waits for first, decoration last. */
export const outboxRanks = { answer: 0, result: 1, card: 2, progress: 3, redraw: 4 } as const;

/**
 * Cuts a text into messages of at most 4,096 UTF-16 units: at a paragraph, else a line, else a space, else between two
 * graphemes, so that no emoji is torn. A block of code that is cut is closed, and opened again in the next part. Text is
 * never dropped unless it exceeds the limit of parts, and then the last part says so.
 */
export function splitText(text: string, max: number = messagePartLengthMax): string[] {
  const parts: string[] = [];
  let rest: Rest = { text, fence: '' };
  while (lengthOf(rest) > max && parts.length < messagePartsMax - 1) {
    const { part, after } = cutOff(rest, max);
    parts.push(part);
    rest = after;
  }
  parts.push(lengthOf(rest) > max ? cutOff(rest, max - tooLong.length).part + tooLong : opened(rest));
  // Telegram refuses a message of nothing but blanks, and nobody misses it.
  return parts.filter((part) => part.trim() !== '');
}

const tooLong = '\n[cut: the text is too long for a chat]';

/** The rest of a text, and the line that opens the block of code in which it begins; empty where it begins in none. */
interface Rest {
  readonly text: string;
  readonly fence: string;
}

function opened({ text, fence }: Rest): string {
  return fence === '' ? text : `${fence}\n${text}`;
}

function lengthOf(rest: Rest): number {
  return rest.text.length + (rest.fence === '' ? 0 : rest.fence.length + 1);
}

const closing = '\n```';

function cutOff(rest: Rest, max: number): { readonly part: string; readonly after: Rest } {
  const room = max - (lengthOf(rest) - rest.text.length);
  let cut = cutPoint(rest.text, room);
  let fence = openFence(opened({ ...rest, text: rest.text.slice(0, cut) }));
  if (fence !== '') {
    cut = beforeEmptyBlock(rest.text, cutPoint(rest.text, room - closing.length));
    fence = openFence(opened({ ...rest, text: rest.text.slice(0, cut) }));
  }
  const head = opened({ ...rest, text: rest.text.slice(0, cut).trimEnd() });
  const tail = rest.text.slice(cut);
  if (fence === '') return { part: head, after: { text: tail.trimStart(), fence } };
  // The indentation of the next line belongs to the code.
  return { part: head + closing, after: { text: tail.replace(/^\s*\n/, ''), fence } };
}

/** A longer line after the three marks is no name of a language, and would leave no room for the code. */
const fenceLengthMax = 40;
const fenceLine = /^ {0,3}```[^`\n]*$/gm;

/** The line that opened the block in which a text ends; empty where it ends in none. */
function openFence(text: string): string {
  let fence = '';
  for (const [line] of text.matchAll(fenceLine)) {
    if (fence === '') fence = line.length > fenceLengthMax ? '```' : line.trimEnd();
    else if (line.trim() === '```') fence = '';
  }
  return fence;
}

/** A block that would begin at the very end of a part begins in the next one. */
function beforeEmptyBlock(text: string, cut: number): number {
  const opener = /(?:^|\n) {0,3}```[^`\n]*(?:\n\s*)?$/.exec(text.slice(0, cut));
  return opener === null || opener.index === 0 || openFence(text.slice(0, opener.index)) !== '' ? cut : opener.index;
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

let segmenter: Intl.Segmenter | undefined;

/** The characters of a text as people count them. The segmenter is made when it is first needed, because that is slow. */
export function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

function graphemeBoundary(text: string, max: number): number {
  const from = Math.max(0, max - 256);
  let boundary = from;
  for (const { index } of charactersOf(text.slice(from, max + 64))) {
    if (from + index > max) break;
    boundary = from + index;
  }
  // One grapheme of 256 units is noise rather than text; then the surrogate pair alone is kept whole.
  if (boundary > from) return boundary;
  return isHighSurrogate(text, max - 1) ? max - 1 : max;
}

export function isHighSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit <= 0xdbff;
}
