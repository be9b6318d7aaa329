import { checks, type CheckName } from '../../domain/audit.ts';
import { countedMax, scrapeKeptMs, taskTallyKeptMs } from '../../domain/limits.ts';
import { roles, type ProcessView, type Role } from '../../domain/processes/process.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import { lastAudit, type AuditFound } from '../housekeeping/audit.ts';
import type { Tally, Workload, WorkloadStore } from '../ports/metering.ts';
import type { PaceStore } from '../ports/outbox.ts';
import type { World } from '../ports/outside.ts';
import type { Processes } from '../ports/processes.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import type { KindPauses } from './kind-pauses.ts';
import { sample, type Sample } from './metrics.ts';
import type { Ready } from './readiness.ts';
import { memo } from './recent.ts';
import { tasksTallied } from './status.ts';

/** The sources of the meter beside its own counts. */
interface GaugeDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer' | 'log'> {
  readonly store: WorkloadStore & Pick<UpkeepStore, 'readNote'> & Pick<PaceStore, 'readHolds'>;
  readonly loops: readonly { readonly name: string; readonly health: () => { readonly idleMs: number } }[];
  readonly ready: () => Promise<Ready>;
  /** Absent where the database has no connections of its own. */
  readonly connections: (() => ConnectionsUsed) | null;
  /** Work of the children that evaluate what people write. */
  readonly poolJobs: () => { readonly waiting: number; readonly working: number };
  /** The processes that share the database, of which this is one. */
  readonly processes: Pick<Processes, 'live'>;
  readonly kindPauses: Pick<KindPauses, 'list'>;
  /** Jobs that nobody has taken up; absent where nobody hands out any. */
  readonly jobsWaiting: (() => Promise<number>) | null;
  readonly retentionDays: number;
  readonly makesBackups: boolean;
  readonly build: { readonly version: string; readonly node: string };
}

export interface ConnectionsUsed {
  readonly inUse: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** Looks at the store at most once a second, however many ask. While the store is away, what needs it is left out. */
export function createGauges(deps: GaugeDeps): () => Promise<readonly Sample[]> {
  const { stopwatch, log, ready } = deps;
  const tasks = memo(stopwatch, taskTallyKeptMs, () => taskSamples(deps));
  const startedAt = deps.clock.now();
  let isAway = false;
  const fromStore = async (): Promise<readonly Sample[]> => {
    try {
      const found = [...(await storeSamples(deps, startedAt)), ...(await tasks())];
      isAway = false;
      return found;
    } catch (error) {
      if (!isAway) log.warn('metrics_without_store', { error: String(error) });
      isAway = true;
      return [];
    }
  };
  return memo(stopwatch, scrapeKeptMs, async () => [
    ...ownSamples(deps),
    ...readySamples(await ready()),
    ...(await fromStore()),
  ]);
}

function ownSamples({ loops, connections, poolJobs, build }: GaugeDeps): Sample[] {
  const used = connections?.();
  return [
    sample('build_info', build, 1),
    ...loops.map(({ name, health }) => sample('loop_turn_age_seconds', { loop: name }, health().idleMs / 1000)),
    ...Object.entries(poolJobs()).map(([state, count]) => sample('pool_jobs', { state }, count)),
    ...(used === undefined
      ? []
      : [
          sample('database_connections', { state: 'in_use' }, used.inUse),
          sample('database_connections', { state: 'idle' }, used.idle),
          sample('database_connections', { state: 'waiting' }, used.waiting),
        ]),
  ];
}

function readySamples({ ok: _ok, ...parts }: Ready): Sample[] {
  return Object.entries(parts).map(([part, state]) => sample('ready', { part }, state === 'ok' ? 1 : 0));
}

async function storeSamples(deps: GaugeDeps, startedAt: number): Promise<Sample[]> {
  const { store, clock } = deps;
  const now = clock.now();
  return [
    ...processSamples(await deps.processes.live(), now),
    ...(await deps.kindPauses.list()).map(({ kind, since }) =>
      sample('kind_paused_seconds', { action: kind }, Math.max(now - since, 0) / 1000),
    ),
    ...(deps.jobsWaiting === null ? [] : [sample('jobs_waiting', {}, await deps.jobsWaiting())]),
    ...workSamples(await store.workload(now, countedMax), deps, now),
    ...holdSamples(await store.readHolds(now), now),
    ...auditSamples(await lastAudit(store), startedAt, now),
    ...(await choreSample(deps, 'retention', now)),
    ...(deps.makesBackups ? await choreSample(deps, 'backup', now) : []),
  ];
}

/** A role that nobody has stands at 0, so that an alert finds something to look at. */
function processSamples(live: readonly ProcessView[], now: number): Sample[] {
  const ofRole = (role: Role) => live.filter((one) => one.role === role);
  const ages = roles.flatMap((role) => {
    const oldest = Math.min(...ofRole(role).map(({ seenAt }) => seenAt));
    return Number.isFinite(oldest)
      ? [sample('process_heartbeat_age_seconds', { role }, Math.max(now - oldest, 0) / 1000)]
      : [];
  });
  return [
    ...roles.map((role) => sample('processes', { role }, ofRole(role).length)),
    ...ages,
    sample('releases', {}, new Set(live.map(({ release }) => release)).size),
  ];
}

function workSamples(work: Workload, { retentionDays }: GaugeDeps, now: number): Sample[] {
  const age = (since: number | null) => (since === null ? 0 : Math.max(now - since, 0) / 1000);
  const oldestMs = work.oldestWorkAt === null ? 0 : Math.max(now - work.oldestWorkAt, 0);
  return [
    ...depthSamples(work),
    sample('due_age_seconds', {}, age(work.due.since)),
    ...Object.entries(work.deliveries).flatMap(([status, { count, since }]) => [
      sample('deliveries_open', { status }, count),
      sample('deliveries_oldest_seconds', { status }, age(since)),
    ]),
    sample('inbox_depth', {}, work.inbox.count),
    sample('inbox_oldest_seconds', {}, age(work.inbox.since)),
    sample('retention_margin_seconds', {}, (retentionDays * DAY_MS - oldestMs) / 1000),
    sample('database_bytes', {}, work.databaseBytes),
  ];
}

/** A state in which nothing stands has a line all the same, so that an alert finds something to look at. */
function depthSamples({ byKind, runs }: Workload): Sample[] {
  return ['due', 'pending', ...Object.keys(runs)].flatMap((state) => {
    const found = byKind.filter((one) => one.state === state);
    if (found.length === 0) return [sample('queue_depth', { state, action: 'message' }, 0)];
    return found.map(({ kind: action, count }) => sample('queue_depth', { state, action }, count));
  });
}

function holdSamples(holds: Awaited<ReturnType<PaceStore['readHolds']>>, now: number): Sample[] {
  const longest = (these: typeof holds) => these.reduce((most, { until }) => Math.max(most, until - now), 0) / 1000;
  const chats = holds.filter(({ chatId, until }) => chatId !== null && until > now);
  return [
    sample('telegram_hold_seconds', { scope: 'all' }, longest(holds.filter(({ chatId }) => chatId === null))),
    sample('telegram_hold_seconds', { scope: 'chat' }, longest(chats)),
    sample('telegram_held_chats', {}, chats.length),
  ];
}

/** Every check has its line, so that an alert on the sum of them finds something to look at. */
function auditSamples(report: AuditFound | null, startedAt: number, now: number): Sample[] {
  const age = sample('audit_age_seconds', {}, Math.max(now - (report?.at ?? startedAt), 0) / 1000);
  if (report === null) return [age];
  const counts = new Map(report.findings.map(({ check, count }) => [check, count]));
  const names = Object.keys(checks) as CheckName[];
  return [age, ...names.map((check) => sample('audit_findings', { check }, counts.get(check) ?? 0))];
}

async function choreSample({ store }: GaugeDeps, chore: 'retention' | 'backup', now: number): Promise<Sample[]> {
  const note = await store.readNote(`chore:${chore}`);
  const at = Number(note ?? Number.NaN);
  return Number.isNaN(at) ? [] : [sample(`${chore}_age_seconds`, {}, Math.max(now - at, 0) / 1000)];
}

async function taskSamples(deps: GaugeDeps): Promise<readonly Sample[]> {
  const counts = new Map<string, number>();
  const labels = new Map<string, Omit<Tally, 'count'>>();
  for await (const { count, ...labelled } of tasksTallied(deps)) {
    const name = JSON.stringify(labelled);
    labels.set(name, labelled);
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return [...labels].map(([name, labelled]) => sample('tasks', labelled, counts.get(name) ?? 0));
}
