import { describe, expect, test } from 'vitest';
import { planNag, type OpenAck } from '../../src/domain/ack.ts';
import { hour, minute } from '../support/fakes.ts';

const nine = Date.UTC(2026, 10, 18, 9);

const open = (facts: Partial<OpenAck> = {}): OpenAck => ({
  nags: 0,
  nagEveryMs: 10 * minute,
  nagLimit: 3,
  createdAt: nine,
  result: { is: 'shown', at: nine },
  lastNag: null,
  isWanted: true,
  quiet: null,
  timezone: 'UTC',
  ...facts,
});

describe('a reminder of what nobody has confirmed', () => {
  test('comes so long after the result was there, and then again and again', () => {
    expect(planNag(open(), nine + 10 * minute)).toEqual({ is: 'nag', number: 1, nextAt: nine + 20 * minute });
    const second = open({ nags: 1, lastNag: { is: 'shown', at: nine + 10 * minute } });
    expect(planNag(second, nine + 20 * minute)).toEqual({ is: 'nag', number: 2, nextAt: nine + 30 * minute });
  });

  test('waits for a result that came late, and not for one that came a moment late', () => {
    const late = open({ result: { is: 'shown', at: nine + 8 * minute } });
    expect(planNag(late, nine + 10 * minute)).toEqual({ is: 'later', at: nine + 18 * minute });
    const slow = open({ result: { is: 'shown', at: nine + 20_000 } });
    expect(planNag(slow, nine + 10 * minute)).toMatchObject({ is: 'nag', number: 1 });
  });

  test('does not come before the result, which is looked for ever more seldom', () => {
    const waiting = open({ result: { is: 'waiting', until: null } });
    expect(planNag(waiting, nine + 10 * minute)).toEqual({ is: 'later', at: nine + 12.5 * minute });
    expect(planNag(waiting, nine + 2 * minute)).toEqual({ is: 'later', at: nine + 3 * minute });
    expect(planNag(waiting, nine + 20 * hour)).toEqual({ is: 'later', at: nine + 21 * hour });
    // A database takes whole milliseconds alone.
    const odd = planNag(waiting, nine + 10 * minute + 1);
    expect(odd.is === 'later' && Number.isInteger(odd.at)).toBe(true);
  });

  test('begins with the end of the quiet hours for which the result is held', () => {
    const held = open({ result: { is: 'waiting', until: nine + 2 * hour } });
    expect(planNag(held, nine + 10 * minute)).toEqual({ is: 'later', at: nine + 2 * hour + 10 * minute });
  });

  test('does not follow one that has not arrived', () => {
    const stuck = open({ nags: 1, lastNag: { is: 'waiting', until: null } });
    expect(planNag(stuck, nine + 20 * minute)).toEqual({ is: 'later', at: nine + 25 * minute });
  });

  test('is moved to the end of quiet hours, and does not count until then', () => {
    const quiet = { from: '22:00', to: '07:00', mode: 'hold' } as const;
    const ten = Date.UTC(2026, 10, 18, 22);
    const asleep = open({ quiet, createdAt: ten, result: { is: 'shown', at: ten }, nags: 3 });
    const seven = Date.UTC(2026, 10, 19, 7);
    expect(planNag(asleep, ten + 10 * minute)).toEqual({ is: 'later', at: seven });
    expect(planNag({ ...asleep, nags: 2 }, seven)).toMatchObject({ is: 'nag', number: 3 });
    expect(planNag(asleep, seven)).toEqual({ is: 'giveUp' });
  });

  test('ends with the limit, with the task, and with a result that nobody will see', () => {
    expect(planNag(open({ nags: 3 }), nine + 10 * minute)).toEqual({ is: 'giveUp' });
    expect(planNag(open({ isWanted: false }), nine + 10 * minute)).toEqual({ is: 'drop' });
    expect(planNag(open({ result: { is: 'lost' } }), nine + 10 * minute)).toEqual({ is: 'drop' });
  });

  test('is not put off by a clock that was set back after the result had come', () => {
    const ahead = open({ result: { is: 'shown', at: nine + hour } });
    expect(planNag(ahead, nine + 10 * minute)).toMatchObject({ is: 'nag', number: 1 });
  });
});
