import type { Database } from 'better-sqlite3';
import type { Ids } from '../../src/app/ports/outside.ts';
import type { Tasks } from '../../src/app/tasks/tasks.ts';
import type { RoomSettings } from '../../src/compose/assembly.ts';
import { readConfig } from '../../src/config/config.ts';
import { AppError, type ErrorCode } from '../../src/domain/errors.ts';
import type { Account } from '../invariants/account.ts';
import { chanceOf, type Chance } from '../support/chance.ts';
import { manualTime, type ManualTime } from '../support/fakes.ts';
import { freshSqlite } from '../support/fresh-sqlite.ts';
import { openChat, type Chat } from './chat.ts';
import type { StoreFault } from './faults.ts';
import { openJournal, type Journal } from './journal.ts';
import { beginLife, type Life } from './life.ts';
import { openSiege, type Siege } from './siege.ts';
import { openTarget, type Target } from './target.ts';

/** What came of something that was asked of the living process. */
export type Outcome<T> =
  | { readonly is: 'answered'; readonly value: T }
  | { readonly is: 'refused'; readonly code: ErrorCode }
  /** The store failed, and nobody outside knows whether the change was made. */
  | { readonly is: 'away' }
  | { readonly is: 'died' };

/** A database, a chat, the time, and one process at most that lives in them. */
export interface World {
  readonly seed: number;
  readonly database: Database;
  readonly time: ManualTime;
  readonly chat: Chat;
  /** The target outside that tasks call. */
  readonly target: Target;
  /** Trouble of the database that goes on. */
  readonly siege: Siege<StoreFault>;
  readonly journal: Journal;
  readonly chance: Chance;
  readonly settings: RoomSettings;
  /** What was found to be wrong on the way. */
  readonly wrong: string[];
  life(): Life;
  /** A process starts, where none lives. */
  begin(zoneRules: string): Promise<void>;
  /** The process is gone, however that came about. */
  bury(): void;
  ask<T>(call: (tasks: Tasks, life: Life) => Promise<T>): Promise<Outcome<T>>;
  /** Steps the rooms until nothing is left to do at this instant; false when that did not come about. */
  settle(frozenAt?: number): Promise<boolean>;
  /** Lets a living process do its work on time. */
  live(ms: number): Promise<void>;
  /** What the product finds when it looks at itself. */
  audit(): Promise<readonly string[]>;
  /** Lives on without new slots until nothing moves any more. */
  comeToRest(frozenAt: number): Promise<void>;
  observe(settled: boolean): void;
  close(): void;
}

/** What a simulated world left behind, and the world itself as the witness. */
export interface Lived extends Account {
  readonly world: World;
  readonly restsAt: number;
}

const roundsMax = 3000;
const lookInTroubleMs = 60_000;
/** A stretch of living wakes up so many times at most; what is left of it passes in one piece. */
const wakesMax = 40;

export async function openWorld(seed: number, start: number): Promise<World> {
  const database = await freshSqlite();
  const chance = chanceOf(seed, 'world');
  const time = manualTime(start, { isPatient: true });
  const jitter = chanceOf(seed, 'jitter');
  let lastId = 0;
  const mark = () => `id-${String(lastId).padStart(8, '0')}`;
  const ids: Ids = {
    next: () => {
      lastId += 1;
      return mark();
    },
    chance: () => jitter.next(),
  };
  const journal = openJournal({ database, now: () => time.now(), mark });
  const chat = openChat({ time, chance: chanceOf(seed, 'chat'), tell: (line) => journal.tell(line) });
  const target = openTarget({ time, chance: chanceOf(seed, 'target') });
  const settings = settingsFrom(chance);
  const faults = chanceOf(seed, 'faults');
  const siege = openSiege<StoreFault>(() => time.elapsed());
  const outside = { database, time, chat, target, ids, chance: faults, siege, settings };
  let life: Life | null = null;
  const wrong: string[] = [];

  const living = (): Life => {
    if (life === null) throw new Error('Nobody lives.');
    return life;
  };
  const world: World = {
    seed,
    database,
    time,
    chat,
    target,
    siege,
    journal,
    chance,
    settings,
    wrong,
    life: living,
    begin: async (zoneRules) => {
      life = beginLife(outside);
      journal.tell(`a process starts: ${life.bootId}`);
      await during(world, (one) => one.start(zoneRules));
    },
    bury: () => {
      const { fate, bootId, log } = living();
      if (!fate.dead) fate.kill();
      journal.deadBoots.add(bootId);
      journal.processEnded();
      journal.dealt.thrown += fate.dealt.thrown;
      journal.dealt.lost += fate.dealt.lost;
      wrong.push(...unexpected(log.lines, fate.dealt));
      life = null;
    },
    ask: async (call) => {
      const told = await during(world, (one) => call(one.rooms.tasks, one));
      world.observe(false);
      return told;
    },
    settle: (frozenAt) => settle(world, frozenAt),
    live: (ms) => live(world, ms),
    audit: async () => {
      const told = await during(world, (one) => one.rooms.audit.run());
      if (told.is !== 'answered') return [`the audit was ${told.is}`];
      return told.value.findings.map(({ sentence, examples }) => `the audit found: ${sentence} ${examples.join(' ')}`);
    },
    comeToRest: (frozenAt) => comeToRest(world, frozenAt),
    observe: (settled) => {
      wrong.push(...journal.observe(settled));
    },
    close: () => database.close(),
  };
  return world;
}

const unpaced = { TELEGRAM_RATE_GLOBAL: Infinity, TELEGRAM_RATE_CHAT: Infinity, TELEGRAM_RATE_GROUP: Infinity };

/** What nobody chose, with batches and rooms so small now and then that everything has to wait for its turn. */
function settingsFrom(chance: Chance): RoomSettings {
  const read = readConfig({});
  if ('faults' in read) throw new Error('The defaults are no configuration.');
  return {
    ...read.config,
    BATCH_SIZE: chance.pick([1, 2, 5, 100]),
    DELIVERY_CONCURRENCY: chance.pick([1, 2, 50]),
    RUN_CONCURRENCY: chance.pick([1, 2, 5, 50]),
    ECHO_ACTION: true,
    MIN_INTERVAL: 60_000,
    // Half of the worlds have all the time there is for their messages, so that more of them meet.
    ...(chance.is(0.5) ? {} : unpaced),
  };
}

/** Waits for what the process was asked, or for its death. */
async function during<T>(world: World, call: (life: Life) => Promise<T>): Promise<Outcome<T>> {
  const one = world.life();
  if (one.fate.dead) return { is: 'died' };
  try {
    const asked = call(one).then((value): Outcome<T> => ({ is: 'answered', value }));
    return await Promise.race([asked, one.fate.died.then((): Outcome<T> => ({ is: 'died' }))]);
  } catch (error) {
    return outcomeOf(world, error);
  }
}

function outcomeOf({ journal, wrong }: World, error: unknown): Outcome<never> {
  if (error instanceof AppError && error.code === 'store_unavailable') return { is: 'away' };
  if (error instanceof AppError && error.code !== 'internal') return { is: 'refused', code: error.code };
  journal.tell(`threw ${String(error)}`);
  wrong.push(`something was thrown that nobody expects: ${String(error)}`);
  return { is: 'away' };
}

async function settle(world: World, frozenAt?: number): Promise<boolean> {
  const { time } = world;
  const steps: readonly ((life: Life) => Promise<number>)[] = [
    (life) => life.schedule(frozenAt ?? time.now()),
    (life) => life.run(time.now()),
    (life) => life.deliver(time.now()),
    (life) => life.remind(time.now()),
    (life) => life.tidyUp(time.now()),
  ];
  for (let idle = false, rounds = 0; !idle; rounds += 1) {
    if (rounds > roundsMax) {
      world.wrong.push('the rooms do not come to rest at one instant');
      return false;
    }
    let busy = false;
    for (const step of steps) {
      const done = await during(world, step);
      await time.advance(0);
      if (done.is === 'died') return false;
      // Where the database goes on failing, a later time is waited for.
      busy ||= done.is === 'answered' ? done.value > 0 : world.siege.fault === null;
    }
    idle = !busy;
  }
  if (frozenAt === undefined) world.observe(world.siege.fault === null);
  return true;
}

/** How long until something is due; null when nothing is, or when nobody can say. */
async function untilNext(world: World, withSlots: boolean): Promise<number | null> {
  const { time } = world;
  const now = time.now();
  const instants: number[] = [];
  const asked: readonly ((life: Life) => Promise<number | null>)[] = [
    (life) => (withSlots ? life.rooms.scheduler.nextAt(now) : Promise.resolve(null)),
    (life) => life.rooms.runner.nextAt(now),
    (life) => life.rooms.deliverer.nextAt(now),
    (life) => (withSlots ? life.rooms.nagging.nextAt(now) : Promise.resolve(null)),
  ];
  for (const nextAt of asked) {
    const told = await during(world, nextAt);
    // While the database goes on failing, a few looks tell as much as many.
    if (told.is === 'away') instants.push(now + (world.siege.fault === null ? 500 : lookInTroubleMs));
    if (told.is === 'answered' && told.value !== null) instants.push(Math.max(told.value, now + 1));
  }
  const timer = time.untilTimer();
  if (timer !== null) instants.push(now + timer);
  return instants.length === 0 ? null : Math.min(...instants) - now;
}

async function live(world: World, ms: number): Promise<void> {
  const { time } = world;
  const end = time.elapsed() + ms;
  for (let wakes = 0; time.elapsed() < end; wakes += 1) {
    if (!(await settle(world))) return;
    const left = end - time.elapsed();
    const pause = wakes < wakesMax ? await untilNext(world, true) : null;
    await time.advance(Math.min(pause ?? left, left));
  }
  await settle(world);
}

/** At the platform's pace each part of a backlog takes a few turns of its own, and an approval may take a day and more. */
const restWakesMax = (left: number) => 25_000 + 5 * left;

/** Everything that still moves by itself; what waits for a person may wait for ever, and all that stands behind it. */
const moving = `with stuck as materialized (
    select lane, min(id) as id from deliveries where status = 'blocked' and cause = 'topic_in_doubt' group by lane)
  select (select count(*) from runs where status in ('queued', 'running', 'backoff', 'waiting'))
  + (select count(*) from occurrences where status = 'pending' and decide_by is null
     and (source <> 'snooze' or slot_at <= ?))
  + (select count(*) from deliveries d where (status = 'unknown' and ready_at is not null) or status = 'sending'
     or (status = 'blocked' and cause <> 'topic_in_doubt') or (status = 'pending' and not exists (select 1
       from stuck s where s.lane = d.lane and s.id < d.id)))`;

/** Neither a slot nor a refresh asks for a run any more. */
async function comeToRest(world: World, frozenAt: number): Promise<void> {
  const { database, time } = world;
  database.exec('update tasks set refresh_ms = null');
  const moves = database.prepare(moving).pluck();
  const left = () => Number(moves.get(frozenAt));
  const most = restWakesMax(left());
  for (let wakes = 0; wakes < most; wakes += 1) {
    await settle(world, frozenAt);
    if (left() === 0 && time.untilTimer() === null) return;
    const pause = await untilNext(world, false);
    // Nothing is due and something is left: it is stuck, which the proofs tell by its name.
    if (pause === null) return;
    await time.advance(pause);
  }
  world.journal.tell('the rooms never come to rest');
}

/** A fault of the store or of the transport is told as what it is; whatever else is told as an error nobody expects. */
function unexpected(
  lines: Life['log']['lines'],
  dealt: { readonly thrown: number; readonly lost: number },
): readonly string[] {
  const faults = dealt.thrown + dealt.lost > 0;
  const allowed = new Set([
    'delivery_threw',
    'look_for_double_threw',
    ...(faults ? ['results_not_written', 'chat_gone_not_told', 'chore_failed', 'database_unusable'] : []),
  ]);
  const replayed = new Set(dealt.lost > 0 ? [] : ['late_results_dropped']);
  return lines
    .filter(({ level, event }) => (level === 'error' && !allowed.has(event)) || replayed.has(event))
    .map(({ event, facts }) => `the log tells of ${event} ${JSON.stringify(facts)}`);
}
