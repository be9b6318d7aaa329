import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { isOpen } from '../../invariants/deliveries.ts';
import { readRowsOf, type Breach } from '../../invariants/rows.ts';
import { breachesOf, slotsOf, type History } from '../account.ts';
import { call, create } from '../api.ts';
import { becomes, readyUrl, start, type Boot, type StartOptions } from '../program.ts';
import { threadOf, type Seen } from '../telegram.ts';
import { faultsInTurn, firstFaults, type Soaked } from './faults.ts';
import { growthOf, heapGrowthMaxMb, loopP99MaxMs, isGrowing, middleOf, watch, type Sample } from './measures.ts';
import { forkTelegram, type TelegramApart } from './telegram.ts';

/**
 * Hundreds of slots a second for as long as is asked for, under each fault in turn. At the end every slot is accounted for
 * once, nothing is shown twice, memory is flat, and the loop was never held up for long.
 */
export interface SoakPlan extends Omit<StartOptions, 'telegram' | 'preload'> {
  readonly minutes: number;
}

const quietTasks = 294;
const quietThreads = 20;
/** Every fifteen seconds each: four results a second reach Telegram, of which the sandbox remembers 20,000. */
const shownTasks = 60;
const forums = 20;
const hands = 8;
const shortestMs = 8000;
const longestMs = 40_000;
const recoverMs = 180_000;
const tasksPerProof = 20;
/** As soon as no more than this is open the fault is over: a few results are always on their way. */
const openFew = 30;

const settings = { QUOTA_PER_CHAT: '1000', QUOTA_PER_USER: '1000' };

/**
 * Loaded before the server: its clock can be set, and it tells how long its loop was held up since it last began to measure,
 * and how much is left on its heap after a collection.
 */
const preload = `data:text/javascript,${encodeURIComponent(`
  import { monitorEventLoopDelay } from 'node:perf_hooks';
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const now = Date.now;
  let offsetMs = 0;
  Date.now = () => now() + offsetMs;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  process.on('message', (message) => {
    if (message.offsetMs !== undefined) {
      offsetMs = message.offsetMs;
      process.send({});
      return;
    }
    const [p50Ms, p99Ms, maxMs] = [loop.percentile(50) / 1e6, loop.percentile(99) / 1e6, loop.max / 1e6];
    collect();
    loop.reset();
    const { heapUsed, rss, external } = process.memoryUsage();
    process.send({ p50Ms, p99Ms, maxMs, heapMb: heapUsed / 1e6, externalMb: external / 1e6, rssMb: rss / 1e6 });
  });
  process.channel.unref();
`)}`;

interface Told {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly heapMb: number;
  readonly externalMb: number;
  readonly rssMb: number;
}

interface Life extends Soaked {
  boot: Boot;
  url: string;
  readonly kills: number[];
  readonly boots: Boot[];
  readonly database: Database.Database;
  /** The scenario began so long ago. */
  elapsedMs(): number;
}

export async function soak(plan: SoakPlan): Promise<{ breaches: readonly Breach[]; figures: readonly string[] }> {
  const telegram = await forkTelegram(forums);
  try {
    return await soaked(plan, telegram);
  } finally {
    await telegram.close();
  }
}

async function soaked(plan: SoakPlan, telegram: TelegramApart) {
  const life = await begin(plan, telegram);
  const inTurnMs = (plan.minutes * 60_000) / (1.4 * (firstFaults.length + faultsInTurn.length + 3));
  const onMs = Math.min(Math.max(inTurnMs, shortestMs), longestMs);
  await pause(2 * onMs);
  for (const fault of firstFaults) console.log(`          ${await suffer(life, fault, onMs)}`);
  await pause(onMs);
  const first = (await life.boot.send({})) as Told;
  const ourLoop = monitorEventLoopDelay({ resolution: 1 });
  ourLoop.enable();
  const watching = watch(() => life);
  do {
    for (const fault of faultsInTurn) console.log(`          ${await suffer(life, fault, onMs)}`);
  } while (life.elapsedMs() < plan.minutes * 60_000);
  const isCalm = await becomes(() => openParts(life) < openFew, recoverMs);
  const last = (await life.boot.send({})) as Told;
  const measures = { first, last, samples: watching.end(), oursMs: ourLoop.percentile(99) / 1e6 };
  const stop = await end(life);
  const proof = await prove({ plan, life, stop, seen: await telegram.seen() });
  return {
    breaches: [
      ...proof.breaches,
      ...(isCalm ? [] : [{ promise: 'the results come after the last fault', rows: openParts(life) }]),
      ...(stop.code === 0 ? [] : [{ promise: 'a stop by SIGTERM ends with code 0', rows: stop }]),
      ...measured(measures),
    ],
    figures: [...proof.figures, ...table(measures)],
  };
}

async function begin(plan: SoakPlan, telegram: TelegramApart): Promise<Life> {
  const from = performance.now();
  const startNext = () => start({ ...plan, telegram, preload, settings });
  const boot = startNext();
  const life: Life = {
    telegram,
    boot,
    url: await readyUrl(boot),
    boots: [boot],
    kills: [],
    database: new Database(plan.databaseUrl.slice('file:'.length), { readonly: true }),
    elapsedMs: () => performance.now() - from,
    killOnce: async () => {
      life.kills.push(Date.now());
      await life.boot.kill();
      life.boot = startNext();
      life.boots.push(life.boot);
      life.url = await readyUrl(life.boot);
    },
  };
  await createTasks(life);
  return life;
}

async function createTasks({ url, telegram }: Life): Promise<void> {
  const quiet = Array.from({ length: quietTasks }, (_value, index) => ({
    thread: `cli:soak-${index % quietThreads}`,
    title: `Quiet ${index}`,
    instructions: 'At {{ run.scheduled_for }}',
    schedule: { kind: 'interval', interval: 'PT1S', timezone: 'UTC' },
    policies: { auto_pause: 0 },
    ...(index % 3 === 0 ? { action: { kind: 'echo', delay_ms: 50 } } : {}),
  }));
  const shown = Array.from({ length: shownTasks }, (_value, index) => ({
    thread: threadOf(telegram.forums[index % forums]),
    title: `Shown ${index}`,
    instructions: `${index} at {{ run.scheduled_for }}`,
    schedule: { kind: 'interval', interval: 'PT15S', timezone: 'UTC' },
    policies: { auto_pause: 0, missed: 'all', missed_limit: 10, overlap: 'queue' },
  }));
  const left = [...shown, ...quiet].entries();
  const hand = async () => {
    for (const [, { thread, ...body }] of left) await create(url, thread, body);
  };
  await Promise.all(Array.from({ length: hands }, hand));
}

const openParts = ({ database }: Life) =>
  Number(database.prepare(`select count(*) from deliveries where status not in ('delivered', 'failed')`).pluck().get());

const deliveredParts = ({ database }: Life) =>
  Number(database.prepare(`select count(*) from deliveries where status = 'delivered'`).pluck().get());

async function isReady({ boot, url }: Life): Promise<boolean> {
  const exit = await Promise.race([boot.exit, pause(0, null)]);
  if (exit !== null) throw new Error(`The server ended by itself: ${JSON.stringify(exit)} ${boot.errors()}`);
  return call(url, { method: 'GET', path: '/readyz' }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** One fault from its beginning until what it held up is there, as a line of what it did. */
async function suffer(life: Life, { name, begin: lay }: (typeof faultsInTurn)[number], onMs: number): Promise<string> {
  const before = deliveredParts(life);
  let lift: () => Promise<void>;
  try {
    lift = await lay(life);
  } catch (error) {
    return `SKIPPED ${name}: ${String(error).split('\n', 1)[0]}`;
  }
  await pause(onMs);
  await lift();
  const [delivered, open] = [deliveredParts(life) - before, openParts(life)];
  const from = performance.now();
  const isOver = await becomes(async () => {
    await pause(200);
    return openParts(life) < openFew && (await isReady(life));
  }, recoverMs);
  const seconds = (performance.now() - from) / 1000;
  await pause(Math.max(0, 0.4 * onMs - seconds * 1000));
  const after = isOver
    ? `few and ready after ${seconds.toFixed(1)} s`
    : `still ${openParts(life)} after ${seconds.toFixed(1)} s`;
  return `${name.padEnd(16)} on for ${(onMs / 1000).toFixed(0)} s: ${delivered} delivered meanwhile, ${open} open at its end, ${after}`;
}

interface Stopped {
  readonly code: number | null;
  readonly asked: number;
  readonly ended: number;
}

async function end({ boot, database }: Life): Promise<Stopped> {
  const asked = Date.now();
  const { code, at } = await boot.stop();
  database.close();
  return { code, asked, ended: at };
}

interface Left {
  readonly plan: SoakPlan;
  readonly life: Life;
  readonly stop: Stopped;
  readonly seen: Seen;
}

/** A million rows are proved some tasks at a time; those whose results were shown together, with the chats as the witness. */
async function prove({ plan, life, stop, seen }: Left) {
  const history: History = { stop, kills: life.kills, setBack: true };
  const nothing: Seen = { messages: [], topics: [], calls: [] };
  const breaches: Breach[] = [];
  let [slots, inGaps, runs, delivered, tasks] = [0, 0, 0, 0, 0];
  const groups = groupsOf(plan.databaseUrl.slice('file:'.length));
  for (const { ids, isShown } of groups) {
    const rows = readRowsOf(plan.databaseUrl, ids, { withWords: isShown });
    breaches.push(...breachesOf(rows, isShown ? seen : nothing, history));
    const proof = slotsOf(rows, history);
    slots += proof.slots;
    inGaps += proof.inGaps;
    runs += rows.runs.length;
    delivered += rows.deliveries.filter(({ status }) => status === 'delivered').length;
    tasks += ids.length;
    const open = rows.deliveries.filter(isOpen);
    if (open.length > openFew) breaches.push({ promise: 'what was to be shown is shown', rows: open.slice(0, 5) });
  }
  const faults = life.boots.flatMap(({ log }) => log).filter(({ level }) => level === 'error' || level === 'fatal');
  const events = [...new Set(faults.map(({ event }) => event))];
  return {
    breaches,
    figures: [
      `${tasks} tasks, ${slots} slots, ${inGaps} of them in gaps; ${runs} runs, ${delivered} parts delivered, ${seen.calls.length} calls`,
      `errors in the log: ${faults.length}${events.length === 0 ? '' : ` (${events.join(', ')})`}`,
    ],
  };
}

function groupsOf(file: string): { ids: string[]; isShown: boolean }[] {
  const database = new Database(file, { readonly: true });
  const read = (how: string) =>
    database.prepare(`select id from tasks where title ${how} 'Shown %' order by id`).pluck().all() as string[];
  const [shown, quiet] = [read('like'), read('not like')];
  database.close();
  const groups = [{ ids: shown, isShown: true }];
  for (let from = 0; from < quiet.length; from += tasksPerProof)
    groups.push({ ids: quiet.slice(from, from + tasksPerProof), isShown: false });
  return groups;
}

interface Measures {
  readonly first: Told;
  readonly last: Told;
  readonly samples: readonly Sample[];
  /** What this process, which does next to nothing, has to bear from the machine. */
  readonly oursMs: number;
}

function measured({ first, last, samples }: Measures): Breach[] {
  const heapGrowthMb = last.heapMb - first.heapMb;
  const isFlat = heapGrowthMb <= heapGrowthMaxMb && !isGrowing(samples);
  return [
    ...(isFlat ? [] : [{ promise: 'memory is flat', rows: { memory: growthOf(samples), heapGrowthMb } }]),
    ...(last.p99Ms <= loopP99MaxMs
      ? []
      : [{ promise: `the loop is held up ${loopP99MaxMs} ms at most`, rows: { p99Ms: last.p99Ms } }]),
  ];
}

const leftOf = ({ heapMb, externalMb, rssMb }: Told) =>
  `${heapMb.toFixed(1)} MB of heap, ${externalMb.toFixed(1)} beside it, ${rssMb.toFixed(0)} in all`;

function table({ first, last, samples, oursMs }: Measures): string[] {
  const memories = (['ownMb', 'rssMb', 'heapMb'] as const).map((memory) => {
    const { beforeMb, afterMb, slopeMbPerHour } = growthOf(samples, memory);
    const name = { ownMb: 'memory', rssMb: 'with files', heapMb: 'heap' }[memory];
    return `${name.padEnd(10)} ${beforeMb.toFixed(0)} MB after the warm-up, ${afterMb.toFixed(0)} MB at the end, ${slopeMbPerHour.toFixed(0)} MB an hour`;
  });
  const middle = middleOf(samples.map(({ loopP99Ms }) => loopP99Ms));
  return [
    ...memories,
    `collected  ${leftOf(first)} after the warm-up, ${leftOf(last)} at the end`,
    `loop       p50 ${last.p50Ms.toFixed(1)} ms, p99 ${last.p99Ms.toFixed(1)} ms, max ${last.maxMs.toFixed(0)} ms; this process, which does next to nothing, p99 ${oursMs.toFixed(1)} ms`,
    `/metrics   nodejs_eventloop_lag_p99_seconds at its middle ${middle.toFixed(1)} ms, of which 10 are its own resolution`,
  ];
}
