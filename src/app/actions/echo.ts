import type { ActionSpec } from '../../domain/task.ts';
import type { Timer } from '../ports/outside.ts';
import type { Action, Job, Outcome } from './action.ts';
import { invalid, refuseUnknown } from './message.ts';

const delayMaxMs = 60_000;
const known = ['kind', 'delay_ms', 'fail_attempts', 'error', 'repeatable', 'context'];

/**
 * Answers its instructions, after a pause, failing as often as it is told. It does the same for the same settings on every
 * run, so that everything around an action can be tried without one: retries, timeouts, overlaps, crashes.
 */
export function echoAction(timer: Timer): Action {
  return {
    kind: 'echo',
    check: (spec) => {
      refuseUnknown(spec, known);
      whole(spec, 'delay_ms', delayMaxMs);
      whole(spec, 'fail_attempts', 1000);
      const { error, repeatable, context } = settings(spec);
      if (error !== 'retry' && error !== 'final') throw invalid('action.error is "retry" or "final".');
      if (typeof repeatable !== 'boolean') throw invalid('action.repeatable is true or false.');
      if (context !== undefined && (typeof context !== 'object' || context === null))
        throw invalid('action.context is an object.');
      return null;
    },
    repeatable: (spec) => settings(spec).repeatable === true,
    run: (job) => echo(timer, job),
  };
}

function settings(spec: ActionSpec) {
  return {
    delayMs: Number(spec['delay_ms'] ?? 0),
    failAttempts: Number(spec['fail_attempts'] ?? 0),
    error: spec['error'] ?? 'retry',
    repeatable: spec['repeatable'] ?? true,
    context: spec['context'],
  };
}

function whole(spec: ActionSpec, key: string, max: number): void {
  const value = spec[key] ?? 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > max) {
    throw invalid(`action.${key} is a whole number from 0 to ${max}.`);
  }
}

async function echo(timer: Timer, { input, attempt, signal }: Job): Promise<Outcome> {
  const { delayMs, failAttempts, error, context } = settings(input.action);
  if (delayMs > 0) await pause(timer, delayMs, signal);
  if (attempt <= failAttempts)
    return { is: error === 'final' ? 'giveUp' : 'retry', error: `echo fails attempt ${attempt}` };
  const done = { is: 'done', text: input.instructions, usage: [{ kind: 'echo', quantity: 1 }] } as const;
  return context === undefined ? done : { ...done, context: context as Readonly<Record<string, unknown>> };
}

function pause(timer: Timer, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stop = timer.after(ms, resolve);
    signal.addEventListener('abort', () => {
      stop();
      resolve();
    });
  });
}
