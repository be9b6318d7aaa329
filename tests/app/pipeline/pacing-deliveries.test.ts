import { describe, expect, it } from 'vitest';
import type { NewMessage } from '../../../src/app/ports/chats.ts';
import type { Outgoing } from '../../../src/app/ports/outside.ts';
import type { DeliveryDeed } from '../../../src/domain/delivery.ts';
import type { Thread } from '../../../src/domain/thread.ts';
import { aPipeline, hour, minute, paced, type Pipeline, hourly, texts, restarted } from '../../support/pipeline.ts';

interface Sending {
  readonly chatId: string;
  readonly at: number;
}

/** Notes when each call reached the chat, on a wire that takes its time in both directions. */
function watch(p: Pipeline, latency: () => number = () => 0): Sending[] {
  const sends: Sending[] = [];
  const wait = () => {
    const ms = latency();
    return ms === 0 ? Promise.resolve() : new Promise<void>((resolve) => p.time.after(ms, resolve));
  };
  const chat = { ...p.chat };
  const onTheWire = async <T>(chatId: string, call: () => Promise<T>): Promise<T> => {
    await wait();
    sends.push({ chatId, at: p.time.elapsed() });
    const answer = await call();
    await wait();
    return answer;
  };
  Object.assign(p.chat, {
    send: (part: Outgoing) => onTheWire(part.route.address, () => chat.send(part)),
    act: (part: Outgoing, deed: DeliveryDeed) => onTheWire(part.route.address, () => chat.act(part, deed)),
    createTopic: (route: Thread, name: string) => onTheWire(route.address, () => chat.createTopic(route, name)),
  });
  return sends;
}

const most = (ends: readonly number[], withinMs: number) =>
  Math.max(0, ...ends.map((at) => ends.filter((one) => one >= at && one < at + withinMs).length));

/** What Telegram would have answered with "Too Many Requests". */
function breaches(sends: readonly Sending[]) {
  const chats = [...new Set(sends.map(({ chatId }) => chatId))];
  const times = (chatId: string) => sends.filter((one) => one.chatId === chatId).map(({ at }) => at);
  return {
    overall:
      most(
        sends.map(({ at }) => at),
        1000,
      ) > 30,
    chats: chats.filter((chatId) => most(times(chatId), 1000) > 1),
    groups: chats.filter((chatId) => chatId.startsWith('-') && most(times(chatId), minute) > 20),
  };
}

const none = { overall: false, chats: [], groups: [] };

function message(id: number, address: string): NewMessage {
  return {
    id: `m${String(id).padStart(6, '0')}`,
    kind: 'notice',
    thread: { provider: 'telegram', address, topic: null },
    taskId: null,
    shown: { text: `word ${id}` },
    edits: null,
    expiresAt: null,
  };
}

/** Lets time pass from one thing to do to the next, until the outbox is empty; answers how long that took. */
async function deliverAll(p: Pipeline, maxMs = hour): Promise<number> {
  const open = p.database
    .prepare(`select count(*) from deliveries where status not in ('delivered', 'failed')`)
    .pluck();
  const from = p.time.elapsed();
  await p.settle();
  while (open.get() !== 0) {
    if (p.time.elapsed() - from > maxMs) throw new Error('the outbox never becomes empty');
    const next = await p.rooms.deliverer.nextAt(p.time.now());
    const pause = next === null ? 1000 : Math.max(next - p.time.now(), 1);
    await p.pass(Math.min(pause, 1000));
  }
  return p.time.elapsed() - from;
}

async function withMessages(chats: number, each: number, latency?: () => number) {
  const p = await aPipeline({ settings: paced });
  const sends = watch(p, latency);
  const messages = Array.from({ length: chats * each }, (_one, n) => message(n, `-100${n % chats}`));
  await p.store.addMessages(messages, p.time.now());
  return { p, sends };
}

describe('a full outbox', () => {
  it('of a thousand messages to a hundred chats is sent in the time that the limits allow', async () => {
    const { p, sends } = await withMessages(100, 10);
    const took = await deliverAll(p);
    expect(sends).toHaveLength(1000);
    expect(breaches(sends)).toEqual(none);
    // Thirty at once, and then thirty a second.
    expect(took / (33 * 1000)).toBeLessThanOrEqual(1.03);
  });

  it('of groups with more than a minute allows is sent in the time that the limits allow', async () => {
    const { p, sends } = await withMessages(20, 50);
    const took = await deliverAll(p);
    expect(breaches(sends)).toEqual(none);
    // Twenty in each of two minutes, and ten more, a second apart.
    expect(took / (2 * minute + 9000)).toBeLessThanOrEqual(1.03);
  });

  it('keeps within the limits whatever the wire does', async () => {
    let seed = 7;
    const latency = () => (seed = (seed * 48_271) % 2_147_483_647) % 700;
    const { p, sends } = await withMessages(40, 6, latency);
    await deliverAll(p);
    expect(sends).toHaveLength(240);
    expect(breaches(sends)).toEqual(none);
  });

  it('serves its chats in turn: nobody waits until others are done', async () => {
    const { p, sends } = await withMessages(100, 3);
    await deliverAll(p);
    const first = sends.slice(0, 100).map(({ chatId }) => chatId);
    expect(new Set(first).size).toBe(100);
  });
});

describe('a chat that becomes free while the outbox is looked through', () => {
  it('is served at once, and not when the loop next looks by itself', async () => {
    const p = await aPipeline({ settings: paced });
    await p.store.addMessages([message(1, '-1001')], p.time.now());
    await p.settle();
    await p.store.addMessages([message(2, '-1001')], p.time.now());
    await p.pass(999);
    const claimParts = p.store.claimParts.bind(p.store);
    let looks = 0;
    p.store.claimParts = async (...asked) => {
      looks += 1;
      const parts = await claimParts(...asked);
      await p.time.advance(1);
      return parts;
    };
    const { deliverer } = p.rooms;
    const now = p.time.now();
    expect(await deliverer.step(now, 100)).toMatchObject({ taken: 0 });
    expect([looks, await deliverer.nextAt(now)]).toEqual([1, now + 1]);
    expect(await deliverer.step(p.time.now(), 100)).toMatchObject({ taken: 1 });
  });
});

describe('a chat that is full of answers to people', () => {
  it('has its results all the same, one after every four answers', async () => {
    const p = await aPipeline({ settings: paced });
    const kinds: string[] = [];
    const chat = { ...p.chat };
    Object.assign(p.chat, {
      send: (part: Outgoing) => {
        kinds.push('text' in part.shown && part.shown.text.startsWith('word') ? 'answer' : 'other');
        return chat.send(part);
      },
    });
    const answers = Array.from({ length: 12 }, (_one, n) => ({ ...message(n, '77'), kind: 'answer' as const }));
    const words = [20, 21].map((n) => ({ ...message(n, '77'), shown: { text: `news ${n}` } }));
    await p.store.addMessages([...answers, ...words], p.time.now());
    await deliverAll(p);
    const row = ['answer', 'answer', 'answer', 'answer'];
    expect(kinds).toEqual([...row, 'other', ...row, 'other', ...row]);
  });
});

describe('a group in which everything is due at nine', () => {
  it('gets every result, in the order of its topic, without a single word too much', async () => {
    const p = await aPipeline({ settings: paced });
    const sends = watch(p);
    for (let n = 0; n < 12; n += 1) {
      await p.create({
        instructions: `${n} says ${'a'.repeat(4080)}\n\n${n} goes on`,
        schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' },
      });
    }
    await p.pass(hour);
    await deliverAll(p);
    expect(breaches(sends)).toEqual(none);
    expect(p.chat.topics).toHaveLength(12);
    expect([p.chat.cards.length, p.chat.pins.length]).toEqual([12, 12]);
    for (const { id } of p.chat.topics) {
      const said = p.chat.shown.filter(({ topic }) => topic === id).map(({ text }) => text.split(' ')[1]);
      expect(said).toEqual(['says', 'goes']);
    }
  });

  it('gets its results first, and cards and pins when there is time', async () => {
    const p = await aPipeline({ settings: paced });
    watch(p);
    for (let n = 0; n < 5; n += 1) {
      await p.create({ schedule: { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } });
    }
    await p.pass(hour);
    await deliverAll(p);
    const order = p.chat.calls.map((call) => call.split(' ')[0]);
    expect(order.slice(0, 10)).toEqual(Array.from({ length: 5 }, () => ['createTopic', 'send']).flat());
    expect(new Set(order.slice(10))).toEqual(new Set(['send', 'pin']));
    expect([p.chat.shown.length, p.chat.cards.length, p.chat.pins.length]).toEqual([5, 5, 5]);
  });
});

describe('a chat that is told to wait', () => {
  it('leaves everything of it waiting, answers to people as well, and others go on', async () => {
    const p = await aPipeline({ settings: paced });
    p.chat.failSends('rateLimited');
    await p.store.addMessages([message(1, '-1001')], p.time.now());
    await p.settle();
    await p.store.addMessages([{ ...message(2, '-1001'), kind: 'answer' }, message(3, '-1002')], p.time.now());
    await p.pass(6999);
    expect(texts(p)).toEqual(['word 3']);
    await p.pass(1);
    expect(texts(p)).toEqual(['word 3', 'word 2']);
    await p.pass(1000);
    expect(texts(p)).toEqual(['word 3', 'word 2', 'word 1']);
  });

  it('waits for ten thousand seconds over a restart', async () => {
    const p = await aPipeline({ settings: paced });
    const chat = { ...p.chat };
    Object.assign(p.chat, {
      send: () => Promise.resolve({ is: 'wait', error: 'Too Many Requests', ms: 10_000_000 }),
    });
    await p.store.addMessages([message(1, '-1001')], p.time.now());
    await p.settle();
    Object.assign(p.chat, { send: (part: Outgoing) => chat.send(part) });
    const next = p.restart();
    await next.store.addMessages([message(2, '-1001')], next.time.now());
    await next.pass(9_999_999);
    expect(p.chat.shown).toEqual([]);
    await next.pass(1);
    await next.pass(1000);
    expect(p.chat.shown).toHaveLength(2);
  });

  it('waits as well when it was the making of a topic that was too much', async () => {
    const p = await aPipeline({ settings: paced });
    await p.create({ schedule: hourly });
    p.chat.failTopics('rateLimited');
    await p.pass(hour);
    await p.store.addMessages([{ ...message(2, '-1001234'), kind: 'answer' }], p.time.now());
    await p.pass(6999);
    expect(p.chat.shown).toEqual([]);
    await p.pass(1);
    expect(texts(p)).toEqual(['word 2']);
    for (let second = 0; second < 2; second += 1) await p.pass(1000);
    expect(texts(p)).toEqual(['word 2', 'Stand up!']);
  });
});

describe('a group that has spent its minute on a topic', () => {
  it('leaves the result waiting, and not on its way', async () => {
    const p = await aPipeline({ settings: paced });
    for (let made = 0; made < 10; made += 1) await p.create({ schedule: hourly, title: `Task ${made}` });
    await p.time.advance(hour);
    await p.store.addMessages([message(1, '-1001234')], p.time.now());
    for (let second = 0; second < 40; second += 1) await p.pass(1000);
    expect(p.chat.topics).toHaveLength(10);
    const open = p.database.prepare(`select status from deliveries where kind = 'result' and status <> 'delivered'`);
    expect(open.pluck().all()).toEqual(['pending']);
  });
});

describe('a budget', () => {
  it('is not forgotten by a restart', async () => {
    const { p } = await withMessages(1, 25);
    await p.settle();
    for (let n = 0; n < 19; n += 1) await p.pass(1000);
    expect(p.chat.shown).toHaveLength(20);
    const next = await restarted(p);
    const arrivalMs = 2000;
    await next.pass(minute - 19_000 + arrivalMs - 1);
    expect(p.chat.shown).toHaveLength(20);
    await next.pass(1);
    expect(p.chat.shown).toHaveLength(21);
  });

  it('is spent by looks for evidence, one call at a time', async () => {
    const p = await aPipeline({ settings: paced });
    p.chat.failSends('lost');
    p.chat.probes(3);
    await p.store.addMessages([message(1, '-1001'), message(2, '-1001')], p.time.now());
    await p.settle();
    const probes: number[] = [];
    for (let second = 1; second <= 8; second += 1) {
      await p.pass(1000);
      probes.push(p.chat.calls.filter((call) => call.startsWith('probe')).length);
    }
    // The send, two seconds until the look, and its three probes; the next message has its turn after that.
    expect(probes).toEqual([0, 1, 2, 3, 3, 3, 3, 3]);
    expect(texts(p)).toEqual(['word 1', 'word 2']);
  });
});
