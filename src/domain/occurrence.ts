import { iso } from './schedule/time/calendar.ts';
/**
 * The life of an occurrence. `pending` waits for admission: behind a live run of its task, or for a person's answer.
 * `dispatched` has a live run. The rest is final: `skipped` because a policy decided so, `missed` because nobody was
 * there in time, and `succeeded`, `failed` or `cancelled` with its run.
 *
 *   (planned) -> pending | dispatched | skipped | missed
 *   pending -> dispatched | skipped | cancelled
 *   dispatched -> succeeded | failed | cancelled | skipped (the right to run, or what is to be done, was gone)
 */
export type OccurrenceStatus = 'pending' | 'dispatched' | 'succeeded' | 'failed' | 'cancelled' | 'skipped' | 'missed';

/** Its ends. */
export type OccurrenceOutcome = Exclude<OccurrenceStatus, 'pending' | 'dispatched'>;

/**
 * The source of an occurrence asked for it. A catch-up is a slot that runs late because nobody was there in time. The others stand beside
 * the schedule, take an instant that is no slot, and count against no bound: a stale refresh was asked for by the age of the last good
 * result, the rest by hand.
 */
export type OccurrenceSource = 'schedule' | 'catch_up' | 'run_now' | 'snooze' | 'retry' | 'replay' | 'stale_refresh';

export function isByHand(source: OccurrenceSource): boolean {
  return !isPlanned(source) && source !== 'stale_refresh';
}

/** A slot of the schedule asked for it, so it counts against the bounds. */
export function isPlanned(source: OccurrenceSource): boolean {
  return source === 'schedule' || source === 'catch_up';
}

/** The reason why an occurrence did not simply run and show its result; the words that a person reads when asking about a slot. */
export type Reason =
  | 'overlap'
  | 'queue_full'
  | 'replaced'
  | 'max_runs'
  | 'late'
  | 'covered'
  | 'beyond_limit'
  | 'ask'
  | 'ask_expired'
  | 'declined'
  | 'skip'
  | 'undone'
  /** The result that was to come again was done before. */
  | 'done'
  /** The audit found that nothing stood for the slot, which is a fault of the product. */
  | 'unaccounted'
  | 'deleted'
  | 'paused'
  | 'cancelled'
  /** It succeeded, with the result of the last success. */
  | 'unchanged'
  | 'grant_missing'
  | 'grant_revoked'
  | 'grant_expired'
  | 'grant_scope'
  /** The secret that it names is not there, or must not be sent to where the call goes. */
  | 'secret_missing'
  | 'secret_host'
  /** A budget had no room for it. */
  | 'budget'
  /** The effect was refused, or nobody allowed it in time. */
  | 'discarded'
  /** This server does not know what the task is to do: a release, or a setting, took that away. */
  | 'gone_kind';

/** The reason why no run of a task may begin, until a person mends that; its slots are skipped, and the schedule goes on. */
export type Obstacle = Extract<Reason, `grant_${string}` | `gone_${string}` | `secret_${string}`>;

export function isObstacle(reason: Reason | null): reason is Obstacle {
  return reason !== null && /^(grant|gone|secret)_/.test(reason);
}

/** A secret is in the way, and not the right of the task. */
export function isOfSecret(reason: Reason | null): reason is 'secret_missing' | 'secret_host' {
  return reason === 'secret_missing' || reason === 'secret_host';
}

/** One key for all attempts of a slot, on every engine, for ever: duplicates collide on it. */
export function occurrenceKey(taskId: string, slotAt: number): string {
  return `task:${taskId}:scheduled_for:${iso(slotAt)}`;
}

/** An outside effect of this slot carries this key, so that its target can tell a repeat from a new call. */
export function outgoingKey(taskId: string, slotAt: number): string {
  return `sched:${taskId}:${slotAt}`;
}
