import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import type { BlobStore } from '../../src/app/ports/blobs.ts';
import type { Egress, Outbound } from '../../src/app/ports/outbound.ts';
import type { Budget, Clock, Log, Stopwatch, Timer, Transport } from '../../src/app/ports/outside.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { composeRooms, type Rooms, type RoomSettings, type World } from '../../src/compose/assembly.ts';
import { parseSchedule, minGapMs, nextSlot, type ScheduleInput } from '../../src/domain/schedule/schedule.ts';
import { migrateSqlite } from '../../src/store/engine/migrate.ts';
import { openSqlite, sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { scheduleColumns } from '../../src/store/tasks/codec.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { createIds } from '../../src/system/ids.ts';

const silent = () => undefined;
export const silentLog: Log = { debug: silent, info: silent, warn: silent, error: console.error };

/** A chat that answers at once: what is measured is everything but the platform. */
export function nullTransport(onSend: () => void = silent): Transport {
  let id = 0;
  return {
    send: async ({ route, edits }) => {
      onSend();
      return { is: 'sent', ids: { chatId: route.address, threadId: route.topic, messageId: edits ?? (id += 1) } };
    },
    act: async ({ route, edits }) => ({
      is: 'sent',
      ids: { chatId: route.address, threadId: route.topic, messageId: edits ?? route.topic ?? 0 },
    }),
    settle: async () => ({ is: 'absent', evidence: '' }),
    createTopic: async () => ({ is: 'made', topicId: (id += 1) }),
    findTopic: async () => null,
    remove: async () => undefined,
  };
}

export const settings: RoomSettings = {
  BACKUP_KEEP: 7,
  RETENTION_DAYS: 90,
  BATCH_SIZE: 100,
  DELIVERY_CONCURRENCY: 200,
  RUN_CONCURRENCY: 200,
  ECHO_ACTION: true,
  HOST_CONCURRENCY: 10_000,
  HOST_RATE: 10_000,
  MAX_RUNS_DEFAULT: 0,
  MIN_INTERVAL: 1000,
  QUOTA_PER_CHAT: 1_000_000,
  BLOB_QUOTA_PER_CHAT: 2 ** 30,
  QUOTA_PER_USER: 1_000_000,
  // What is measured is what the product can do, and not what a platform allows.
  TELEGRAM_RATE_GLOBAL: Infinity,
  TELEGRAM_RATE_CHAT: Infinity,
  TELEGRAM_RATE_GROUP: Infinity,
};

export interface Bench {
  readonly folder: string;
  readonly file: string;
  readonly database: Database;
  readonly store: Store;
  readonly rooms: Rooms;
  readonly world: World;
  close(): Promise<void>;
}

export async function openBench(
  options: {
    readonly transport?: Transport;
    readonly transportOf?: (store: Store, world: World, budget: Budget, blobs: BlobStore) => Transport;
    readonly settings?: Partial<RoomSettings>;
    readonly time?: Clock & Stopwatch & Timer;
    readonly outbound?: Outbound & Egress;
  } = {},
): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'cronogram-bench-'));
  const file = join(folder, 'bench.db');
  const database = openSqlite(file);
  await migrateSqlite(database, systemClock.now());
  const store = createStore(sqliteEngine(database, () => (options.time ?? systemTimer).yield()));
  const world: World = {
    clock: options.time ?? systemClock,
    stopwatch: options.time ?? systemStopwatch,
    timer: options.time ?? systemTimer,
    ids: createIds(() => (options.time ?? systemClock).now()),
    log: silentLog,
  };
  const transport = options.transport ?? nullTransport();
  const rooms = composeRooms({ ...settings, ...options.settings }, world, {
    store,
    transport: (budget, blobs) => options.transportOf?.(store, world, budget, blobs) ?? transport,
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
  });
  return {
    folder,
    file,
    database,
    store,
    rooms,
    world,
    close: async () => {
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface Fill {
  readonly count: number;
  readonly chats: number;
  readonly provider?: 'telegram' | 'cli';
  readonly schedule: (index: number) => ScheduleInput;
  readonly nextAt: (index: number) => number | null;
  readonly now: number;
  /** A message by default. */
  readonly action?: (index: number) => { readonly kind: string };
  /** Of the grants; all by default. */
  readonly scopes?: readonly string[];
}

/** Puts tasks straight into the tables; creating a hundred thousand of them one by one is not what is measured. */
export function fill({ database, world }: Bench, given: Fill): void {
  const { ids } = world;
  const chatIds = Array.from({ length: given.chats }, () => ids.next());
  const addChat = database.prepare(
    `insert into chats (id, provider, address, state, settings, last_number, created_at, updated_at) values (?, ?, ?, 'new', '{}', 0, 0, 0)`,
  );
  const addGrant = database.prepare(
    `insert into grants (id, owner_id, chat_id, scopes, created_at, created_by) values (?, 'system:api', ?, ?, 0, 'system')`,
  );
  const addTask = database.prepare(
    `insert into tasks (id, chat_id, number, owner_id, grant_id, version, state, next_at, title, instructions, action, action_kind, schedule_kind, once_at,
       cron, rrule, interval, start_at, interval_from, timezone, min_gap_ms, policies, auto_pause, tags, context, runs, failures,
       consecutive_failures, bounded_runs, topic_state, topic_id, created_at, created_by, updated_at, updated_by)
     values (?, ?, ?, 'system:api', ?, 1, 'active', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '{}', 10, '[]', '{}', 0, 0, 0, 0,
       ?, ?, 0, 'system', 0, 'system')`,
  );
  database.transaction(() => {
    database.exec(
      `insert or ignore into users (id, role, created_at, updated_at) values ('system:api', 'system', 0, 0)`,
    );
    chatIds.forEach((id, index) => addChat.run(id, given.provider ?? 'telegram', `-100${index + 1}`));
    const grants = chatIds.map((chatId) => {
      const id = ids.next();
      addGrant.run(id, chatId, JSON.stringify(given.scopes ?? ['action:*', 'host:*']));
      return id;
    });
    for (let index = 0; index < given.count; index += 1) {
      const schedule = parseSchedule(given.schedule(index), given.now);
      const columns = scheduleColumns(schedule);
      const nextAt = given.nextAt(index) ?? nextSlot(schedule, given.now);
      const chat = index % given.chats;
      const action = given.action?.(index) ?? { kind: 'message' };
      addTask.run(
        ids.next(),
        chatIds[chat],
        index,
        grants[chat],
        nextAt,
        `Task ${index}`,
        `Water the plants in room ${index}`,
        JSON.stringify(action),
        action.kind,
        columns.scheduleKind,
        columns.onceAt,
        columns.cron,
        columns.rrule,
        columns.interval,
        columns.startAt,
        columns.intervalFrom,
        columns.timezone,
        minGapMs(schedule),
        // A task that runs once has no topic before.
        schedule.kind === 'once' ? 'none' : 'ready',
        schedule.kind === 'once' ? null : index + 1,
      );
    }
  })();
}
