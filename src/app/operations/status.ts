import { actorNamed, type Actor } from '../../domain/access.ts';
import { invalid } from '../../domain/errors.ts';
import { taskTallyPage, usageDefaultMs } from '../../domain/limits.ts';
import { does, type KindPause, type ProcessView } from '../../domain/processes/process.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import type { Alarms, OpenAlarms } from '../housekeeping/alarms.ts';
import { lastAudit } from '../housekeeping/audit.ts';
import type { Scheduler } from '../pipeline/scheduler.ts';
import type { ChatFacts, ServerFacts, ChatUsage, TaskCounts } from '../ports/chat-facts.ts';
import type { WorkloadStore, SpentByTask } from '../ports/metering.ts';
import type { LoopName, World } from '../ports/outside.ts';
import type { Processes } from '../ports/processes.ts';
import type { Quota } from '../ports/tasks.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import type { SealedState, Secrets } from '../use-cases/secrets.ts';
import type { Spending, SpentByDay } from '../use-cases/spending.ts';
import type { TokenCounts, TokenStore } from '../use-cases/tokens.ts';
import type { KindPauses } from './kind-pauses.ts';
import type { Ready } from './readiness.ts';
import { memo } from './recent.ts';

/** How the server stands, for its owners. */
export interface ServerStatus {
  readonly version: string;
  readonly at: number;
  readonly startedAt: number;
  readonly ready: Ready;
  readonly facts: ServerFacts;
  /** The last look for what must never be; null when there was none yet. */
  readonly audit: { readonly at: number; readonly findings: number } | null;
  readonly alarms: OpenAlarms;
  /** Named tokens; null for a caller of some chats. */
  readonly tokens: TokenCounts | null;
  /** Secrets against the keys that are there; null for a caller of some chats. */
  readonly secrets: SealedState | null;
  /** The last step of the scheduler that was made to its end; null where none turns. */
  readonly lastTickAt: number | null;
  /** Its last look for results that are stale. */
  readonly lastStaleLookAt: number | null;
  /** Elsewhere where this process does no runs: then it runs while any process does. */
  readonly worker: Worker & { readonly isRunning: boolean; readonly isElsewhere: boolean };
  /** Null for a caller of some chats. */
  readonly processes: readonly ProcessView[] | null;
  /** Since when no process takes up slots; null while one does. */
  readonly pausedSince: number | null;
  /** The longest first. */
  readonly pausedKinds: readonly KindPause[];
}

/** The runner of this process: the id under which it holds runs, and the kinds of actions that it knows. */
export interface Worker {
  readonly id: string;
  readonly kinds: readonly string[];
}

interface StatusDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer'> {
  readonly version: string;
  readonly ready: () => Promise<Ready>;
  readonly alarms: Pick<Alarms, 'open'>;
  readonly worker: Worker;
  readonly processes: Pick<Processes, 'self' | 'live' | 'pausedSince'>;
  readonly kindPauses: Pick<KindPauses, 'list'>;
  readonly scheduler: Pick<Scheduler, 'refreshedAt'>;
  readonly secrets: Pick<Secrets, 'state'>;
  readonly loops: readonly { readonly name: string; readonly health: () => LoopState }[];
}

interface LoopState {
  readonly ok: boolean;
  /** Since a step last succeeded. */
  readonly idleMs: number;
}

type StatusStore = Pick<ChatFacts, 'serverFacts'> &
  Pick<WorkloadStore, 'taskTally'> &
  Pick<UpkeepStore, 'readNote'> &
  Pick<TokenStore, 'countTokens'>;

/**
 * Answers how the server stands for whoever sees the store that is given. The process is as old as this function's call.
 */
export function createStatus(deps: StatusDeps): (store: StatusStore) => () => Promise<ServerStatus> {
  const { clock, version, ready, alarms, worker } = deps;
  const startedAt = clock.now();
  const stateOf = (loop: LoopName) => deps.loops.find(({ name }) => name === loop)?.health();
  return (store) => {
    const counts = memo(deps.stopwatch, 0, () => countTasks({ ...deps, store }));
    return async () => {
      const at = clock.now();
      const facts = { ...(await counts()), ...(await store.serverFacts(at)) };
      // What stands in the way of the whole server is told to those who see all of it.
      const seesAll = facts.databaseBytes !== null;
      const audit = seesAll ? await lastAudit(store) : null;
      const pausedSince = await deps.processes.pausedSince();
      const isElsewhere = !does(deps.processes.self.role, 'work');
      const tick = stateOf('scheduler');
      return {
        version,
        at,
        startedAt,
        ready: await ready(),
        facts,
        tokens: seesAll ? await store.countTokens(at) : null,
        secrets: seesAll ? await deps.secrets.state() : null,
        audit: audit && { at: audit.at, findings: audit.findings.length },
        alarms: seesAll ? await alarms.open() : { open: [], unheard: [] },
        lastTickAt: tick === undefined ? null : at - tick.idleMs,
        lastStaleLookAt: deps.scheduler.refreshedAt(),
        worker: {
          ...worker,
          isElsewhere,
          isRunning: isElsewhere ? pausedSince === null : stateOf('runner')?.ok === true,
        },
        processes: seesAll ? await deps.processes.live() : null,
        pausedSince,
        pausedKinds: await deps.kindPauses.list(),
      };
    };
  };
}

async function countTasks(deps: TallyDeps): Promise<TaskCounts> {
  const byState = new Map<string, number>();
  for await (const { state, count } of tasksTallied(deps)) byState.set(state, (byState.get(state) ?? 0) + count);
  const inState = (state: string) => byState.get(state) ?? 0;
  const [active, paused, completed] = [inState('active'), inState('paused'), inState('completed')];
  return { tasks: active + paused + completed, active, paused, completed };
}

type TallyDeps = Pick<World, 'timer'> & { readonly store: Pick<WorkloadStore, 'taskTally'> };

/** Counts of all tasks, a page at a time with a pause after each: a million of them in one piece would hold up every slot. */
export async function* tasksTallied({ store, timer }: TallyDeps) {
  for (let after: string | null = ''; after !== null; await timer.yield()) {
    const page: Awaited<ReturnType<WorkloadStore['taskTally']>> = await store.taskTally(after, taskTallyPage);
    yield* page.counts;
    after = page.last;
  }
}

/** Usage is counted where every given condition holds; the stretch holds its beginning and not its end. */
export interface UsageQuery {
  readonly thread: Thread | null;
  readonly ownerId: Actor | null;
  readonly taskId?: string | null;
  readonly from: number;
  readonly to: number;
}

/** Tasks that can still run, against what they are counted; null where nothing was named. */
export interface QuotaCounts {
  readonly chat: number | null;
  readonly user: number | null;
}

export interface UsageStore {
  usageOf(query: UsageQuery): Promise<ChatUsage>;
  countQuota(query: Pick<UsageQuery, 'thread' | 'ownerId'>): Promise<QuotaCounts>;
}

export interface UsageRequest {
  readonly threadKey: string | null;
  readonly userKey: string | null;
  readonly taskId?: string | null;
  readonly group?: { readonly by: 'day'; readonly timezone: string } | { readonly by: 'task' } | null;
  readonly from: number | null;
  readonly to: number | null;
}

interface Used {
  readonly used: number;
  readonly limit: number;
}

export interface Usage extends ChatUsage {
  readonly from: number;
  readonly to: number;
  readonly quota: { readonly chat: Used | null; readonly user: Used | null };
  readonly byDay?: readonly SpentByDay[];
  readonly byTask?: readonly SpentByTask[];
}

interface UsageDeps extends Pick<World, 'clock'> {
  readonly store: UsageStore;
  readonly quota: Quota;
  readonly spending: Pick<Spending, 'byDay' | 'byTask'>;
}

export function createUsage({ store, clock, quota, spending }: UsageDeps): (request: UsageRequest) => Promise<Usage> {
  return async ({ threadKey, userKey, taskId = null, group = null, ...stretch }) => {
    const to = stretch.to ?? clock.now() + 1;
    const from = stretch.from ?? to - usageDefaultMs;
    if (from >= to) throw invalid('from', 'from: it must lie before to.');
    const thread = threadKey === null ? null : parseThreadKey(threadKey);
    const ownerId = userKey === null ? null : actorNamed('user_key', userKey);
    const whose = { thread, ownerId, taskId };
    const usage = await store.usageOf({ ...whose, from, to });
    const { chat, user } = await store.countQuota({ thread, ownerId });
    return {
      ...usage,
      from,
      to,
      quota: { chat: used(chat, quota.chat), user: used(user, quota.user) },
      ...(group?.by === 'day' ? { byDay: await spending.byDay(whose, { from, to }, group.timezone) } : {}),
      ...(group?.by === 'task' ? { byTask: await spending.byTask(whose, { from, to }) } : {}),
    };
  };
}

function used(count: number | null, limit: number): Used | null {
  return count === null ? null : { used: count, limit };
}
