import { describe } from '../../domain/schedule/schedule.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import { failuresPause, ownerGonePause } from '../../domain/task.ts';
import type { Deed, GapRow } from '../ports/why.ts';
import type { Decision } from '../why/answers.ts';
import { minuteOf, type Moments } from '../why/moments.ts';
import { reasonOf, spentBound } from '../why/stretch-answers.ts';
import type { Stretch } from '../why/stretches.ts';
import {
  caseOfGap,
  type Bound,
  type Neighbour,
  type NoSlot,
  type Open,
  rulingAt,
  type Timeline,
  type WhyWords,
} from '../why/timeline.ts';
import { actorText, errorText, onDay, sentenceFor, slotText } from './why-slots.ts';

const verbs = {
  nothingIsDue: 'nothing is due',
  nothingWasDue: 'nothing was due',
  noRunPlanned: 'no run planned',
  noRun: 'no run',
} as const;

export const englishWhy: WhyWords = {
  line: (when, text) => `${when}: ${text}.`,
  between: (from, to) =>
    from === null ? `Until ${to ?? ''}` : to === null ? `From ${from} on` : `From ${from} to ${to}`,
  delivered: 'delivered',
  slot: slotText,
  gap: gapText,
  standing: (timeline, stretch, { at, verb }) => `${verbs[verb]}; ${standingText(timeline, stretch, at)}`,
  noSlot: noSlotText,
  dayOut: ({ text }) => `no slot, as ${text}`,
  open: openText,
  removed: (timeline) => `records of that time were removed ${removedText(timeline)}`,
};

function noSlotText(timeline: Timeline, at: number, { bound, stretch, before, after }: NoSlot): string {
  const aside = stretch === null ? '' : `; ${standingText(timeline, stretch, at)}`;
  const why =
    bound === null ? `not a time of this task${scheduleText(timeline, at)}${aside}` : boundText(timeline, bound);
  return `${why}${aroundText(timeline, at, { before, after })}${untilEndText(timeline, at)}`;
}

function boundText(timeline: Timeline, bound: Bound): string {
  const { moments } = timeline;
  switch (bound.is) {
    case 'start_at':
      return `nothing is due, as the task begins on ${moments.full(bound.at)} (start_at)`;
    case 'until':
      return `nothing is due, as the task ends on ${moments.full(bound.at)} (until)`;
    case 'max_runs':
      return `nothing is planned, as with max_runs (${bound.maxRuns}) ${lastText(timeline, bound.last)}`;
    case 'exception':
      return `no slot, as ${bound.text}`;
  }
}

function lastText({ rows: { task, ahead }, moments }: Timeline, last: number): string {
  const next = task.nextAt ?? task.resumeAt ?? last;
  if (last >= next) return `the run of ${moments.full(last)} may be the last one, if nothing is skipped before it`;
  return ahead.reserved > 0 ? 'what waits or runs by now may be the last of it' : 'nothing is left to run';
}

function scheduleText(timeline: Timeline, at: number): string {
  const ruling = rulingAt(timeline, at);
  if (ruling === null) return '';
  try {
    return ` (${describe(ruling.schedule, { words: timeline.schedules })})`;
  } catch {
    return '';
  }
}

interface Around {
  readonly before: Neighbour | null;
  readonly after: Neighbour | null;
}

function aroundText({ moments }: Timeline, at: number, around: Around): string {
  const named = (one: Neighbour | null) =>
    one === null ? null : `${moments.beside(one.at, at)} (${decisions[one.decision]})`;
  const [before, after] = [named(around.before), named(around.after)];
  if (before !== null && after !== null) return `; the times around it are ${before} and ${after}`;
  if (before !== null) return `; the time before it is ${before}`;
  return after === null ? '' : `; the time after it is ${after}`;
}

const decisions: Readonly<Record<Decision, string>> = {
  ran: 'ran',
  late: 'ran late',
  failed: 'failed',
  running: 'running',
  waiting: 'waiting',
  skipped: 'skipped',
  missed: 'missed',
  cancelled: 'cancelled',
  gap: 'missed',
  paused: 'paused',
  completed: 'completed',
  deleted: 'deleted',
  not_created: 'before it was created',
  no_slot: 'no slot',
  planned: 'planned',
  due: 'due',
  unrecorded: 'unrecorded',
};

/** While work goes on, a delay after its end cannot be planned. */
function untilEndText({ rows: { ahead }, now }: Timeline, at: number): string {
  return ahead.awaitsEnd && at > now ? '; when the next run is depends on when the one ends that is under way' : '';
}

function openText(timeline: Timeline, slot: number, state: Open): string {
  switch (state.cause) {
    case 'schedule':
      return 'planned';
    case 'grant_missing':
      return 'planned, but it will be skipped: the task has no grant, which is its right to run';
    case 'grant_revoked':
      return 'planned, but it will be skipped: the grant of the task, which is its right to run, was revoked';
    case 'grant_expired':
      return `planned, but it will be skipped: the grant of the task, which is its right to run, ends before that, ${onDay(timeline.about.beside(state.at, slot))}`;
    case 'due':
      return 'due now';
    case 'retention':
      return `its record was removed ${removedText(timeline)}`;
    case 'unreadable':
      return `no run; ${standingText(timeline, state.quarantine, slot)}, before this run was taken up`;
    case 'no_version':
      return 'no record, as the schedule of that time was not kept';
    case 'clock_set_back':
      return 'no record; the clock was set back around then, so this time came twice, and the schedule that names it did not hold both times';
    case 'no_record':
      return 'no record, though the schedule names this time; this should not happen, and the nightly audit reports it';
  }
}

/** By the task itself, by the retention that holds now, or by one that was shorter. */
function removedText({ keptFrom, now, retentionMs, rows }: Timeline): string {
  if (rows.lastNotKept === keptFrom - 1) return 'by the policy keep';
  return keptFrom > now - retentionMs
    ? 'while records were kept for a shorter time than now'
    : `after ${Math.round(retentionMs / DAY_MS)} days`;
}

function gapText(timeline: Timeline, gap: GapRow): string {
  const { about } = timeline;
  const { toAt, count, reason, createdAt } = gap;
  const runs = count === 1 ? '1 run' : `${count.toLocaleString('en')} runs`;
  // A task that its failures stop, or a purge, has slots left that are due, and nobody decides about them any more.
  return reason === 'paused' || reason === 'deleted'
    ? `${runs} left out, as the task was ${reason} by then (${about.beside(createdAt, toAt)})`
    : `${runs} missed in one outage; ${sentenceFor(reason, caseOfGap(timeline, gap))}`;
}

/** Why a task has no slots there; `at` is the instant that is asked about, null for all of them. */
function standingText(timeline: Timeline, stretch: Stretch, at: number | null): string {
  const { rows } = timeline;
  const { begun, ended, lastSlot, until } = stretch;
  const when = (instant: number) => momentsFor(timeline, instant, at).full(instant);
  switch (stretch.is) {
    case 'not_created': {
      const creator = actorText(ended?.actor ?? rows.task.created.by);
      return `${creator} created the task only on ${when(rows.task.created.at)}`;
    }
    case 'paused': {
      const end = until === null ? '' : `, until ${when(until)}`;
      return `${pausedText(stretch, when)}${pauseText(reasonOf(timeline, stretch))}${end}`;
    }
    case 'deleted':
      return doneText(begun, ['deleted', 'the task'], when);
    case 'completed': {
      const bound = spentBound(timeline, stretch);
      if (bound !== null) return `the task was completed, because max_runs (${bound}) was used up`;
      return lastSlot === null
        ? 'the task was completed by then: nothing was left to run'
        : `the task was completed: its last time was ${timeline.moments.full(lastSlot)}`;
    }
  }
}

/** A deed in the very minute that is asked about is told to the second, or one would not know which came first. */
function momentsFor({ moments, about }: Timeline, instant: number, at: number | null): Moments {
  return at !== null && minuteOf(at) === minuteOf(instant) ? moments : about;
}

/** A restored task is as paused as it was when it was deleted. */
function pausedText({ begun, pausedBy }: Stretch, when: (instant: number) => string): string {
  if (begun?.stateBefore !== 'deleted') return doneText(begun, ['paused', 'it'], when);
  if (pausedBy === null) return 'the task was paused';
  const actor = 'by' in pausedBy ? pausedBy.by : pausedBy.actor;
  return `${actorText(actor)} had paused it on ${when(pausedBy.at)}, before it was deleted and restored`;
}

function doneText(
  deed: Deed | null,
  [did, what]: readonly [string, string],
  when: (instant: number) => string,
): string {
  if (deed === null) return `the task was ${did}`;
  return `${actorText(deed.actor)} had ${did} ${what} on ${when(deed.at)}`;
}

function pauseText(reason: string): string {
  if (reason === failuresPause) return ', as its runs had failed too often in a row';
  if (reason === ownerGonePause) return ', as its owner was not in the chat any more';
  if (reason === 'harmful_template') return ', as its template would harm the work of others';
  if (!reason.startsWith('unreadable')) return '';
  return `, as its row could not be read${errorText(reason.slice('unreadable: '.length))}`;
}
