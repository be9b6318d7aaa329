import { AppError } from '../../../domain/errors.ts';
import type { ConversationRooms } from '../conversation.ts';

interface Reading {
  readonly rooms: Pick<ConversationRooms, 'preview'>;
  readonly timezone: string;
  /** When it was said: "in 10 minutes" counts from there. */
  readonly now: number;
}

/** One moment in plain words: `10 min`, `until friday at 9`, `for 2 hours`. Null when it cannot be read as one. */
export function momentIn(text: string, reading: Reading): number | null {
  const words = text.trim().replace(/^(?:until|till|for|to)\s+/i, '');
  if (words === '') return null;
  // A span alone is meant from now on, even where the same digits could be a time: "1h" is an hour.
  return readOne(`in ${words}`, reading) ?? readOne(dayPart(words), reading);
}

/** Where people name a day and no time, they mean its usual beginning. */
function dayPart(words: string): string {
  if (/^tonight$/i.test(words)) return 'today at 20:00';
  return /^(?:tomorrow|(?:next\s+)?(?:mon|tues|wednes|thurs|fri|satur|sun)day)$/i.test(words)
    ? `${words} at 9:00`
    : words;
}

function readOne(when: string, { rooms, timezone, now }: Reading): number | null {
  try {
    const { schedule, text } = rooms.preview({ when, timezone, now, count: 1 });
    return schedule.kind === 'once' && (text ?? '').trim() === '' ? schedule.onceAt : null;
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_schedule') return null;
    throw error;
  }
}
