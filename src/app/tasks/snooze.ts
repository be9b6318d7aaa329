import { AppError } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { wallText } from '../../domain/schedule/schedule.ts';
import type { Ids } from '../ports/outside.ts';
import { noChange, type TaskChange, type TaskScene } from '../ports/tasks.ts';
import { freeSlot } from './by-hand.ts';
import { refuseDeleted } from './refusals.ts';

/**
 * Runs a task once more at a later time, beside its schedule. There is one snooze for each task: snoozing again moves it,
 * and to the same time changes nothing.
 */
export function planSnooze(ids: Ids, scene: TaskScene, { until, now }: { until: number; now: number }): TaskChange {
  refuseDeleted(scene);
  refuseOutside(scene, until, now);
  const { snoozedTo } = scene;
  // The instant may have moved by a few milliseconds to one that is free, so the two are compared as they are stored.
  const others = { ...scene, taken: new Set([...scene.taken].filter((slot) => slot !== snoozedTo)) };
  const slotAt = freeSlot(others, until);
  if (slotAt === snoozedTo) return noChange;
  return {
    ...noChange,
    endSnooze: snoozedTo === null ? null : 'replaced',
    manual: {
      occurrence: {
        id: ids.next(),
        slotAt,
        source: 'snooze',
        status: 'pending',
        reason: null,
        decideBy: null,
        runId: null,
        lateMs: 0,
      },
      run: null,
    },
    audit: {
      verb: 'snooze',
      before: snoozedTo === null ? null : { until: new Date(snoozedTo).toISOString() },
      after: { until: new Date(slotAt).toISOString() },
    },
  };
}

function refuseOutside({ task }: TaskScene, until: number, now: number): void {
  if (until > now && until - now <= limits.snoozeMaxMs) return;
  const latest = wallText(now + limits.snoozeMaxMs, task.schedule.timezone);
  throw new AppError('invalid_request', `A snooze ends in the future, by ${latest} at the latest.`, {
    details: { field: 'until' },
  });
}
