import * as limits from '../../domain/limits.ts';
import { isDelay, nextSlot, type Schedule } from '../../domain/schedule/schedule.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { toWall } from '../../domain/schedule/time/zone.ts';
import type { Task } from '../../domain/task.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { Meter } from '../ports/metering.ts';
import type { Timer, World } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { TaskStore } from '../ports/tasks.ts';
import type { HousekeepingStore, UpkeepStore } from '../ports/upkeep.ts';
import { isUnreadable } from '../tasks/verbs.ts';
import { inSteps, type Chore } from './chore.ts';
import { libraries, type SecondOpinion, type SlotQuestion, type Library, type Opinion } from './second-opinion.ts';

/** The part of the schedule engines that is put to the test. */
export interface SlotEngine {
  nextSlot(schedule: Schedule, after: number): number | null;
  toWall(timezone: string, instant: number): number;
}

/**
 * Compares the next slots of tasks with a second opinion: those of a task whose schedule is new soon after the commit, and
 * those of all active tasks each night. It delays and refuses nothing. A difference is a finding of the audit, is counted,
 * and is told to the owners once; no opinion is counted and nothing more.
 */
export interface SlotReview {
  /** A hint that a task has another schedule. A lost one costs nothing, because the night looks at every task. */
  readonly look: (taskId: string) => void;
  readonly chores: readonly [fresh: Chore, night: Chore];
}

interface ReviewDeps extends Pick<World, 'clock' | 'timer' | 'bell' | 'log'> {
  readonly store: Pick<TaskStore, 'readTask' | 'listTasks'> &
    Pick<UpkeepStore, 'readNote' | 'writeNote'> &
    Pick<HousekeepingStore, 'tellFindings'>;
  readonly opinion: Pick<SecondOpinion, 'slotsOf'>;
  readonly engine?: SlotEngine;
  readonly meter: Meter;
}

export function createSlotReview(deps: ReviewDeps): SlotReview {
  const { store, bell, meter } = deps;
  const waiting = new Set<string>();
  const review = createReviewer(deps);

  const lookAtWaiting = async (): Promise<Counts> => {
    const [taskId = ''] = waiting;
    waiting.delete(taskId);
    const task = await store.readTask(taskId);
    if (task !== null) await review(task);
    return { taken: 1, more: waiting.size > 0 };
  };

  const walk = async function* () {
    const page = { thread: null, state: 'enabled', text: null, tag: null, subject: null } as const;
    let cursor: string | null = null;
    do {
      const { items, next }: Awaited<ReturnType<TaskStore['listTasks']>> = await store.listTasks({
        ...page,
        limit: limits.slotReviewPage,
        cursor,
      });
      for (const task of items) await review(task);
      yield items.length;
      cursor = next;
    } while (cursor !== null);
  };

  return {
    look: (taskId) => {
      if (waiting.size === 0) bell.ring('housekeeper');
      waiting.add(taskId);
      const [oldest] = waiting;
      if (waiting.size <= limits.slotReviewQueueMax || oldest === undefined) return;
      waiting.delete(oldest);
      meter.count('second_opinions_dropped_total', {});
    },
    chores: [
      { name: 'new_schedules', when: { asked: () => waiting.size > 0 }, beside: true, step: lookAtWaiting },
      { name: 'slot_review', when: { nightly: limits.slotReviewAfterMs }, beside: true, step: inSteps(walk) },
    ],
  };
}

const ourEngine: SlotEngine = { nextSlot, toWall };

/** Asks about one task, and keeps, counts and tells the result. */
function createReviewer(deps: ReviewDeps): (task: Task) => Promise<void> {
  const { opinion, engine = ourEngine, clock, timer, meter, log } = deps;
  const keep = createMemory(deps);
  return async (task) => {
    if (isUnreadable(task) || task.state === 'completed' || task.state === 'deleted') return;
    const question = await questionOf(engine, task, { now: clock.now(), timer });
    if (question === null) return;
    const answer = await opinion.slotsOf(question);
    const schedule = task.schedule.kind;
    if (answer.is === 'none') {
      const { reason } = answer;
      meter.count('second_opinions_total', { schedule, result: reason });
      if (reason === 'timeout' || reason === 'died') log.warn('second_opinion_missing', { task_id: task.id, reason });
      return;
    }
    const parted = partedAt(question, answer);
    meter.count('second_opinions_total', { schedule, result: parted === null ? 'agrees' : 'differs' });
    await keep(task, parted);
  };
}

/** Keeps a difference, and tells of it when it is new; a schedule that agrees again is forgotten. */
function createMemory(deps: ReviewDeps): (task: Task, parted: Parted | null) => Promise<void> {
  const { store, clock } = deps;
  let known: Map<string, SlotDifference> | null = null;
  return async (task, parted) => {
    const now = clock.now();
    const stored = known ?? (await readDifferences(store, now));
    // Two reviews may go on at a time, and the one that has read first is the one that counts.
    known ??= stored;
    const before = known.get(task.id);
    if (parted === null && before === undefined) return;
    known.delete(task.id);
    if (parted !== null) {
      const difference = differenceOf(task, parted, now);
      if (known.size < limits.differencesKeptMax) known.set(task.id, difference);
      if (before?.schedule !== difference.schedule) await announce(deps, difference);
    }
    known = lately(known, now);
    await store.writeNote(note, JSON.stringify([...known.values()]), now);
  };
}

function differenceOf(task: Task, parted: Parted, now: number): SlotDifference {
  const { id: taskId, number, schedule } = task;
  return { taskId, number, library: libraries[schedule.kind], schedule: scheduleKey(schedule), ...parted, seenAt: now };
}

/** Null where our own engine cannot compute the schedule, which the scheduler reports. */
async function questionOf(
  engine: SlotEngine,
  task: Task,
  { now, timer }: { readonly now: number; readonly timer: Timer },
): Promise<SlotQuestion | null> {
  const { schedule } = task;
  const { startAt, until } = policyFor(task);
  // The second slot of a delay hangs on the end of the first run.
  const hasOneSlot = isDelay(schedule);
  const after = hasOneSlot ? now : Math.max(now, (startAt ?? now) - 1);
  const horizon = after + limits.slotReviewHorizonMs;
  const upTo = hasOneSlot ? horizon : Math.min(horizon, until ?? horizon);
  const count = hasOneSlot ? 1 : limits.slotReviewSlots;
  const ours: number[] = [];
  try {
    for (let slot = engine.nextSlot(schedule, after); slot !== null && slot <= upTo;) {
      ours.push(slot);
      if (ours.length === count) break;
      // A search through centuries takes milliseconds, and others want to go on in between.
      await timer.yield();
      slot = engine.nextSlot(schedule, slot);
    }
    const shown = schedule.kind === 'once' ? engine.toWall(schedule.timezone, schedule.onceAt) : null;
    return { schedule, after, upTo, count, ours, shown };
  } catch {
    return null;
  }
}

async function announce({ store, log, clock }: ReviewDeps, difference: SlotDifference): Promise<void> {
  const { taskId, number, library, ours, theirs } = difference;
  const texts = (slots: readonly number[]) => slots.map(iso);
  log.warn('slots_differ', { task_id: taskId, number, library, ours: texts(ours), theirs: texts(theirs) });
  await store.tellFindings([{ check: 'slots_differ', count: 1 }], clock.now());
}

/** Both answers about the next slots of one task, from where they part. */
interface SlotDifference {
  readonly taskId: string;
  readonly number: number;
  readonly library: Library;
  /** The schedule that was asked about: another one is another question. */
  readonly schedule: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  readonly seenAt: number;
}

type Parted = Pick<SlotDifference, 'ours' | 'theirs'>;

/** The first slots that the answers do not share; null where they agree as far as both reach. */
export function partedAt(question: SlotQuestion, { slots, unsure }: Extract<Opinion, { is: 'slots' }>): Parted | null {
  const reachOf = (list: readonly number[]) => (list.length < question.count ? question.upTo : (list.at(-1) ?? 0));
  const reach = Math.min(reachOf(question.ours), reachOf(slots));
  const left = new Set(unsure);
  const counted = (list: readonly number[]) => list.filter((slot) => slot <= reach && !left.has(slot));
  const [ours, theirs] = [counted(question.ours), counted(slots)];
  const first = ours.findIndex((slot, index) => slot !== theirs[index]);
  const at = first < 0 ? ours.length : first;
  if (at === ours.length && at === theirs.length) return null;
  return {
    ours: ours.slice(at, at + limits.differenceShownMax),
    theirs: theirs.slice(at, at + limits.differenceShownMax),
  };
}

/** One text for a schedule, whatever the order of its fields. */
function scheduleKey(schedule: Schedule): string {
  return JSON.stringify(Object.entries(schedule).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const note = 'slot_differences';

/** The differences by task, as they were seen lately. They outlive a restart: the next night may be a day away. */
async function readDifferences(
  store: Pick<UpkeepStore, 'readNote'>,
  now: number,
): Promise<Map<string, SlotDifference>> {
  const kept = stored(await store.readNote(note));
  return lately(new Map(kept.map((difference) => [difference.taskId, difference])), now);
}

/** A task that was not asked about for some nights is gone, or nobody asks any more. */
function lately(differences: ReadonlyMap<string, SlotDifference>, now: number): Map<string, SlotDifference> {
  return new Map([...differences].filter(([, { seenAt }]) => seenAt > now - limits.differenceKeptMs));
}

function stored(text: string | null): readonly SlotDifference[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? (read as readonly SlotDifference[]) : [];
  } catch {
    return [];
  }
}

type StandingDifference = SlotDifference & Pick<Task, 'title'> & Pick<Schedule, 'timezone'>;

/** The differences of tasks that still have the schedule that was asked about. */
export async function standingDifferences(
  store: Pick<UpkeepStore, 'readNote'> & Pick<TaskStore, 'readTask'>,
  now: number,
): Promise<readonly StandingDifference[]> {
  const standing: StandingDifference[] = [];
  for (const difference of (await readDifferences(store, now)).values()) {
    const task = await store.readTask(difference.taskId);
    const isOpen = task?.state === 'active' || task?.state === 'paused';
    if (!isOpen || scheduleKey(task.schedule) !== difference.schedule) continue;
    standing.push({ ...difference, title: task.title, timezone: task.schedule.timezone });
  }
  return standing;
}

/** Both answers in a sentence. */
export function differenceSentence({ taskId, number, library, ours, theirs }: SlotDifference): string {
  const list = (slots: readonly number[]) => (slots.length === 0 ? 'no more' : slots.map(iso).join(', '));
  return `Task #${number} (${taskId}): ${list(ours)} here, ${list(theirs)} by ${library}.`;
}
