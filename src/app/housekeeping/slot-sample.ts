import * as limits from '../../domain/limits.ts';
import { slotAccountPage } from '../../domain/limits.ts';
import { nextSlots } from '../../domain/schedule/schedule.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { DueTask, Unreadable } from '../ports/pipeline.ts';
import type { HousekeepingStore, UpkeepStore } from '../ports/upkeep.ts';

export interface Missing {
  readonly taskId: string;
  readonly slotAt: number;
}

interface SamplePage {
  /** Tasks whose slots have been begun. */
  readonly tasks: number;
  readonly missing: readonly Missing[];
}

interface SlotSample {
  /** Looks at one page of the tasks, or of the slots of one of them; null when the sample has ended. */
  step(): Promise<SamplePage | null>;
}

interface Needs {
  readonly store: Pick<HousekeepingStore, 'sampleTasks' | 'slotAccount'> & Pick<UpkeepStore, 'readNote' | 'writeNote'>;
}

/** Where the next sample begins; each one goes on where the last one ended. */
const sampleNote = 'audit:sample';

/**
 * The slots of the last day of some tasks, computed again and compared. It goes on where the last one ended, from the end
 * of the tasks to their front, and never looks at a task twice.
 */
export function slotSample({ store }: Needs, window: Window, now: number): SlotSample {
  const walk = taskWalk(store, window);
  let current: { task: DueTask | Unreadable; accounting: SlotAccounting } | null = null;
  let slots = 0;
  return {
    step: async () => {
      if (current === null) {
        const task = slots >= limits.slotSampleSlotsMax ? null : await walk.next();
        if (task === null) await store.writeNote(sampleNote, walk.at(), now);
        if (task === null) return null;
        if (task === 'more') return { tasks: 0, missing: [] };
        current = { task, accounting: slotAccounting(store, task, window) };
        return { tasks: 1, missing: [] };
      }
      const { task, accounting } = current;
      const page = await accounting.next();
      if (page === null) current = null;
      slots += page?.seen ?? 0;
      return { tasks: 0, missing: (page?.lost ?? []).map((slotAt) => ({ taskId: task.id, slotAt })) };
    },
  };
}

interface TaskWalk {
  /** The next task; `more` when a page had none that can be looked at, null at the end. */
  next(): Promise<DueTask | Unreadable | 'more' | null>;
  /** The last task that was handed out, or was passed over. */
  at(): string;
}

function taskWalk(store: Needs['store'], { from }: Window): TaskWalk {
  let start: string | null = null;
  let at = '';
  let pageEnd: string | null = null;
  let left = limits.slotSampleMax;
  let wrapped = false;
  let ended = false;
  const page: (DueTask | Unreadable)[] = [];

  const read = async (after: string) => {
    const limit = Math.min(limits.slotSamplePage, left);
    const { tasks, last } = await store.sampleTasks({ after, limit, from });
    // Once round, it ends with the task at which it began.
    const isRound = wrapped && (last === null || last >= (start ?? ''));
    page.push(...tasks.filter(({ id }) => !wrapped || id <= (start ?? '')));
    left -= last === null ? tasks.length : limit;
    pageEnd = last ?? '';
    ended = isRound || left <= 0 || (last === null && start === '');
    wrapped ||= last === null;
  };

  return {
    at: () => at,
    next: async () => {
      start ??= at = (await store.readNote(sampleNote)) ?? '';
      const task = page.shift();
      if (task !== undefined) {
        at = task.id;
        return task;
      }
      if (pageEnd !== null) at = pageEnd;
      if (ended) return null;
      await read(at);
      return 'more';
    },
  };
}

interface Window {
  readonly from: number;
  readonly through: number;
}

interface AccountPage {
  /** Slots that were computed again. */
  readonly seen: number;
  /** Those for which nothing stands: no row, no gap. */
  readonly lost: readonly number[];
}

interface SlotAccounting {
  /** A page of the slots of the window; null when there is none left. */
  next(): Promise<AccountPage | null>;
}

/**
 * Looks at what stands for the slots of a task, a page at a time, so that a task that runs each second does not hold up the
 * loop. Whatever lies before the next slot of a task must have been decided. A row that cannot be read, or a schedule that
 * cannot be computed, is the scheduler's to report.
 */
function slotAccounting(
  store: Pick<HousekeepingStore, 'slotAccount'>,
  task: DueTask | Unreadable,
  window: Window,
): SlotAccounting {
  let from = window.from;
  const through = 'unreadable' in task ? from : Math.min(window.through, task.nextAt - 1);
  return {
    next: async () => {
      if ('unreadable' in task || from >= through) return null;
      const slots = slotsOf(task, { from, through });
      const page = { from, through: slots.length < slotAccountPage ? through : (slots.at(-1) ?? through) };
      if (slots.length === 0) return null;
      const account = await store.slotAccount({ taskId: task.id, untouchedSince: window.from, ...page });
      // Somebody has just changed the task, and so nobody knows any more what its slots were.
      from = account === null ? through : page.through;
      if (account === null) return null;
      const known = new Set(account.slots);
      const lost = slots.filter(
        (slot) => !known.has(slot) && !account.gaps.some((gap) => gap.fromAt <= slot && slot <= gap.toAt),
      );
      return { seen: slots.length, lost };
    },
  };
}

function slotsOf(task: DueTask, { from, through }: Window): number[] {
  try {
    const { startAt, until } = policyFor(task);
    return nextSlots(task.schedule, from, { count: slotAccountPage, upTo: through, bounds: { startAt, until } });
  } catch {
    return [];
  }
}
