import { readFileSync } from 'node:fs';
import { describe as group, expect, test } from 'vitest';
import { AppError } from '../../../src/domain/errors.ts';
import { describe, nextSlots, parseSchedule, type ScheduleInput } from '../../../src/domain/schedule/schedule.ts';

const NOW = Date.parse('2026-11-18T09:00:00Z');

function fixture<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`../../../fixtures/schedules/${name}.json`, import.meta.url), 'utf8')) as T[];
}

interface ClockChange {
  readonly name: string;
  readonly schedule: ScheduleInput;
  readonly after: string;
  readonly slots: readonly string[];
}

group('around a change of the clocks', () => {
  test.each(fixture<ClockChange>('clock-changes'))('$name', ({ schedule, after, slots }) => {
    const found = nextSlots(parseSchedule(schedule, NOW), Date.parse(after), { count: slots.length });
    expect(found.map((slot) => new Date(slot).toISOString().replace('.000', ''))).toEqual(slots);
  });
});

interface Readable {
  readonly kind: 'once' | 'cron' | 'rrule' | 'interval' | 'timezone';
  readonly field: string;
  readonly text: string;
  readonly reason: string | null;
}

function inputOf({ kind, text }: Readable): ScheduleInput {
  switch (kind) {
    case 'once':
      return { kind, once_at: text, timezone: 'Europe/Madrid' };
    case 'cron':
      return { kind, cron: text, timezone: 'Europe/Madrid' };
    case 'rrule':
      return { kind, rrule: text, timezone: 'Europe/Madrid' };
    case 'interval':
      return { kind, interval: text, timezone: 'Europe/Madrid' };
    case 'timezone':
      return { kind: 'cron', cron: '0 9 * * *', timezone: text };
  }
}

function refusalOf(input: ScheduleInput): AppError | null {
  try {
    parseSchedule(input, NOW);
    return null;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    return error instanceof AppError ? error : null;
  }
}

group('what is written is read or refused with the field and the reason', () => {
  test.each(fixture<Readable>('readable'))('$kind $text', (row) => {
    const refusal = refusalOf(inputOf(row));
    expect(refusal?.details?.['reason'] ?? null, refusal?.message).toBe(row.reason);
    if (refusal === null) return;
    expect(refusal.code).toBe('invalid_schedule');
    expect(refusal.details?.['field']).toBe(row.field);
    expect(refusal.message).toMatch(/^[A-Z"@].*\.$/s);
    expect(refusal.message.length).toBeLessThan(300);
  });
});

interface Description {
  readonly schedule: ScheduleInput;
  readonly words: string;
}

group('a schedule is described in words', () => {
  test.each(fixture<Description>('descriptions'))('$words', ({ schedule, words }) => {
    expect(describe(parseSchedule(schedule, NOW))).toBe(words);
  });
});
