import { afterEach, describe, expect, it } from 'vitest';
import type { TaskRun } from '../../../src/app/ports/runs.ts';
import { composeRooms } from '../../../src/compose/assembly.ts';
import type { World } from '../../../src/sandbox/world/world.ts';
import { sqliteEngine } from '../../../src/store/engine/sqlite.ts';
import { createStore } from '../../../src/store/engine/store.ts';
import { createTelegramApi } from '../../../src/telegram/api.ts';
import { telegramTransport } from '../../../src/telegram/delivery/transport.ts';
import { countingIds, manualTime, memoryLog } from '../../support/fakes.ts';
import { freshSqlite } from '../../support/fresh-sqlite.ts';
import { settings } from '../../support/pipeline.ts';
import { aSandbox, sandboxStart } from '../../support/sandbox.ts';
import { lab, oneFault } from './place.ts';

const minute = 60_000;
const closings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

interface Bot {
  readonly world: World;
  /** On to the next slot, and through the minute after it, in which everything that is due is done. */
  nextRun(): Promise<void>;
  /** What stands in the topic of the task, service messages apart. */
  shown(): readonly string[];
  runs(): Promise<readonly TaskRun[]>;
  calls(): readonly string[];
}

/** A task every five minutes in The Lab: the real store, the real deliverer, and a real connection to the sandbox. */
async function aBot(): Promise<Bot> {
  const time = manualTime(sandboxStart);
  const served = await aSandbox({ time });
  const database = await freshSqlite();
  const store = createStore(sqliteEngine(database));
  const log = memoryLog();
  const api = createTelegramApi({ token: served.token, apiRoot: served.apiRoot, timer: time });
  closings.push(async () => {
    api.close();
    await served.close();
    database.close();
  });
  const outside = { clock: time, stopwatch: time, timer: time, ids: countingIds(), log };
  const rooms = composeRooms(settings, outside, {
    store,
    transport: (budget) => telegramTransport({ api, store, budget, clock: time, log, defaultTimezone: 'UTC' }),
  });

  let offset = 0;
  const hear = async () => {
    const updates = await api.raw.getUpdates({ offset, timeout: 0 });
    offset = (updates.at(-1)?.update_id ?? offset - 1) + 1;
    const heard = updates.map(({ update_id: id, message, ...rest }) => ({
      id,
      payload: JSON.stringify({ update_id: id, message, ...rest }),
      address: message === undefined ? null : String(message.chat.id),
      messageId: message?.message_id ?? null,
    }));
    await store.receiveUpdates(heard, time.now());
  };
  const settle = async () => {
    for (let idle = 0; idle < 3;) {
      const scheduled = await rooms.scheduler.step(time.now(), 100);
      const ran = await rooms.runner.step(time.now(), 100);
      await time.advance(1);
      const delivered = await rooms.deliverer.step(time.now(), 100);
      await rooms.deliverer.idle();
      await hear();
      idle = scheduled.taken + ran.taken + delivered.taken === 0 ? idle + 1 : 0;
    }
  };

  served.world.say({ as: 'ada', chat: lab, text: '/start' });
  await hear();
  const { task } = await rooms.tasks.create({
    threadKey: `telegram:chat:${lab}`,
    actor: 'telegram:user:1001',
    idempotencyKey: null,
    input: { instructions: 'Stand up!', schedule: { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' } },
  });
  return {
    world: served.world,
    nextRun: async () => {
      await time.advance(5 * minute - (time.now() % (5 * minute)));
      await settle();
      for (let steps = 0; steps < 12; steps += 1) {
        await time.advance(5000);
        await settle();
      }
    },
    shown: () =>
      served.world
        .messages(lab)
        .filter(({ from, service }) => from === 'bot' && service === null)
        .map(({ text, threadId }) => `${threadId === null ? 'outside' : 'topic'}: ${text.split('\n')[0] ?? ''}`),
    runs: async () =>
      (await store.listTaskRuns({ taskId: task.id, status: null, limit: 100, cursor: null })).items.toReversed(),
    calls: () =>
      served.world
        .calls(0, 1000)
        .map(({ method }) => method)
        .filter((method) => method !== 'getUpdates'),
  };
}

describe('results of a task', () => {
  it('begin with a topic, the result and a pinned card, in that order, and cost one call each from then on', async () => {
    const bot = await aBot();
    await bot.nextRun();
    expect(bot.calls()).toEqual(['createForumTopic', 'sendMessage', 'sendMessage', 'pinChatMessage']);
    expect(bot.shown()).toEqual(['topic: Stand up!', 'topic: #1 Stand up!']);
    expect(bot.world.topics(lab)).toMatchObject([{ name: 'Stand up!', createdBy: 'bot' }]);
    expect(bot.world.messages(lab).filter(({ isPinned }) => isPinned)).toHaveLength(1);
    await bot.nextRun();
    expect(bot.calls().slice(4)).toEqual(['sendMessage']);
  });

  it.each([
    ['whose answer was lost', 'reset_after'],
    ['that did not arrive', 'reset_before'],
    ['that a faulty page swallowed', 'bad_gateway_html'],
  ] as const)('%s is there once in the end', async (_, kind) => {
    const bot = await aBot();
    await bot.nextRun();
    bot.world.fault(oneFault(kind));
    await bot.nextRun();
    expect(bot.shown().filter((text) => text === 'topic: Stand up!')).toHaveLength(2);
    const [, second] = await bot.runs();
    expect(second?.deliveries).toMatchObject([{ status: 'delivered' }]);
  });

  it('whose looks all failed was sent twice, and the younger one is taken back', async () => {
    const bot = await aBot();
    await bot.nextRun();
    bot.world.fault(oneFault('reset_after'));
    bot.world.fault(oneFault('500', 'editMessageText', { count: 3 }));
    await bot.nextRun();
    expect(bot.calls().filter((method) => method === 'deleteMessage')).toHaveLength(1);
    expect(bot.shown().filter((text) => text === 'topic: Stand up!')).toHaveLength(2);
  });

  it('find their topic again when the answer to its creation was lost', async () => {
    const bot = await aBot();
    bot.world.fault(oneFault('reset_after', 'createForumTopic'));
    await bot.nextRun();
    expect(bot.world.topics(lab)).toHaveLength(1);
    expect(bot.shown()).toContain('topic: Stand up!');
  });

  it('get another topic when a person has deleted theirs', async () => {
    const bot = await aBot();
    await bot.nextRun();
    const [first] = bot.world.topics(lab);
    bot.world.deleteTopic(lab, first?.threadId ?? 0);
    await bot.nextRun();
    expect(bot.world.topics(lab)).toMatchObject([{ isDeleted: true }, { isDeleted: false }]);
    expect(bot.shown()).toContain('topic: Stand up!');
  });

  it('do not stay outside of the topic when the platform puts them there', async () => {
    const bot = await aBot();
    await bot.nextRun();
    bot.world.fault(oneFault('misroute'));
    await bot.nextRun();
    expect(bot.shown().filter((text) => text.startsWith('outside'))).toEqual([]);
  });
});
