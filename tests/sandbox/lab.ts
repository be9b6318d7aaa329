import { onTestFinished } from 'vitest';
import type { Timer } from '../../src/app/ports/outside.ts';
import { openSandbox, type Sandbox, serveSandbox } from '../../src/sandbox/sandbox.ts';
import type { World } from '../../src/sandbox/world/world.ts';
import { manualTime, memoryLog, type ManualTime, type MemoryLog } from '../support/fakes.ts';
import { ada, ben, lab, mallory, noRights, plain } from '../support/sandbox.ts';

export { ada, ben, lab, mallory, noRights, plain };

export const token = '777000001:test-token';
export const start = Date.UTC(2026, 5, 1, 12);

export interface Answer {
  readonly status: number;
  readonly ok: boolean;
  readonly result: Fields;
  readonly description: string;
  readonly parameters: Fields;
  readonly headers: Headers;
}

/** An answer of any kind; a test that looks for a field that is not there fails by itself. */
export interface Fields {
  readonly [name: string]: Fields;
}

export interface Lab {
  readonly sandbox: Sandbox;
  readonly world: World;
  readonly time: ManualTime;
  readonly log: MemoryLog;
  readonly apiRoot: string;
  readonly call: (method: string, params?: Readonly<Record<string, unknown>>) => Promise<Answer>;
  /** Calls, and tells the text of the error or `ok`. */
  readonly outcome: (method: string, params?: Readonly<Record<string, unknown>>) => Promise<string>;
  /** All updates that are open now; none of them is confirmed. */
  readonly updates: () => Promise<readonly Fields[]>;
  readonly close: () => Promise<void>;
  /** Timers that were set so far, and those that still wait: a poll that waits has one. */
  readonly timers: { readonly set: number; readonly waiting: number };
}

export interface LabSettings {
  readonly file?: string;
  readonly time?: ManualTime;
  readonly limits?: { globalPerSecond: number | null; chatPerSecond: number | null; groupPerMinute: number | null };
}

const noLimits = { globalPerSecond: null, chatPerSecond: null, groupPerMinute: null };
export const realLimits = { globalPerSecond: 30, chatPerSecond: 1, groupPerMinute: 20 };

/** A sandbox behind real HTTP, on a clock that moves only when told. */
export async function openLab({ file = ':memory:', time = manualTime(start), limits = noLimits }: LabSettings = {}) {
  const log = memoryLog();
  const timers = { set: 0, waiting: 0 };
  const timer: Timer = { ...time, after: (ms, call) => countedTimer(time, timers, { ms, call }) };
  const sandbox = openSandbox({ clock: time, stopwatch: time, timer, log, file, token, limits });
  const served = await serveSandbox(sandbox, 0);
  let isOpen = true;
  const close = async () => {
    if (!isOpen) return;
    isOpen = false;
    await sandbox.close();
    await served.close();
  };
  onTestFinished(close);
  const call = async (method: string, params: Readonly<Record<string, unknown>> = {}) =>
    answerOf(
      await fetch(`${served.apiRoot}/bot${token}/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(params),
      }),
    );
  const updates = async () => {
    const { result } = await call('getUpdates');
    return Array.isArray(result) ? (result as readonly Fields[]) : [];
  };
  const opened: Lab = {
    sandbox,
    world: sandbox.world,
    time,
    log,
    apiRoot: served.apiRoot,
    call,
    outcome: (method, params) => refusal(call(method, params)),
    updates,
    close,
    timers,
  };
  return opened;
}

function countedTimer(
  time: ManualTime,
  timers: { set: number; waiting: number },
  { ms, call }: { readonly ms: number; readonly call: () => void },
): () => void {
  let isWaiting = true;
  const over = () => {
    if (isWaiting) timers.waiting -= 1;
    isWaiting = false;
  };
  timers.set += 1;
  timers.waiting += 1;
  const stop = time.after(ms, () => {
    over();
    call();
  });
  return () => {
    over();
    stop();
  };
}

export async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as Partial<Answer>;
  return {
    status: response.status,
    ok: body.ok ?? false,
    result: body.result ?? {},
    description: body.description ?? '',
    parameters: body.parameters ?? {},
    headers: response.headers,
  };
}

/** The text of an error, as it is told: the status and the description. */
export async function refusal(answer: Promise<Answer>): Promise<string> {
  const { status, ok, description } = await answer;
  return ok ? 'ok' : `${status} ${description}`;
}

/** Waits for real work, such as a connection, without moving the clock. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
