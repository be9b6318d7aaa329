import { graceMs } from '../../domain/policy.ts';
import { nextSlot } from '../../domain/schedule/schedule.ts';
import type { GapRow, SlotRow } from '../ports/why.ts';
import { type Case, rulingAt, type Timeline } from './timeline.ts';

export function caseOfGap(timeline: Timeline, { toAt, createdAt }: GapRow): Case {
  return {
    timeline,
    slotAt: toAt,
    status: 'missed',
    source: 'schedule',
    decidedAt: createdAt,
    decideBy: null,
    deed: null,
    asker: null,
  };
}

/** Null where no schedule can be read that was in force. */
export function policyOfCase({ timeline, slotAt }: Case) {
  return rulingAt(timeline, slotAt)?.policy ?? null;
}

/** Null where no schedule can be read that was in force. */
export function graceOf({ timeline, slotAt }: Case): number | null {
  const ruling = rulingAt(timeline, slotAt);
  if (ruling === null) return null;
  try {
    return graceMs(ruling.policy, slotAt, nextSlot(ruling.schedule, slotAt));
  } catch {
    return null;
  }
}

/** Nothing could be written then, though the server may have been up. */
export function wasUnwritable({ timeline, slotAt }: Pick<Case, 'timeline' | 'slotAt'>): boolean {
  return timeline.rows.unwritable.some(({ from, to }) => from <= slotAt && slotAt <= to);
}

/** A pause holds what was snoozed before it. */
export function isHeld({ timeline: { rows } }: Case, createdAt: number): boolean {
  const { state, paused } = rows.task;
  return state === 'paused' && paused !== null && createdAt < paused.at;
}

/** A snooze brings back what has come before, unless it was the first run that there ever was. */
export function isAgain({ timeline: { rows } }: Case, { source }: SlotRow): boolean {
  return source === 'snooze' && rows.task.counters.runs > 1;
}

export function lastError({ run }: SlotRow): string | null {
  return run?.attempts.findLast(({ error }) => error !== null)?.error ?? null;
}

export function startedAfterMs({ run, slotAt }: SlotRow): number | null {
  const startedAt = run?.startedAt ?? null;
  return startedAt === null ? null : Math.max(0, startedAt - slotAt);
}
