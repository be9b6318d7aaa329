import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { OutboxPart } from '../../src/app/ports/outbox.ts';
import type { StartedRun } from '../../src/app/ports/pipeline.ts';
import { noChange, type TaskChange } from '../../src/app/ports/tasks.ts';
import { AppError } from '../../src/domain/errors.ts';
import { ample, aTask, endOf, failureOf, hour, minute, nine, readable, startAll } from '../support/builders.ts';
import { worldsOf, type World } from '../support/store-worlds.ts';
import { aChat, aMessage, claimParts, someone, threadOf } from './scenes.ts';

/** One of the two databases, and what the commands have to go on with. */
interface Side {
  readonly world: World;
  now: number;
  readonly tasks: string[];
  readonly slots: { readonly taskId: string; readonly occurrenceId: string }[];
  started: StartedRun[];
  parts: OutboxPart[];
}

/** Any number names one of the list. */
function chosen<T>(list: readonly T[], choice: number): T | undefined {
  return list[choice % Math.max(1, list.length)];
}

/** Of what is equally urgent, either may be the first; the ids count up alike on both sides. */
function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}

const addresses = ['-100', '-200', '300'];
const ack = { nagEveryMs: 10 * minute, nagLimit: 2 };

const verbs: readonly ((now: number) => Partial<TaskChange>)[] = [
  () => ({ set: { state: 'paused', nextAt: null }, stamp: 'paused', endWaiting: 'paused' }),
  (now) => ({ set: { state: 'active', nextAt: now + hour }, stamp: 'resumed' }),
  () => ({ set: { state: 'deleted', nextAt: null }, stamp: 'deleted', endWaiting: 'deleted', cancelLive: true }),
  (now) => ({ set: { state: 'active', nextAt: now + minute }, stamp: 'restored' }),
  () => ({ set: { title: 'Water the roses', tags: ['home'] }, stamp: 'updated' }),
];

type Command = (side: Side, choice: number) => Promise<unknown>;

const commands: Readonly<Record<string, Command>> = {
  create: async (side, choice) => {
    const home = threadOf(addresses[choice % 3] ?? '', choice % 2 === 0 ? null : 7);
    const facts = {
      home,
      nextAt: side.now,
      title: `Task ${choice % 5}`,
      policies: { auto_pause: choice % 3 },
      at: side.now,
    };
    const task = await aTask(side.world, { ...facts, policies: choice % 2 === 0 ? { ack: {} } : {} });
    side.tasks.push(task.id);
    return task;
  },
  pass: async (side, choice) => {
    side.now += choice * minute;
  },
  claim: ({ world: { store, make }, now }) =>
    store.claimDue({ now, limit: 100 }, (due) =>
      due
        .map(readable)
        .filter(({ live }) => live === 0)
        .toSorted(byId)
        .map((task) => make.claim(task)),
    ),
  start: async (side, choice) => {
    const at = { now: side.now, limit: 100 };
    await side.world.store.letRunsGo(`boot ${(choice + 1) % 2}`, []);
    const { started } = await side.world.store.startRuns(at, `boot ${choice % 2}`, (runs) =>
      startAll(runs.toSorted(byId)),
    );
    const sorted = started.toSorted((a, b) => byId(a.run, b.run));
    side.started.push(...sorted);
    return sorted;
  },
  end: (side, choice) => {
    const ends = side.started.splice(0).map((started, index) => {
      const { taskId, occurrenceId } = started.run;
      if (taskId !== null && occurrenceId !== null) side.slots.push({ taskId, occurrenceId });
      const finishedAt = side.now + index;
      const usage = [{ kind: 'tokens' as const, quantity: choice }];
      const backoff = { status: 'backoff', attemptStatus: 'failed', readyAt: side.now + minute } as const;
      const file = { sha256: `file ${choice % 4}`, kind: 'document', name: 'a', mime: '', size: 1 } as const;
      const watched = { hash: String(choice), value: null, at: finishedAt };
      const brought = choice % 3 === 0 ? { watched, files: [file] } : {};
      const part = { deliveries: [side.world.make.part()], usage };
      const success = { ...part, ...brought, ...(choice % 2 === 0 ? { ack } : {}) };
      return [endOf(started, { ...success, finishedAt }), failureOf(started, { finishedAt }), endOf(started, backoff)][
        (choice + index) % 3
      ];
    });
    return side.world.store.finishRuns(ends.flatMap((end) => end ?? []));
  },
  verb: (side, choice) => {
    const taskId = chosen(side.tasks, choice) ?? 'nobody';
    const change = { ...noChange, ...verbs[choice % verbs.length]?.(side.now) };
    const request = { taskId, actor: 'telegram:user:7', at: side.now, once: null, quota: ample } as const;
    return side.world.store.changeTask(request, ({ task }) => ({
      ...change,
      audit: { verb: 'edit', before: { title: task.title }, after: {} },
    }));
  },
  topic: async (side, choice) => {
    const taskId = chosen(side.tasks, choice) ?? 'nobody';
    const isBegun = await side.world.store.beginTopic({ taskId, name: 'Plants' }, 'boot 0', side.now);
    const ids = { cardId: side.world.make.id(), remadeId: side.world.make.id() };
    await side.world.store.endTopic({ taskId, state: 'ready', id: 70 + choice, ...ids, at: side.now });
    return isBegun;
  },
  claimParts: async (side) => {
    const parts = await claimParts(side.world, { now: side.now });
    side.parts.push(...parts);
    return parts;
  },
  endParts: (side, choice) => {
    const ends = side.parts.splice(0).map(({ id, fence, taskId }, index) => {
      const of = { id, fence, taskId };
      const ids = { chatId: '-100', threadId: 70, messageId: choice * 50 + index + 1 };
      const later = { afterMs: minute, error: 'lost', evidence: '{}' };
      return [
        { ...of, status: 'delivered', ids, at: side.now, evidence: null, pinId: side.world.make.id() } as const,
        { ...of, ...later, status: 'unknown', guidance: null } as const,
        { ...of, ...later, status: 'pending', unsent: true, inDoubt: false } as const,
        { ...of, status: 'failed', error: 'gone', evidence: null } as const,
      ][(choice + index) % 4];
    });
    return side.world.store.endParts(
      ends.flatMap((end) => end ?? []),
      side.now,
    );
  },
  done: (side, choice) => {
    const slot = chosen(side.slots, choice) ?? { taskId: 'nobody', occurrenceId: 'none' };
    const note = { ...slot, actor: someone, at: side.now } as const;
    return choice % 3 === 0 ? side.world.store.takeBackDone(note) : side.world.store.noteDone(note);
  },
  nag: (side, choice) =>
    side.world.store.claimNags({ now: side.now, limit: 100 }, (due) =>
      due
        .toSorted((a, b) => (a.occurrenceId < b.occurrenceId ? -1 : 1))
        .map(({ occurrenceId, nags }) => {
          const deliveryId = side.world.make.id();
          if (choice % 3 === 0) return { occurrenceId, is: 'giveUp', lineId: deliveryId, wordId: side.world.make.id() };
          return { occurrenceId, is: 'nag', deliveryId, number: nags + 1, nextAt: side.now + hour };
        }),
    ),
  settle: (side, choice) =>
    side.world.store.settleByHand(chosen(side.parts, choice)?.id ?? 'nothing', choice % 2 === 0, side.now),
  retry: (side, choice) =>
    side.world.store.retryBlocked({ chatId: null, taskId: null, inDoubt: choice % 2 === 0 }, side.now),
  chat: async (side, choice) => {
    const { store } = side.world;
    const chat = await aChat(side.world, addresses[choice % 3], side.now);
    const word = () => aMessage(side.world);
    if (choice % 4 === 0) return store.chatGone({ chatId: chat.id, at: side.now, cause: 'removed', wordTo: word });
    if (choice % 4 === 1) return store.chatBack({ chatId: chat.id, at: side.now, word });
    return store.changeChat(
      chat.id,
      { title: `Chat ${choice}`, timezone: 'Asia/Tokyo', approvedBy: someone },
      side.now,
    );
  },
  move: (side, choice) => side.world.store.moveChat('-100', choice % 2 === 0 ? '-200' : '-100500', side.now),
  member: async (side, choice) => {
    const chat = await aChat(side.world, addresses[choice % 3], side.now);
    const status = (['out', 'member', 'admin'] as const)[choice % 3] ?? 'out';
    return side.world.store.noteMember({ chatId: chat.id, userId: 'telegram:user:7', status, checkedAt: side.now });
  },
  update: async (side, choice) => {
    const { store, make } = side.world;
    const told = await store.receiveUpdates(
      [{ id: choice, payload: '{}', address: '-100', messageId: choice, lane: `lane ${choice % 2}` }],
      side.now,
    );
    const begun = await store.beginUpdate(choice, 'boot');
    const place = { chatId: 'c', userId: someone, topic: null, messageId: choice } as const;
    const draft = { id: make.id(), ...place, step: 's', body: { choice }, expiresAt: side.now + hour };
    const messages = [aMessage(side.world)];
    const end = {
      id: choice,
      error: null,
      messages,
      draft: { is: 'put', draft } as const,
      at: side.now,
      bootId: 'boot',
    };
    return [told, begun, await store.endUpdate({ ...end, status: choice % 2 === 0 ? 'done' : 'failed' })];
  },
  file: async (side, choice) => {
    const { store } = side.world;
    const chat = await aChat(side.world, addresses[choice % 3], side.now);
    const blob = { chatId: chat.id, sha256: `file ${choice % 4}` };
    const [now, expiresAt] = [side.now, side.now + choice * minute];
    const begun = await store.beginBlob({ ...blob, mime: '', size: 1, now, expiresAt, quota: 3 });
    if (begun === 'missing') await store.putChunk(blob, 0, new Uint8Array([choice % 4]));
    return [begun, begun === 'missing' && (await store.endBlob(blob, 1)), await store.blobSize(blob)];
  },
  expire: ({ world: { store }, now }) => store.dropExpired({ now, limit: 100 }),
  word: async (side, choice) => [
    await side.world.store.tellOnce({ word: 'failed', about: `part ${choice % 3}` }, aMessage(side.world), side.now),
  ],
};

const step = fc.tuple(fc.constantFrom(...Object.keys(commands)), fc.nat({ max: 30 }));

/** What came of a command: its answer, or how it was refused. */
async function done(side: Side, [name, choice]: readonly [string, number]): Promise<unknown> {
  try {
    return (await commands[name]?.(side, choice)) ?? null;
  } catch (error) {
    if (error instanceof AppError && error.code !== 'internal') return error.code;
    throw error;
  }
}

/** All that stands in the tables; the number of a transaction belongs to its engine. */
const tables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['chats', 'users', 'grants', 'tasks', 'occurrences', 'runs'].map((name) => [name, 'id'])),
  ...Object.fromEntries(['gaps', 'deliveries', 'audit', 'drafts'].map((name) => [name, 'id'])),
  events: 'id',
  chat_aliases: 'provider, address',
  members: 'chat_id, user_id',
  attempts: 'run_id, attempt',
  acks: 'occurrence_id',
  task_versions: 'task_id, version',
  inbox: 'update_id',
  usage: 'run_id, kind',
  kv: 'scope, key',
  told: 'chat_id, word, reason, task_id, about',
  task_tags: 'task_id, tag',
  blobs: 'chat_id, sha256',
  blob_refs: 'run_id, sha256',
  watches: 'task_id',
  credentials: 'digest',
};

async function stored({ world }: Side): Promise<unknown> {
  const found: Record<string, unknown> = {};
  for (const [table, key] of Object.entries(tables)) {
    const rows = await world.query(`select * from ${table} order by ${key}`);
    found[table] = rows.map(({ tx: _tx, ...row }) => row);
  }
  return found;
}

const openSqlite = worldsOf('sqlite');
const openPglite = worldsOf('pglite');

async function sides(): Promise<readonly [Side, Side]> {
  const sideOf = (world: World): Side => ({ world, now: nine, tasks: [], slots: [], started: [], parts: [] });
  const [one, other] = [await openSqlite(), await openPglite()];
  for (const table of ['audit', 'events']) await other.query(`alter sequence ${table}_id_seq restart`);
  return [sideOf(one), sideOf(other)];
}

test('whatever is asked of it, the store answers and writes the same on both engines', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
      const [one, other] = await sides();
      for (const asked of steps) expect(await done(one, asked), asked.join(' ')).toEqual(await done(other, asked));
      expect(await stored(one)).toEqual(await stored(other));
    }),
    // The same lives each time, so that a failure is one of the change that it comes with.
    { numRuns: 8, seed: 14 },
  );
});
