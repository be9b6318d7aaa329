import { AppError } from '../../../domain/errors.ts';
import type { ConversationRooms } from '../conversation.ts';
import { readAsked, type Asked } from './clauses.ts';
import { readTimeAlone, readWords, textIn, type Speaking } from './making.ts';

export interface Both {
  readonly read: Asked;
  readonly text: string;
}

type Rooms = Pick<ConversationRooms, 'preview' | 'clock'>;

/** When and what from one text that begins with the time. */
export function readBeginning(words: string, speaking: Speaking, rooms: Rooms): Both {
  const read = readAsked(words, { speaking, rooms }, readWords);
  return { read, text: textIn(read) };
}

/**
 * When and what from one text: the time stands first, or as the last words of the last line, as in "call mum tomorrow at 9".
 * At the end it is taken only where nothing else could be meant; throws the refusal of what cannot be read.
 */
export function readBoth(words: string, speaking: Speaking, rooms: Rooms): Both {
  try {
    return readBeginning(words, speaking, rooms);
  } catch (error) {
    const isEnd = isNoBeginning(error) || (reasonOf(error) === 'no_time' && partOfDay.test(words.trim()));
    const ending = isEnd ? readEnd(words, speaking, rooms) : null;
    if (ending === null) throw error;
    return ending;
  }
}

function reasonOf(error: unknown): string | null {
  const isUnread = error instanceof AppError && error.code === 'invalid_schedule';
  return isUnread ? String(error.details?.['reason']) : null;
}

/** No time stands there at all, rather than one that is wrong. */
function isNoBeginning(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason === 'unknown' || reason === 'not_first';
}

/** "Evening pills every day at 20:00" begins with a text all the same. */
const partOfDay = /^(?:morning|afternoon|evening|night)s?\b/i;

/** "Pay 8.45 every friday": with a text before it, that is hardly a time. */
const sumOfMoney = /^\d+\.\d/;

/** A time has hardly more words, and each of them costs a reading. */
const wordsMax = 14;

/** What stands before a time and would change its meaning: then it is not clear what belongs to it. */
const dangling =
  /(?:^|\s)(?:every|each|on|at|in|by|for|from|until|till|to|not|no|except|before|after|about|around|and|or|but|next|this|last|the|of|than|since|between|starting|plus)$/iu;

function readEnd(words: string, speaking: Speaking, rooms: Rooms): Both | null {
  const trimmed = words.trim();
  const line = trimmed.slice(trimmed.lastIndexOf('\n') + 1);
  const starts = [...line.matchAll(/(?<=\s|^)\S/g)].map(({ index }) => index + trimmed.length - line.length);
  for (const start of starts.slice(-wordsMax)) {
    const [head, end] = [withoutMarks(trimmed.slice(0, start)), trimmed.slice(start)];
    if (head === '') continue;
    const read = endAt(end, speaking, rooms);
    if (read === 'text') continue;
    const isClear = textIn(read) === '' && !dangling.test(head);
    return isClear ? { read, text: head } : null;
  }
  return null;
}

/** Without the comma or the dash before the time. By hand, because a pattern would look at a long row of dashes again and again. */
function withoutMarks(head: string): string {
  let end = head.length;
  while (end > 0 && /[\s,;:–-]/u.test(head.charAt(end - 1))) end -= 1;
  return head.slice(0, end);
}

/** Throws where a time begins there that cannot be read: what follows later in the line is a part of it at best. */
function endAt(end: string, speaking: Speaking, rooms: Rooms): Asked | 'text' {
  if (sumOfMoney.test(end)) return 'text';
  try {
    return readAsked(end, { speaking, rooms }, readTimeAlone);
  } catch (error) {
    const reason = reasonOf(error);
    // A number, a part of the day and a preposition stand in texts as well: "bus 9", "evening pills", "go by train".
    const isText =
      (reason === 'no_time' && (/^\d/.test(end) || partOfDay.test(end))) ||
      (reason === 'no_such_time' && /^(?:at|around|about|before|after|by)\b/i.test(end));
    if (isText || isNoBeginning(error)) return 'text';
    throw error;
  }
}
