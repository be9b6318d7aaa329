import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { quietVerdict, settingsOf } from '../../../src/domain/chat-settings.ts';
import { quietFault, quietUntil, type Quiet, type QuietInput } from '../../../src/domain/pacing/quiet.ts';
import { checkPolicies, policyOf } from '../../../src/domain/policy.ts';

const night: Quiet = { from: '22:00', to: '07:00', mode: 'hold' };
const siesta: Quiet = { from: '13:00', to: '15:30', mode: 'silent' };
const madrid = 'Europe/Madrid';

function until(quiet: Quiet, timezone: string, at: string): string | null {
  const end = quietUntil(quiet, timezone, Date.parse(at));
  return end === null ? null : new Date(end).toISOString();
}

describe('quiet hours', () => {
  test('begin at their first minute and are over at their last one', () => {
    expect(until(siesta, madrid, '2026-11-18T11:59:59Z')).toBeNull();
    expect(until(siesta, madrid, '2026-11-18T12:00:00Z')).toBe('2026-11-18T14:30:00.000Z');
    expect(until(siesta, madrid, '2026-11-18T14:29:59Z')).toBe('2026-11-18T14:30:00.000Z');
    expect(until(siesta, madrid, '2026-11-18T14:30:00Z')).toBeNull();
  });

  test('span midnight', () => {
    expect(until(night, madrid, '2026-11-18T20:59:00Z')).toBeNull();
    expect(until(night, madrid, '2026-11-18T21:00:00Z')).toBe('2026-11-19T06:00:00.000Z');
    expect(until(night, madrid, '2026-11-19T03:00:00Z')).toBe('2026-11-19T06:00:00.000Z');
    expect(until(night, madrid, '2026-11-19T06:00:00Z')).toBeNull();
  });

  test('end by the clock on the wall in the nights in which it is changed', () => {
    expect(until(night, madrid, '2026-03-28T22:00:00Z')).toBe('2026-03-29T05:00:00.000Z');
    expect(until(night, madrid, '2026-10-24T22:00:00Z')).toBe('2026-10-25T06:00:00.000Z');
  });

  test('whose end is skipped by the clocks are over when those have jumped', () => {
    const short: Quiet = { from: '01:00', to: '02:30', mode: 'hold' };
    expect(until(short, madrid, '2026-03-29T00:30:00Z')).toBe('2026-03-29T01:30:00.000Z');
    expect(until(short, madrid, '2026-03-29T01:30:00Z')).toBeNull();
  });

  test('always end after the instant that lies in them, within a day and an hour', () => {
    const clock = fc
      .integer({ min: 0, max: 1439 })
      .map((minute) => new Date(minute * 60_000).toISOString().slice(11, 16));
    const zone = fc.constantFrom('UTC', madrid, 'America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca');
    const instant = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2028, 0, 1) });
    fc.assert(
      fc.property(clock, clock, zone, instant, (from, to, timezone, at) => {
        fc.pre(from !== to);
        const end = quietUntil({ from, to, mode: 'hold' }, timezone, at);
        return end === null || (end > at && end - at <= 25 * 3_600_000);
      }),
      { seed: 18 },
    );
  });
});

interface Given {
  readonly task?: QuietInput | null;
  readonly chat?: Quiet | null;
  readonly zones?: readonly [task: string, chat: string | null];
}

function verdictAt(at: string, { task = null, chat = night, zones = [madrid, madrid] }: Given = {}): string {
  const subject = { task: { quiet: task, timezone: zones[0] }, chat: { quiet: chat, timezone: zones[1] } };
  const is = quietVerdict(subject, Date.parse(at));
  return is.is === 'held' ? new Date(is.until).toISOString() : is.is;
}

const tokyo = ['America/New_York', 'Asia/Tokyo'] as const;

test.each([
  ['is heard by day', '2026-11-18T20:59:59Z', {}, 'heard'],
  ['waits by night for its end', '2026-11-18T21:00:00Z', {}, '2026-11-19T06:00:00.000Z'],
  ['comes without a sound', '2026-11-19T02:00:00Z', { chat: { ...night, mode: 'silent' } }, 'silent'],
  ['is heard where nobody asked for quiet', '2026-11-19T02:00:00Z', { chat: null }, 'heard'],
  ['is heard where its task is urgent', '2026-11-19T02:00:00Z', { task: { mode: 'off' } }, 'heard'],
  [
    'follows the end that its task chose',
    '2026-11-19T02:00:00Z',
    { task: { ...night, to: '08:00' } },
    '2026-11-19T07:00:00.000Z',
  ],
  ['follows the begin that its task chose', '2026-11-18T21:30:00Z', { task: { ...night, from: '23:00' } }, 'heard'],
  // Two in the morning in Tokyo is noon in New York.
  ['follows the clocks of the chat', '2026-11-18T17:00:00Z', { zones: tokyo }, '2026-11-18T22:00:00.000Z'],
  ['follows those of its task for its own hours', '2026-11-18T17:00:00Z', { zones: tokyo, task: night }, 'heard'],
  ['follows those of its task where the chat has none', '2026-11-18T17:00:00Z', { zones: [tokyo[0], null] }, 'heard'],
] satisfies [string, string, Given, string][])('a result %s', (_how, at, given, verdict) => {
  expect(verdictAt(at, given)).toBe(verdict);
});

describe('quiet hours of a policy', () => {
  test('what cannot be is refused with what to write instead', () => {
    expect(quietFault({ mode: 'off' })).toBeNull();
    expect(quietFault({ mode: 'off', from: '22:00' })).toBe('quietOffWithHours');
    expect(quietFault({ mode: 'hold' })).toBe('quietWithoutHours');
    expect(quietFault({ mode: 'hold', from: '22:00', to: '24:00' })).toBe('quietWithoutHours');
    expect(quietFault({ mode: 'hold', from: '9:00', to: '10:00' })).toBe('quietWithoutHours');
    expect(quietFault({ mode: 'silent', from: '22:00', to: '22:00' })).toBe('quietWithoutEnd');
    expect(() => checkPolicies({ quiet: { mode: 'hold' } })).toThrow('policies.quiet needs from and to');
  });
});

describe('what a task asks to be confirmed', () => {
  const subject = { actionKind: 'message', minGapMs: null };

  test('nothing, unless it says so', () => {
    expect(policyOf({}, subject)).toMatchObject({ ack: null, quiet: null, approval: 'none' });
    expect(policyOf({ ack: {} }, subject).ack).toEqual({ nagEveryMs: 600_000, nagLimit: 3 });
    expect(policyOf({ ack: { nag_every: 'PT5M', nag_limit: 0 } }, subject).ack).toEqual({
      nagEveryMs: 300_000,
      nagLimit: 0,
    });
  });

  test('is asked for no more often than people can bear', () => {
    expect(() => checkPolicies({ ack: { nag_every: 'PT10S' } })).toThrow('policies.ack.nag_every is out of range');
    expect(() => checkPolicies({ ack: { nag_every: 'soon' } })).toThrow('policies.ack.nag_every is a duration');
  });
});

describe('settings of a chat', () => {
  test('have their defaults, and keep what was chosen', () => {
    const usual = settingsOf({});
    expect(usual).toMatchObject({
      create: 'members',
      quiet: null,
      reactions: true,
      dates: 'en',
      keep: null,
      language: null,
    });
    const chosen = { create: 'admins', quiet: night, reactions: false, dates: 'us', language: 'es' } as const;
    expect(settingsOf({ ...chosen, keep: { days: 9 } })).toEqual({ ...usual, ...chosen, keep: { runs: 1, days: 9 } });
  });

  test('dates in the words of another language, as they could be chosen once, are those of the sentences', () => {
    expect(settingsOf({ dates: 'de' }).dates).toBe('en');
  });

  test('that nobody can read are as if nothing had been chosen', () => {
    for (const quiet of [
      7,
      null,
      'night',
      {},
      { ...night, from: '25:00' },
      { ...night, to: '22:00' },
      { ...night, mode: 'loud' },
    ]) {
      expect(settingsOf({ quiet }).quiet).toBeNull();
    }
    expect(settingsOf({ dates: 'klingon' }).dates).toBe('en');
  });
});
