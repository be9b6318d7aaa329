import * as limits from './limits.ts';
import { quietUntil, type Quiet } from './pacing/quiet.ts';

/**
 * An acknowledgement says that a reminder is done. Where the task asks for it, the row is made `open` with the end of the
 * run, and somebody is reminded until it is closed; where it does not, the row is made by whoever says Done.
 *
 *   open -> done (somebody said so) | given_up (reminded often enough, an admin is told)
 *         | superseded (a newer run of the task, or a snooze, asks instead) | dropped (the task was paused or deleted, it asks
 *           for nothing any more, or its result was never shown)
 *   given_up | superseded | dropped -> done (it is never too late to say so)
 *   superseded | dropped -> open (the snooze that had answered it, or the pause, was taken back)
 *   done -> open | given_up (when that was told before) | superseded (it was said by mistake), or no row at all where none was asked for
 *
 * The first Done counts; every other move is guarded by the status that it leaves.
 */
export type AckStatus = 'open' | 'done' | 'given_up' | 'superseded' | 'dropped';

/** The fate of a message that a person must have seen before they can be reminded. */
export type Arrival =
  | { readonly is: 'shown'; readonly at: number }
  /** Still to come; when it is held on purpose, not before that instant. */
  | { readonly is: 'waiting'; readonly until: number | null }
  | { readonly is: 'lost' };

export interface OpenAck {
  readonly nags: number;
  readonly nagEveryMs: number;
  readonly nagLimit: number;
  readonly createdAt: number;
  readonly result: Arrival;
  /** Null before the first reminder. */
  readonly lastNag: Arrival | null;
  /** The task can still run or has run for the last time, and still asks for it. */
  readonly isWanted: boolean;
  readonly quiet: Quiet | null;
  readonly timezone: string;
}

export type NagPlan =
  | { readonly is: 'later'; readonly at: number }
  | { readonly is: 'nag'; readonly number: number; readonly nextAt: number }
  | { readonly is: 'giveUp' }
  | { readonly is: 'drop' };

/**
 * Plans what becomes of an open one whose instant has come. The time runs from the moment in which the result, or the reminder
 * before, was really there; quiet hours move what is due to their end, and it does not count until then.
 */
export function planNag(open: OpenAck, now: number): NagPlan {
  const { result, lastNag, nagEveryMs, nags } = open;
  if (!open.isWanted || result.is === 'lost') return { is: 'drop' };
  if (result.is === 'waiting') return { is: 'later', at: whenShown(open, result.until, now) };
  if (lastNag?.is === 'waiting') return { is: 'later', at: lookAgainAt(open, now) };
  const notBefore =
    spacedFrom(lastNag?.is === 'shown' ? lastNag.at : result.at, nagEveryMs, now) ?? quietEnd(open, now);
  if (notBefore !== null) return { is: 'later', at: notBefore };
  if (nags >= open.nagLimit) return { is: 'giveUp' };
  return { is: 'nag', number: nags + 1, nextAt: now + nagEveryMs };
}

/** Null when enough time has passed since; what lies ahead was noted before the clock was set back. */
function spacedFrom(since: number, nagEveryMs: number, now: number): number | null {
  const dueAt = since + nagEveryMs;
  return since <= now && dueAt - now > slackMs(nagEveryMs) ? dueAt : null;
}

function quietEnd({ quiet, timezone }: OpenAck, now: number): number | null {
  return quiet === null ? null : quietUntil(quiet, timezone, now);
}

/** A message takes a moment to arrive, and nobody wants the reminders to slip by it each time. */
function slackMs(nagEveryMs: number): number {
  return Math.min(limits.nagSlackMs, nagEveryMs / 2);
}

function whenShown(open: OpenAck, until: number | null, now: number): number {
  return until !== null && until > now ? until + open.nagEveryMs : lookAgainAt(open, now);
}

/** The longer something has not arrived, the less likely it is to arrive in the next minute. */
function lookAgainAt({ createdAt }: OpenAck, now: number): number {
  const waitedMs = Math.max(0, now - createdAt);
  return now + Math.min(Math.max(Math.ceil(waitedMs / 4), limits.nagLookMinMs), limits.nagLookMaxMs);
}
