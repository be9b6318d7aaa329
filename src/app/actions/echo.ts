import { usageKinds, type Amount } from '../../domain/spending/usage.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { NewFile } from '../ports/blobs.ts';
import type { Timer } from '../ports/outside.ts';
import type { Action, Job, Outcome } from './action.ts';
import { invalid, refuseUnknown } from './message.ts';

const delayMaxMs = 60_000;
const known = ['kind', 'delay_ms', 'fail_attempts', 'error', 'repeatable', 'context', 'files', 'spends'];
const filesMax = 100;
const fileBytesMax = 64 * 1_048_576;

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
      if (spendsIn(spec) === null)
        throw invalid(
          'action.spends is a list such as [{"kind": "requests", "quantity": 1, "source": "example.com"}].',
        );
      if (filesIn(spec) === null)
        throw invalid(`action.files is a list of at most ${filesMax}, such as [{"name": "a.txt", "size": 1000}].`);
      return [];
    },
    repeatable: (spec) => settings(spec).repeatable === true,
    preview: (spec) => ({ reaches: [], costs: spendsIn(spec) ?? [] }),
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
  const usage = spendsIn(input.action) ?? [];
  if (delayMs > 0) await pause(timer, delayMs, signal);
  if (attempt <= failAttempts)
    return { is: error === 'final' ? 'giveUp' : 'retry', error: `echo fails attempt ${attempt}`, usage };
  const attachments = (filesIn(input.action) ?? []).map(fileOf);
  return {
    is: 'done',
    text: input.instructions,
    usage,
    ...(attachments.length === 0 ? {} : { attachments }),
    ...(context === undefined ? {} : { context: context as Readonly<Record<string, unknown>> }),
  };
}

/** The amounts that each attempt spends; null where they cannot be read. */
function spendsIn(spec: ActionSpec): readonly Amount[] | null {
  const spends = spec['spends'] ?? [];
  if (!Array.isArray(spends) || spends.length > 10) return null;
  return spends.every(isAmount) ? spends : null;
}

function isAmount(each: unknown): each is Amount {
  const { kind, quantity, source = '' } = (each ?? {}) as Partial<Amount>;
  const isKnown = kind !== undefined && usageKinds.includes(kind) && kind !== 'money';
  return isKnown && Number.isInteger(quantity) && Number(quantity) >= 0 && typeof source === 'string';
}

interface EchoedFile {
  readonly name: string;
  readonly size: number;
  /** The first bytes, in hexadecimal digits: by them it is known whether it is a picture, a film or music. */
  readonly head?: string;
}

/** Null where they cannot be read. */
function filesIn(spec: ActionSpec): readonly EchoedFile[] | null {
  const files = spec['files'] ?? [];
  if (!Array.isArray(files) || files.length > filesMax) return null;
  return files.every(isFile) ? files : null;
}

function isFile(file: unknown): file is EchoedFile {
  const { name, size, head = '' } = (file ?? {}) as Partial<EchoedFile>;
  if (typeof head !== 'string' || !/^(?:[\da-f]{2})*$/.test(head)) return false;
  return typeof name === 'string' && Number.isInteger(size) && Number(size) >= 0 && Number(size) <= fileBytesMax;
}

/** The same bytes for the same name, size and head. */
function fileOf({ name, size, head = '' }: EchoedFile): NewFile {
  const first = [...head.matchAll(/../g)].map(([digits]) => Number.parseInt(digits, 16));
  const bytes = new Uint8Array(Math.max(size, first.length));
  bytes.set(first);
  for (let at = first.length; at < size; at += 1) bytes[at] = name.charCodeAt(at % Math.max(1, name.length));
  return { name, mime: 'text/plain', bytes };
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
