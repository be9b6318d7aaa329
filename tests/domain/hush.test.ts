import { describe, expect, test } from 'vitest';
import { hushOf, type Hush } from '../../src/domain/chat-settings.ts';
import type { Quiet, QuietInput } from '../../src/domain/quiet.ts';

const night: Quiet = { from: '22:00', to: '07:00', mode: 'hold' };
const madrid = 'Europe/Madrid';

interface Given {
  readonly task?: QuietInput | null;
  readonly chat?: Quiet | null;
  readonly zones?: readonly [task: string, chat: string | null];
}

function hush(at: string, { task = null, chat = night, zones = [madrid, madrid] }: Given = {}): string {
  const subject = { task: { quiet: task, timezone: zones[0] }, chat: { quiet: chat, timezone: zones[1] } };
  const is: Hush = hushOf(subject, Date.parse(at));
  return is.is === 'held' ? new Date(is.until).toISOString() : is.is;
}

describe('what a task brought', () => {
  test('is heard by day, and by night waits for the end of the night', () => {
    expect(hush('2026-11-18T20:59:59Z')).toBe('heard');
    expect(hush('2026-11-18T21:00:00Z')).toBe('2026-11-19T06:00:00.000Z');
    expect(hush('2026-11-19T06:00:00Z')).toBe('heard');
  });

  test('waits for seven on the wall in the nights in which the clocks are changed', () => {
    expect(hush('2026-03-28T21:00:00Z')).toBe('2026-03-29T05:00:00.000Z');
    expect(hush('2026-10-24T20:00:00Z')).toBe('2026-10-25T06:00:00.000Z');
    expect(hush('2026-10-25T01:30:00Z')).toBe('2026-10-25T06:00:00.000Z');
  });

  test('comes without a sound where nothing is to wait', () => {
    expect(hush('2026-11-19T02:00:00Z', { chat: { ...night, mode: 'silent' } })).toBe('silent');
  });

  test('is heard where nobody asked for quiet, and where the task is urgent', () => {
    expect(hush('2026-11-19T02:00:00Z', { chat: null })).toBe('heard');
    expect(hush('2026-11-19T02:00:00Z', { task: { mode: 'off' } })).toBe('heard');
  });

  test('follows the hours of its own task before those of the chat', () => {
    expect(hush('2026-11-19T02:00:00Z', { task: { ...night, to: '08:00' } })).toBe('2026-11-19T07:00:00.000Z');
    expect(hush('2026-11-18T21:30:00Z', { task: { ...night, from: '23:00' } })).toBe('heard');
  });

  test('is told by the clocks of the chat, and by those of the task for its own hours', () => {
    const zones = ['America/New_York', 'Asia/Tokyo'] as const;
    // Two in the morning in Tokyo is noon in New York.
    expect(hush('2026-11-18T17:00:00Z', { zones })).toBe('2026-11-18T22:00:00.000Z');
    expect(hush('2026-11-18T17:00:00Z', { zones, task: night })).toBe('heard');
    expect(hush('2026-11-18T17:00:00Z', { zones: ['America/New_York', null] })).toBe('heard');
  });
});
