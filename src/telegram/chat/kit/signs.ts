import { settingsOf } from '../../../domain/chat-settings.ts';
import type { Answer, Reaction, Said } from '../conversation.ts';

/**
 * A sign at the message of the person, where it says all that the words would; the words where the chat wants no signs, or
 * where the message has no number that a sign could be put to.
 */
export function signOr(
  { place, messageId }: Pick<Said, 'place' | 'messageId'>,
  reaction: Reaction,
  words: Answer,
): Answer {
  const isWanted = settingsOf(place.chat.settings).reactions && messageId > 0;
  return isWanted ? { ...words, replies: [], reaction } : words;
}
