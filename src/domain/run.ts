import type { Actor } from './access.ts';
import { backoffMs, retryAttemptsMax, retryCapDefaultMs, retryPauseMaxMs } from './limits.ts';
import { isPlanned, type Obstacle, type OccurrenceSource } from './occurrence.ts';
import { type Policies, retryDelayMs, type Retry } from './policy.ts';
import type { Bounds, Schedule } from './schedule/schedule.ts';
import type { Costs } from './spending/usage.ts';
import type { ActionSpec } from './task.ts';

/**
 * The life of a run. It is `queued` until claimed, `running` while an attempt lives, in `backoff` between attempts; then it
 * ends once and for all. Live means: not ended.
 *
 *   queued | backoff -> running -> succeeded | failed | cancelled | backoff | queued (interrupted, repeatable)
 *   queued | backoff -> cancelled
 *
 * Every move is guarded by the old status, and while running also by the fence: the number of the claim. A worker whose
 * claim was taken over writes with an old fence and matches nothing.
 */
export type RunStatus = 'queued' | 'running' | 'backoff' | 'succeeded' | 'failed' | 'cancelled';

export const liveStatuses: readonly RunStatus[] = ['queued', 'running', 'backoff'];

/** Causes for which a run did not succeed, for programs; `internal` stands for every fault of ours. */
export const runErrorCodes = [
  'failed',
  'timed_out',
  'interrupted',
  'cancelled',
  'not_allowed',
  'invalid_action',
  'internal',
] as const;
export type RunErrorCode = (typeof runErrorCodes)[number];

/**
 * Consent to an effect that somebody must allow before it happens: an effect about which nobody was asked yet has none. Asked once, it
 * holds for all attempts of the run.
 */
export type Consent =
  | { readonly is: 'asked'; readonly decideBy: number }
  | { readonly is: 'given' | 'refused'; readonly by: Actor; readonly at: number };

/** One try of a run: `running`, then one of the other words, for ever. */
/** Why a run stands still whose effect somebody must let happen. */
export const waitsForConsent = 'waits for somebody to approve it';

export type AttemptStatus = 'running' | 'succeeded' | 'failed' | 'timed_out' | 'interrupted' | 'cancelled';

/**
 * The input of a run is copied at its admission: a task that is edited while its run waits does not change what that
 * slot does, and a worker reads one row.
 */
export interface RunInput {
  readonly title: string;
  readonly instructions: string;
  readonly action: ActionSpec;
  readonly timezone: string;
  readonly number: number | null;
  readonly slotAt: number | null;
  /** Set when the slot ran later than its grace; the result says so. */
  readonly late: boolean;
  /** The cause that asked for it; absent for the schedule, as most are. */
  readonly source?: OccurrenceSource | undefined;
  /** False for threads that are kept in history and delivered nowhere. */
  readonly delivers: boolean;
  /** Absent when empty, like the policies: this is written with every run, and most tasks have neither. */
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly policies?: Policies | undefined;
  /** A person asked for it beside the schedule, and waits for how it ends. Absent otherwise. */
  readonly byHand?: true | undefined;
  /** For a retry or a replay: what it must not take from its own instant. */
  readonly again?: Again | undefined;
  /** For a text that no task sends: how it is shown, and where. */
  readonly message?: MessageInput | undefined;
  /** For a delay after the last finish: the schedule whose next slot the end of this run decides. */
  readonly follows?: { readonly schedule: Schedule; readonly bounds: Bounds } | undefined;
}

/** The word for programs about what asked for a run of a task. */
export function taskSourceOf(taskId: string): string {
  return `task:${taskId}`;
}

/** A slot asked for it, so it counts against `max_runs`. */
export function isOfSlot({ byHand, again, message, source = 'schedule' }: RunInput): boolean {
  return byHand === undefined && again === undefined && message === undefined && isPlanned(source);
}

/** Sounds with which a message comes. `normal` makes none in the quiet hours of its chat; `silent` never makes one, and `urgent` always does. */
export const sounds = ['normal', 'silent', 'urgent'] as const;
export type Sound = (typeof sounds)[number];

/** The lane of a thread keeps its messages in order. The chat is named by our own id, so that a group that moves keeps its order. */
export function threadLane(chatId: string, topic: number | null): string {
  return `thread:${chatId}:${topic ?? ''}`;
}

/** A text for a thread as it stands, which belongs to no task. */
export interface MessageInput {
  /** The topic of the chat, which is nobody's to make; null for its base thread. */
  readonly topic: number | null;
  readonly mode: Sound;
  /** For whom it was put there, as the client calls them. */
  readonly userKey?: string;
  /** It tries out an action for which there is no task: how it ended is told as well. */
  readonly isTest?: true;
  /** In a group, the one person who sees it. */
  readonly onlyFor?: { readonly userId: number; readonly callbackId?: string; readonly until: number };
}

/** A run that is done again with what it was given the first time. */
export interface Again {
  readonly kind: 'retry' | 'replay';
  /** A retry tells targets outside that it is the same call; a replay is a new one. */
  readonly outgoingKey: string;
  /** From here on its result grows old. */
  readonly askedAt: number;
}

/** A request for work: the one shape in which work enters the pipeline. */
export interface RunRequest {
  /** The asking side, e.g. `task` or `api`; together with the key it identifies the request. */
  readonly source: string;
  readonly idempotencyKey: string;
  /** Message runs wait for earlier runs of their thread. Null for a task's own runs: overlap alone governs those. */
  readonly lane: string | null;
  /** At most one live run of its task, proved by a unique index. */
  readonly exclusive: boolean;
  readonly priority: number;
  readonly taskId: string | null;
  readonly taskVersion: number | null;
  readonly occurrenceId: string | null;
  readonly chatId: string | null;
  readonly ownerId: Actor;
  /** How much later than asked for it may start, see `readyAt`. */
  readonly jitterMs?: number;
  /** The request in whose course it was asked for; absent for what a schedule asks for. */
  readonly traceId?: string | null | undefined;
  readonly input: RunInput;
}

export interface NewRun extends RunRequest {
  readonly id: string;
  readonly payloadHash: string;
  /** The input as it is stored beside its title and its instructions, made once. */
  readonly inputText: string;
  /** The large parts of the input, where they are kept once for all runs that are given the same. */
  readonly snapshot?: { readonly sha256: string; readonly text: string };
  /** The most that an attempt spends; absent where it costs nothing. */
  readonly costs?: Costs;
  readonly createdAt: number;
  readonly readyAt: number;
}

/** The way in which an attempt came to its end. */
export type AttemptOutcome =
  | { readonly is: 'done' }
  | { readonly is: 'retry'; readonly error: string; readonly afterMs?: number | undefined; readonly isFree?: true }
  | { readonly is: 'giveUp'; readonly error: string }
  | { readonly is: 'skip'; readonly reason: Obstacle; readonly error: string }
  | { readonly is: 'timedOut' }
  | { readonly is: 'cancelled' };

interface AttemptScene {
  /** Attempts that count for the policy, this one included; interrupted and free ones do not. */
  readonly used: number;
  /** The free ones before this one. */
  readonly free: number;
  readonly retry: Retry;
  readonly repeatable: boolean;
  readonly timeoutMs: number;
  readonly now: number;
  /** In [0, 1): spreads the pause. */
  readonly chance: number;
}

interface Conclusion {
  readonly attempt: 'succeeded' | 'failed' | 'timed_out' | 'cancelled';
  readonly run: 'succeeded' | 'failed' | 'cancelled' | 'backoff';
  readonly readyAt: number | null;
  readonly error: string | null;
}

/** Concludes what an ended attempt means for its run. */
export function conclude(outcome: AttemptOutcome, scene: AttemptScene): Conclusion {
  switch (outcome.is) {
    case 'done':
      return { attempt: 'succeeded', run: 'succeeded', readyAt: null, error: null };
    case 'cancelled':
      return { attempt: 'cancelled', run: 'cancelled', readyAt: null, error: 'cancelled' };
    case 'giveUp':
      return { attempt: 'failed', run: 'failed', readyAt: null, error: outcome.error };
    case 'skip':
      return { attempt: 'cancelled', run: 'cancelled', readyAt: null, error: outcome.error };
    case 'retry':
      return again('failed', outcome, scene);
    case 'timedOut': {
      const error = `no answer within ${scene.timeoutMs / 1000} s`;
      // An attempt may have come far, so only what does no harm when done twice is tried again.
      if (scene.repeatable) return again('timed_out', { error }, scene);
      return { attempt: 'timed_out', run: 'failed', readyAt: null, error: `${error}, effects unknown` };
    }
  }
}

function again(
  attempt: 'failed' | 'timed_out',
  { error, afterMs = 0, isFree }: Omit<Extract<AttemptOutcome, { is: 'retry' }>, 'is'>,
  { used, free, retry, now, chance }: AttemptScene,
): Conclusion {
  // The obstacle was not of the task's making, so its policy does not count the attempt; but it may stand there for good.
  const isLast = isFree ? free + 1 >= retryAttemptsMax : used >= retry.attempts;
  if (isLast) return { attempt, run: 'failed', readyAt: null, error };
  // The called side may ask for a pause, but for no longer one than a policy may.
  const asked = Math.min(afterMs, retryPauseMaxMs);
  const pause = isFree
    ? backoffMs(free + 1, asked, retryCapDefaultMs)
    : Math.max(asked, retryDelayMs(retry, used, chance));
  return { attempt, run: 'backoff', readyAt: now + pause, error };
}
