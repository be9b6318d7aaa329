import type { Actor } from '../../domain/access.ts';
import { AppError, assert } from '../../domain/errors.ts';
import { actionScope, type ScopesOf } from '../../domain/grant.ts';
import type { Obstacle } from '../../domain/occurrence.ts';
import type { RunInput } from '../../domain/run.ts';
import type { Media } from '../../domain/shown.ts';
import type { Amount } from '../../domain/spending/usage.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { NewFile, Watched } from '../ports/blobs.ts';
import type { PlaceAsked } from '../ports/outbound.ts';
import type { WrittenText } from '../ports/outside.ts';
import type { SecretSent } from '../ports/secrets.ts';
import type { ActionForm } from './form.ts';

/** The input of an action. It knows nothing of the trigger, and of the chat only its name. */
export interface Job {
  readonly input: RunInput;
  readonly runId: string;
  /** The task, and our own id of its chat; null for a run that stands alone. */
  readonly taskId: string | null;
  readonly chatId: string | null;
  readonly ownerId: Actor;
  /** Scopes of the grant as it was when the attempt began: what is known late, such as the host of a template, is checked against them. */
  readonly scopes: readonly string[];
  /** Scopes among them that nobody has vouched for who may use the secrets of the operator. */
  readonly unconfirmed: readonly string[];
  /** The number of the run within its task. */
  readonly runNumber: number | null;
  readonly attempt: number;
  /** By it the attempt is told from one that was given up. */
  readonly fence: number;
  /** The host at which its start has taken a place; null where it took none. */
  readonly placeAt: string | null;
  readonly startedAt: number;
  /** One key for all attempts of a slot; targets outside can tell a repeat by it. */
  readonly outgoingKey: string;
  /** Aborted at the timeout, when somebody cancels, and when the process must end. */
  readonly signal: AbortSignal;
  /** Tells people and programs how far it is; of words that come fast only the newest are kept. */
  progress(text: string): void;
}

/** Expected ends are values. What an action throws is a fault of ours, and is treated as one that may pass. */
export type Outcome =
  | {
      readonly is: 'done';
      /** Shown to people, in the task's own thread. */
      readonly text: string;
      /** Shown with the text below it. */
      readonly media?: Media;
      /** Several of them, which stand together; the text comes behind them. */
      readonly album?: readonly Media[];
      readonly data?: unknown;
      /** Files that it brought, with their bytes; they are kept until they are delivered. */
      readonly attachments?: readonly NewFile[];
      /** A result that is told already, or only noted: it is shown to whoever asked for the run by hand alone. */
      readonly unshown?: 'unchanged' | 'first';
      /** The value that the next run of the task compares its own with, written with the end of this one. */
      readonly watched?: Watched;
      readonly context?: Readonly<Record<string, unknown>>;
      readonly usage?: Spent;
      readonly httpStatus?: number;
    }
  /** A free one uses up no attempt of the policy: it is not the task that stands in the way. */
  | {
      readonly is: 'retry';
      readonly error: string;
      readonly afterMs?: number;
      readonly isFree?: true;
      readonly httpStatus?: number;
      readonly usage?: Spent;
      /** The answer of the other side, for programs; kept when it was the last try. */
      readonly data?: unknown;
    }
  /** A harmful one is not tried again by its schedule either: its task is paused. */
  | {
      readonly is: 'giveUp';
      readonly error: string;
      readonly isHarmful?: true;
      readonly httpStatus?: number;
      readonly usage?: Spent;
      readonly data?: unknown;
      /** Its settings cannot be carried out, whenever it is tried: the run ends with the code `invalid_action`. */
      readonly isInvalid?: true;
    }
  /**
   * The task may not do that, which only the run could find out. Nothing was done: its slot is skipped for the reason, it is not tried
   * again, and the schedule goes on.
   */
  | { readonly is: 'skip'; readonly reason: Obstacle; readonly error: string; readonly usage?: Spent };

/** Amounts that an attempt has spent, whatever it came to; `unknown` where nobody can say, and then the most that it may have spent counts. */
export type Spent = readonly Amount[] | 'unknown';

export interface Action {
  readonly kind: string;
  /** Its settings and its words; absent for what nobody chooses. */
  readonly form?: ActionForm;
  /**
   * Refuses settings that cannot work, at creation: throws `invalid_action`. Answers the texts that are to be tried as well. The
   * hosts are those to which the chat of the task keeps its tasks; null where it does not.
   */
  check(spec: ActionSpec, instructions: string, hosts?: readonly string[] | null): readonly WrittenText[];
  /** The time of its own after which it ends by itself; null where its settings name none. */
  timeoutMs?(spec: ActionSpec): number | null;
  /** Scopes that a run needs beside that of its kind, as far as the settings tell; absent for what reaches nothing. */
  scopes?(spec: ActionSpec): readonly string[];
  /** Whether doing it again does no harm, when nobody knows whether it was done. */
  repeatable(spec: ActionSpec): boolean;
  /** Whether the call itself is the effect, so that who must approve is asked before it and not before the result is shown. */
  changesThings?(spec: ActionSpec): boolean;
  /** A text that is too long for one message is cut into several, because a person wrote it; otherwise it becomes a file. */
  readonly isCut?: true;
  /** For people, before the task is made: which hosts it reaches, and what a run costs. Absent for what reaches nothing. */
  preview?(spec: ActionSpec): ActionPreview;
  /** For programs, in the place of an answer: an attempt that the timeout of its policy cut off. Absent where they read nothing of a failure. */
  cutOff?(error: string): unknown;
  /** Its run time is counted, in seconds begun. */
  readonly isTimed?: true;
  /**
   * Null when a run may start now; else when to look again, and why: it begins no attempt and holds no place of the runner. Where several
   * processes share a place, its start asks for that.
   */
  hold?(asked: StartAsked, now: number): { readonly until: number; readonly reason: string } | PlaceAsked | null;
  run(job: Job): Outcome | Promise<Outcome>;
}

/** The run that may start, and whose turn that would be. */
export interface StartAsked {
  readonly spec: ActionSpec;
  readonly runId: string;
  readonly taskId: string | null;
}

/** Whether the call itself is the effect; settings that can never be carried out have none. */
export function isEffect(action: Action | undefined, spec: ActionSpec): boolean {
  return unlessInvalid(() => action?.changesThings?.(spec), false);
}

function unlessInvalid<T>(tell: () => T | undefined, otherwise: T): T {
  try {
    return tell() ?? otherwise;
  } catch (error) {
    if (error instanceof AppError) return otherwise;
    throw error;
  }
}

export interface ActionPreview {
  /** Hosts, people or services outside that a run reaches, such as `api.example.com`. */
  readonly reaches: readonly string[];
  /** The most that one attempt spends, such as `{ kind: 'requests', quantity: 3 }`. */
  readonly costs: readonly Amount[];
  /** Secrets by name, and the host to which each goes. */
  readonly secrets?: readonly SecretSent[];
}

/** Exactly one executor for each kind of action. */
export interface Actions {
  readonly kinds: readonly string[];
  /** Of those that people choose. */
  readonly forms: readonly ActionForm[];
  /** Scopes that a run needs; of a kind that is unknown, and of settings that can never be carried out, only that of the kind. */
  readonly scopesOf: ScopesOf;
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
    forms: actions.flatMap(({ form }) => form ?? []),
    scopesOf: (spec) => [actionScope(spec.kind), ...unlessInvalid(() => byKind.get(spec.kind)?.scopes?.(spec), [])],
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
