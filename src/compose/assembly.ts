import { createActions, type Actions } from '../app/actions/action.ts';
import { digestAction, readDigest } from '../app/actions/digest.ts';
import { echoAction } from '../app/actions/echo.ts';
import { messageAction } from '../app/actions/message.ts';
import { createAlarms, type Alarms } from '../app/housekeeping/alarms.ts';
import { watchSteps } from '../app/housekeeping/audit.ts';
import { createBacklogWord } from '../app/housekeeping/backlog.ts';
import { createHousekeeping, type Housekeeping } from '../app/housekeeping/housekeeper.ts';
import { createSlotReview } from '../app/housekeeping/slot-review.ts';
import { createDatabaseLook, type DatabaseLook } from '../app/operations/readiness.ts';
import { createSecrets, type Secrets } from '../app/operations/secrets.ts';
import type { Worker } from '../app/operations/status.ts';
import { createClockWatch, type ClockWatch } from '../app/pipeline/clock-watch.ts';
import { createDeliverer, type Deliverer } from '../app/pipeline/deliverer.ts';
import { createPacer } from '../app/pipeline/pacer.ts';
import { createRunService } from '../app/pipeline/run-requests.ts';
import { createRunner, type Runner } from '../app/pipeline/runner.ts';
import { createScheduler, refreshChore, type Scheduler } from '../app/pipeline/scheduler.ts';
import type { Meter } from '../app/ports/metering.ts';
import type {
  Backups,
  Bell,
  Budget,
  Clock,
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
import type { SecondOpinion } from '../app/ports/second-opinion.ts';
import type { Store } from '../app/ports/store.ts';
import { createBulk, type Bulk } from '../app/tasks/bulk.ts';
import { createTasks, type Tasks } from '../app/tasks/tasks.ts';
import {
  createAcks,
  createApprovals,
  createNagging,
  type Acks,
  type Approvals,
  type Nagging,
} from '../app/use-cases/acks.ts';
import { createAccess, createMembership, type Access } from '../app/use-cases/membership.ts';
import { createMessages, type Messages } from '../app/use-cases/messages.ts';
import { createChats, type Chats } from '../app/use-cases/reachable-chats.ts';
import { createRuns, type Runs } from '../app/use-cases/runs.ts';
import { createDowntimes, type Downtimes } from '../app/why/downtime.ts';
import { createTruth, type Truth } from '../app/why/truth.ts';
import type { Config } from '../config/config.ts';
import { ratesOf, type Rates } from '../domain/pace.ts';
import { systemClock, systemStopwatch, systemTimer } from '../system/clock.ts';
import { createIds, sha256 } from '../system/ids.ts';
import { createLog, type LogWish } from '../system/log.ts';
import { createTemplates } from '../system/templates/templates.ts';
import { localeOf } from '../telegram/chat/texts.ts';

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
  readonly transport: (budget: Budget) => Transport;
  /** Answers questions about people; absent where there is no Telegram. */
  readonly platform?: (budget: Budget) => Platform;
  /** Absent where no template is evaluated. */
  readonly templates?: Templates;
  /** Absent where the database is not a file of ours. */
  readonly backups?: Backups | null;
  /** Absent where nothing needs to outlive the process beside the database. */
  readonly notepad?: Notepad;
  /** Absent where each schedule is computed once. */
  readonly secondOpinion?: { readonly opinion: SecondOpinion; readonly meter: Meter } | null;
}

/** To start, end or send something costs about half as much as to plan and record it, so twice as many share a commit. */
export const endsPerClaim = 2;

const dayMs = 86_400_000;

export interface Rooms extends Housekeeping {
  readonly tasks: Tasks;
  readonly runs: Runs;
  readonly messages: Messages;
  readonly bulk: Bulk;
  readonly truth: Truth;
  readonly downtimes: Downtimes;
  readonly chats: Chats;
  readonly access: Access;
  readonly worker: Worker;
  readonly bell: Bell;
  readonly alarms: Alarms;
  /** One look at the database for all who want to know how it stands. */
  readonly databaseLook: DatabaseLook;
  /** Calls of Telegram that are none of the deliverer's spend it too. */
  readonly budget: Budget;
  readonly clockWatch: ClockWatch;
  readonly scheduler: Scheduler;
  readonly runner: Runner;
  readonly deliverer: Deliverer;
  readonly acks: Acks;
  readonly nagging: Nagging;
  readonly approvals: Approvals;
  connect(loop: LoopName, ring: () => void): void;
}

export type RoomSettings = Pick<
  Config,
  | 'BACKUP_KEEP'
  | 'BATCH_SIZE'
  | 'DELIVERY_CONCURRENCY'
  | 'ECHO_ACTION'
  | 'MAX_RUNS_DEFAULT'
  | 'MIN_INTERVAL'
  | 'QUOTA_PER_CHAT'
  | 'QUOTA_PER_USER'
  | 'RETENTION_DAYS'
  | 'RUN_CONCURRENCY'
  | 'TELEGRAM_RATE_CHAT'
  | 'TELEGRAM_RATE_GLOBAL'
  | 'TELEGRAM_RATE_GROUP'
>;

/** The rooms of the pipeline over a store; nothing in here starts by itself. */
export function composeRooms(settings: RoomSettings, world: World, outside: Outside): Rooms {
  const { store, secondOpinion = null, templates = noTemplates } = outside;
  const [bell, bootId] = [createBell(), world.ids.next()];
  const actions = actionsOf(settings, { ...world, store, templates });
  const shared = { ...world, store, bell, bootId, batchMax: settings.BATCH_SIZE * endsPerClaim };
  const runs = createRunService({ ...shared, digest: sha256 });
  const pacer = createPacer(shared, paceOf(settings));
  const platform = outside.platform?.(pacer) ?? null;
  const watch = watchOf({ ...shared, schedulerAway: () => scheduler.away() }, outside, platform);
  const review = secondOpinion === null ? null : createSlotReview({ ...shared, ...secondOpinion });
  const tasks = createTasks({ ...shared, ...rulesOf(settings, actions), templates, runs, retimed: review?.look });
  const downtimes = createDowntimes({ ...shared, ...watch });
  const scheduler = watchSteps(createScheduler({ ...shared, runs }));
  const chores = [refreshChore(scheduler.watched), ...downtimes.chores, ...(review?.chores ?? []), watch.alarms.chore];
  const runner = createRunner({ ...shared, actions, concurrency: settings.RUN_CONCURRENCY });
  const chats = createChats(shared);
  const deliverer = createDeliverer({
    ...shared,
    pacer,
    transport: outside.transport(pacer),
    chatGone: (chatId, cause) => chats.gone(chatId, cause),
    concurrency: settings.DELIVERY_CONCURRENCY,
    group: paceOf(settings).group,
  });
  return {
    tasks,
    runs: createRuns(shared),
    messages: createMessages({ ...shared, runs }),
    bulk: createBulk({ ...shared, tasks }),
    truth: createTruth({ ...shared, retentionMs: settings.RETENTION_DAYS * dayMs }),
    downtimes,
    chats,
    access: createAccess(shared),
    worker: { id: bootId, kinds: actions.kinds },
    bell,
    ...watch,
    budget: pacer,
    clockWatch: createClockWatch({ ...shared, ...watch }),
    scheduler: scheduler.watched,
    runner,
    deliverer,
    acks: createAcks(shared),
    nagging: createNagging(shared),
    approvals: createApprovals(shared),
    ...createHousekeeping({
      ...shared,
      runner,
      schedulerBehind: scheduler.behind,
      retentionDays: settings.RETENTION_DAYS,
      backupsKept: settings.BACKUP_KEEP,
      backups: outside.backups ?? null,
      chores: [
        ...chores,
        createBacklogWord({ ...shared, pacer }),
        ...(platform === null ? [] : [createMembership({ ...shared, platform })]),
      ],
    }),
    connect: (loop, ring) => bell.connect(loop, ring),
  };
}

function actionsOf(
  settings: RoomSettings,
  { store, timer, templates }: { readonly store: Store; readonly timer: Timer; readonly templates: Templates },
): Actions {
  const digest = digestAction((query) => readDigest({ store, localeOf }, query));
  const echo = settings.ECHO_ACTION ? [echoAction(timer)] : [];
  return createActions([messageAction(templates, (taskId) => store.lastResult(taskId)), digest, ...echo]);
}

type Watching = World & { readonly store: Store; readonly bell: Bell; readonly schedulerAway: () => string | null };

/** One look at the database, and who is told of trouble with it and with everything else. */
function watchOf(shared: Watching, { notepad = noNotepad }: Outside, platform: Platform | null) {
  const databaseLook = createDatabaseLook(shared);
  const alarms = createAlarms({ ...shared, notepad, platform, databaseLook });
  return { databaseLook, alarms, schedulerAway: shared.schedulerAway };
}

const noNotepad: Notepad = { read: () => null, write: () => {} };
const noTemplates = createTemplates(async () => ({ is: 'away' }));

function rulesOf(settings: RoomSettings, actions: Actions) {
  return {
    digest: sha256,
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

/** Connects whatever rings with loops that are made later; a ring before that is not lost, because a loop starts by looking. */
interface Switchboard extends Bell {
  connect(loop: LoopName, ring: () => void): void;
}

export function createBell(): Switchboard {
  const rings = new Map<LoopName, () => void>();
  return {
    connect: (loop, ring) => {
      rings.set(loop, ring);
    },
    ring: (loop) => rings.get(loop)?.(),
  };
}
