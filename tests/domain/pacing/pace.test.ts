import { describe, expect, it } from 'vitest';
import { commonHold, freeFrom, isGroup, ratesOf, roomAt } from '../../../src/domain/pacing/pace.ts';

const three = { calls: 3, withinMs: 1000 };

describe('a rate', () => {
  it.each([
    ['nothing was called', { open: 0, ends: [] }, 500, 3],
    ['a call is on its way', { open: 1, ends: [] }, 500, 2],
    ['calls have just ended', { open: 0, ends: [400, 500] }, 500, 1],
    ['both', { open: 1, ends: [400, 500] }, 500, 0],
    ['an end has been out of the window for no time at all', { open: 0, ends: [0, 400, 500] }, 1000, 1],
    ['an end leaves the window in a millisecond', { open: 0, ends: [0, 400, 500] }, 999, 0],
    ['more than it allows are on their way', { open: 5, ends: [] }, 500, 0],
  ])('leaves room when %s', (_when, spent, at, room) => {
    expect(roomAt(spent, three, at)).toBe(room);
  });

  it.each([
    ['nothing was called', { open: 0, ends: [] }, -Infinity],
    ['there is room left', { open: 1, ends: [900] }, -Infinity],
    ['the oldest end must leave the window', { open: 0, ends: [100, 200, 300] }, 1100],
    ['a call on its way takes the place of an end', { open: 1, ends: [100, 200, 300] }, 1200],
    ['all are on their way', { open: 3, ends: [] }, Infinity],
  ])('says from when on one more may start: %s', (_when, spent, from) => {
    expect(freeFrom(spent, three)).toBe(from);
  });

  it('allows one more exactly when it says so, whatever was called before', () => {
    for (let seed = 1; seed < 400; seed += 1) {
      const open = seed % 4;
      const ends = Array.from({ length: seed % 7 }, (_one, index) => index * ((seed * 37) % 401));
      const from = freeFrom({ open, ends }, three);
      if (Number.isFinite(from)) expect(roomAt({ open, ends }, three, from)).toBeGreaterThan(0);
      if (from > -Infinity) expect(roomAt({ open, ends }, three, Math.min(from - 1, 10_000))).toBe(0);
    }
  });

  it('without a limit is never full', () => {
    const { overall } = ratesOf({ overallPerSecond: Infinity, chatPerSecond: 1, groupPerMinute: 20 });
    expect([roomAt({ open: 9, ends: [1] }, overall, 1), freeFrom({ open: 9, ends: [1] }, overall)]).toEqual([
      Infinity,
      -Infinity,
    ]);
  });
});

describe('a hold', () => {
  const held = (chatId: string, at: number, ms: number) => ({ chatId, at, ms });

  it('is common to all when three chats are told to wait within a second, for as long as all of them share', () => {
    expect(commonHold([held('a', 0, 9000), held('b', 300, 3000), held('c', 900, 5000)], 900)).toBe(3000);
  });

  it.each([
    ['two chats', [held('a', 0, 9000), held('b', 300, 3000)], 300],
    ['one chat three times', [held('a', 0, 9), held('a', 1, 9), held('a', 2, 9)], 2],
    ['three chats over more than a second', [held('a', 0, 9), held('b', 500, 9), held('c', 1000, 9)], 1000],
  ])('is of the chat alone for %s', (_what, all, now) => {
    expect(commonHold(all, now)).toBeNull();
  });
});

describe('an address', () => {
  it('of a group begins with a minus', () => {
    expect([isGroup('-1001234'), isGroup('-5'), isGroup('1234')]).toEqual([true, true, false]);
  });
});
