import { describe, expect, it } from 'vitest';
import { createPacer, type OwnPacer as Pacer } from '../../../src/app/pacing/pacer.ts';
import { ratesOf } from '../../../src/domain/pacing/pace.ts';
import { manualTime, memoryLog, type ManualTime } from '../../support/fakes.ts';

const telegram = { overallPerSecond: 30, chatPerSecond: 1, groupPerMinute: 20 };
const group = (n = 1) => ({ chatId: `group-${n}`, address: `-100${n}` });
const person = (n = 1) => ({ chatId: `person-${n}`, address: `${n}` });

interface Kept {
  readonly holds: { chatId: string | null; until: number }[];
  readonly sent: { chatId: string; address: string; at: number; messages?: number }[];
}

function world(kept: Partial<Kept> = {}, rates = telegram) {
  const time = manualTime(1_000_000);
  const log = memoryLog();
  const written: unknown[] = [];
  const store = {
    readHolds: () => Promise.resolve(kept.holds ?? []),
    sentSince: (since: number) =>
      Promise.resolve((kept.sent ?? []).filter(({ at }) => at > since).map((one) => ({ messages: 1, ...one }))),
    claimParts: () => Promise.resolve([]),
    writeHold: (chatId: string | null, until: number) => {
      written.push([chatId, until - time.now()]);
      return Promise.resolve();
    },
  };
  const pacer = createPacer({ store, bootId: 'boot', clock: time, stopwatch: time, timer: time, log }, ratesOf(rates));
  return { time, pacer, log, written, store };
}

type Chat = ReturnType<typeof group>;

/** Makes a call if it may start now. */
function call(pacer: Pacer, chat: Chat): { end: () => void } | null {
  if (pacer.heldChats().has(chat.chatId)) return null;
  if (pacer.book(1) === 0) return null;
  const turn = pacer.start(chat);
  turn.spend();
  return turn;
}

function callAndEnd(pacer: Pacer, chat: Chat): boolean {
  const turn = call(pacer, chat);
  turn?.end();
  return turn !== null;
}

/** How long until the chat may be called, step by step as the pacer says. */
async function waitFor({ pacer, time }: { pacer: Pacer; time: ManualTime }, chat: Chat): Promise<number> {
  const from = time.elapsed();
  for (let looks = 0; looks < 1000; looks += 1) {
    if (callAndEnd(pacer, chat)) return time.elapsed() - from;
    const ms = pacer.freeInMs();
    if (ms === null) throw new Error('nothing ever changes');
    await time.advance(ms);
  }
  throw new Error('it never becomes free');
}

describe('the budget of one chat', () => {
  it('is one call a second, counted from the end of the one before', async () => {
    const { pacer, time } = world();
    const turn = call(pacer, person());
    await time.advance(5000);
    expect(call(pacer, person())).toBeNull();
    turn?.end();
    expect(pacer.freeInMs()).toBe(1000);
    await time.advance(999);
    expect(call(pacer, person())).toBeNull();
    await time.advance(1);
    expect(call(pacer, person())).not.toBeNull();
  });

  it('of a group is twenty calls a minute on top of that, and of a private chat it is not', async () => {
    for (const [chat, ms] of [
      [group(), 60_000 - 19_000],
      [person(), 1000],
    ] as const) {
      const at = world();
      const waits: number[] = [];
      for (let n = 0; n < 21; n += 1) waits.push(await waitFor(at, chat));
      expect(waits).toEqual([0, ...Array<number>(19).fill(1000), ms]);
    }
  });

  it('is left to other chats while it is spent', () => {
    const { pacer } = world();
    expect(callAndEnd(pacer, group(1))).toBe(true);
    expect([...pacer.heldChats()]).toEqual(['group-1']);
    expect(callAndEnd(pacer, group(2))).toBe(true);
  });

  it('that becomes free behind the back of whoever has just looked is told as free at once', async () => {
    const { pacer, time } = world();
    expect(callAndEnd(pacer, group(1))).toBe(true);
    await time.advance(500);
    expect(callAndEnd(pacer, group(2))).toBe(true);
    await time.advance(499);
    expect([pacer.book(1), pacer.heldChats().has('group-1')]).toEqual([1, true]);
    pacer.release(1);
    await time.advance(1);
    // Somebody else looks as well, and the other group is held for longer.
    expect(pacer.heldChats().has('group-1')).toBe(false);
    expect(pacer.freeInMs()).toBe(0);
    expect(pacer.book(0)).toBe(0);
    await time.advance(1000);
    expect([pacer.book(1), pacer.freeInMs()]).toEqual([1, null]);
  });

  it('costs nothing for a turn in which nobody was called', () => {
    const { pacer } = world();
    expect(pacer.book(1)).toBe(1);
    pacer.start(group()).end();
    expect([pacer.heldChats().size, pacer.freeInMs()]).toEqual([0, null]);
  });

  it('is told of for as long as a turn waits for it, whoever else has looked meanwhile', async () => {
    const { pacer, time } = world();
    const turn = call(pacer, group());
    expect(pacer.isFreeSoon(group().address)).toBe(true);
    const taken = pacer.take(group().address);
    expect(pacer.turnInMs()).toBe(1000);
    await time.advance(999);
    pacer.release(pacer.book(1));
    expect(pacer.turnInMs()).toBe(1);
    await time.advance(1);
    expect([await taken, pacer.turnInMs()]).toEqual([true, null]);
    turn?.end();
  });

  it('goes with it to another address', async () => {
    const { pacer, time } = world();
    const chat = { chatId: 'one', address: '-5' };
    callAndEnd(pacer, chat);
    expect(callAndEnd(pacer, { ...chat, address: '-1005' })).toBe(false);
    await time.advance(1000);
    expect(callAndEnd(pacer, { ...chat, address: '-1005' })).toBe(true);
  });
});

describe('the budget of all chats', () => {
  it('is thirty calls in any second, however they come', async () => {
    const { pacer, time } = world();
    const starts: number[] = [];
    for (let n = 0; n < 400; n += 1) {
      if (callAndEnd(pacer, group(n))) starts.push(time.elapsed());
      await time.advance((n * 13) % 29);
    }
    for (const at of starts) {
      expect(starts.filter((one) => one >= at && one < at + 1000).length).toBeLessThanOrEqual(30);
    }
    // What is not spent is lost, so nothing waits while there is room.
    expect(starts.length).toBeGreaterThanOrEqual(30 * Math.floor(time.elapsed() / 1000));
  });

  it('is set aside before anybody is chosen, and given back when nobody was', () => {
    const { pacer } = world();
    expect(pacer.book(20)).toBe(20);
    expect(pacer.book(20)).toBe(10);
    expect(pacer.book(20)).toBe(0);
    pacer.release(30);
    expect(pacer.book(1)).toBe(1);
  });

  it('without limits remembers nothing', () => {
    const { pacer } = world({}, { overallPerSecond: Infinity, chatPerSecond: Infinity, groupPerMinute: Infinity });
    for (let n = 0; n < 100; n += 1) expect(callAndEnd(pacer, group())).toBe(true);
    expect([pacer.heldChats().size, pacer.freeInMs()]).toEqual([0, null]);
  });
});

describe('a platform that says when to come back', () => {
  it('binds the chat and nobody else, and is written down', async () => {
    const { pacer, time, written } = world();
    await pacer.holdChat(group(), 7000);
    expect(written).toEqual([['group-1', 7000]]);
    expect([callAndEnd(pacer, group()), callAndEnd(pacer, group(2))]).toEqual([false, true]);
    await time.advance(6999);
    expect(callAndEnd(pacer, group())).toBe(false);
    await time.advance(1);
    expect(callAndEnd(pacer, group())).toBe(true);
  });

  it('is not shortened by what it says later', async () => {
    const { pacer, time } = world();
    await pacer.holdChat(group(), 7000);
    await pacer.holdChat(group(), 1000);
    await time.advance(6999);
    expect(callAndEnd(pacer, group())).toBe(false);
  });

  it('binds everybody when it says so to three chats at once', async () => {
    const { pacer, time, written, log } = world();
    for (const [n, ms] of [9000, 3000, 5000].entries()) await pacer.holdChat(group(n), ms);
    expect(written.at(-1)).toEqual([null, 3000]);
    expect(log.lines.map(({ event }) => event)).toEqual(['all_chats_held']);
    expect([pacer.book(1), pacer.freeInMs()]).toEqual([0, 3000]);
    await time.advance(3000);
    expect(callAndEnd(pacer, group(7))).toBe(true);
    expect(callAndEnd(pacer, group(2))).toBe(false);
  });

  it('is obeyed all the same when that cannot be written', async () => {
    const { pacer, store, log } = world();
    store.writeHold = () => Promise.reject(new Error('disk full'));
    await pacer.holdChat(group(), 7000);
    expect(callAndEnd(pacer, group())).toBe(false);
    expect(log.lines.map(({ event }) => event)).toEqual(['hold_not_written']);
  });
});

describe('a start', () => {
  it('keeps to what the platform said before it, for ten thousand seconds as well', async () => {
    const { pacer, time } = world({ holds: [{ chatId: 'group-1', until: 1_000_000 + 10_000_000 }] });
    await pacer.open();
    await time.advance(9_999_999);
    expect([callAndEnd(pacer, group()), callAndEnd(pacer, group(2))]).toEqual([false, true]);
    await time.advance(1);
    expect(callAndEnd(pacer, group())).toBe(true);
  });

  it('keeps to what it said to everybody', async () => {
    const { pacer, time } = world({ holds: [{ chatId: null, until: 1_000_000 + 4000 }] });
    await pacer.open();
    expect([pacer.book(1), pacer.freeInMs()]).toEqual([0, 4000]);
    await time.advance(4000);
    // Whoever was refused a moment ago is not left to wait for something else.
    expect(pacer.freeInMs()).toBe(0);
    expect([pacer.book(1), pacer.freeInMs()]).toEqual([1, null]);
  });

  it('knows what was sent in the minute before it, and that a call arrives after it is written down', async () => {
    const sent = Array.from({ length: 20 }, (_one, n) => ({ ...group(), at: 1_000_000 - 50_000 + n * 1000 }));
    const at = world({ sent: sent.toReversed() });
    await at.pacer.open();
    expect(callAndEnd(at.pacer, group())).toBe(false);
    expect(await waitFor(at, group())).toBe(12_000);
  });

  it('takes what a clock that was set back has left in the future for what was sent just now', async () => {
    const at = world({ sent: [{ ...person(), at: 1_000_000 + 3_600_000 }] });
    await at.pacer.open();
    expect(await waitFor(at, person())).toBe(1000);
  });
});

describe('calls in the course of a turn', () => {
  it('spend what was set aside first, and then wait for their chat', async () => {
    const { pacer, time } = world();
    pacer.book(1);
    const turn = pacer.start(group());
    expect(await pacer.take('-1001')).toBe(true);
    const ends: number[] = [];
    const second = pacer.take('-1001').then(() => ends.push(time.elapsed()));
    await time.advance(999);
    expect(ends).toEqual([]);
    await time.advance(1);
    await second;
    expect(ends).toEqual([1000]);
    // The last one is on its way until the turn is over.
    await time.advance(10_000);
    turn.end();
    expect(pacer.freeInMs()).toBe(1000);
  });

  it('come before a backlog of other chats', async () => {
    const { pacer, time } = world();
    pacer.book(1);
    const turn = pacer.start(group(99));
    turn.spend();
    let calls = 0;
    // Whoever serves the backlog is always there first, and takes all there is.
    for (let at = 0; at < 5000; at += 100) {
      time.after(at, () => {
        for (let n = 0; n < 40; n += 1) callAndEnd(pacer, person((calls += 1)));
      });
    }
    let takenAt: number | null = null;
    const waiting = pacer.take('-10099').then(() => (takenAt = time.elapsed()));
    await time.advance(5000);
    expect(takenAt).toBe(1000);
    await waiting;
  });

  it('count for their chat also when it was idle before, and belongs to no turn', async () => {
    const { pacer, time } = world();
    for (let n = 0; n < 30; n += 1) callAndEnd(pacer, group(n));
    const taken = pacer.take('4711');
    await time.advance(999);
    expect(pacer.heldChats().has('4711')).toBe(false);
    await time.advance(1);
    await taken;
    expect(pacer.heldChats().has('4711')).toBe(true);
  });

  it('are worth waiting for while the pace of the chat alone is spent, and not when a group has had its minute', async () => {
    const p = world();
    for (let calls = 1; calls <= 20; calls += 1) {
      const turn = call(p.pacer, group());
      expect(p.pacer.isFreeSoon('-1001')).toBe(calls < 20);
      turn?.end();
      await p.time.advance(1000);
    }
  });

  it('may be told to wait where the chat is known by its address alone, and nothing is written about it', async () => {
    const { pacer, written } = world();
    await pacer.hold('4711', 5000);
    expect([written, pacer.heldChats().has('4711')]).toEqual([[], true]);
  });

  it('are not made when the chat must be left alone for long, so that nothing waits for hours', async () => {
    const { pacer } = world();
    pacer.book(1);
    const turn = pacer.start(group());
    expect(await pacer.take('-1001')).toBe(true);
    await pacer.hold('-1001', 3_600_000);
    expect(await pacer.take('-1001')).toBe(false);
    turn.end();
    expect(pacer.heldChats().has('group-1')).toBe(true);
  });

  it('without a turn count as ended at once, because nobody says when they end', async () => {
    const { pacer, time } = world();
    expect(await pacer.take('-1001')).toBe(true);
    await time.advance(1000);
    expect(await pacer.take('-1001')).toBe(true);
  });
});

describe('asides', () => {
  const answer = async () => 'done' as const;

  it('spend the budget of all chats, half of it at most, and come before results that wait', async () => {
    const { pacer, time } = world();
    let made = 0;
    const count = async () => (made += 1);
    const all = Promise.all(Array.from({ length: 40 }, () => pacer.aside(count)));
    await time.advance(0);
    expect([made, pacer.book(100)]).toEqual([15, 15]);
    await time.advance(3000);
    await all;
    expect(made).toBe(40);
  });

  it('wait while Telegram has told one of them to, or all chats, and are left out when that takes too long', async () => {
    const { pacer, time } = world();
    expect(await pacer.aside(async () => ({ is: 'wait', error: '429', ms: 4000 }))).toMatchObject({ is: 'wait' });
    let is = 'waiting';
    const waiting = pacer.aside(answer).then(() => (is = 'done'));
    await time.advance(3999);
    expect(is).toBe('waiting');
    await time.advance(1);
    await waiting;
    expect(is).toBe('done');
    await pacer.aside(async () => ({ is: 'wait', error: '429', ms: 60_000 }));
    expect(await pacer.aside(answer)).toMatchObject({ is: 'unreached' });
    // Results do not wait for that.
    expect(pacer.book(100)).toBeGreaterThan(0);
  });

  it('that are under way and fill the budget let results be looked at again', async () => {
    const { pacer, time } = world({}, { ...telegram, overallPerSecond: 2 });
    let end = () => {};
    const aside = pacer.aside(() => new Promise<string>((resolve) => (end = () => resolve('done'))));
    await time.advance(0);
    expect([pacer.book(5), pacer.freeInMs()]).toEqual([1, expect.any(Number)]);
    end();
    await aside;
  });
});

describe('an album', () => {
  /** Takes the place of so many messages in the course of a turn, and answers how long that took. */
  async function takeMany(at: ReturnType<typeof world>, chat: Chat, messages: number): Promise<number> {
    const from = at.time.elapsed();
    at.pacer.book(1);
    const turn = at.pacer.start(chat);
    let isTaken = false;
    const taking = at.pacer.take(chat.address, messages).then(() => (isTaken = true));
    await at.time.advance(0);
    for (let steps = 0; !isTaken && steps < 200; steps += 1) await at.time.advance(at.pacer.turnInMs() ?? 0);
    await taking;
    turn.end();
    return at.time.elapsed() - from;
  }

  it('goes out at once where all of its messages have room, and then counts as all of them', async () => {
    const at = world();
    expect(await takeMany(at, group(), 10)).toBe(0);
    // As if they had been sent one by one.
    expect(await waitFor(at, group())).toBe(10_000);
    expect(await takeMany(at, group(), 9)).toBe(1000);
    expect(await waitFor(at, group())).toBeGreaterThan(39_000);
  });

  it('waits in its turn until a group has room for all of it', async () => {
    const at = world();
    for (let calls = 0; calls < 15; calls += 1) await waitFor(at, group());
    // Of fifteen in the last quarter of a minute five must be forgotten.
    expect(await takeMany(at, group(), 10)).toBe(60_000 - 14_000 + 4000);
  });

  it('counts for all chats together as many times', async () => {
    const at = world();
    for (let n = 1; n <= 3; n += 1) expect(await takeMany(at, group(n), 10)).toBe(0);
    expect(await waitFor(at, group(4))).toBe(1000);
  });

  it('of which a start knows counts as many times as well', async () => {
    const at = world({ sent: [{ ...group(), at: 1_000_000 - 2000, messages: 10 }] });
    await at.pacer.open();
    expect(await waitFor(at, group())).toBe(10_000);
  });

  it('goes out where the pace is smaller than the album, as soon as nothing else counts', async () => {
    const at = world({}, { overallPerSecond: 3, chatPerSecond: 1, groupPerMinute: 5 });
    expect(await takeMany(at, group(), 10)).toBe(0);
    expect(await waitFor(at, group())).toBeGreaterThan(60_000);
  });

  it('gives its place back where nothing came of the turn', async () => {
    const at = world();
    at.pacer.book(1);
    at.pacer.start(group()).end();
    expect(await takeMany(at, group(), 10)).toBe(0);
  });
});
