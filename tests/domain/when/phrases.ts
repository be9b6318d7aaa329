import { readFileSync } from 'node:fs';
import { AppError } from '../../../src/domain/errors.ts';
import { parseSchedule, type ScheduleInput } from '../../../src/domain/schedule/schedule.ts';
import { type Asked, readAnywhere } from '../../../src/domain/when/asked.ts';

/** A Wednesday: 11:00 in Madrid. */
export const NOW = Date.parse('2026-11-18T10:00:00Z');

export interface Phrase {
  readonly phrase: string;
  readonly now: string;
  readonly timezone: string;
  readonly schedule: ScheduleInput;
  readonly rest: string;
  readonly next: readonly string[];
}

/** A refusal has a reason, a question its readings or what is missing. */
export interface Refused {
  readonly phrase: string;
  readonly reason?: string;
  readonly readings?: readonly string[];
  readonly missing?: readonly string[];
  readonly offers?: readonly string[];
}

function fixture<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../../../fixtures/phrases/${name}.json`, import.meta.url), 'utf8')) as T[];
}

export const phrases = fixture<Phrase>('read');
export const refused = fixture<Refused>('refused');

export function expectedSchedule({ schedule, now }: Phrase) {
  return parseSchedule(schedule, Date.parse(now));
}

export function read(text: string, setting: Partial<{ timezone: string; now: number }> = {}): Asked {
  return readAnywhere(text, { timezone: 'Europe/Madrid', now: NOW, ...setting });
}

/** The refusal, or null where the text was read. Anything else that is thrown is a fault of the reader. */
export function refusalOf(text: string): AppError | null {
  try {
    read(text);
    return null;
  } catch (error) {
    if (error instanceof AppError && error.code.endsWith('_schedule')) return error;
    throw error;
  }
}
