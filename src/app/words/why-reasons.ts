import * as limits from '../../domain/limits.ts';
import type { OccurrenceSource, Reason } from '../../domain/occurrence.ts';
import { spanText } from '../../domain/schedule/words/words.ts';
import { graceOf, policyOfCase, wasUnwritable } from '../why/case.ts';
import { minuteOf } from '../why/moments.ts';
import type { Case } from '../why/timeline.ts';

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
  deleted: (one) => `because ${byWhom(one, 'deleted the task', 'the task was deleted')}`,
  paused: (one) => `because ${byWhom(one, 'paused the task', 'the task was paused')} while it was waiting`,
  cancelled: (one) => (one.deed === null ? 'on request' : `by ${actorText(one.deed.actor)} ${on(one, one.deed.at)}`),
  unchanged: () => 'as its result was the same as that of the last success (policy skip_if_unchanged)',
  grant_missing: () => 'because the task has no grant, which is its right to run',
  grant_revoked: () => 'because the grant of the task, which is its right to run, was revoked',
  grant_expired: () => 'because the grant of the task, which is its right to run, had expired',
  grant_scope: () => 'because the grant of the task does not cover what it does',
  gone_kind: () => 'because this server no longer knows the action of the task',
};

/** A reason that a newer version wrote is told by its name. */
export function sentenceFor(reason: Reason, one: Case): string {
  const known: ((one: Case) => string) | undefined = Object.hasOwn(sentences, reason) ? sentences[reason] : undefined;
  return known === undefined ? `because of ${String(reason)}` : known(one);
}

/** "on Tue 17 Nov 18:02", or only the time when that is the day of the slot. */
export function on({ timeline: { about }, slotAt }: Pick<Case, 'timeline' | 'slotAt'>, instant: number): string {
  return onDay(about.beside(instant, slotAt));
}

/** A date to the second, for what is to come. */
export function onExactly({ timeline: { moments }, slotAt }: Case, instant: number): string {
  return onDay(moments.beside(instant, slotAt));
}

function onDay(text: string): string {
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
export const askedFor: Readonly<Record<OccurrenceSource, (one: Case) => string>> = {
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
