import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readRows, type Breach } from '../invariants/rows.ts';
import { breachesOf, slotsOf } from './account.ts';
import { call, create } from './api.ts';
import { becomes, build, readyUrl, start, type Boot, type StartOptions } from './program.ts';
import { threadOf } from './telegram.ts';

/** The last release of which one process alone could use a database. */
const releaseBefore = 'before-cluster';
const noRelease = `SKIPPED this checkout has no tag ${releaseBefore}; fetch it first: git fetch origin tag ${releaseBefore}`;
const tasks = 24;
const takesOverWithinMs = 15_000;

type Plan = StartOptions;

/**
 * A new release beside the old one: its processes bring the database up to date under it and stand by, the old one goes on, and when it
 * stops they take over. Then each of them is replaced by another, one at a time.
 */
export async function rolling(plan: Plan): Promise<{ breaches: readonly Breach[]; figures: readonly string[] }> {
  const old = await buildOld(plan.folder);
  if (old === null) return { breaches: [], figures: [noRelease] };
  const breaches: Breach[] = [];
  const told = (promise: string, isKept: boolean, rows: unknown) => {
    if (!isKept) breaches.push({ promise, rows });
  };
  const before = start({ ...plan, main: old, settings: { ...plan.settings, ENGINE: '' } });
  const oldUrl = await readyUrl(before);
  const created = await createTasks(oldUrl, plan);
  await pause(4000);

  const roles = ['worker', 'worker', 'api', 'bot'] as const;
  const startNew = (role: string) => start({ ...plan, settings: { ...plan.settings, ROLE: role } });
  const fresh: { role: string; boot: Boot }[] = roles.map((role) => ({ role, boot: startNew(role) }));
  const stands = ({ boot }: { readonly boot: Boot }) => boot.log.some(({ event }) => event === 'standby');
  told(
    'new processes stand by while the old one works',
    await becomes(() => fresh.every(stands), 60_000),
    fresh.map(wordsOf),
  );
  const runsBefore = await runsIn(plan.databaseUrl);
  await pause(5000);
  const runsAfter = await runsIn(plan.databaseUrl);
  told('the old release goes on beside the new tables', runsAfter >= runsBefore + tasks, { runsBefore, runsAfter });

  const stopped = await before.stop();
  told('the old release stops by SIGTERM', stopped.code === 0, stopped);
  const urls = await Promise.all(fresh.map(({ boot }) => readyUrl(boot)));
  const isTaken = () => Promise.all(urls.map(isReady)).then((all) => all.every(Boolean));
  told('the new release takes over', await becomes(isTaken, takesOverWithinMs), fresh.map(wordsOf));
  const overMs = Date.now() - stopped.at;
  await pause(4000);

  const ends: (number | null)[] = [];
  for (const member of fresh) {
    const next = startNew(member.role);
    await readyUrl(next);
    ends.push((await member.boot.stop()).code);
    member.boot = next;
    await pause(1000);
  }
  await pause(4000);
  const asked = Date.now();
  for (const { boot } of fresh.toReversed()) ends.push((await boot.stop()).code);
  told(
    'each process stops by SIGTERM',
    ends.every((code) => code === 0),
    ends,
  );
  const rows = await readRows(plan.databaseUrl);
  const history = { stop: { asked, ended: Date.now() }, promised: { created, runsByHand: [] } };
  const proof = slotsOf(rows, history);
  const late = rows.occurrences.filter(({ reason }) => reason !== null);
  return {
    breaches: [...breaches, ...breachesOf(rows, plan.telegram.seen(), history)],
    figures: [
      `${proof.slots} slots, ${proof.inGaps} in gaps, ${rows.runs.length} runs, ${late.length} slots that did not run; taken over after ${overMs} ms`,
    ],
  };
}

const isReady = (url: string) =>
  call(url, { method: 'GET', path: '/readyz' }).then(
    ({ status }) => status === 200,
    () => false,
  );

const wordsOf = ({ role, boot }: { readonly role: string; readonly boot: Boot }) => ({
  role,
  log: boot.log.slice(-5),
  errors: boot.errors().slice(-1000),
});

const runsIn = async (databaseUrl: string) => (await readRows(databaseUrl)).runs.length;

async function createTasks(url: string, { telegram }: Plan): Promise<string[]> {
  const schedule = { kind: 'interval', interval: 'PT2S', timezone: 'UTC' };
  const made: string[] = [];
  for (let index = 0; index < tasks; index += 1) {
    const thread = index % 4 === 0 ? threadOf(telegram.forums[index % telegram.forums.length]) : 'cli:rolling';
    const body = {
      title: `Task ${index}`,
      instructions: `${index} at {{ run.scheduled_for }}`,
      schedule,
      policies: { missed: 'all' },
    };
    made.push((await create(url, thread, body)).task_id);
  }
  return made;
}

/** Null in a checkout that does not know it. */
async function buildOld(folder: string): Promise<string | null> {
  const sources = join(folder, 'old-sources');
  mkdirSync(sources);
  try {
    execFileSync('git', ['rev-parse', '--verify', '--quiet', `${releaseBefore}^{commit}`], {
      cwd: import.meta.dirname,
    });
  } catch {
    return null;
  }
  const root = join(import.meta.dirname, '../..');
  const archive = join(folder, 'old.tar');
  await promisify(execFile)('git', ['archive', '--output', archive, releaseBefore], { cwd: root });
  await promisify(execFile)('tar', ['-xf', archive, '-C', sources]);
  return build(join(folder, 'old'), sources);
}
