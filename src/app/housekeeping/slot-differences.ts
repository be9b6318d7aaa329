import { differenceKeptMs, differenceShownMax } from '../../domain/limits.ts';
import type { Schedule } from '../../domain/schedule/schedule.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';
import type { Library, Opinion, SlotQuestion } from '../ports/second-opinion.ts';
import type { TaskStore } from '../ports/tasks.ts';

/** Both answers about the next slots of one task, from where they part. */
export interface SlotDifference {
  readonly taskId: string;
  readonly number: number;
  readonly library: Library;
  /** The schedule that was asked about: another one is another question. */
  readonly schedule: string;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  readonly seenAt: number;
}

export type Parted = Pick<SlotDifference, 'ours' | 'theirs'>;

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
  return { ours: ours.slice(at, at + differenceShownMax), theirs: theirs.slice(at, at + differenceShownMax) };
}

/** The same text for the same schedule, whatever the order of its fields. */
export function scheduleKey(schedule: Schedule): string {
  return JSON.stringify(Object.entries(schedule).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const note = 'slot_differences';

/** The differences by task, as they were seen lately. They outlive a restart: the next night may be a day away. */
export async function readDifferences(
  store: Pick<UpkeepStore, 'readNote'>,
  now: number,
): Promise<Map<string, SlotDifference>> {
  const kept = stored(await store.readNote(note));
  return lately(new Map(kept.map((difference) => [difference.taskId, difference])), now);
}

export async function writeDifferences(
  store: Pick<UpkeepStore, 'writeNote'>,
  differences: ReadonlyMap<string, SlotDifference>,
  now: number,
): Promise<void> {
  await store.writeNote(note, JSON.stringify([...differences.values()]), now);
}

/** A task that was not asked about for some nights is gone, or nobody asks any more. */
export function lately(differences: ReadonlyMap<string, SlotDifference>, now: number): Map<string, SlotDifference> {
  return new Map([...differences].filter(([, { seenAt }]) => seenAt > now - differenceKeptMs));
}

function stored(text: string | null): readonly SlotDifference[] {
  try {
    const read: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(read) ? (read as readonly SlotDifference[]) : [];
  } catch {
    return [];
  }
}

/** Those of tasks that still have the schedule that was asked about. */
export async function standingDifferences(
  store: Pick<UpkeepStore, 'readNote'> & Pick<TaskStore, 'readTask'>,
  now: number,
): Promise<readonly SlotDifference[]> {
  const standing: SlotDifference[] = [];
  for (const difference of (await readDifferences(store, now)).values()) {
    const task = await store.readTask(difference.taskId);
    const isOpen = task?.state === 'active' || task?.state === 'paused';
    if (isOpen && scheduleKey(task.schedule) === difference.schedule) standing.push(difference);
  }
  return standing;
}

/** Both answers in a sentence. */
export function differenceSentence({ taskId, number, library, ours, theirs }: SlotDifference): string {
  const list = (slots: readonly number[]) =>
    slots.length === 0 ? 'no more' : slots.map((slot) => new Date(slot).toISOString()).join(', ');
  return `Task #${number} (${taskId}): ${list(ours)} here, ${list(theirs)} by ${library}.`;
}
