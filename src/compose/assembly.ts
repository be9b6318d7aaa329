import type { Actions } from '../app/actions/action.ts';
import { reckoningOf } from '../app/actions/costs.ts';
import type { Hosts } from '../app/actions/http/hosts/hosts.ts';
import { kindsOf, type Kinds } from '../app/actions/kinds.ts';
import type { ActionEntry } from '../app/actions/registry.ts';
import { createAlarms, type Alarms } from '../app/housekeeping/alarms.ts';
import { watchSteps } from '../app/housekeeping/audit.ts';
import { createBacklogWord, grantsEndingChore } from '../app/housekeeping/backlog.ts';
import { createHousekeeping, type Housekeeping } from '../app/housekeeping/housekeeper.ts';
import type { SecondOpinion } from '../app/housekeeping/second-opinion.ts';
import { createSlotReview } from '../app/housekeeping/slot-review.ts';
import { createBell, createJobs, embeddedEngine, type Jobs } from '../app/jobs/jobs.ts';
import { createStanding, type KindPauses } from '../app/operations/kind-pauses.ts';
import { aloneProcess, type OwnProcess, type ProcessFacts } from '../app/operations/processes.ts';
import { createDatabaseLook, type DatabaseLook } from '../app/operations/readiness.ts';
import { createSecrets, type Secrets } from '../app/operations/secrets.ts';
import type { Worker } from '../app/operations/status.ts';
import { createPacer } from '../app/pacing/pacer.ts';
import { createSharedPacer } from '../app/pacing/shared-pacer.ts';
import { createClockWatch, type ClockWatch } from '../app/pipeline/clock-watch.ts';
import { createDeliverer, type Deliverer } from '../app/pipeline/deliverer.ts';
import { createRunService } from '../app/pipeline/run-requests.ts';
import { createRunner, type Runner } from '../app/pipeline/runner.ts';
import { createScheduler, refreshChore, type Scheduler } from '../app/pipeline/scheduler.ts';
import type { BlobStore } from '../app/ports/blobs.ts';
import { noHints, type Hints, type WorkEngine } from '../app/ports/hints.ts';
import type { Estimates, Meter } from '../app/ports/metering.ts';
import type {
  Backups,
  Bell,
  Budget,
  Clock,
  Expressions,
  Ids,
  Log,
  Notepad,
  Platform,
  LoopName,
  Stopwatch,
  Templates,
  Timer,
  Transport,
} from '../app/ports/outside.ts';
import type { KeyRing } from '../app/ports/secrets.ts';
import type { Store } from '../app/ports/store.ts';
import { createBulk, type Bulk } from '../app/tasks/bulk.ts';
import type { Trials } from '../app/tasks/definition.ts';
import { createTasks, type Tasks } from '../app/tasks/tasks.ts';
import {
  createAcks,
  createApprovals,
  createNagging,
  type Acks,
  type Approvals,
  type Nagging,
} from '../app/use-cases/acks.ts';
import { createBlobs } from '../app/use-cases/blobs.ts';
import { createAccess, createMembership, type Access } from '../app/use-cases/membership.ts';
import { createMessages, type Messages } from '../app/use-cases/messages.ts';
import { createChats, type Chats } from '../app/use-cases/reachable-chats.ts';
import { createRunSecrets, createSecretsAhead } from '../app/use-cases/run-secrets.ts';
import { createRuns, type Runs } from '../app/use-cases/runs.ts';
import { createSecretQuestions, type SecretQuestions } from '../app/use-cases/secret-questions.ts';
import { createSecretReach } from '../app/use-cases/secret-reach.ts';
import { createSecretKeeping, type Secrets as SecretKeeping } from '../app/use-cases/secrets.ts';
import { createSpending, type Spending } from '../app/use-cases/spending.ts';
import { createTestRuns, type TestRuns } from '../app/use-cases/test-runs.ts';
import { createTokens, type Tokens } from '../app/use-cases/tokens.ts';
import { createDowntimes, type Downtimes } from '../app/why/downtime.ts';
import { createTruth, type Truth } from '../app/why/truth.ts';
import type { Config } from '../config/config.ts';
import { ratesOf, ratesOfSeveral, type Rates } from '../domain/pacing/pace.ts';
import type { Reach } from '../domain/principal.ts';
import type { PriceTable } from '../domain/spending/prices.ts';
import { systemClock, systemStopwatch, systemTimer } from '../system/clock.ts';
import { createExpressions } from '../system/expressions/expressions.ts';
import { createIds, sha256, tokenCraft } from '../system/ids.ts';
import { createLog, type LogWish } from '../system/log.ts';
import { createTemplates } from '../system/templates/templates.ts';
import { openVault, sourceFor } from '../system/vault.ts';
import { actionsOf, hostsOf, type OutboundOfTasks } from './actions.ts';

/** The outside world, as one value, so that a test or a bench can put a part of its own in the place of any of them. */
export interface World {
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly log: Log;
}

export function systemWorld(wish: LogWish, secrets: Pick<Secrets, 'hide'> = createSecrets()): World {
  const log = createLog(wish, secrets);
  const ids = createIds(() => systemClock.now());
  return { clock: systemClock, stopwatch: systemStopwatch, timer: systemTimer, ids, log };
}

/** The world outside of the process, as the rooms reach it. */
export interface Outside {
  readonly store: Store;
  /** The calls of Telegram, which spend the budget by themselves where a call has no turn of its own. */
  readonly transport: (budget: Budget, blobs: BlobStore, kinds: Kinds) => Transport;
  /** Answers questions about people; absent where there is no Telegram. */
  readonly platform?: (budget: Budget) => Platform;
  /** Absent where no template is evaluated. */
  readonly templates?: Templates;
  /** Absent where no expression is evaluated. */
  readonly expressions?: Expressions;
  /** Absent where no task reaches outside. */
  readonly outbound?: OutboundOfTasks;
  /** The kinds of actions; those of the registry where none are named. */
  readonly actions?: readonly ActionEntry[];
  /** In which days begin where nobody says otherwise. */
  readonly defaultTimezone?: string;
  /** Absent where nothing has a price. */
  readonly prices?: PriceTable | null;
  /** Absent where the database is not a file of ours. */
  readonly backups?: Backups | null;
  /** Absent where nothing needs to outlive the process beside the database. */
  readonly notepad?: Notepad;
  /** The keys that seal; absent where what is sealed ends with the process. */
  readonly vault?: KeyRing;
  /** The engine that hands out work, given the bell of this process; absent where its loops look for themselves. */
  readonly workEngine?: (bell: Bell, bootId: string) => WorkEngine;
  /** Absent where there are no other processes. */
  readonly hints?: Hints;
  /** Absent where the process has the database for itself. */
  readonly process?: ProcessFacts;
  /** Absent where each schedule is computed once. */
  readonly secondOpinion?: { readonly opinion: SecondOpinion; readonly meter: Meter } | null;
}

/** To start, end or send something costs about half as much as to plan and record it, so twice as many share a commit. */
export const endsPerClaim = 2;

const dayMs = 86_400_000;

/** The use cases that look at chats, over a store that shows some of them, or all. */
interface AskedRooms {
  readonly testRuns: TestRuns;
  readonly spending: Spending;
  readonly tasks: Tasks;
  readonly runs: Runs;
  readonly messages: Messages;
  readonly bulk: Bulk;
  readonly truth: Truth;
  readonly access: Access;
  readonly store: Store;
}

export interface Rooms extends Housekeeping, Omit<AskedRooms, 'store'> {
  /** The same for a caller for whom nothing exists outside of these chats. */
  within(chats: Reach): AskedRooms;
  readonly tokens: Tokens;
  readonly kinds: Kinds;
  readonly blobs: BlobStore;
  readonly downtimes: Downtimes;
  readonly chats: Chats;
  readonly worker: Worker;
  readonly processes: OwnProcess;
  readonly kindPauses: KindPauses;
  readonly bell: Bell;
  readonly jobs: Jobs;
  readonly alarms: Alarms;
  /** One look at the database for all who want to know how it stands. */
  readonly databaseLook: DatabaseLook;
  /** Calls of Telegram that are none of the deliverer's spend it too. */
  readonly budget: Budget;
  readonly clockWatch: ClockWatch;
  readonly scheduler: Scheduler;
  readonly runner: Runner;
  readonly hosts: Hosts;
  readonly deliverer: Deliverer;
  readonly acks: Acks;
  readonly nagging: Nagging;
  readonly approvals: Approvals;
  readonly secrets: SecretKeeping;
  readonly secretQuestions: SecretQuestions;
  connect(loop: LoopName, ring: () => void): void;
}

export type RoomSettings = Pick<
  Config,
  | 'BACKUP_KEEP'
  | 'BATCH_SIZE'
  | 'BLOB_QUOTA_PER_CHAT'
  | 'DELIVERY_CONCURRENCY'
  | 'ECHO_ACTION'
  | 'HOST_CONCURRENCY'
  | 'HOST_RATE'
  | 'MAX_RUNS_DEFAULT'
  | 'MIN_INTERVAL'
  | 'QUOTA_PER_CHAT'
  | 'QUOTA_PER_USER'
  | 'RETENTION_DAYS'
  | 'RUN_CONCURRENCY'
  | 'TELEGRAM_RATE_CHAT'
  | 'TELEGRAM_RATE_GLOBAL'
  | 'TELEGRAM_RATE_GROUP'
> &
  Partial<Pick<Config, 'operatorSecrets'>>;

/** The rooms of the pipeline over a store; nothing in here starts by itself. */
export function composeRooms(settings: RoomSettings, world: World, outside: Outside): Rooms {
  const { store, secondOpinion = null, templates = noTemplates, expressions = noExpressions } = outside;
  const { loops, bootId, workEngine, bell, hints } = wakingOf(world, outside);
  const { vault, ...secrets } = secretsOf(settings, { ...world, ...outside });
  const hosts = hostsOf(settings, isShared(outside), { ...world, store, bell, bootId });
  const actions = actionsOf(settings, { ...world, ...secrets, ...outside, vault, templates, expressions, hosts });
  const [reckoning, batchMax] = [reckoningOf(actions, outside.prices ?? null), settings.BATCH_SIZE * endsPerClaim];
  const heard = { ...world, bell, workEngine, hints, bootId };
  const standing = createStanding({ ...outside, ...heard, kinds: actions.kinds }, () => ({ jobs, downtimes, hosts }));
  const shared = { ...heard, ...standing, store, digest: sha256, batchMax, reckoning };
  const [runs, blobs] = [createRunService(shared), createBlobs({ ...shared, quota: settings.BLOB_QUOTA_PER_CHAT })];
  const { rates, pacer, platform } = pacingOf(shared, settings, outside);
  const watch = watchOf({ ...shared, schedulerAway: () => scheduler.away() }, outside, platform);
  const review = secondOpinion === null ? null : createSlotReview({ ...shared, ...secondOpinion });
  const rules = rulesOf(settings, actions, reckoning);
  const making = { ...shared, ...rules, templates: checksOf(templates, expressions), runs };
  const asking = { ...making, ...lettingOf(settings, store), ...moneyOf(outside), blobs, retimed: review?.look };
  const everywhere = askedRooms(asking, store);
  const [downtimes, chats] = [createDowntimes({ ...shared, ...watch }), createChats(shared)];
  const scheduler = watchSteps(createScheduler(making));
  const chores = [refreshChore(scheduler.watched), ...downtimes.chores, ...(review?.chores ?? []), watch.alarms.chore];
  const concurrency = settings.DELIVERY_CONCURRENCY;
  const runner = createRunner({ ...shared, actions, blobs, concurrency: settings.RUN_CONCURRENCY });
  const transport = outside.transport(pacer, blobs, making.kinds);
  const deliverer = createDeliverer({ ...shared, pacer, transport, rates, concurrency, chatGone: chats.gone });
  const members = platform === null ? [] : [createMembership({ ...shared, platform })];
  const jobs = createJobs({ ...shared, runner, deliverer, kinds: standing.processes.self.kinds });
  const others = [createBacklogWord({ ...shared, pacer }), grantsEndingChore(shared), ...members];
  return {
    ...everywhere,
    within: (chats) => (chats === null ? everywhere : askedRooms(asking, store.within(chats))),
    tokens: createTokens({ ...shared, craft: tokenCraft }),
    blobs,
    downtimes,
    chats,
    kinds: making.kinds,
    worker: { id: bootId, kinds: actions.kinds },
    ...standing,
    bell,
    ...watch,
    budget: pacer,
    clockWatch: createClockWatch({ ...shared, ...watch }),
    scheduler: scheduler.watched,
    runner,
    hosts,
    deliverer,
    ...questionsOf(shared),
    ...secrets,
    ...createHousekeeping({
      ...shared,
      runner,
      schedulerBehind: scheduler.behind,
      ...keptBy(settings, outside),
      chores: [...chores, ...others],
    }),
    jobs,
    connect: (loop, ring) => loops.connect(loop, ring),
  };
}

/** The bell of this process, and how others hear it. */
function wakingOf({ ids }: World, { workEngine: engineOver = embeddedEngine, hints = noHints }: Outside) {
  const [loops, bootId] = [createBell(), ids.next()];
  const workEngine = engineOver(loops, bootId);
  const bell: Bell = { ring: (loop) => workEngine.wake(loop) };
  return { loops, bootId, workEngine, bell, hints };
}

/** The pace of calls: in the memory of a process that is alone, else in rows. */
function pacingOf(shared: DepsOfPacing, settings: RoomSettings, outside: Outside) {
  const rates = isShared(outside) ? ratesOfSeveral(paceOf(settings)) : paceOf(settings);
  const pacer = isShared(outside) ? createSharedPacer(shared, rates) : createPacer(shared, rates);
  return { rates, pacer, platform: outside.platform?.(pacer) ?? null };
}

type DepsOfPacing = Parameters<typeof createSharedPacer>[0] & Parameters<typeof createPacer>[0];
type DepsOf<F extends (deps: never) => unknown> = Omit<Parameters<F>[0], 'store'>;
type Asking = Omit<DepsOf<typeof createTasks> & DepsOf<typeof createTestRuns>, 'secretsAhead'> &
  DepsOf<typeof createSecretsAhead> &
  DepsOf<typeof createRuns> &
  DepsOf<typeof createMessages> &
  Omit<DepsOf<typeof createBulk>, 'tasks'> &
  DepsOf<typeof createTruth> &
  DepsOf<typeof createAccess> &
  Omit<DepsOf<typeof createSpending>, 'tasks'>;

function askedRooms(asking: Asking, store: Store): AskedRooms {
  const own = { ...asking, store, secretsAhead: createSecretsAhead({ ...asking, store }) };
  const tasks = createTasks(own);
  return {
    tasks,
    runs: createRuns(own),
    messages: createMessages(own),
    testRuns: createTestRuns(own),
    spending: createSpending({ ...own, tasks }),
    bulk: createBulk({ ...own, tasks }),
    truth: createTruth(own),
    access: createAccess(own),
    store,
  };
}

function moneyOf({ prices = null, defaultTimezone = 'UTC' }: Outside) {
  return { prices, defaultTimezone };
}

/** Whether other processes work with the database as well. */
function isShared({ process: own = aloneProcess }: Outside): boolean {
  return own.sharing !== null;
}

function keptBy(
  { RETENTION_DAYS: retentionDays, BACKUP_KEEP: backupsKept }: RoomSettings,
  { backups = null }: Outside,
) {
  return { retentionDays, backupsKept, backups };
}

/** Questions to people about results. */
function questionsOf(shared: World & { readonly store: Store; readonly bell: Bell }) {
  return { acks: createAcks(shared), nagging: createNagging(shared), approvals: createApprovals(shared) };
}

/** Secrets: for people, who set them, and for runs, which use them. */
function secretsOf({ operatorSecrets: operator = [] }: RoomSettings, world: World & Pick<Outside, 'store' | 'vault'>) {
  const deps = { ...world, operator, vault: world.vault ?? openVault(sourceFor(':memory:')) };
  const secrets = createSecretKeeping(deps);
  const secretQuestions = createSecretQuestions({ ...deps, secrets });
  return { vault: deps.vault, secrets, runSecrets: createRunSecrets(deps), secretQuestions };
}

/** Rules of the operator's secrets for tasks that are made or changed. */
function lettingOf({ operatorSecrets: operator = [], RETENTION_DAYS: days }: RoomSettings, store: Store) {
  return { operator, secretReach: createSecretReach({ store, operator }), retentionMs: days * dayMs };
}

/** A text that people wrote is tried by its language. */
function checksOf(templates: Templates, expressions: Expressions): Trials {
  return {
    check: (written, owner) => (written.language === 'jsonata' ? expressions : templates).check(written, owner),
  };
}

type Watching = Omit<Parameters<typeof createAlarms>[0], 'notepad' | 'platform' | 'databaseLook'> &
  Parameters<typeof createDatabaseLook>[0];

/** One look at the database, and who is told of trouble with it and with everything else. */
function watchOf(shared: Watching, { notepad = noNotepad }: Outside, platform: Platform | null) {
  const databaseLook = createDatabaseLook(shared);
  const alarms = createAlarms({ ...shared, notepad, platform, databaseLook });
  return { databaseLook, alarms, schedulerAway: shared.schedulerAway };
}

const noNotepad: Notepad = { read: () => null, write: () => {} };
const noTemplates = createTemplates(async () => ({ is: 'away' }));
const noExpressions = createExpressions(async () => ({ is: 'away' }));
function rulesOf(settings: RoomSettings, actions: Actions, estimates: Estimates) {
  return {
    kinds: kindsOf(actions, estimates),
    scopesOf: actions.scopesOf,
    rules: {
      actions,
      minIntervalMs: settings.MIN_INTERVAL,
      retentionDays: settings.RETENTION_DAYS,
      maxRunsDefault: settings.MAX_RUNS_DEFAULT,
    },
    quota: { chat: settings.QUOTA_PER_CHAT, user: settings.QUOTA_PER_USER },
  };
}

function paceOf(settings: RoomSettings): Rates {
  return ratesOf({
    overallPerSecond: settings.TELEGRAM_RATE_GLOBAL,
    chatPerSecond: settings.TELEGRAM_RATE_CHAT,
    groupPerMinute: settings.TELEGRAM_RATE_GROUP,
  });
}
