import type { Database } from 'better-sqlite3';
import { registry, type ActionEntry } from '../../src/app/actions/registry.ts';
import { createRunService, type RunService } from '../../src/app/pipeline/run-requests.ts';
import type { ChatChange } from '../../src/app/ports/chats.ts';
import type { Budget, Templates } from '../../src/app/ports/outside.ts';
import type { TaskRun } from '../../src/app/ports/runs.ts';
import type { Store } from '../../src/app/ports/store.ts';
import type { CreateRequest } from '../../src/app/tasks/create.ts';
import type { TaskInput } from '../../src/app/tasks/definition.ts';
import { composeRooms, type Outside, type Rooms, type RoomSettings } from '../../src/compose/assembly.ts';
import type { RunInput, RunRequest } from '../../src/domain/run.ts';
import type { Task } from '../../src/domain/task.ts';
import type { Engine } from '../../src/store/engine/engine.ts';
import { sqliteEngine } from '../../src/store/engine/sqlite.ts';
import { createStore } from '../../src/store/engine/store.ts';
import { sha256 } from '../../src/system/ids.ts';
import { runInput } from './builders.ts';
import {
  countingIds,
  day,
  faultyTransport,
  hour,
  manualTime,
  memoryLog,
  minute,
  promptExpressions,
  promptTemplates,
  start,
  type FaultyTransport,
  type ManualTime,
  type MemoryLog,
} from './fakes.ts';
import { freshSqlite } from './fresh-sqlite.ts';

export { day, hour, minute, start };
export const actor = 'telegram:user:1001';
export const group = 'telegram:chat:-1001234';
export const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

type Known = Pick<Pipeline, 'store' | 'time'>;

/** A chat that the bot knows, and into which it is let unless told otherwise. Answers the id. */
export async function aChat({ store, time }: Known, address = '-1001234', change: ChatChange = {}): Promise<string> {
  const facts = address.startsWith('-') ? { title: 'Team', kind: 'supergroup' } : { title: null, kind: 'private' };
  const { id } = await store.noteChat({ newId: `chat:${address}`, address, ...facts, at: time.now() });
  await store.changeChat(id, { state: 'approved', ...change }, time.now());
  return id;
}

/** The actor owns the bot, and has a chat with it. Answers the id of that. */
export async function anOwner({ store, time }: Known): Promise<string> {
  await store.noteUser({ id: actor, name: 'Ada' }, time.now());
  await store.changeUser(actor, { role: 'owner' }, time.now());
  return aChat({ store, time }, '1001', { approvedBy: actor });
}

export interface Pipeline {
  readonly time: ManualTime;
  readonly log: MemoryLog;
  readonly chat: FaultyTransport;
  readonly store: Store;
  readonly database: Database;
  readonly rooms: Rooms;
  /** Steps every room by hand until none of them has anything left to do at this instant. */
  settle(): Promise<void>;
  /** Lets time pass, then settles. */
  readonly pass: (ms: number) => Promise<void>;
  create(input?: Partial<TaskInput>, request?: Partial<CreateRequest>): Promise<Task>;
  history(taskId: string): Promise<readonly TaskRun[]>;
  /** The process dies and another one starts on the same database; what it had in memory is gone. */
  restart(changed?: Partial<RoomSettings>, actions?: readonly ActionEntry[]): Pipeline;
}

export interface PipelineOptions {
  readonly settings?: Partial<RoomSettings>;
  readonly now?: number;
  readonly secondOpinion?: NonNullable<Outside['secondOpinion']>;
  readonly templates?: Templates;
  readonly actions?: readonly ActionEntry[];
  /** Without it no task calls anybody. */
  readonly outbound?: NonNullable<Outside['outbound']>;
  readonly vault?: NonNullable<Outside['vault']>;
  /** In the place of a SQLite database of its own; what tests ask of `database` is then not about it. */
  readonly engine?: Engine;
}

/** Without a pace, so that what is due at an instant is done at that instant. */
export const settings: RoomSettings = {
  BACKUP_KEEP: 7,
  RETENTION_DAYS: 90,
  BATCH_SIZE: 100,
  DELIVERY_CONCURRENCY: 50,
  RUN_CONCURRENCY: 50,
  ECHO_ACTION: true,
  HOST_CONCURRENCY: 4,
  HOST_RATE: 10,
  MAX_RUNS_DEFAULT: 0,
  MIN_INTERVAL: minute,
  QUOTA_PER_CHAT: 500,
  BLOB_QUOTA_PER_CHAT: 2 ** 20,
  QUOTA_PER_USER: 500,
  TELEGRAM_RATE_GLOBAL: Infinity,
  TELEGRAM_RATE_CHAT: Infinity,
  TELEGRAM_RATE_GROUP: Infinity,
};

/** As Telegram has it. */
export const paced = { TELEGRAM_RATE_GLOBAL: 30, TELEGRAM_RATE_CHAT: 1, TELEGRAM_RATE_GROUP: 20 };

let pipelines = 0;

/** The whole pipeline on a real SQLite database, with time, chance and the chat in the hands of the test. */
export async function aPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  return pipelineOn(await freshSqlite(), {
    ...(options.engine === undefined ? {} : { engine: options.engine }),
    time: manualTime(options.now ?? start),
    chat: faultyTransport(),
    settings: { ...settings, ...options.settings },
    secondOpinion: options.secondOpinion ?? null,
    templates: options.templates ?? promptTemplates(),
    actions: options.actions ?? registry,
    ...(options.outbound === undefined ? {} : { outbound: options.outbound }),
    ...(options.vault === undefined ? {} : { vault: options.vault }),
  });
}

interface Given {
  readonly time: ManualTime;
  readonly chat: FaultyTransport;
  readonly settings: RoomSettings;
  readonly secondOpinion: NonNullable<Outside['secondOpinion']> | null;
  readonly templates: Templates;
  readonly actions: readonly ActionEntry[];
  readonly outbound?: NonNullable<Outside['outbound']>;
  readonly vault?: NonNullable<Outside['vault']>;
  readonly engine?: Engine;
}

function pipelineOn(database: Database, given: Given): Pipeline {
  const { time, chat, settings: wanted, engine = sqliteEngine(database), ...outside } = given;
  const log = memoryLog();
  const store = createStore(engine);
  const ids = countingIds(`p${String((pipelines += 1)).padStart(4, '0')}`);
  const world = { clock: time, stopwatch: time, timer: time, ids, log };
  const transport = (budget: Budget) => chat.within(budget);
  const rooms = composeRooms(wanted, world, { ...outside, store, transport, expressions: promptExpressions() });
  const round = async () => {
    const scheduled = await rooms.scheduler.step(time.now(), 100);
    const ran = await rooms.runner.step(time.now(), 100);
    await time.advance(0);
    const delivered = await rooms.deliverer.step(time.now(), 100);
    await time.advance(0);
    const reminded = await rooms.nagging.step(time.now(), 100);
    return scheduled.taken + ran.taken + delivered.taken + reminded.taken;
  };
  const settle = async () => {
    for (let idle = 0, rounds = 0; idle < 3; rounds += 1) {
      if (rounds > 10_000) throw new Error('the pipeline does not come to rest');
      idle = (await round()) === 0 ? idle + 1 : 0;
    }
  };
  return {
    time,
    log,
    chat,
    store,
    database,
    rooms,
    settle,
    pass: async (ms) => {
      await time.advance(ms);
      await settle();
    },
    create: async (input = {}, request = {}) => {
      const { task } = await rooms.tasks.create({
        threadKey: group,
        actor,
        idempotencyKey: null,
        input: {
          instructions: 'Stand up!',
          schedule: { kind: 'cron', cron: '*/5 * * * *', timezone: 'UTC' },
          ...input,
        },
        ...request,
      });
      return task;
    },
    history: async (taskId) =>
      (await store.listTaskRuns({ taskId, status: null, limit: 200, cursor: null })).items.toReversed(),
    restart: (changed = {}, kinds = given.actions) =>
      pipelineOn(database, { ...given, settings: { ...given.settings, ...changed }, actions: kinds }),
  };
}

/** All that stands in the chats, in its order; a view stands in brackets. */
export const texts = ({ chat }: Pick<Pipeline, 'chat'>) => chat.shown.map(({ text }) => text);

/** The next process, when it has done what the dead one left. */
export async function restarted(p: Pipeline): Promise<Pipeline> {
  const next = p.restart();
  await next.settle();
  return next;
}

/** A pipeline with one task. */
export async function withTask(...given: Parameters<Pipeline['create']>) {
  const p = await aPipeline();
  const task = await p.create(...given);
  return { p, task, id: task.id };
}

export async function afterAnHour(...given: Parameters<Pipeline['create']>) {
  const made = await withTask(...given);
  await made.p.pass(hour);
  return made;
}

/** A task whose first result has come, so that its topic is there and what follows is about the message alone. */
export async function withTopic(policies = {}) {
  const { p, id } = await afterAnHour({ schedule: hourly, policies });
  return { p, id, topic: p.chat.topics[0]?.id ?? 0, messageId: p.chat.shown[0]?.messageId ?? 0 };
}

/** The sends of its second result fail so, one after the other. */
export async function withFailedSends(faults: Parameters<FaultyTransport['failSends']>, policies = {}) {
  const made = await withTopic(policies);
  made.p.chat.failSends(...faults);
  await made.p.pass(hour);
  return made;
}

/** Its second result did not arrive, and no look finds that out. */
export async function withTracelessSend(policies = {}) {
  const made = await withTopic(policies);
  made.p.chat.failSends('dropped');
  made.p.chat.evidence('undecided', 'undecided', 'undecided');
  await made.p.pass(hour);
  return made;
}

let services = 0;

/** The door to execution over the store of a pipeline. */
export function runServiceOf({ store, time }: Pipeline): RunService {
  return createRunService({
    store,
    ids: countingIds(`run${(services += 1)}`),
    digest: sha256,
    clock: time,
    bell: { ring: () => undefined },
    reckoning: { costsOf: () => null },
  });
}

/** A run that no task asked for, as a client of the API makes it. */
export function ingest(p: Pipeline, input: Partial<RunInput>, facts: Partial<RunRequest> = {}) {
  return ingestBy(runServiceOf(p), input, facts);
}

export function ingestBy(service: RunService, input: Partial<RunInput>, facts: Partial<RunRequest> = {}) {
  return service.ingest({
    source: 'api',
    idempotencyKey: 'one',
    lane: null,
    exclusive: false,
    priority: 5,
    taskId: null,
    taskVersion: null,
    occurrenceId: null,
    chatId: null,
    ownerId: actor,
    input: { ...runInput, number: null, slotAt: null, ...input },
    ...facts,
  });
}
