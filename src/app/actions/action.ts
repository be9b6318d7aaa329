import type { Actor } from '../../domain/access.ts';
import { AppError, assert } from '../../domain/errors.ts';
import type { RunInput } from '../../domain/run.ts';
import type { Media } from '../../domain/shown.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { TemplateText } from '../ports/outside.ts';

/** The input of an action. It knows nothing of the trigger, and of the chat only its name. */
export interface Job {
  readonly input: RunInput;
  readonly runId: string;
  /** The task, and our own id of its chat; null for a run that stands alone. */
  readonly taskId: string | null;
  readonly chatId: string | null;
  readonly ownerId: Actor;
  /** Which run of its task it is. */
  readonly runNumber: number | null;
  readonly attempt: number;
  readonly startedAt: number;
  /** One key for all attempts of a slot; targets outside can tell a repeat by it. */
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
      /** Shown with the text below it. */
      readonly media?: Media;
      readonly data?: unknown;
      readonly context?: Readonly<Record<string, unknown>>;
      readonly usage?: readonly { readonly kind: string; readonly quantity: number }[];
      readonly httpStatus?: number;
    }
  /** A free one uses up no attempt of the policy: it is not the task that stands in the way. */
  | {
      readonly is: 'retry';
      readonly error: string;
      readonly afterMs?: number;
      readonly isFree?: true;
      readonly httpStatus?: number;
    }
  /** A harmful one is not tried again by its schedule either: its task is paused. */
  | { readonly is: 'giveUp'; readonly error: string; readonly isHarmful?: true; readonly httpStatus?: number };

export interface Action {
  readonly kind: string;
  /** Refuses settings that cannot work, at creation: throws `invalid_action`. Answers the template that is to be tried as well. */
  check(spec: ActionSpec, instructions: string): TemplateText | null;
  /** Whether doing it again does no harm, when nobody knows whether it was done. */
  repeatable(spec: ActionSpec): boolean;
  run(job: Job): Outcome | Promise<Outcome>;
}

/** Exactly one executor for each kind of action. */
export interface Actions {
  readonly kinds: readonly string[];
  get(kind: string): Action | undefined;
  /** Throws `invalid_action` and names what exists. */
  require(kind: string): Action;
}

export function createActions(actions: readonly Action[]): Actions {
  const byKind = new Map(actions.map((action) => [action.kind, action]));
  assert(byKind.size === actions.length, 'two actions of one kind');
  const kinds = [...byKind.keys()];
  return {
    kinds,
    get: (kind) => byKind.get(kind),
    require: (kind) => {
      const action = byKind.get(kind);
      if (action !== undefined) return action;
      throw new AppError(
        'invalid_action',
        `There is no action "${kind.slice(0, 40)}". Known are: ${kinds.join(', ')}.`,
        {
          details: { field: 'action.kind' },
        },
      );
    },
  };
}
