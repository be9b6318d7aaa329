import { describe, expect, it } from 'vitest';
import {
  freshHost,
  hostHeld,
  hostVerdict,
  isForgettable,
  placeLeft,
  placeTaken,
  type HostEnd,
  type HostState,
} from '../../../src/domain/outbound/hosts.ts';

const rules = { concurrency: 4, perSecond: 10 };
const free = { is: 'free' };
const second = 1000;

const taken = (count: number, at: number, state: HostState = freshHost) =>
  Array.from({ length: count }).reduce<HostState>((before) => placeTaken(before, at), state);

/** Calls that begin and end one after the other. */
const calls = (ends: readonly HostEnd[], from: number, state: HostState = freshHost) =>
  ends.reduce((before, end, index) => placeLeft(placeTaken(before, from + index), end, from + index), state);

const bad = (count: number) => Array.from({ length: count }, () => 'bad' as const);
const good = (count: number) => Array.from({ length: count }, () => 'good' as const);

describe('a host', () => {
  it('takes so many calls at once', () => {
    expect(hostVerdict(taken(3, 0), rules, 0)).toEqual(free);
    expect(hostVerdict(taken(4, 0), rules, 0)).toEqual({ is: 'held', because: 'busy', until: null });
    expect(hostVerdict(placeLeft(taken(4, 0), 'good', 5), rules, 5)).toEqual(free);
  });

  it('takes so many calls in any second', () => {
    const state = calls(good(10), 0);
    expect(hostVerdict(state, rules, 500)).toEqual({ is: 'held', because: 'pace', until: second });
    expect(hostVerdict(state, rules, second)).toEqual(free);
    expect(hostVerdict(placeTaken(state, second), rules, second)).toEqual({
      is: 'held',
      because: 'pace',
      until: second + 1,
    });
  });

  it('is left alone for as long as it asked, and not for less when it asks again', () => {
    const state = hostHeld(hostHeld(freshHost, 60 * second), 10 * second);
    expect(hostVerdict(state, rules, 59_999)).toEqual({ is: 'held', because: 'askedToWait', until: 60_000 });
    expect(hostVerdict(state, rules, 60_000)).toEqual(free);
  });
});

describe('the breaker', () => {
  const broken = calls(bad(10), 0);
  const openUntil = 9 + 30 * second;

  it('stays closed while there is too little to say, and while most calls go well', () => {
    expect(hostVerdict(calls(bad(9), 0), rules, 5 * second)).toEqual(free);
    expect(hostVerdict(calls([...good(11), ...bad(10)], 0), rules, 5 * second)).toEqual(free);
    expect(
      hostVerdict(
        calls(
          Array.from({ length: 20 }, () => 'unsaid' as const),
          0,
        ),
        rules,
        5 * second,
      ),
    ).toEqual(free);
  });

  it('forgets failures after a minute', () => {
    expect(hostVerdict(calls(bad(9), 70 * second, calls(bad(9), 0)), rules, 75 * second)).toEqual(free);
  });

  it('opens when half of the calls fail, and lets one through after a while', () => {
    expect(hostVerdict(broken, rules, 5 * second)).toEqual({ is: 'held', because: 'broken', until: openUntil });
    expect(hostVerdict(broken, rules, openUntil)).toEqual(free);
    const trying = placeTaken(broken, openUntil);
    expect(hostVerdict(trying, rules, openUntil)).toEqual({ is: 'held', because: 'broken', until: null });
  });

  it('closes when that call goes well', () => {
    const mended = placeLeft(placeTaken(broken, openUntil), 'good', openUntil + 1);
    expect(hostVerdict(mended, rules, openUntil + 1)).toEqual(free);
    expect(hostVerdict(calls(bad(9), openUntil + 2, mended), rules, openUntil + 2 * second)).toEqual(free);
  });

  it('opens for longer each time that call fails, up to five minutes', () => {
    let [state, now] = [broken, openUntil];
    const stretches: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      state = placeLeft(placeTaken(state, now), 'bad', now);
      const verdict = hostVerdict(state, rules, now);
      const until = verdict.is === 'held' ? (verdict.until ?? 0) : 0;
      stretches.push((until - now) / second);
      now = until;
    }
    expect(stretches).toEqual([60, 120, 240, 300, 300]);
  });

  it('tries again at once when that call said nothing', () => {
    const state = placeLeft(placeTaken(broken, openUntil), 'unsaid', openUntil + 7);
    expect(hostVerdict(state, rules, openUntil + 7)).toEqual(free);
  });
});

it('is forgotten when nothing of it matters any more', () => {
  const state = calls(good(1), 0);
  expect(isForgettable(state, 59 * second)).toBe(false);
  expect(isForgettable(state, 60 * second)).toBe(true);
  expect(isForgettable(taken(1, 0), 100 * second)).toBe(false);
  expect(isForgettable(hostHeld(freshHost, 200 * second), 100 * second)).toBe(false);
  expect(isForgettable(calls(bad(10), 0), 100 * second)).toBe(false);
});
