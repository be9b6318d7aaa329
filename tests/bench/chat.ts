import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { systemTimer } from '../../src/system/clock.ts';
import { createTelegramApi } from '../../src/telegram/api.ts';
import { telegramTransport } from '../../src/telegram/delivery/transport.ts';
import { scopesOf } from '../support/actions.ts';
import { manualTime } from '../support/fakes.ts';
import { timersByHand } from './by-hand.ts';
import { bareTimers, withLoops } from './live.ts';
import { beyondDisk, spread, type Figure } from './report.ts';
import { fill, nullTransport, openBench, settings } from './world.ts';

const rates = { TELEGRAM_RATE_GLOBAL: 30, TELEGRAM_RATE_CHAT: 1, TELEGRAM_RATE_GROUP: 20 };

interface Backlog {
  readonly name: string;
  readonly chats: number;
  readonly each: number;
  /** Private chats know no limit per minute. */
  readonly isGroup: boolean;
  /** The least time that the limits allow, in seconds. */
  readonly least: number;
}

const backlogs: readonly Backlog[] = [
  // Thirty at once, and thirty more with each second: the last ten go out after 33 seconds.
  { name: '1,000 messages to 100 groups', chats: 100, each: 10, isGroup: true, least: 33 },
  { name: '1,000 messages to 100 private chats', chats: 100, each: 10, isGroup: false, least: 33 },
  // One a second, twenty in a minute: the sixtieth goes out in the third minute, nineteen seconds into it.
  { name: '60 messages to one group', chats: 1, each: 60, isGroup: true, least: 139 },
  // One a second.
  { name: '60 messages to one private chat', chats: 1, each: 60, isGroup: false, least: 59 },
];

/** How long a backlog takes, on a clock by hand, against the least time that the limits allow. */
export async function benchPacing(): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const backlog of backlogs) {
    const seconds = await timeOf(backlog);
    figures.push({
      name: `${backlog.name}, share of the least time`,
      value: seconds / backlog.least,
      unit: `x (${seconds.toFixed(1)} s)`,
      baseline: 1,
      baselineName: `${backlog.least} s, what the limits allow`,
      aim: '1.03',
    });
  }
  return figures;
}

async function timeOf({ chats, each, isGroup }: Backlog): Promise<number> {
  const time = manualTime(Date.UTC(2026, 10, 18, 9));
  const sentAt: number[] = [];
  const transport = nullTransport(() => sentAt.push(time.now()));
  const bench = await openBench({ transport, settings: rates, time });
  const { deliverer } = bench.rooms;
  const first = time.now();
  await bench.store.addMessages(
    Array.from({ length: chats * each }, (_none, index) => ({
      id: bench.world.ids.next(),
      kind: 'notice' as const,
      thread: { provider: 'telegram', address: `${isGroup ? '-100' : ''}${5000 + (index % chats)}`, topic: null },
      taskId: null,
      shown: { text: `message ${index}` },
      edits: null,
      expiresAt: null,
    })),
    first,
  );
  while (sentAt.length < chats * each) {
    const { taken, more } = await deliverer.step(time.now(), settings.BATCH_SIZE);
    await deliverer.idle();
    if (taken > 0 || more) continue;
    const next = await deliverer.nextAt(time.now());
    await time.advance(Math.max(1, (next ?? time.now()) - time.now()));
  }
  await bench.close();
  return (Math.max(...sentAt) - first) / 1000;
}

const windowMs = 50_500;
const perSecond = 20;
/** The first calls open the connection and warm the code. */
const warmUp = 10;

/** From the slot to its call at the door of a Bot API, through everything: scheduler, runner, outbox, pacing, HTTP. */
export async function benchSlotToCall(): Promise<Figure[]> {
  const arrivals = new Map<string, number>();
  const door = await openDoor((text) => arrivals.set(text, Date.now()));
  const api = createTelegramApi({ token: '1:the-token-of-the-bench', apiRoot: door.root, timer: systemTimer });
  const live = await openBench({
    settings: rates,
    transportOf: (store, world, budget, blobs) =>
      telegramTransport({ ...world, api, store, blobs, budget, kinds: { scopesOf }, defaultTimezone: 'UTC' }),
  });
  const bare = await timersByHand(live.database, bareTimers);
  const count = (windowMs / 1000) * perSecond;
  const base = Date.now() + 3000;
  const slot = (index: number) => base + Math.floor((index * windowMs) / count) + ((index * 7919) % 97);
  fill(live, {
    count,
    chats: count,
    now: base - 1000,
    schedule: (index) => ({
      kind: 'interval',
      interval: 'P30D',
      start_at: new Date(slot(index)).toISOString(),
      timezone: 'UTC',
    }),
    nextAt: slot,
  });
  await withLoops(live, async () => {
    await pause(base - Date.now() + windowMs + 1500);
  });
  const tasks = live.database.prepare(`select instructions, start_at from tasks`).all() as {
    instructions: string;
    start_at: number;
  }[];
  const measured = tasks.toSorted((a, b) => a.start_at - b.start_at).slice(warmUp);
  const late = measured.flatMap(({ instructions, start_at }) => {
    const at = arrivals.get(instructions);
    return at === undefined ? [] : [at - start_at];
  });
  if (late.length !== count - warmUp) throw new Error(`${late.length} calls instead of ${count - warmUp}`);
  await live.close();
  api.close();
  door.close();
  const name = 'slot to API call, idle';
  return [
    ...spread((label) => `${name}, ${label}`, late, { aim: '20 ms' }),
    ...beyondDisk(`  ${name}`, late, bare.commits),
  ];
}

/** A Bot API that takes every message and notes when it came. */
async function openDoor(arrived: (text: string) => void): Promise<{ readonly root: string; close(): void }> {
  let messageId = 0;
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    incoming.on('end', () => {
      const { chat_id, text, message_thread_id } = JSON.parse(body || '{}') as Record<string, unknown>;
      arrived(String(text));
      const result = {
        message_id: (messageId += 1),
        date: 0,
        chat: { id: Number(chat_id), type: 'supergroup' },
        text,
        message_thread_id,
        is_topic_message: true,
      };
      outgoing.writeHead(200, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify({ ok: true, result }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
