import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readRows, type Breach, type Rows } from '../invariants/rows.ts';
import { patienceMs } from '../support/patience.ts';
import { breachesOf } from './account.ts';
import { call, create, read, runsOf, type WireTask } from './api.ts';
import { becomes, readyUrl, start, type Boot, type StartOptions } from './program.ts';
import { threadOf } from './telegram.ts';

/**
 * Loaded before the server: the wall clock of that process can be set by whoever started it. Timers and the monotonic
 * clock go on as they were, as they do when somebody sets the clock of a machine.
 */
const settableClock = `
  const now = Date.now;
  let offsetMs = 0;
  Date.now = () => now() + offsetMs;
  process.on('message', (message) => {
    offsetMs = message.offsetMs;
    process.send(message);
  });
  process.channel.unref();
`;

const ownerChat = 1001;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** From a full minute on, as a person names it: a beginning that was measured would move along with the clock. */
const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString();
const secondly = { kind: 'interval', interval: 'PT1S', start_at: minute, timezone: 'UTC' };
const retry = { attempts: 2, base: 'PT4S', factor: 1, jitter: 0 };

interface World {
  readonly boot: Boot;
  readonly url: string;
  readonly breaches: Breach[];
  readonly tasks: ReadonlyMap<string, WireTask>;
}

/** The wall clock goes back an hour, forward an hour and back, and forward a day under a running server. */
export async function clockSteps(options: StartOptions): Promise<Breach[]> {
  const preload = join(options.folder, 'settable-clock.mjs');
  writeFileSync(preload, settableClock);
  const boot = start({ ...options, preload });
  const url = await readyUrl(boot);
  const world: World = { boot, url, breaches: [], tasks: await createTasks(url) };
  // Owners are told in the chat in which they have spoken to the bot.
  options.telegram.world.say({ as: 'ada', chat: ownerChat, text: '/help' });
  await pause(2000);
  await backAnHour(world);
  await boot.send({ offsetMs: 0 });
  await goesOn(world, 'after the clock was set right again');
  await hourAhead(world);
  await aDayAhead(world);
  const told = options.telegram
    .seen()
    .messages.filter(({ chatId, text }) => chatId === ownerChat && text?.includes('set back'));
  // Once for each of the two, and both may fall into one hour that the clock shows.
  if (told.length < 1 || told.length > 2)
    world.breaches.push({ promise: 'owners hear of a clock that was set back', rows: told });
  const asked = Date.now() + dayMs;
  const { code, at } = await boot.stop();
  const rows = await readRows(options.databaseUrl);
  const history = { setBack: true, stop: { asked, ended: at + dayMs }, log: boot.log };
  return [
    ...world.breaches,
    ...(code === 0 ? [] : [{ promise: 'a stop by SIGTERM ends with code 0', rows: code }]),
    ...breachesOf(rows, options.telegram.seen(), history),
    ...dayIsRecorded(rows, world),
  ];
}

async function createTasks(url: string): Promise<Map<string, WireTask>> {
  const tasks = new Map<string, WireTask>();
  const add = async (title: string, body: object) => {
    tasks.set(title, await create(url, threadOf(), { title, instructions: 'The time.', schedule: secondly, ...body }));
  };
  for (const missed of ['skip', 'once', 'all']) await add(missed, { policies: { missed, missed_limit: 5 } });
  await add('queue', {
    policies: { missed: 'all', missed_limit: 5, overlap: 'queue' },
    action: { kind: 'echo', delay_ms: 600 },
  });
  await add('completion', { schedule: { ...secondly, from: 'completion' } });
  return tasks;
}

/** A run waits for its second attempt while the clock goes back; what was begun a moment ago goes on. */
async function backAnHour({ boot, url, breaches, tasks }: World): Promise<void> {
  const soon = new Date(Date.now() + 3000).toISOString();
  const waiting = await create(url, threadOf(), {
    instructions: 'The second try works.',
    schedule: { kind: 'once', once_at: soon, timezone: 'UTC' },
    action: { kind: 'echo', fail_attempts: 1 },
    policies: { retry },
  });
  await becomes(async () => ((await runsOf(url, waiting.task_id))[0]?.attempts.length ?? 0) > 0, patienceMs);
  await boot.send({ offsetMs: -hourMs });
  const status = async (id: string) => (await runsOf(url, id))[0]?.status;
  if (!(await becomes(async () => (await status(waiting.task_id)) === 'succeeded', patienceMs))) {
    breaches.push({
      promise: 'a pause before the next attempt is not longer for a clock that went back',
      rows: await runsOf(url, waiting.task_id),
    });
  }
  const before = (await runsOf(url, tasks.get('skip')?.task_id ?? '')).length;
  const byHand = await call(url, { method: 'POST', path: `/v1/tasks/${tasks.get('skip')?.task_id}/run-now` });
  const fresh = await create(url, threadOf(), {
    instructions: 'New in the hour that comes twice.',
    schedule: { kind: 'once', once_at: new Date(Date.now() - hourMs + 3000).toISOString(), timezone: 'UTC' },
  });
  if (!(await becomes(async () => (await status(fresh.task_id)) === 'succeeded', patienceMs))) {
    breaches.push({ promise: 'a new task runs under a clock that went back', rows: await runsOf(url, fresh.task_id) });
  }
  const after = (await runsOf(url, tasks.get('skip')?.task_id ?? '')).length;
  if (byHand.status !== 200 || after <= before) {
    breaches.push({
      promise: 'what is asked for by hand runs in the hour that comes twice',
      rows: { before, after, byHand },
    });
  }
  const ready = await call(url, { method: 'GET', path: '/readyz' });
  if (ready.status !== 200)
    breaches.push({ promise: 'a clock that went back does not make the server unready', rows: ready });
}

/** A server that sleeps looks at the clock every 30 seconds, so a clock that goes forward is noticed by then. */
async function goesOn({ url, breaches, tasks }: World, when: string): Promise<void> {
  for (const [title, { task_id: id }] of tasks) {
    // Slots of the hour ahead that have run stay the latest ones for an hour.
    const lastRun = async () => (await read(url, id)).body.task?.last_run_id;
    const before = await lastRun();
    if (await becomes(async () => (await lastRun()) !== before, patienceMs)) continue;
    breaches.push({ promise: `every task goes on ${when}`, rows: { title, task: await read(url, id), before } });
  }
}

/** What a clock that is ahead passes over comes at its time, once, and no task waits for the old hour. */
async function hourAhead(world: World): Promise<void> {
  const { boot, url, breaches, tasks } = world;
  const soon = await create(url, threadOf(), {
    instructions: 'Passed over by a clock that is ahead.',
    schedule: { kind: 'once', once_at: new Date(Date.now() + 90_000).toISOString(), timezone: 'UTC' },
    policies: { missed: 'skip', grace: 'PT30S' },
  });
  await boot.send({ offsetMs: hourMs });
  const state = async () => (await read(url, soon.task_id)).body.task?.state;
  if (!(await becomes(async () => (await state()) === 'completed', patienceMs)))
    breaches.push({ promise: 'a clock that is ahead is noticed', rows: await runsOf(url, soon.task_id) });
  await boot.send({ offsetMs: 0 });
  if (!(await becomes(async () => (await state()) === 'active', patienceMs)))
    breaches.push({ promise: 'what never ran is planned again', rows: await runsOf(url, soon.task_id) });
  await goesOn(world, 'after the clock was an hour ahead');
  if (!(await becomes(async () => (await runsOf(url, soon.task_id))[0]?.status === 'succeeded', 95_000)))
    breaches.push({ promise: 'what never ran comes at its time', rows: await runsOf(url, soon.task_id) });
  const next = Date.parse(String((await read(url, tasks.get('skip')?.task_id ?? '')).body.task?.next_run_at));
  if (!(next < Date.now() + 60_000))
    breaches.push({ promise: 'no next run lies an hour ahead when the clock is right', rows: next });
}

async function aDayAhead(world: World): Promise<void> {
  await world.boot.send({ offsetMs: dayMs });
  const from = performance.now();
  const isThere = async () => {
    const next = await Promise.all(
      [...world.tasks.values()].map(async ({ task_id: id }) => (await read(world.url, id)).body.task?.next_run_at),
    );
    return next.every((at) => typeof at === 'string' && Date.parse(at) > Date.now() + dayMs - 2000);
  };
  if (!(await becomes(isThere, patienceMs))) {
    world.breaches.push({
      promise: 'a day ahead is worked off',
      rows: { afterMs: Math.round(performance.now() - from) },
    });
  }
  await goesOn(world, 'after the clock was set a day ahead');
}

/** Nearly all of the 86,400 slots are told as gaps; the policy says how many of them ran late. */
function dayIsRecorded(rows: Rows, { tasks }: World): Breach[] {
  const late: Readonly<Record<string, number>> = { skip: 0, once: 1, all: 5, queue: 5 };
  return Object.entries(late).flatMap(([title, most]) => {
    const id = tasks.get(title)?.task_id;
    const missed = rows.gaps.filter((gap) => gap.task_id === id).reduce((sum, gap) => sum + gap.count, 0);
    const newest = rows.occurrences.filter((one) => one.task_id === id && one.slot_at > Date.now() + dayMs / 2);
    const ranLate = newest.filter(({ source }) => source === 'catch_up').length;
    const recorded = missed > 85_000 && ranLate <= most && (title !== 'all' || ranLate > 0);
    return recorded
      ? []
      : [{ promise: 'a day that was jumped over is recorded by the missed policy', rows: { title, missed, ranLate } }];
  });
}
