import { slotAccountPage } from '../../domain/limits.ts';
import { nextSlots } from '../../domain/schedule/schedule.ts';
import { policyFor } from '../pipeline/requests.ts';
import type { DueTask, Unreadable } from '../ports/pipeline.ts';
import type { HousekeepingStore } from '../ports/upkeep.ts';

export interface Window {
  readonly from: number;
  readonly through: number;
}

export interface AccountPage {
  /** Slots that were computed again. */
  readonly seen: number;
  /** Those for which nothing stands: no row, no gap. */
  readonly lost: readonly number[];
}

export interface SlotAccounting {
  /** A page of the slots of the window; null when there is none left. */
  next(): Promise<AccountPage | null>;
}

/**
 * Looks at what stands for the slots of a task, a page at a time, so that a task that runs each second does not hold up the
 * loop. Whatever lies before the next slot of a task must have been decided. A row that cannot be read, or a schedule that
 * cannot be computed, is the scheduler's to report.
 */
export function slotAccounting(
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
