import type { ActionSpec } from '../../domain/task.ts';
import type { RunInput } from '../../domain/run.ts';

/** What an action is given. It knows nothing of the trigger, the store or the chat. */
export interface Job {
  readonly input: RunInput;
  readonly runId: string;
  readonly attempt: number;
  readonly startedAt: number;
  /** The same for every attempt of a slot; targets outside can tell a repeat by it. */
  readonly outgoingKey: string;
  /** Aborted at the timeout, when somebody cancels, and when the process must end. */
  readonly signal: AbortSignal;
}

/** Expected ends are values. What an action throws is a fault of ours, and is treated as one that may pass. */
export type Outcome =
  | {
      readonly is: 'done';
      /** Shown to people, in the task's own thread. */
      readonly text: string;
      readonly data?: unknown;
      readonly context?: Readonly<Record<string, unknown>>;
      readonly usage?: readonly { readonly kind: string; readonly quantity: number }[];
      readonly httpStatus?: number;
    }
  | { readonly is: 'retry'; readonly error: string; readonly afterMs?: number; readonly httpStatus?: number }
  | { readonly is: 'giveUp'; readonly error: string; readonly httpStatus?: number };

export interface Action {
  readonly kind: string;
  /** Refuses settings and texts that cannot work, at creation. Throws `invalid_action` or `invalid_template`. */
  check(spec: ActionSpec, instructions: string): void;
  /** Whether doing it again does no harm, when nobody knows whether it was done. */
  repeatable(spec: ActionSpec): boolean;
  run(job: Job): Outcome | Promise<Outcome>;
}
