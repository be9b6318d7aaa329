import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { patienceMs } from '../support/patience.ts';
import { token } from './program.ts';

/** The parts of the answers that the scenarios read. */
export interface WireTask {
  readonly task_id: string;
  readonly number: number;
  readonly title: string;
  readonly instructions: string;
  readonly state: string;
  readonly enabled: boolean;
  readonly paused_reason: string | null;
  readonly next_run_at: string | null;
  readonly last_run_id: string | null;
  readonly schedule: { readonly interval: string | null };
}

export interface WireTaskRun {
  readonly task_run_id: string;
  readonly scheduled_for: string;
  readonly status: string;
  readonly source: string;
  readonly reason: string | null;
  readonly attempts: readonly object[];
}

export interface Answer {
  readonly status: number;
  readonly body: {
    readonly task?: WireTask;
    readonly tasks?: readonly WireTask[];
    readonly task_run?: WireTaskRun;
    readonly task_runs?: readonly WireTaskRun[];
    readonly error?: { readonly code: string; readonly message: string };
    readonly [detail: string]: unknown;
  };
}

export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  readonly key?: string;
}

export async function call(url: string, { method, path, body, key }: Request): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(patienceMs),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const triesMax = 20;
const pauseMs = 2000;

/** A machine that has much else to do may ask to come again later. */
export async function create(url: string, thread: string, body: object): Promise<WireTask> {
  const key = randomUUID();
  for (let tries = 1; ; tries += 1) {
    const answer = await call(url, { method: 'POST', path: `/v1/threads/${thread}/tasks`, body, key });
    if (answer.body.task !== undefined) return answer.body.task;
    const isLater = answer.status === 429 || answer.status === 503;
    if (!isLater || tries === triesMax) throw new Error(`A task was refused: ${JSON.stringify(answer.body)}`);
    await pause(pauseMs);
  }
}

export async function read(url: string, taskId: string): Promise<Answer> {
  return call(url, { method: 'GET', path: `/v1/tasks/${taskId}` });
}

export async function runsOf(url: string, taskId: string): Promise<readonly WireTaskRun[]> {
  const answer = await call(url, { method: 'GET', path: `/v1/tasks/${taskId}/runs?limit=200` });
  return answer.body.task_runs ?? [];
}
