import { expect, test } from 'vitest';
import type { Transport } from '../../src/app/ports/outside.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { systemTimer } from '../../src/system/clock.ts';
import { faultyTransport, manualTime, minute } from '../support/fakes.ts';
import { aFleet, type Fleet, type Member } from '../support/fleet.ts';
import { aChat, hourly } from '../support/pipeline.ts';
import { worldsOf } from '../support/store-worlds.ts';

const open = worldsOf('postgres');

/** A chat that answers when it likes, so that calls of several processes are under way at the same time. */
function slowChat(next: () => number) {
  const chat = faultyTransport();
  const inFlight = new Map<string, number>();
  const crowded: string[] = [];
  const dead = new Set<number>();
  const never = new Promise<never>(() => {});
  let kills = 0;
  const pause = () => new Promise<void>((resolve) => systemTimer.after(next() % 8, resolve));
  /** A process may die right before its call leaves, and right after it has arrived. */
  const onTheWire = async <T>(by: number, address: string, call: () => Promise<T>): Promise<T> => {
    if (dead.has(by)) return never;
    const others = inFlight.get(address) ?? 0;
    if (others > 0) crowded.push(address);
    inFlight.set(address, others + 1);
    await pause();
    const [before, after] = [next() % 40 === 0, next() % 40 === 0];
    if (before || dead.has(by)) return died(by, address);
    const answer = await call();
    if (after) return died(by, address);
    await pause();
    inFlight.set(address, (inFlight.get(address) ?? 1) - 1);
    return dead.has(by) ? never : answer;
  };
  const died = (by: number, address: string): Promise<never> => {
    inFlight.set(address, (inFlight.get(address) ?? 1) - 1);
    if (!dead.has(by)) kills += 1;
    dead.add(by);
    return never;
  };
  const transport = (by: number): Transport => ({
    send: (part) => onTheWire(by, part.route.address, () => chat.send(part)),
    act: (part, deed) => onTheWire(by, part.route.address, () => chat.act(part, deed)),
    createTopic: (route, name) => onTheWire(by, route.address, () => chat.createTopic(route, name)),
    settle: (part, look) => onTheWire(by, part.route.address, () => chat.settle(part, look)),
    findTopic: (route, name, askedAt) => chat.findTopic(route, name, askedAt),
    remove: (ids) => chat.remove(ids),
  });
  return { chat, transport, crowded, dead, kills: () => kills };
}

/** What a dead process asks of the store is never done. */
function mortal(store: Store, isDead: () => boolean): Store {
  const never = new Promise<never>(() => {});
  return new Proxy(store, {
    get: (target, name: keyof Store) => {
      const method = target[name] as (...asked: unknown[]) => unknown;
      if (typeof method !== 'function') return method;
      return (...asked: unknown[]) => (isDead() ? never : method.apply(target, asked));
    },
  });
}

const moment = (ms: number) => new Promise<void>((resolve) => systemTimer.after(ms, resolve));

/** Turns on its own, so that it looks for work while the others are in the middle of theirs. */
async function turns({ rooms }: Member, now: () => number, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const stepped = rooms.deliverer.step(now(), 20);
    // What a dead process asks of the store is never answered.
    await Promise.race([stepped, untilOver(isOver)]);
    await moment(3);
  }
}

async function untilOver(isOver: () => boolean): Promise<void> {
  while (!isOver()) await moment(5);
}

async function rescue(fleet: Fleet, dead: ReadonlySet<number>): Promise<void> {
  for (const [index, member] of fleet.members.entries()) {
    if (!dead.has(index) || !member.isAlive()) continue;
    await member.die();
    await fleet.join();
  }
}

test.each([1, 2, 3])(
  'whichever processes die, each chat has one call at a time, its order, one topic a task, and each word once: %i',
  async (seed) => {
    let state = seed * 7919;
    const next = () => (state = (state * 48_271) % 2_147_483_647);
    const world = await open();
    const time = manualTime(Date.UTC(2026, 10, 18, 9));
    const wire = slowChat(next);
    const fleet = await aFleet(world, 3, {
      time,
      transport: wire.transport,
      storeOf: (store, by) => mortal(store, () => wire.dead.has(by)),
    });
    const [first] = fleet.members;
    if (first === undefined) throw new Error('there is no process');
    const chats = ['-1001', '-1002', '-1003', '77'];
    for (const address of chats) await aChat({ store: world.store, time }, address);
    for (const address of chats)
      for (const title of ['red', 'green'])
        await first.rooms.tasks.create({
          threadKey: `telegram:chat:${address}`,
          actor: 'telegram:user:1001',
          idempotencyKey: null,
          input: { title, instructions: `{{ task.title }} {{ run.scheduled_for }}`, schedule: hourly },
        });
    await world.store.addMessages(
      Array.from({ length: 80 }, (_none, index) => ({
        id: `m${String(index).padStart(6, '0')}`,
        kind: 'notice',
        thread: { provider: 'telegram', address: chats[index % 4] ?? '', topic: null },
        taskId: null,
        shown: { text: `word ${String(index).padStart(2, '0')}` },
        edits: null,
        expiresAt: null,
      })),
      time.now(),
    );
    const isOpen = async () =>
      (await world.query(`select 1 from deliveries where status not in ('delivered', 'failed') limit 1`)).length > 0;
    for (let hours = 0; hours < 3; hours += 1) {
      await time.advance(60 * minute);
      const living = fleet.members.find((member, index) => member.isAlive() && !wire.dead.has(index));
      if (living === undefined) throw new Error('nobody is left');
      await living.rooms.scheduler.step(time.now(), 100);
      await living.rooms.runner.step(time.now(), 100);
      await living.rooms.runner.idle();
      const turning = new Map<number, Promise<void>>();
      let isOver = false;
      const begin = (member: Member, index: number) => {
        if (turning.has(index)) return;
        const isDone = () => isOver || wire.dead.has(index);
        turning.set(
          index,
          turns(member, () => time.now(), isDone),
        );
      };
      for (let rounds = 0; await isOpen(); rounds += 1) {
        if (rounds > 600) throw new Error('the outbox never becomes empty');
        fleet.members.forEach(begin);
        await moment(20);
        await rescue(fleet, wire.dead);
        // Somebody says that a topic is to be made of which nobody knows whether it was.
        if (rounds % 80 === 79)
          await world.store.retryBlocked({ chatId: null, taskId: null, inDoubt: true }, time.now());
        await time.advance(1000);
      }
      isOver = true;
      await Promise.all(turning.values());
    }
    expect(wire.crowded).toEqual([]);
    expect(wire.kills()).toBeGreaterThan(2);
    const { shown, topics } = wire.chat;
    // Questions about topics stand beside them.
    const results = shown.filter(({ text }) => !text.startsWith('['));
    for (const address of chats) {
      expect(
        topics
          .filter(({ chatId }) => chatId === address)
          .map(({ name }) => name)
          .toSorted(),
      ).toEqual(['green', 'red']);
      const threads = new Set(results.filter(({ chatId }) => chatId === address).map(({ topic }) => topic));
      for (const thread of threads) {
        const said = results
          .filter(({ chatId, topic }) => chatId === address && topic === thread)
          .map(({ text }) => text);
        expect(said).toEqual([...new Set(said)].toSorted());
      }
      expect(results.filter(({ chatId }) => chatId === address)).toHaveLength(20 + 2 * 3);
    }
  },
);
