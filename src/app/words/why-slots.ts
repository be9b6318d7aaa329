import * as limits from '../../domain/limits.ts';
import { isByHand, type OccurrenceSource, type Reason } from '../../domain/occurrence.ts';
import type { KindPause } from '../../domain/processes/process.ts';
import { waitsForConsent } from '../../domain/run.ts';
import { counted, nth, spanText } from '../../domain/schedule/words/words.ts';
import { isDeliverable, threadKeyOf } from '../../domain/thread.ts';
import type { SlotAck } from '../ports/runs.ts';
import type { SlotDelivery, SlotRow, SlotRun } from '../ports/why.ts';
import { minuteOf } from '../why/moments.ts';
import {
  graceOf,
  isAgain,
  isHeld,
  lastError,
  policyOfCase,
  startedAfterMs,
  wasUnwritable,
  type Case,
} from '../why/timeline.ts';

/** The end of a slot that has its row, without the full stop. */
export function slotText(one: Case, row: SlotRow): string {
  switch (row.status) {
    case 'pending':
      return pendingText(one, row);
    case 'dispatched':
      return runningText(one, row);
    case 'succeeded':
      return doneText(one, row);
    case 'failed':
      return failureText(one, row);
    case 'missed':
    case 'skipped':
    case 'cancelled':
      return endText(one, row);
  }
}

function pendingText(one: Case, row: SlotRow): string {
  const { slotAt, source, reason, createdAt } = row;
  if (source === 'snooze' && slotAt > one.timeline.now) {
    const { asker } = one;
    const who = asker === null ? '' : ` by ${actorText(asker.actor)} ${on(one, asker.at)}`;
    const held = isHeld(one, createdAt) ? ', and comes if the task is resumed before' : '';
    return `planned: it was snoozed to this time${who}${held}`;
  }
  const asked = askedFor[source](one) + againText(one, row);
  if (reason === null) return `waiting to be started${asked}`;
  const madeUpFor = source === 'catch_up' && reason === 'ask' ? '' : asked;
  return `waiting ${sentenceFor(reason, one)}${madeUpFor}`;
}

const runStates: Readonly<Record<SlotRun['status'], string>> = {
  queued: 'its run is about to start',
  running: 'running now',
  backoff: 'failed so far, and will be tried again',
  succeeded: 'its run has just ended',
  failed: 'its run has just failed',
  cancelled: 'its run has just been cancelled',
};

function runningText(one: Case, row: SlotRow): string {
  const isTried = row.run?.status === 'backoff' && row.run.waitsFor === null;
  const error = isTried ? errorText(lastError(row)) : '';
  return `${runText(one, row)}${askedFor[row.source](one)}${againText(one, row)}${error}`;
}

function runText(one: Case, { run }: SlotRow): string {
  if (run === null) return 'its run is live';
  if (run.kindPaused !== null) return kindText(one, run.kindPaused);
  if (run.waitsFor === waitsForConsent)
    return `its run waits for somebody to approve it, until ${one.timeline.moments.beside(run.readyAt, one.slotAt)}`;
  if (run.waitsFor !== null)
    return `its run waits${errorText(run.waitsFor)}; the next look is ${onExactly(one, run.readyAt)}`;
  if (run.status === 'backoff') return `${runStates.backoff} ${onExactly(one, run.readyAt)}`;
  const putOff = run.status === 'queued' && run.readyAt > one.timeline.now;
  return putOff ? `its run will start ${onExactly(one, run.readyAt)} (policy jitter)` : runStates[run.status];
}

function kindText({ timeline: { about }, slotAt }: Case, { kind, since, by }: KindPause): string {
  return `its run waits: kind ${kind} is paused since ${about.beside(since, slotAt)}, by ${actorText(by)}`;
}

/** Started much later than taken up: it waited behind an earlier run, for a right moment, or for room. */
const noticeableMs = 1000;

function doneText(one: Case, row: SlotRow): string {
  const { slotAt } = one;
  const late = row.source === 'catch_up';
  const startedAfter = startedAfterMs(row) ?? row.lateMs;
  const waited = startedAfter - row.lateMs > noticeableMs;
  const when = late ? ` late, ${on(one, slotAt + startedAfter)}` : '';
  const after = isByHand(row.source) && !waited ? '' : `${afterText(startedAfter)}${waited ? waitText(one, row) : ''}`;
  const asked = askedFor[row.source](one) + againText(one, row);
  return `ran${isAgain(one, row) ? ' again' : ''}${when}${after}${asked}${triesText(row)}${deliveryText(one, row)}${ackText(one, row.ack)}`;
}

/** A start within a second is on time; the evidence knows the milliseconds. */
function afterText(startedAfter: number): string {
  return startedAfter < noticeableMs ? ' on time' : `, ${spanText(startedAfter)} after its time`;
}

/** The cause of the delay is still to be seen while nothing was tried twice; a retry has another instant to be ready at. */
function waitText(one: Case, { run }: SlotRow): string {
  const isSpread = (policyOfCase(one)?.jitterMs ?? 0) > 0;
  const jitter = isSpread && run !== null && run.attempts.length <= 1 && run.readyAt > run.createdAt;
  return jitter ? ', delayed by the policy jitter' : ', as it had to wait';
}

/** A snooze puts off what everybody saw, so its words say enough. */
function againText({ timeline: { about } }: Case, { source, replayOfSlot: slot }: SlotRow): string {
  return slot === null || source === 'snooze' ? '' : ` of ${about.full(slot)}`;
}

function triesText({ run }: SlotRow): string {
  const count = run?.attempts.length ?? 0;
  return count > 1 ? `, at the ${count === 2 ? 'second' : count === 3 ? 'third' : nth(count)} attempt` : '';
}

function failureText(one: Case, row: SlotRow): string {
  const count = row.run?.attempts.length ?? 0;
  const tries = count > 1 ? ` after ${counted(count, 'attempt')}` : count === 0 ? ' before it could start' : '';
  const asked = askedFor[row.source](one) + againText(one, row);
  return `failed${tries}${asked}${errorText(row.error ?? lastError(row))}`;
}

function endText(one: Case, row: SlotRow): string {
  const asked = askedFor[row.source](one);
  // A catch-up that ended like this made up for nothing, whatever was meant to happen.
  const by = row.source === 'catch_up' ? '' : asked + againText(one, row);
  if (row.reason === 'skip' && row.slotAt > one.timeline.now) return aheadText(one);
  if (row.reason === null) return `${row.status}${by}${errorText(row.error)}`;
  const sign = row.status === 'missed' ? ';' : by === '' && row.reason === 'cancelled' ? '' : ',';
  return `${row.status}${by}${sign} ${sentenceFor(row.reason, one)}`;
}

/** A slot still to come for which nobody will be there. */
function aheadText(one: Case): string {
  const { deed } = one;
  const who = deed === null ? 'somebody skipped it' : `${actorText(deed.actor)} skipped it ${on(one, deed.at)}`;
  return `will not run, as ${who}`;
}

/** The end of a line about a run: whether the result arrived, which is another question than whether the work was done. */
function deliveryText(one: Case, { run, reason }: Pick<SlotRow, 'run' | 'reason'>): string {
  const parts = run?.deliveries ?? [];
  const place = { ...(run?.place ?? one.timeline.rows.task.home), topic: null };
  const same = reason === null ? '' : `, ${sentenceFor(reason, one)}`;
  if (parts.length === 0) {
    return isDeliverable(place)
      ? `; ${same === '' ? 'it had nothing to show' : `nothing was shown${same}`}`
      : `; its result is kept in the history, as ${threadKeyOf(place)} is delivered nowhere`;
  }
  const left = parts.filter(({ status }) => status !== 'delivered');
  const [worst] = left.toSorted((a, b) => gravity[b.status] - gravity[a.status]);
  if (worst !== undefined) return keptText(one, worst, parts.length) ?? leftText(worst, left.length, parts.length);
  const approved = approvedText(one, parts[0]);
  const messages = parts.length === 1 ? '' : ` in ${parts.length} messages`;
  const isAway = parts.some(({ isFallback }) => isFallback);
  const away = isAway ? ' where it was asked for, as its topic could not be used' : '';
  return `; ${approved}delivered${messages}${away}${same === '' ? '' : ` without a sound${same}`}`;
}

function approvedText(one: Case, part: SlotDelivery | undefined): string {
  const decision = part?.decision ?? null;
  return decision === null ? '' : `approved by ${actorText(decision.by)} ${on(one, decision.at)}, `;
}

/** Why a message is kept back on purpose, which is no trouble that anybody has to mend; null when it is not. */
function keptText(one: Case, part: SlotDelivery, all: number): string | null {
  const { status, cause, heldUntil, createdAt, decision, error } = part;
  const waits = all === 1 ? 'its message waits' : `its ${counted(all, 'message')} wait`;
  if (status === 'blocked' && cause === 'approval') return `; ${waits} for approval since ${sinceText(one, createdAt)}`;
  if (status === 'failed') return decision?.isGiven === false ? discardedText(one, decision, all) : null;
  const isHeld = status === 'pending' && error === null && heldUntil !== null && heldUntil > one.timeline.now;
  return isHeld ? `; ${waits} for the end of quiet hours ${on(one, heldUntil)}` : null;
}

function discardedText(one: Case, { by, at }: NonNullable<SlotDelivery['decision']>, all: number): string {
  const were = all === 1 ? 'its message was' : `its ${counted(all, 'message')} were`;
  return `; ${were} discarded by ${actorText(by)} ${on(one, at)}`;
}

function sinceText({ timeline: { about }, slotAt }: Case, instant: number): string {
  return about.beside(instant, slotAt);
}

/** Whether somebody has confirmed it, where somebody was asked or has said so. */
function ackText(one: Case, ack: SlotAck | null): string {
  if (ack === null) return '';
  const { status, nags, doneAt, doneBy } = ack;
  const after = nags === 0 ? '' : `, after ${counted(nags, 'reminder')}`;
  switch (status) {
    case 'done':
      return `; done${doneBy === null ? '' : ` by ${actorText(doneBy)}`}${doneAt === null ? '' : ` ${on(one, doneAt)}`}${after}`;
    case 'open':
      return `; nobody has said Done yet${after}`;
    case 'given_up':
      return `; nobody said Done${nags === 0 ? '' : `, not even after the last of ${counted(nags, 'reminder')}`}`;
    case 'superseded':
      return `; nobody said Done${after}, before it was asked for again`;
    case 'dropped':
      return `; nobody said Done${after}, and the reminders ended`;
  }
}

const gravity: Readonly<Record<SlotDelivery['status'], number>> = {
  delivered: 0,
  pending: 1,
  sending: 2,
  unknown: 3,
  blocked: 4,
  failed: 5,
};

function leftText(worst: SlotDelivery, count: number, all: number): string {
  const one = all === 1;
  const which = one ? 'its message' : `${count} of its ${counted(all, 'message')}`;
  const is = one || count === 1 ? 'is' : 'are';
  const why = errorText(worst.error ?? worst.cause);
  switch (worst.status) {
    case 'failed':
      return `, but ${which} ${is === 'is' ? 'was' : 'were'} not delivered${why}`;
    case 'blocked':
      return `, but ${which} ${is} not delivered, and somebody has to fix the cause${why}`;
    case 'unknown':
      return `, but nobody knows yet whether ${which} arrived${why}`;
    case 'sending':
    case 'pending':
    case 'delivered':
      return `, but ${which} ${is} not delivered yet${why}`;
  }
}

/** Every reason has its sentence; one that is added does not compile without. They follow "skipped, ", "missed; " and the like. */
const sentences: Readonly<Record<Reason, (one: Case) => string>> = {
  overlap: (one) =>
    one.status === 'pending'
      ? `for the run before it to end (policy overlap: ${overlapOf(one)})`
      : `because the run before it was still running (policy overlap: ${overlapOf(one)})`,
  queue_full: () => `because ${limits.queueLengthMax} others were waiting before it already (policy overlap: queue)`,
  replaced: ({ source }) =>
    source === 'snooze'
      ? 'because it was snoozed again, to another time'
      : 'because a newer run took its place (policy overlap: replace)',
  max_runs: (one) => `because ${maxRunsText(one)}`,
  late: (one) => `${absence(one)}${graceText(one)}, and the policy missed: skip skips late runs`,
  covered: (one) => `${absence(one)}, and the policy missed: once makes up for all missed runs with one`,
  beyond_limit: (one) => `${absence(one)}, and ${limitText(one)}`,
  ask: (one) =>
    `for an answer: it was missed, and the policy missed: ask asks whether to run it after all${untilAnswer(one)}`,
  ask_expired: () =>
    `because nobody answered within ${spanText(limits.askExpiryMs)} whether to run it after all (policy missed: ask)`,
  unaccounted: (one) =>
    `and nobody noted why; the nightly audit found that ${on(one, one.decidedAt)}, and it should not have happened`,
  declined: (one) => `because ${byWhom(one, 'decided', 'somebody decided')} not to run it`,
  skip: (one) => `because ${byWhom(one, 'had skipped it in advance', 'somebody had skipped it in advance')}`,
  undone: (one) => `because ${byWhom(one, 'undid that', 'that was undone')}`,
  done: () => 'because what it asks for was done before',
  deleted: (one) => `because ${byWhom(one, 'deleted the task', 'the task was deleted')}`,
  paused: (one) => `because ${byWhom(one, 'paused the task', 'the task was paused')} while it was waiting`,
  cancelled: (one) => (one.deed === null ? 'on request' : `by ${actorText(one.deed.actor)} ${on(one, one.deed.at)}`),
  unchanged: () => 'as its result was the same as that of the last success (skip_if_unchanged or watch)',
  grant_missing: () => 'because the task has no grant, which is its right to run',
  grant_revoked: () => 'because the grant of the task, which is its right to run, was revoked',
  grant_expired: () => 'because the grant of the task, which is its right to run, had expired',
  grant_scope: () => 'because the grant of the task does not cover what it does',
  secret_missing: () => 'because a secret that it names is not there, or not for this chat',
  secret_host: () => 'because a secret that it names must not be sent to the host that it calls',
  discarded: () => `because it was not approved (policy approval: required)`,
  budget: () => 'because the budget for it was used up',
  gone_kind: () => 'because this server no longer knows the action of the task',
};

/** A reason that a newer version wrote is told by its name. */
export function sentenceFor(reason: Reason, one: Case): string {
  const known: ((one: Case) => string) | undefined = Object.hasOwn(sentences, reason) ? sentences[reason] : undefined;
  return known === undefined ? `because of ${String(reason)}` : known(one);
}

/** "on Tue 17 Nov 18:02", or only the time when that is the day of the slot. */
function on({ timeline: { about }, slotAt }: Pick<Case, 'timeline' | 'slotAt'>, instant: number): string {
  return onDay(about.beside(instant, slotAt));
}

/** A date to the second, for what is to come. */
function onExactly({ timeline: { moments }, slotAt }: Case, instant: number): string {
  return onDay(moments.beside(instant, slotAt));
}

export function onDay(text: string): string {
  return `${text.includes(' ') && /^[A-Z]/.test(text) ? 'on' : 'at'} ${text}`;
}

function byWhom(one: Case, does: string, passive: string): string {
  return one.deed === null ? passive : `${actorText(one.deed.actor)} ${does} ${on(one, one.deed.at)}`;
}

function overlapOf(one: Case): string {
  return policyOfCase(one)?.overlap ?? 'skip';
}

/** The minute would do, but for the seconds that were too late. */
function absence(one: Case): string {
  const { timeline, decidedAt, slotAt } = one;
  const isClose = minuteOf(decidedAt) - slotAt <= (graceOf(one) ?? 0);
  const moments = isClose ? timeline.moments : timeline.about;
  return `${nobody(one)} until ${moments.beside(decidedAt, slotAt)}`;
}

function nobody(one: Case): string {
  return wasUnwritable(one) ? 'the database could not be written' : 'the server was down';
}

function graceText(one: Case): string {
  const grace = graceOf(one);
  return grace === null ? '' : `, which is past the grace of ${grace === 0 ? 'nothing' : spanText(grace)}`;
}

function limitText(one: Case): string {
  const limit = policyOfCase(one)?.missedLimit;
  const runs = limit === undefined ? 'latest runs' : limit === 1 ? 'latest run' : `latest ${limit} runs`;
  return policyOfCase(one)?.missed === 'ask'
    ? `the policy missed: ask asks about the ${runs} alone`
    : `the policy missed: all makes up for the ${runs} alone`;
}

function maxRunsText(one: Case): string {
  const allowed = policyOfCase(one)?.maxRuns ?? null;
  return allowed === null ? 'max_runs was used up' : `max_runs (${allowed}) was used up`;
}

function untilAnswer(one: Case): string {
  return one.decideBy === null ? '' : `, until ${one.timeline.about.beside(one.decideBy, one.slotAt)}`;
}

/** Words for the origin of a slot, when that was not the schedule alone. */
const askedFor: Readonly<Record<OccurrenceSource, (one: Case) => string>> = {
  schedule: () => '',
  catch_up: (one) => {
    const wish = one.asker === null ? '' : ` and ${actorText(one.asker.actor)} wanted it after all`;
    return `, as ${nobody(one)}${wish}`;
  },
  run_now: (one) => `, asked for by hand${doneBy(one)}`,
  snooze: (one) =>
    one.status === 'succeeded'
      ? `, because ${one.asker === null ? 'it was snoozed' : `${actorText(one.asker.actor)} snoozed it`}`
      : `, snoozed to this time${doneBy(one)}`,
  retry: (one) => `, as a retry${doneBy(one)}`,
  replay: (one) => `, as a replay${doneBy(one)}`,
  stale_refresh: () => ', because its last good result was too old (policy refresh_after)',
};

function doneBy({ asker }: Case): string {
  return asker === null ? '' : ` by ${actorText(asker.actor)}`;
}

/** An actor, as a line names them. People have no names yet, so their id stands for them. */
export function actorText(actor: string): string {
  if (actor === 'system') return 'the system';
  if (actor === 'system:api') return 'the API';
  const token = /^api:token:(.+)$/.exec(actor)?.[1];
  return token === undefined ? actor : `the API token "${token}"`;
}

const errorLengthMax = 200;

/** One line stays one line, and a text that ends in a full stop does not get two. */
export function errorText(error: string | null): string {
  if (error === null) return '';
  const line = error.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return `: ${line.length > errorLengthMax ? `${line.slice(0, errorLengthMax - 1)}…` : line}`;
}
