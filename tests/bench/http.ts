import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { OutboundEnd } from '../../src/app/ports/outbound.ts';
import { readHostRule } from '../../src/domain/outbound/host-rules.ts';
import { judgeTarget } from '../../src/domain/outbound/targets.ts';
import { byteMasker } from '../../src/domain/secrets/mask.ts';
import { createOutbound } from '../../src/outbound/outbound.ts';
import { systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { timersByHand } from './by-hand.ts';
import { bareTimers, withLoops } from './live.ts';
import { spread, type Figure } from './report.ts';
import { end, measuredBy, start, type Child } from './served.ts';
import { fill, openBench } from './world.ts';

const answer = JSON.stringify({ item: 'tea', cents: 420, at: '2026-11-19T09:00:00.000Z' });
const atOnce = 64;
const calls = 20_000;

/** Requests of tasks, to a server in a process of its own. */
export async function benchHttp(): Promise<Figure[]> {
  const target = await aTarget();
  const figures = [...checkCost(), ...maskCost(), ...(await clientCost(target)), ...(await runCost(target))];
  await end(target.child);
  return [...figures, ...(await measuredBy('storm'))];
}

async function aTarget(): Promise<Child> {
  const target = await start(['bare'], null);
  target.child.send(answer);
  return target;
}

const targets = [
  'https://api.example.com/price?of=tea',
  'http://93.184.215.14:8080/',
  'http://[2606:2800:220:1::1]/',
  'http://10.0.0.1/',
  'http://2130706433/',
  'https://президент.рф/',
];
const checks = 20_000;

function checkCost(): Figure[] {
  const allow = ['nas.lan', 'printer:631', '*.corp.example', '10.1.0.0/16'].flatMap((text) => readHostRule(text) ?? []);
  const rules = { allow, isOwn: () => false, site: () => 'http://127.0.0.1:8787/sandbox/site' };
  const took = targets.map((target) => {
    for (let index = 0; index < checks; index += 1) judgeTarget(target, rules);
    const from = performance.now();
    for (let index = 0; index < checks; index += 1) judgeTarget(target, rules);
    return ((performance.now() - from) * 1000) / checks;
  });
  return [
    { name: 'egress check, the costliest of six kinds of targets', value: Math.max(...took), unit: 'us', aim: '50 us' },
  ];
}

const long = (piece: string, length: number) => piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const maskedBytes = 262_144;
/** Keys and answers of few letters: everywhere in such a text something begins that could be a key. */
const keysOf = ['a', 'abcabd', `${long('a', 4000)}b`].map((piece) =>
  Array.from({ length: 50 }, (_each, index) => long(piece, 8000 + index)),
);
const answersOf = ['a', 'abcabd', `${long('a', 7990)}!`, '%61', '{"item":"tea","cents":420},'];

function maskCost(): Figure[] {
  const worst = keysOf.map((keys) => {
    const mask = byteMasker(keys);
    const took = answersOf.map((piece) => {
      const bytes = Buffer.from(long(piece, maskedBytes));
      return Math.min(...Array.from({ length: 5 }, () => cpuMs(() => mask(bytes))));
    });
    return Math.max(...took);
  });
  return [
    {
      name: 'mask of 50 secrets of 8 kB over 256 kB, the costliest of hostile ones: CPU',
      value: Math.max(...worst),
      unit: 'ms',
      aim: '10 ms',
    },
  ];
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** The client of tasks as the product makes it, for which every name leads to this computer. */
function benchOutbound() {
  return createOutbound({
    timer: systemTimer,
    stopwatch: systemStopwatch,
    allow: ['*.example.com'].flatMap((text) => readHostRule(text) ?? []),
    resolver: { resolve: async () => ['127.0.0.1'] },
  });
}

async function clientCost({ port }: Child): Promise<Figure[]> {
  const outbound = benchOutbound();
  const request = {
    method: 'GET',
    url: `http://api.example.com:${port}/price`,
    headers: {},
    body: null,
    timeoutMs: 30_000,
    narrowedTo: null,
    bodyBytesMax: 1_000_000,
  };
  const guarded = () =>
    inTurns(async () => ended(await outbound.call({ ...request, signal: new AbortController().signal })));
  const bare = () => bareCalls(port);
  await guarded();
  await bare();
  const [ours, theirs] = [await guarded(), await bare()];
  await outbound.close();
  return [
    {
      name: 'calls of the client of tasks, judged and bounded',
      value: ours,
      unit: 'calls/s',
      baseline: theirs,
      baselineName: 'bare undici against the same server',
    },
  ];
}

function ended(end: OutboundEnd): void {
  if (end.is !== 'answered') throw new Error(end.error);
}

/** The same requests by the library alone: how many in a second. */
async function bareCalls(port: number): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: atOnce });
  const rate = await inTurns(async () => {
    const { body } = await pool.request({ method: 'GET', path: '/price' });
    await body.text();
  });
  await pool.close();
  return rate;
}

async function inTurns(one: () => Promise<void>): Promise<number> {
  let left = calls;
  const from = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (left > 0) {
        left -= 1;
        await one();
      }
    }),
  );
  return (calls * 1000) / (performance.now() - from);
}

const runs = 5000;

/** Slots that are due, up to the answers that are written: the whole pipeline around the call. */
async function runCost({ port }: Child): Promise<Figure[]> {
  const outbound = benchOutbound();
  const bench = await openBench({ outbound });
  const dueAt = bench.world.clock.now() - 1000;
  fill(bench, {
    count: runs,
    chats: 100,
    provider: 'cli',
    now: dueAt - 86_400_000,
    schedule: () => ({ kind: 'interval', interval: 'P1D', start_at: new Date(dueAt).toISOString(), timezone: 'UTC' }),
    nextAt: () => dueAt,
    action: () => ({ kind: 'http', url: `http://api.example.com:${port}/price` }),
  });
  // By an index: to count those that have succeeded would read all rows, again and again, in the thread that is measured.
  const left = bench.database
    .prepare(`select (select count(*) from tasks where next_at <= ${dueAt}) + (select count(*) from runs where status in ('queued', 'backoff'))
      + (select count(*) from runs where status = 'running')`)
    .pluck();
  const from = performance.now();
  let seconds = 0;
  await withLoops(bench, async () => {
    while ((left.get() as number) > 0) await pause(20);
    seconds = (performance.now() - from) / 1000;
  });
  const done = bench.database.prepare(`select count(*) from runs where status = 'succeeded'`).pluck().get() as number;
  if (done !== runs) throw new Error(`${done} runs instead of ${runs}`);
  await outbound.close();
  await bench.close();
  return [
    {
      name: 'http runs, from the slot to the answer in the database',
      value: runs / seconds,
      unit: 'runs/s',
      baseline: await bareCalls(port),
      baselineName: 'bare undici against the same server',
      aim: '40 %',
    },
  ];
}

const slowOnes = 1000;
const slowHosts = 250;
const slowMs = 40_000;
const beside = { perSecond: 100, windowMs: 15_000 };
const fillMs = 15_000;

/** Message tasks while a thousand calls wait for their answers. */
export async function besideSlowOnes(): Promise<Figure[]> {
  const target = await start(['slow', String(slowMs)], null);
  let waiting = 0;
  target.child.on('message', (count: number) => (waiting = count));
  const outbound = benchOutbound();
  const bench = await openBench({ outbound, settings: { RUN_CONCURRENCY: slowOnes * 1.5 } });
  const bare = await timersByHand(bench.database, bareTimers);
  const dueAt = bench.world.clock.now() + 1000;
  const base = dueAt + fillMs;
  const count = (beside.perSecond * beside.windowMs) / 1000;
  const shared = { chats: 100, now: dueAt - 1000 } as const;
  const once = (at: number) => ({ kind: 'once', once_at: new Date(at).toISOString(), timezone: 'UTC' }) as const;
  const slot = (index: number) => base + Math.floor((index * beside.windowMs) / count) + ((index * 7919) % 97);
  fill(bench, {
    ...shared,
    count: slowOnes,
    schedule: () => ({ kind: 'interval', interval: 'P1D', start_at: new Date(dueAt).toISOString(), timezone: 'UTC' }),
    nextAt: () => dueAt,
    action: (index) => ({ kind: 'http', url: `http://h${index % slowHosts}.example.com:${target.port}/slow` }),
  });
  fill(bench, { ...shared, provider: 'cli', count, schedule: (index) => once(slot(index)), nextAt: slot });
  let [late, memory, inFlight]: [number[], number, number] = [[], 0, 0];
  await withLoops(bench, async () => {
    await pause(base - bench.world.clock.now());
    inFlight = waiting;
    await pause(beside.windowMs + 1000);
    memory = process.memoryUsage.rss() / 1024 ** 2;
    inFlight = Math.min(inFlight, waiting);
    late = bench.database
      .prepare(`select last_run_at - once_at from tasks where schedule_kind = 'once' and last_run_at is not null`)
      .pluck()
      .all() as number[];
    await outbound.close();
  });
  await end(target.child);
  await bench.close();
  if (inFlight < slowOnes || late.length !== count) throw new Error(`${inFlight} waited, ${late.length} messages came`);
  const name = `${slowOnes} slow http runs in flight`;
  return [
    ...spread((label) => `lateness ${label} of messages beside ${name}`, late, {
      baseline: bare.late,
      baselineName: 'a bare timer and two commits',
      aim: '25 ms',
    }),
    { name: `memory of the process with ${name}`, value: memory, unit: 'MB', aim: '250 MB' },
  ];
}
