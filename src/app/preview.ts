import { previewCountDefault } from '../domain/limits.ts';
import {
  describe,
  minGapMs,
  nextSlots,
  parseSchedule,
  refusals,
  warnings,
  type ScheduleInput,
} from '../domain/schedule/schedule.ts';

export interface PreviewRequest {
  readonly schedule: ScheduleInput;
  readonly after?: number | undefined;
  readonly count?: number | undefined;
}

export interface Preview {
  readonly next: readonly number[];
  readonly description: string;
  readonly minGapMs: number | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/**
 * Calculates what a task with this schedule would do. What creation would refuse is calculated all the same and said in
 * the warnings, because whoever asks wants to see why.
 */
export function previewSchedule(
  request: PreviewRequest,
  { now, minIntervalMs }: { now: number; minIntervalMs: number },
): Preview {
  const after = request.after ?? now;
  const schedule = parseSchedule(request.schedule, after);
  const refused = refusals(schedule, { now: after, minIntervalMs });
  return {
    next: nextSlots(schedule, after, { count: request.count ?? previewCountDefault }),
    description: describe(schedule),
    minGapMs: minGapMs(schedule),
    warnings: [
      ...refused.map(({ reason, message }) => ({ code: reason, message })),
      ...warnings(schedule, { now: after }),
    ],
  };
}
