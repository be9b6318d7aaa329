import { AppError } from '../../../domain/errors.ts';
import { weekdayOf } from '../../../domain/schedule/time/calendar.ts';
import type { ConversationRooms } from '../conversation.ts';
import { dayIn, nextMonday, startOf } from './days.ts';

interface Reading {
  readonly rooms: Pick<ConversationRooms, 'preview'>;
  readonly timezone: string;
  /** When it was said: "in 10 minutes" counts from there. */
  readonly now: number;
}

/**
 * One moment in plain words: `10 min`, `until friday at 9`, `for 2 hours`. Null when it cannot be read as one. Where people
 * name a day and no time they mean when it begins: for whoever wants to be reminded that is the morning, and for whatever
 * lasts until then it is midnight, or that day's own runs would be lost. Null takes no day alone.
 */
export function momentIn(text: string, reading: Reading, dayTime: '9:00' | '0:00' | '23:59' | null): number | null {
  const words = text.trim().replace(/^(?:until|till|til|'til|for|to)\s+/i, '');
  if (words === '') return null;
  if (/^tonight$/i.test(words)) return readOne('today at 20:00', reading);
  // A span alone is meant from now on, even where the same digits could be a time: "1h" is an hour.
  const named = readOne(`in ${words}`, reading) ?? readOne(words, reading);
  // "tomorrow 9" is how people write it below a result.
  const hour = /^(.*[a-z]) (\d{1,2}(?:[:.]\d\d)?)$/i.exec(words);
  const atHour = named === null && hour !== null ? readOne(`${hour[1]} at ${hour[2]}`, reading) : null;
  return named ?? atHour ?? (dayTime === null ? null : readOne(`${words} at ${dayTime}`, reading));
}

/** Until when a pause lasts: a moment, or the rest of the day, the week or the weekend. Null when it cannot be read. */
export function pauseEndIn(text: string, reading: Reading): number | null {
  const { timezone, now } = reading;
  const setting = { timezone, now };
  const words = text
    .trim()
    .replace(/^(?:for|over|during)\s+/i, '')
    .replace(/^(?:the )?rest of\s+/i, '');
  const today = dayIn(setting, now);
  if (/^(?:today|the day)$/i.test(words)) return startOf(today + 1, setting);
  if (/^(?:this|the) week$/i.test(words)) return startOf(nextMonday(today), setting);
  // Before it begins, a pause from now on would take away more than the weekend.
  if (/^(?:this|the) weekend$/i.test(words)) return isWeekend(today) ? startOf(nextMonday(today), setting) : null;
  return momentIn(text, reading, '0:00');
}

function isWeekend(day: number): boolean {
  return [0, 6].includes(weekdayOf(day));
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
