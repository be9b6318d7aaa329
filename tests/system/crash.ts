import { setTimeout as pause } from 'node:timers/promises';
import { readRows, type Breach, type Rows } from '../invariants/rows.ts';
import { chanceFrom, type Chance } from '../support/chance.ts';
import { patienceMs } from '../support/patience.ts';
import { breachesOf, callsOf, slotsOf, type History } from './account.ts';
import { drive, type Ledger } from './driver.ts';
import { proveLedger } from './ledger-proof.ts';
import { becomes, start, type Boot, type LogLine, type StartOptions } from './program.ts';
import { openTarget } from './target.ts';
import type { Seen } from './telegram.ts';

export interface CrashPlan extends StartOptions {
  readonly seed: number;
  readonly kills: number;
  readonly tasks: number;
  /** How long a server lives after it is ready, at most. */
  readonly lifeMaxMs: number;
  readonly settleMs: number;
  /** It settles until then at least, however slow the machine is. */
  readonly isEnough?: (rows: Rows, called: number) => boolean;
}

export interface CrashResult {
  readonly rows: Rows;
  readonly seen: Seen;
  readonly ledger: Ledger;
  readonly history: History;
  readonly breaches: readonly Breach[];
  readonly slots: number;
  readonly inGaps: number;
  /** Calls that arrived at the target outside, and how many of them were repeats under a key. */
  readonly called: number;
  readonly repeatedCalls: number;
  readonly kills: number;
  /** From the start of a process to its open door. */
  readonly readyMs: readonly number[];
  readonly stopMs: number;
  readonly refusedStarts: number;
}

/** Kills the server again and again under load, lets it settle, stops it cleanly, and proves what it left behind. */
export async function crash(plan: CrashPlan): Promise<CrashResult> {
  const random = chanceFrom(plan.seed);
  const target = await openTarget(plan.seed + 2);
  const keeper = keep({ ...plan, settings: { ...plan.settings, ...target.settings } }, random);
  const driver = drive({
    // The requests have a chance of their own, so that a slow machine does not change the times of the kills.
    random: chanceFrom(plan.seed + 1),
    url: () => keeper.url(),
    tasks: plan.tasks,
    name: `crash-${plan.seed}`,
    hands: 3,
    forums: plan.telegram.forums,
    target: target.url,
    pauseMaxMs: 400,
  });
  for (let count = 0; count < plan.kills; count += 1) await keeper.killOnce();
  await keeper.up();
  await driver.stop();
  await pause(plan.settleMs);
  const { isEnough = () => true, databaseUrl } = plan;
  await becomes(async () => isEnough(await readRows(databaseUrl), target.arrivals.length), patienceMs);
  const first = await keeper.stop();
  const left = await openAttempts(plan.databaseUrl);
  // One more life after a clean stop: there is nothing to repair, and the tasks go on.
  await keeper.up();
  await pause(Math.min(plan.settleMs, 2500));
  const last = await keeper.stop();
  target.close();
  const rows = await readRows(plan.databaseUrl);
  const seen = plan.telegram.seen();
  const { known } = driver.ledger;
  const promised = {
    created: known.map(({ task }) => task.task_id),
    runsByHand: known.flatMap(({ runsByHand }) => runsByHand),
  };
  const history = { stop: last, kills: keeper.kills, log: keeper.log(), promised };
  const { slots, inGaps } = slotsOf(rows, history);
  const stops = [first, last].filter(({ code }) => code !== 0);
  return {
    rows,
    seen,
    ledger: driver.ledger,
    history,
    breaches: [
      ...breachesOf(rows, seen, history),
      ...proveLedger(rows, driver.ledger),
      ...callsOf(rows, history, target),
      ...(stops.length === 0 ? [] : [{ promise: 'a stop by SIGTERM ends with code 0', rows: stops }]),
      ...(left === 0 ? [] : [{ promise: 'a clean stop leaves no attempt open', rows: left }]),
    ],
    slots,
    inGaps,
    called: target.arrivals.length,
    repeatedCalls: target.arrivals.length - target.effects.size,
    kills: keeper.kills.length,
    readyMs: keeper.readyMs,
    stopMs: Math.max(first.ended - first.asked, last.ended - last.asked),
    refusedStarts: keeper.refused(),
  };
}

async function openAttempts(databaseUrl: string): Promise<number> {
  const { attempts } = await readRows(databaseUrl);
  return attempts.filter(({ status }) => status === 'running').length;
}

interface Stopped {
  readonly code: number | null;
  readonly asked: number;
  readonly ended: number;
}

interface Keeper {
  readonly kills: number[];
  readonly readyMs: number[];
  url(): Promise<string>;
  up(): Promise<void>;
  killOnce(): Promise<void>;
  stop(): Promise<Stopped>;
  log(): LogLine[];
  refused(): number;
}

/** Keeps one server running, as a service manager does: whatever ends is started again at once. */
function keep(plan: CrashPlan, random: Chance): Keeper {
  const boots: Boot[] = [];
  const kills: number[] = [];
  const readyMs: number[] = [];
  let refused = 0;
  let current: Boot | null = null;
  let address: Promise<string | null> = Promise.resolve(null);

  const launch = (): Boot => {
    const boot = start(plan);
    boots.push(boot);
    current = boot;
    address = boot.url;
    void boot.url.then((url) => {
      if (url !== null) readyMs.push(Date.now() - boot.bootedAt);
    });
    return boot;
  };

  const up = async (): Promise<void> => {
    for (let tries = 0; tries < 20; tries += 1) {
      const boot = current ?? launch();
      if ((await boot.url) !== null) return;
      // The lock of the process before may be held for a moment longer by the database server.
      refused += 1;
      current = null;
      await pause(50);
    }
    throw new Error(`The server does not start. ${boots.at(-1)?.errors() ?? ''}`);
  };

  const end = async (boot: Boot, how: 'kill' | 'stop') => {
    current = null;
    address = Promise.resolve(null);
    return boot[how]();
  };

  return {
    kills,
    readyMs,
    up,
    url: async () => {
      for (;;) {
        const url = await address;
        if (url !== null) return url;
        await pause(10);
      }
    },
    killOnce: async () => {
      const draw = random.next();
      if (draw < 0.12) {
        // In the middle of a start: of its repairs, its migration, its first steps.
        current ??= launch();
        await pause(random.between(20, 500));
      } else {
        await up();
        await pause(draw < 0.3 ? random.between(0, 60) : random.between(60, plan.lifeMaxMs));
      }
      kills.push(Date.now());
      if (current !== null) await end(current, 'kill');
      // Now and then it stays away for long enough that slots are missed.
      if (random.next() < 0.1) await pause(random.between(1000, 4000));
      launch();
    },
    stop: async () => {
      const asked = Date.now();
      if (current === null) throw new Error('There is no server to stop.');
      const { code, at } = await end(current, 'stop');
      return { code, asked, ended: at };
    },
    log: () => boots.flatMap((boot) => boot.log),
    refused: () => refused,
  };
}
