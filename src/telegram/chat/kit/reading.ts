import type { ChatContext, Place } from '../conversation.ts';
import { texts } from '../texts.ts';
import { button, dataOf, shortId, type Rows } from './press.ts';

/** Words that are meant for us, and the clocks on which a time in them is read. */

/** Who writes where, and when it was written. */
export type Speaking = Pick<ChatContext, 'place' | 'date'>;

/** The clocks on which a time is read. A wait counts from when it was written, not from when it is read. */
export function readingOf({ place, date }: Speaking): { readonly timezone: string; readonly now: number } {
  return { timezone: place.timezone, now: date };
}

/** In a group people talk to each other as well: a reply to us, our name or a command says that we are meant. */
export function isForUs({ command, place, repliedTo, isAddressed }: ChatContext): boolean {
  return command !== null || place.chat.kind === 'private' || repliedTo?.isOurs === true || isAddressed === true;
}

/** In a group people talk to each other as well: after this many words that were none, only a reply to us is told so. */
const missesAloud = 2;

export function isTalk({ place, repliedTo }: ChatContext, misses: number): boolean {
  return misses >= missesAloud && place.chat.kind !== 'private' && repliedTo?.isOurs !== true;
}

export function cancelRow(draftId: string): Rows {
  return [[button(texts.button.cancel, dataOf('cancel', shortId(draftId)))]];
}

export function inZone(place: Place, timezone: string): Place {
  return { ...place, timezone, isZoneConfirmed: true };
}
