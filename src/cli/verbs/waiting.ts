import type { AnswerOf } from '../client.ts';
import { CliFault, exitCodes, interrupted, usage, type ExitCode } from '../faults.ts';
import { millisecondsOf } from '../options.ts';
import { pause, type Flag, type Options, type Session } from '../session.ts';
import { durationWords } from '../times.ts';
import { isOnItsWay, type Run } from '../views/run.ts';

export const waitFlags = [
  { flags: '--timeout <length>', about: 'how long to wait: seconds, or 500ms, 5m, PT1M (default: 60)' },
  {
    flags: '--interval-ms <ms>',
    about: 'how often to look, 1 to 60000 (default: 500)',
    whole: { min: 1, max: 60_000 },
  },
] as const satisfies readonly Flag[];

const timeoutDefaultMs = 60_000;
/** A day; a longer wait is a mistaken unit. */
const timeoutMaxMs = 86_400_000;
const intervalDefaultMs = 500;

/** How long to wait, and how often to look meanwhile. */
export type Pace = ReturnType<typeof paceOf>;

export function paceOf({ timeout, intervalMs = intervalDefaultMs }: Options<typeof waitFlags>) {
  const timeoutMs = timeout === undefined ? timeoutDefaultMs : millisecondsOf('--timeout', timeout);
  if (timeoutMs < 1 || timeoutMs > timeoutMaxMs) throw usage('--timeout is from 1 ms to a day.');
  return { timeoutMs, intervalMs };
}

export interface Waited {
  readonly run: Run;
  /** The run has ended, and what it says is where it belongs, or never will be. */
  readonly isSettled: boolean;
}

const finals = new Set<Run['status']>(['succeeded', 'failed', 'cancelled']);

/** Looks at a run again and again until it has ended and its parts are delivered, or until the time is over. */
export async function waitForRun(session: Session, runId: string, { timeoutMs, intervalMs }: Pace): Promise<Waited> {
  const { client, stopwatch } = session;
  const started = stopwatch.elapsed();
  for (;;) {
    const run = await look(session, runId);
    const waitedMs = stopwatch.elapsed() - started;
    const isFinal = finals.has(run.status);
    if (isFinal && !run.deliveries.some(isOnItsWay)) return ended(session, { run, isSettled: true });
    if (waitedMs >= timeoutMs) return ended(session, { run, isSettled: false });
    session.progress(`${progressWords(run, isFinal)} ${durationWords(waitedMs)}, at ${client.place}`);
    await pause(session, Math.min(intervalMs, timeoutMs - waitedMs));
    if (session.interrupted.aborted) throw goesOn(session, runId);
  }
}

async function look(session: Session, runId: string): Promise<Run> {
  try {
    return await session.client.call('getRun', { params: { run_id: runId } });
  } catch (error) {
    if (session.interrupted.aborted) throw goesOn(session, runId);
    throw error;
  }
}

function goesOn(session: Session, runId: string): CliFault {
  session.progress('');
  return interrupted(`Not waiting any longer; the run goes on. Look at it with:\n  cronogram run get ${runId}`);
}

function ended(session: Session, waited: Waited): Waited {
  session.progress('');
  return waited;
}

function progressWords({ status, attempts }: Run, isFinal: boolean): string {
  if (isFinal) return `${status}, being delivered`;
  return attempts.length > 1 ? `${status}, attempt ${attempts.length}` : status;
}

/** A run that has not ended in time is no success, whatever becomes of it later. */
export function exitCodeOfRun({ run }: Waited): ExitCode {
  return run.status === 'succeeded' ? exitCodes.done : exitCodes.failed;
}

/** The id of the run that was asked for. */
export function askedRunId({ task_run: asked }: AnswerOf<'runTaskNow'>): string {
  if (asked.run_id !== null) return asked.run_id;
  throw new CliFault(
    'no_run',
    `It was asked for, but no run has begun: it is ${asked.status}${asked.reason === null ? '' : ` (${asked.reason})`}. Look at it with:\n  cronogram task history ${asked.task_id}`,
  );
}
