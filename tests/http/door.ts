import type { z } from 'zod';
import type { runAnswer, taskRunAnswer } from '../../src/api/runs.ts';
import type { taskAnswer } from '../../src/api/tasks.ts';
import { createActions } from '../../src/app/actions/action.ts';
import { kindsOf } from '../../src/app/actions/kinds.ts';
import type { ServerStatus, Usage } from '../../src/app/operations/status.ts';
import type { RunView, TaskRun } from '../../src/app/ports/runs.ts';
import type { AuditRow, GrantView } from '../../src/app/ports/tasks.ts';
import { previewSchedule } from '../../src/app/tasks/preview.ts';
import type { Tasks } from '../../src/app/tasks/tasks.ts';
import type { Truth } from '../../src/app/why/truth.ts';
import { checks, type Finding } from '../../src/domain/audit.ts';
import type { Task } from '../../src/domain/task.ts';
import { createHttpApp, type HttpDeps } from '../../src/http/app.ts';
import type { CallerRooms } from '../../src/http/serving.ts';
import { countingIds, manualTime, memoryLog, type MemoryLog } from '../support/fakes.ts';
import { kindRoom, secretRoom, ticked } from './secret-room.ts';
import { spendingAnswers } from './spending-answers.ts';
import { tokenRoom } from './token-room.ts';

export const token = 'the-token';
export const bearer = { authorization: `Bearer ${token}` };
/** A Wednesday, nine in the morning UTC. */
export const now = Date.UTC(2026, 10, 18, 9);

type Wire<T extends z.ZodType> = z.output<T>;

/** The fields that some answer has; a test reads those of the answer that it expects. */
export interface Json {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  readonly task: Wire<typeof taskAnswer>;
  readonly tasks: readonly Wire<typeof taskAnswer>[];
  readonly task_run: Wire<typeof taskRunAnswer>;
  readonly task_runs: readonly Wire<typeof taskRunAnswer>[];
  readonly run: Wire<typeof runAnswer>;
  readonly next: readonly string[];
  readonly next_cursor: string | null;
  readonly min_gap_seconds: number | null;
  readonly warnings: readonly string[];
  readonly warning_details: readonly { readonly code: string; readonly message: string }[];
}

export const task: Task = {
  id: 'task-1',
  number: 3,
  version: 2,
  state: 'active',
  title: 'Stand up',
  instructions: 'Stand up!',
  action: { kind: 'message' },
  schedule: { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'Europe/Madrid' },
  policies: { overlap: 'queue' },
  subject: 'daily',
  tags: ['team'],
  nextAt: now + 3_600_000,
  minGapMs: 86_400_000,
  pausedReason: null,
  resumeAt: null,
  ownerId: 'telegram:user:7',
  grantId: 'grant-1',
  chatId: 'chat-1',
  home: { provider: 'telegram', address: '-1001234', topic: 7 },
  topicState: 'ready',
  topicId: 42,
  isTopicShared: false,
  context: { seen: 1 },
  counters: { runs: 5, failures: 1, consecutiveFailures: 0, boundedRuns: 4 },
  lastRunId: 'run-0',
  lastRunAt: now - 1000,
  lastRunStatus: 'succeeded',
  lastOutcome: 'missed',
  skippedAt: null,
  lastError: null,
  staleAt: null,
  created: { at: now - 5000, by: 'telegram:user:7' },
  updated: { at: now - 4000, by: 'telegram:user:7' },
  paused: null,
  resumed: { at: now - 3000, by: 'system:api' },
  deleted: null,
};

export const taskRun: TaskRun = {
  id: 'occurrence-1',
  taskId: 'task-1',
  slotAt: now,
  source: 'run_now',
  status: 'dispatched',
  reason: null,
  runId: 'run-1',
  replayOf: null,
  lateMs: 0,
  runNumber: 6,
  actionKind: 'message',
  error: null,
  errorCode: null,
  createdAt: now,
  updatedAt: now,
  traceId: null,
  attempts: [
    {
      attempt: 1,
      status: 'running',
      startedAt: now,
      finishedAt: null,
      durationMs: null,
      httpStatus: null,
      error: null,
      jobId: null,
      worker: { bootId: 'boot', role: null, host: null, pid: null },
    },
  ],
  deliveries: [
    {
      id: 'delivery-1',
      part: 1,
      status: 'delivered',
      thread: { provider: 'telegram', address: '-1001234', topic: 42 },
      platformChatId: '-1001234',
      messageThreadId: 42,
      messageId: 99,
      error: null,
      createdAt: now,
      deliveredAt: now + 5,
      cause: null,
      heldUntil: null,
      isFallback: false,
      decision: null,
    },
  ],
  ack: null,
};

const changed = { task, occurrenceId: null, entryId: '17', replayed: false };
const entry: AuditRow = {
  id: '16',
  at: now,
  actor: 'system:api',
  verb: 'pause',
  stateBefore: 'active',
  stateAfter: 'paused',
  before: null,
  after: null,
};
const grant: GrantView = {
  id: 'grant-1',
  taskIds: ['task-1'],
  ownerId: 'telegram:user:7',
  thread: { provider: 'telegram', address: '-1001234', topic: null },
  account: { provider: 'telegram', address: '-100', topic: null },
  scopes: ['action:message'],
  unconfirmed: [],
  expiresAt: null,
  revokedAt: null,
  revokedBy: null,
  createdAt: now,
  createdBy: 'telegram:user:7',
};
const bulked = async () => ({ changed: 2, left: 1 });
const usage: Usage = {
  from: now - 1,
  to: now,
  runs: 3,
  failures: 1,
  messages: 2,
  isCapped: false,
  spent: [{ kind: 'requests', quantity: 3, currency: null }],
  quota: { chat: { used: 2, limit: 500 }, user: null },
};
const status: ServerStatus = {
  version: '1.2.3',
  at: now,
  startedAt: now - 5000,
  ready: { ok: true, database: 'ok' },
  facts: {
    tasks: 3,
    active: 1,
    paused: 1,
    completed: 1,
    due: 0,
    dueSince: null,
    nextDueAt: now + 1000,
    running: 1,
    queued: 0,
    pending: 0,
    blocked: 0,
    unknown: 0,
    chats: 1,
    databaseBytes: 4096,
    oldestRunAt: null,
  },
  audit: null,
  lastTickAt: now - 1000,
  lastStaleLookAt: now - 2000,
  worker: { id: 'boot', kinds: ['message'], isRunning: true, isElsewhere: false },
  processes: null,
  pausedSince: null,
  pausedKinds: [{ kind: 'http', since: now - 3000, by: 'telegram:user:7' }],
  alarms: { open: [], unheard: [] },
  tokens: { live: 2, expired: 1 },
  secrets: { sealed: 3, unreadable: 1, former: 0 },
};
const access = { id: 'c', address: '7', name: 'Ada', role: 'owner', by: 'system', since: now } as const;
const chat = {
  id: 'c',
  address: '7',
  title: 'Ada',
  kind: 'private',
  state: 'approved',
  timezone: null,
  settings: {},
  approvedBy: null,
} as const;
const counts = { active: 3, paused: 1, completed: 1, liveRuns: 1, openDeliveries: 2 };

export const run: RunView = {
  id: 'run-1',
  source: 'task:task-1',
  idempotencyKey: 'key',
  taskId: 'task-1',
  occurrenceId: 'occurrence-1',
  thread: { provider: 'telegram', address: '-1001234', topic: 7 },
  userKey: null,
  traceId: null,
  status: 'succeeded',
  output: { text: 'Stand up!' },
  runNumber: 6,
  actionKind: 'message',
  error: null,
  errorCode: null,
  progress: null,
  createdAt: now,
  startedAt: now,
  finishedAt: now,
  attempts: [],
  deliveries: [],
};

async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text);
}

const finding: Finding = {
  check: 'dispatched_without_run',
  count: 1,
  examples: ['occurrence-1'],
  sentence: checks.dispatched_without_run.sentence,
};

/** Nothing has happened yet. */
export const truth: Truth = {
  why: async () => ({ timezone: 'UTC', answers: [], summary: {}, next: null, from: now, to: now }),
  lately: async () => ({ timezone: 'UTC', answers: [], summary: {}, from: now, to: now }),
  upcoming: async () => [now + 3_600_000],
  snoozesOf: async () => new Map(),
  readEvents: async () => ({ events: [], next: 'the-end' }),
  readAudit: async () => ({ items: [], next: null }),
  listDowntimes: async () => [],
};

export interface Door {
  readonly app: ReturnType<typeof createHttpApp>;
  readonly log: MemoryLog;
  /** Calls of the use cases, by name. */
  readonly asked: { readonly name: string; readonly given: readonly unknown[] }[];
  ask(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Asked>;
}

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** The door over use cases that answer at once; a test puts its own in the place of any of them. */
export function aDoor(own: Partial<Tasks> = {}, needs: Partial<HttpDeps & CallerRooms> = {}): Door {
  const asked: { name: string; given: readonly unknown[] }[] = [];
  const answers: Tasks = {
    create: async () => ({
      task,
      created: true,
      replayed: false,
      warnings: [{ code: 'days_29_31', message: 'Short months.' }],
      assumed: [],
    }),
    get: async () => task,
    list: async () => ({ items: [task], next: 'more' }),
    versions: async () => [],
    edit: async () => ({ ...changed, warnings: [], changes: {} }),
    renameWarnings: async () => [],
    context: async () => changed,
    pause: async () => changed,
    resume: async () => changed,
    delete: async () => changed,
    restore: async () => changed,
    skip: async () => ({ ...changed, slots: [] }),
    unskip: async () => changed,
    snooze: async () => ({ ...changed, until: 0, movedFrom: null }),
    answer: async () => changed,
    cancel: async () => changed,
    unbindTopic: async () => 'unbound',
    attach: async () => changed,
    listGrants: async () => ({ items: [grant], next: 'more' }),
    grant: async () => ({ grant, entryId: '17', replayed: false }),
    revoke: async () => ({ grant, entryId: '17', replayed: false }),
    renew: async () => changed,
    undo: async () => ({ ...changed, undone: entry, moot: null }),
    cancelRun: async () => ({ cancelled: true, run }),
    repeat: async () => ({ task, taskRun }),
    runNow: async () => ({ task, taskRun }),
    listRuns: async () => ({ items: [taskRun], next: null }),
    getRun: async () => run,
    ...own,
  };
  const heard = <Room extends object>(room: string, answering: Room): Room =>
    new Proxy(answering, {
      get: (target, name: string) => {
        const answer: unknown = Reflect.get(target, name);
        if (typeof answer !== 'function') return answer;
        return (...given: unknown[]): unknown => {
          asked.push({ name: `${room}.${name}`, given });
          return Reflect.apply(answer, target, given);
        };
      },
    });
  const log = memoryLog();
  const rooms: CallerRooms = {
    tasks: heard('tasks', answers),
    runs: heard('runs', {
      list: async () => ({ items: [run], next: 'more' }),
      result: async () => run,
      attachment: async () => ({ name: 'a.json', mime: 'application/json', size: 2, chunks: bytesOf('{}') }),
      cancelThread: async () => ({ cancelled: 2, left: 1 }),
    }),
    messages: heard('messages', { post: async () => run }),
    spending: heard('spending', needs.spending ?? spendingAnswers),
    testRuns: heard('testRuns', { check: async () => {}, run: async () => run }),
    bulk: heard('bulk', {
      pause: bulked,
      resume: bulked,
      renew: bulked,
      cancel: bulked,
      count: async () => counts,
      purge: async () => ({ counts, isDone: true }),
    }),
    access: heard('access', {
      threads: async () => ({
        items: [{ thread: task.home, title: 'The Lab', state: 'approved', timezone: null }],
        next: null,
      }),
      list: async () => ({ items: [access], next: 'more' }),
      allow: async () => ({ chat, entry: access, entryId: '17' }),
      deny: async () => ({ chat, entryId: '17', paused: 1 }),
      forget: async () => ({ chat, entryId: '17', paused: 0 }),
    }),
    operations: heard('operations', {
      status: async () => status,
      usage: async () => usage,
      tick: async () => ticked,
      retentionDays: 90,
      timezone: 'UTC',
    }),
    // It is read beside tasks that are read otherwise.
    truth: needs.truth ?? { ...heard('truth', truth), snoozesOf: truth.snoozesOf },
  };
  const app = createHttpApp({
    roomsOf: () => rooms,
    kinds: kindsOf(createActions([]), { costsOf: () => null }),
    kindPauses: { ...heard('kindPauses', kindRoom), standstill: async () => null, list: async () => [] },
    secrets: heard('secrets', secretRoom),
    tokens: { ...heard('tokens', tokenRoom), judge: tokenRoom.judge },
    tellOnce: async ({ operation: scope, key }, tell) => ({
      ...(await tell({ scope, target: '', key, payloadHash: 'hash', expiresAt: now })),
      isRepeated: false,
    }),
    upkeep: heard('upkeep', {
      audit: async () => ({ at: now, findings: [finding], checked: { tasks: 1 } }),
      reconcile: async () => ({
        findings: [finding],
        fixed: [{ check: finding.check, id: 'occurrence-1', did: 'failed: its run is missing' }],
      }),
    }),
    preview: (request) => previewSchedule(request, { now, minIntervalMs: 60_000 }),
    token,
    clock: { now: () => now },
    health: { live: () => ({ ok: true }), ready: async () => ({ ok: true, database: 'ok' }) },
    version: '1.2.3',
    log,
    stopwatch: manualTime(now),
    ids: countingIds(),
    ...needs,
  });
  return {
    app,
    log,
    asked,
    ask: async (method, path, body, headers = {}) => {
      const isJson = body !== undefined && headers['content-type'] === undefined;
      const response = await app.request(path, {
        method,
        headers: { ...bearer, ...(isJson ? { 'content-type': 'application/json' } : {}), ...headers },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return told(response);
    },
  };
}

export async function told(response: Response): Promise<Asked> {
  const text = await response.text();
  const json = (text === '' ? {} : JSON.parse(text)) as Json;
  return { status: response.status, headers: response.headers, text, json };
}

export const cron = { kind: 'cron', cron: '0 9 * * 1-5', timezone: 'Europe/Madrid' };
export const creation = { instructions: 'Stand up!', schedule: cron };
export const createPath = '/v1/threads/cli:default/tasks';
