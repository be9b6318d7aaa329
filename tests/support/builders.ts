import type { Ids } from '../../src/app/ports/outside.ts';
import type {
  Batch,
  SlotPlan,
  DueTask,
  NewDelivery,
  NewOccurrence,
  RunEnd,
  StartedRun,
  StartPlan,
  StartableRun,
  Unreadable,
} from '../../src/app/ports/pipeline.ts';
import type { Store } from '../../src/app/ports/store.ts';
import { noChange, type NewTask } from '../../src/app/ports/tasks.ts';
import { occurrenceKey } from '../../src/domain/occurrence.ts';
import type { NewRun, RunInput } from '../../src/domain/run.ts';
import type { Task } from '../../src/domain/task.ts';
import { hour, minute } from './fakes.ts';

export { hour, minute };
/** The first slot of every task built here: a Monday, 09:00 UTC. */
export const nine = Date.UTC(2027, 0, 4, 9);

export const bootId = 'boot-here';

export const runInput: RunInput = {
  title: 'Water the plants',
  instructions: 'Water the plants.',
  action: { kind: 'message' },
  timezone: 'UTC',
  number: 1,
  slotAt: nine,
  late: false,
  delivers: true,
};

type Owner = Pick<Task, 'id' | 'version' | 'chatId'>;
type DueOwner = Owner & { readonly nextAt: number | null };

export type Builders = ReturnType<typeof buildersOf>;

/** The row of a process on a shared database, but for its id. */
export const aProcess = {
  role: 'all',
  release: '1',
  kinds: [],
  host: 'here',
  pid: 1,
  at: null,
  leaseMs: minute,
} as const;

/** A quota that no test reaches by accident. */
export const ample = { chat: 1000, user: 1000 };

/** Whole objects from the few facts that matter to a test. Ids count up within one world. */
export function buildersOf(ids: Ids) {
  const newTask = (facts: Partial<NewTask> = {}): NewTask => ({
    id: ids.next(),
    title: 'Water the plants',
    instructions: 'Water the plants.',
    action: { kind: 'message' },
    schedule: { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' },
    policies: {},
    subject: null,
    tags: [],
    grant: { id: ids.next(), scopes: ['action:message'], unconfirmed: [], expiresAt: null },
    home: { provider: 'telegram', address: '-100', topic: null },
    owner: null,
    ownerIfNone: 'telegram:user:7',
    actor: 'telegram:user:7',
    at: nine - hour,
    nextAt: nine,
    minGapMs: hour,
    context: {},
    onExisting: 'add',
    quota: ample,
    once: null,
    warnings: [],
    newChatId: ids.next(),
    ...facts,
  });

  const newRun = (facts: Partial<NewRun> = {}): NewRun => {
    const id = ids.next();
    const input = facts.input ?? runInput;
    return {
      id,
      source: 'api',
      idempotencyKey: `key of ${id}`,
      payloadHash: 'hash',
      lane: null,
      exclusive: false,
      priority: 5,
      taskId: null,
      taskVersion: null,
      occurrenceId: null,
      chatId: null,
      ownerId: 'telegram:user:7',
      input,
      readyAt: facts.createdAt ?? nine,
      inputText: JSON.stringify(input),
      createdAt: nine,
      ...facts,
    };
  };

  const occurrence = (facts: Partial<NewOccurrence> = {}): NewOccurrence => ({
    id: ids.next(),
    slotAt: nine,
    source: 'schedule',
    status: 'pending',
    reason: null,
    decideBy: null,
    runId: null,
    lateMs: 0,
    ...facts,
  });

  /** The run that a slot of a task makes. */
  const taskRun = (task: Owner, slotAt: number, facts: Partial<NewRun> = {}): NewRun =>
    newRun({
      source: 'task',
      idempotencyKey: occurrenceKey(task.id, slotAt),
      exclusive: true,
      taskId: task.id,
      taskVersion: task.version,
      chatId: task.chatId,
      ...facts,
    });

  /** An occurrence that is dispatched at once, with its run. */
  const dispatched = (task: Owner, slotAt: number, facts: Partial<NewRun> = {}) => {
    const id = ids.next();
    const run = taskRun(task, slotAt, { occurrenceId: id, ...facts });
    return { occurrence: occurrence({ id, slotAt, status: 'dispatched', runId: run.id }), run };
  };

  /** The due slot of the task runs, and the next one is an hour later. */
  const claim = (task: DueOwner, facts: Partial<SlotPlan> = {}): SlotPlan => {
    const slotAt = task.nextAt ?? nine;
    const made = dispatched(task, slotAt);
    return {
      taskId: task.id,
      expectNextAt: slotAt,
      occurrences: [made.occurrence],
      runs: [made.run],
      gap: null,
      nextAt: slotAt + hour,
      replaces: false,
      ...facts,
    };
  };

  const part = (facts: Partial<NewDelivery> = {}): NewDelivery => ({
    id: ids.next(),
    kind: 'result',
    rank: 1,
    part: 1,
    content: { text: 'Water the plants.' },
    unknown: 'resend',
    expiresAt: null,
    ...facts,
  });

  return { id: () => ids.next(), newTask, newRun, taskRun, occurrence, dispatched, claim, part };
}

/** The end of an attempt that went well. */
export function endOf(started: StartedRun, facts: Partial<RunEnd> = {}): RunEnd {
  return {
    run: started.run,
    attempt: started.attempt,
    fence: started.fence,
    attemptStatus: 'succeeded',
    status: 'succeeded',
    readyAt: null,
    startedAt: nine,
    finishedAt: nine + 1000,
    durationMs: 1000,
    httpStatus: null,
    error: null,
    output: null,
    deliveries: [],
    notices: { byHand: false, failed: null, autoPaused: null, recovered: null, completed: null },
    context: null,
    usage: [],
    follows: null,
    ...facts,
  };
}

/** The end of an attempt that failed for good. */
export function failureOf(started: StartedRun, facts: Partial<RunEnd> = {}): RunEnd {
  return endOf(started, { attemptStatus: 'failed', status: 'failed', error: 'it broke', ...facts });
}

interface Worldly {
  readonly store: Store;
  readonly make: Builders;
}

export async function aTask({ store, make }: Worldly, facts: Partial<NewTask> = {}): Promise<Task> {
  const { task } = await store.createTask(make.newTask(facts), () => noChange);
  return task;
}

export function readable<T extends object>(row: T | Unreadable): T {
  if ('unreadable' in row) throw new Error(`a row cannot be read: ${row.unreadable}`);
  return row;
}

/** Dispatches the due slot of every due task. */
export function claimAll(
  { store, make }: Worldly,
  at: Batch,
  facts: (task: DueTask) => Partial<SlotPlan> = () => ({}),
) {
  return store.claimDue(at, (due) => due.map((row) => make.claim(readable(row), facts(readable(row)))));
}

export function startAll(runs: readonly (StartableRun | Unreadable)[]): StartPlan[] {
  return runs.map((row) => ({ runId: row.id, does: 'start', interrupted: readable(row).status === 'running' }));
}

export async function startEvery(
  { store }: Pick<Worldly, 'store'>,
  now: number,
  boot = bootId,
): Promise<readonly StartedRun[]> {
  return (await store.startRuns({ now, limit: 1000 }, boot, startAll)).started;
}

/** The one run that starts now. */
export async function startOne(world: Pick<Worldly, 'store'>, now: number, boot = bootId): Promise<StartedRun> {
  const [started, another] = await startEvery(world, now, boot);
  if (started === undefined || another !== undefined) throw new Error('not exactly one run was ready');
  return started;
}

/** A task whose slot at nine is running. */
export async function aRunningTask(world: Worldly, facts: Partial<NewTask> = {}) {
  const task = await aTask(world, facts);
  await claimAll(world, { now: nine, limit: 100 });
  return { task, started: await startOne(world, nine) };
}
