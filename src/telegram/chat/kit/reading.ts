import type { Preview } from '../../../app/tasks/preview.ts';
import { inputOf } from '../../../app/tasks/undo.ts';
import { AppError } from '../../../domain/errors.ts';
import { isBlank } from '../../../domain/task.ts';
import type { ConversationRooms, Person, Place, Said } from '../conversation.ts';
import { texts } from '../texts.ts';
import { sentenceOf } from './answers.ts';
import type { DraftWhen } from './drafts.ts';
import { button, dataOf, shortId, type Rows } from './press.ts';

/** Reading a time and a text from words, and showing the task that they would make. */

export interface Here {
  readonly place: Place;
  readonly person: Person;
}

/** Who writes where, and when it was written. */
export type Speaking = Pick<Said, 'place' | 'date'>;

export interface ReadWords {
  readonly preview: Preview;
  readonly when: DraftWhen;
}

/** A wait counts from when it was written, not from when it is read. */
export function readWords(
  words: string,
  { place, date }: Speaking,
  { preview: read, clock }: Pick<ConversationRooms, 'preview' | 'clock'>,
): ReadWords {
  const { schedule: meant, text } = read({ when: words, timezone: place.timezone, now: date, count: 1 });
  const schedule = inputOf(meant);
  // It may be read hours later, when the platform could not be reached: what is ahead, and what is over, counts from now.
  const preview = { ...read({ schedule, after: Math.max(date, clock.now()), count: 3 }), text };
  return { preview, when: { words, at: date, schedule } };
}

/** What cannot be seen is no text. */
export function textIn({ preview }: ReadWords): string {
  const text = (preview.text ?? '').trim();
  return isBlank(text) ? '' : text;
}

/**
 * The same for a time that stands alone. Where nothing follows, the figure in "tomorrow 9" can only be the hour. What is
 * refused is told as the words stand.
 */
export function readTimeAlone(
  words: string,
  speaking: Speaking,
  rooms: Pick<ConversationRooms, 'preview' | 'clock'>,
): ReadWords {
  try {
    return readWords(words, speaking, rooms);
  } catch (error) {
    const hour = /^([\s\S]*[^\s\d:.,/-])\s+(\d{1,2})$/.exec(words.trim());
    const isBare = error instanceof AppError && error.details?.['reason'] === 'no_time' && hour !== null;
    if (!isBare || /(?:\bat|@)$/i.test(hour[1] ?? '')) throw error;
    return readWords(`${hour[1]} at ${hour[2]}`, speaking, rooms);
  }
}

/** What can be read without a fault; null for everything else. */
export function readOr<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError && sentenceOf(error) !== null) return null;
    throw error;
  }
}

/** In a group people talk to each other as well: a reply to us, our name or a command says that we are meant. */
export function isForUs({ command, place, repliedTo, isAddressed }: Said): boolean {
  return command !== null || place.chat.kind === 'private' || repliedTo?.isOurs === true || isAddressed === true;
}

/** In a group people talk to each other as well: after this many words that were none, only a reply to us is told so. */
const missesAloud = 2;

export function isTalk({ place, repliedTo }: Said, misses: number): boolean {
  return misses >= missesAloud && place.chat.kind !== 'private' && repliedTo?.isOurs !== true;
}

export function cancelRow(draftId: string): Rows {
  return [[button(texts.button.cancel, dataOf('cancel', shortId(draftId)))]];
}

export function inZone(place: Place, timezone: string): Place {
  return { ...place, timezone, isZoneConfirmed: true };
}
