import * as limits from '../../domain/limits.ts';
import { nextSlots } from '../../domain/schedule/schedule.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { DueTask } from '../ports/pipeline.ts';
import type { HousekeepingStore } from '../ports/upkeep.ts';

/** A slot for which nothing stands: no row, no gap. */
export interface Missing {
  readonly taskId: string;
  readonly slotAt: number;
}

interface AccountPage {
  /** Tasks whose slots have been begun. */
  readonly tasks: number;
  readonly missing: readonly Missing[];
}

type AccountStore = Pick<HousekeepingStore, 'sampleTasks' | 'standingTask' | 'slotAccount'>;

const dayMs = 86_400_000;
/** Multiples of it spread evenly over a stretch, however many there are of them. */
const goldenRatio = (Math.sqrt(5) - 1) / 2;

/**
 * The slots of the last day of some tasks, computed again and compared. Each day has its part of the tasks, so whoever looks
 * twice on one day sees the same.
 */
export async function* missingSlots(store: AccountStore, now: number): AsyncGenerator<AccountPage, void> {
  const part = (Math.floor(now / dayMs) * goldenRatio) % 1;
  const window = { from: now - limits.slotSampleWindowMs, through: now - limits.overdueMs };
  let slots = 0;
  for (const taskId of await store.sampleTasks({ part, now, limit: limits.slotSampleMax })) {
    if (slots >= limits.slotSampleSlotsMax) return;
    const task = await store.standingTask(taskId, window.from);
    // A row that cannot be read is the scheduler's to report.
    if (task === null || 'unreadable' in task) continue;
    yield { tasks: 1, missing: [] };
    for await (const { seen, lost } of accountOf(store, task, window)) {
      slots += seen;
      yield { tasks: 0, missing: lost.map((slotAt) => ({ taskId, slotAt })) };
    }
  }
}

interface Window {
  readonly from: number;
  readonly through: number;
}

/** Slots that were computed again, and those of them for which nothing stands. */
interface Account {
  readonly seen: number;
  readonly lost: readonly number[];
}

/**
 * A page at a time, so that a task with thousands of slots does not hold up the loop. Whatever lies before the next slot of a
 * task must have been decided.
 */
async function* accountOf(store: AccountStore, task: DueTask, window: Window): AsyncGenerator<Account, void> {
  const end = Math.min(window.through, task.nextAt - 1);
  for (let { from } = window; from < end;) {
    const slots = slotsOf(task, { from, through: end });
    const through = slots.length < limits.slotAccountPage ? end : (slots.at(-1) ?? end);
    if (slots.length === 0) return;
    const account = await store.slotAccount({ taskId: task.id, untouchedSince: window.from, from, through });
    // A task that was changed a moment ago does not tell any more what its slots were.
    if (account === null) return;
    const known = new Set(account.slots);
    const inGap = (slot: number) => account.gaps.some(({ fromAt, toAt }) => fromAt <= slot && slot <= toAt);
    yield { seen: slots.length, lost: slots.filter((slot) => !known.has(slot) && !inGap(slot)) };
    from = through;
  }
}

/** A schedule that cannot be computed is the scheduler's to report. */
function slotsOf(task: DueTask, { from, through }: Window): number[] {
  try {
    const { startAt, until } = policyFor(task);
    const bounds = { startAt, until };
    return nextSlots(task.schedule, from, { count: limits.slotAccountPage, upTo: through, bounds });
  } catch {
    return [];
  }
}
