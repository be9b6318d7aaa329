import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { readRows, type Breach } from '../invariants/rows.ts';
import { chanceFrom } from '../support/chance.ts';
import { patienceMs } from '../support/patience.ts';
import type { PostgresHands } from '../support/postgres-server.ts';
import { breachesOf } from './account.ts';
import { call } from './api.ts';
import { drive } from './driver.ts';
import { proveLedger } from './ledger-proof.ts';
import { becomes, readyUrl, start, type LogLine, type StartOptions } from './program.ts';

/** A fault of the database, until it is over. */
type Incident = 'stopped' | 'crashed' | 'held' | 'cut';

interface RestartPlan extends StartOptions {
  readonly seed: number;
  readonly hands: PostgresHands;
  readonly incidents: readonly { readonly what: Incident; readonly awayMs: number }[];
  readonly tasks: number;
  readonly settleMs: number;
  /** From the return of the database on. */
  readonly backWithinMs: number;
}

/** What may be told of one incident, by each who meets it: when it begins, when it has another cause, when it ends. */
export const linesMax = 40;

/** The database goes away and comes back under load, again and again, and the server is one and the same process all the time. */
export async function restarts(plan: RestartPlan) {
  const server = start(plan);
  const url = await readyUrl(server);
  const { telegram, seed, tasks, backWithinMs } = plan;
  const driver = drive({
    random: chanceFrom(seed),
    url: async () => url,
    tasks,
    name: `restart-${seed}`,
    hands: 3,
    forums: telegram.forums,
    pauseMaxMs: 300,
  });
  const isReady = async (status: number) => (await call(url, { method: 'GET', path: '/readyz' })).status === status;
  const breaches: Breach[] = [];
  const outages: { from: number; to: number }[] = [];
  const backMs: number[] = [];
  await pause(plan.settleMs);
  for (const { what, awayMs } of plan.incidents) {
    const from = Date.now();
    const lines = server.log.length;
    const seenAway = await incident(what, { ...plan, awayMs, isAway: () => becomes(() => isReady(503), patienceMs) });
    const over = Date.now();
    const isBack = await becomes(() => isReady(200), 4 * backWithinMs);
    backMs.push(Date.now() - over);
    outages.push({ from, to: Date.now() });
    const told = server.log.slice(lines).filter(isTrouble);
    if (!seenAway) breaches.push({ promise: 'a database that is away is told by /readyz', rows: { what } });
    if (!isBack || Date.now() - over > backWithinMs)
      breaches.push({ promise: 'the server is back soon after its database', rows: { what, ms: Date.now() - over } });
    // Each connection that is cut is an incident of its own.
    const isOne = told.filter(({ event }) => event === 'database_away').length === 1 && told.length <= linesMax;
    if (what !== 'cut' && !isOne)
      breaches.push({ promise: 'the log tells of an incident, not of each try', rows: told });
    await pause(plan.settleMs);
  }
  await driver.stop();
  await pause(plan.settleMs);
  const asked = Date.now();
  const { code, at: ended } = await server.stop();
  const rows = await readRows(plan.databaseUrl);
  const { known } = driver.ledger;
  const promised = {
    created: known.map(({ task }) => task.task_id),
    runsByHand: known.flatMap(({ runsByHand }) => runsByHand),
  };
  const log = server.log.filter((line) => !isTrouble(line));
  const history = { stop: { asked, ended }, outages, log, promised };
  if (code !== 0)
    breaches.push({ promise: 'a stop by SIGTERM ends with code 0', rows: { code, told: server.errors() } });
  return {
    breaches: [...breaches, ...breachesOf(rows, telegram.seen(), history), ...proveLedger(rows, driver.ledger)],
    backMs,
    lines: server.log.filter(isTrouble).length,
    rows,
  };
}

interface Happening extends Pick<RestartPlan, 'hands' | 'databaseUrl'> {
  readonly awayMs: number;
  readonly isAway: () => Promise<boolean>;
}

/** Whether the server was seen to say so, where it must. */
async function incident(what: Incident, { hands, databaseUrl, awayMs, isAway }: Happening): Promise<boolean> {
  const until = performance.now() + awayMs;
  const rest = () => pause(Math.max(0, until - performance.now()));
  if (what === 'cut') {
    while (performance.now() < until) await cutOne(databaseUrl);
    return true;
  }
  if (what === 'held') await hands.hold();
  else await hands.down(what === 'stopped' ? 'fast' : 'immediate');
  const seen = await isAway();
  await rest();
  await (what === 'held' ? hands.goOn() : hands.up());
  return seen;
}

/** Any connection of the server, whatever it is used for at this moment. */
async function cutOne(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1`);
  await client.end();
  await pause(100);
}

/** The lines that a database that is away may cause; every other one is a fault. */
export function isTrouble({ level, event, error, ...facts }: LogLine): boolean {
  const isCaused = /database/i.test(`${String(error)} ${event}`) && facts['status'] === undefined;
  return isCaused && (level === 'error' || level === 'warn');
}
