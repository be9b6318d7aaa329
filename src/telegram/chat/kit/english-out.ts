import type { BlockedCause, MediaKind } from '../../../domain/shown.ts';
import { lines, pre, say, shortened, type Rich } from './rich.ts';

/** What a file is called. */
export const mediaWords: Readonly<Record<MediaKind, string>> = {
  photo: 'photo',
  document: 'file',
  video: 'video',
  audio: 'audio file',
  voice: 'voice message',
  animation: 'animation',
};

const errorShownMax = 300;

/** Words about what is on its way out. */
export const outTexts = {
  fileGone: (kind: MediaKind): string => `(Its ${mediaWords[kind]} is missing: Telegram does not take it any more.)`,
  topicNotRemoved: (cause: BlockedCause, error: string): Rich =>
    cause === 'no_topic_right' || cause === 'no_write_right'
      ? say`The topic is still there, because I may not delete it. Open the group’s administrators, choose this bot, and allow “Delete messages” and “Manage topics”; or delete the topic yourself.`
      : lines(
          say`The topic is still there, because Telegram refused to delete it. You can delete it yourself.`,
          pre(shortened(error, errorShownMax)),
        ),
  bundleHead: (from: string, to: string): string => `While it was quiet, ${from}–${to}:`,
  bundleHeadUntil: (to: string): string => `While it was quiet, until ${to}:`,
  bundleMore: (count: number): string => `and ${count} more`,
  messages: (count: number): string => (count === 1 ? '1 message' : `${count} messages`),
};
