import type { ChatStore } from '../../../app/chat-store.ts';
import type { Clock, Outgoing } from '../../../app/ports.ts';
import type { Planned, TruthStore } from '../../../app/truth/store.ts';
import { upcoming } from '../../../app/upcoming.ts';
import { type Drawn, isView } from '../../../domain/shown.ts';
import { nameOf } from '../commands/rights.ts';
import { draw } from '../views/draw.ts';

export interface DrawingNeeds {
  readonly store: Pick<ChatStore, 'findChat' | 'readUser'> & Pick<TruthStore, 'readPlanned'>;
  readonly clock: Clock;
  readonly defaultTimezone: string;
}

const slotsShown = 3;

/** What a part shows by now; null when there is nothing to show any more. */
export async function drawnOf(needs: DrawingNeeds, part: Outgoing): Promise<Drawn | null> {
  const { store, clock, defaultTimezone } = needs;
  const { shown, taskId, route } = part;
  if (!isView(shown)) return shown;
  const chat = await store.findChat(route.address);
  const about = { now: clock.now(), timezone: chat?.timezone ?? defaultTimezone };
  const planned = taskId === null ? null : await store.readPlanned(taskId);
  if (planned === null) return draw(shown, { ...about, task: null, next: [] });
  const { task } = planned;
  const ownerName = await nameOf({ store }, task.ownerId);
  const pauserName = task.paused === null ? null : await nameOf({ store }, task.paused.by);
  return draw(shown, { ...about, task, next: comingOf(planned), ownerName, pauserName });
}

/** A schedule that cannot be read any more has no slots to come, and neither has what was deleted. */
function comingOf(planned: Planned): readonly number[] {
  const { state, pausedReason } = planned.task;
  const isOver = state === 'deleted' || pausedReason?.startsWith('unreadable') === true;
  return isOver ? [] : upcoming(planned, slotsShown);
}
