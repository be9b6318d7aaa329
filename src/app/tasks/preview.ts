import { previewCountDefault } from '../../domain/limits.ts';
import {
  describe,
  minGapMs,
  nextSlots,
  parseSchedule,
  refusals,
  type Schedule,
  type ScheduleInput,
  warnings,
} from '../../domain/schedule/schedule.ts';
import { readWhen } from '../../domain/when/when.ts';

/** Either a schedule in its fields, or a text that begins with a when in plain words. */
export type PreviewRequest =
  | { readonly schedule: ScheduleInput; readonly after?: number | undefined; readonly count?: number | undefined }
  | {
      readonly when: string;
      readonly timezone: string;
      readonly now?: number | undefined;
      readonly count?: number | undefined;
    };

export interface Preview {
  readonly schedule: Schedule;
  /** What stands behind the when; null where no text was sent. */
  readonly text: string | null;
  readonly next: readonly number[];
  readonly description: string;
  readonly minGapMs: number | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

interface Wanted {
  readonly schedule: Schedule;
  readonly text: string | null;
  readonly after: number;
}

function wanted(request: PreviewRequest, now: number): Wanted {
  if ('when' in request) {
    const after = request.now ?? now;
    const { schedule, rest } = readWhen(request.when, { timezone: request.timezone, now: after });
    return { schedule, text: rest, after };
  }
  const after = request.after ?? now;
  return { schedule: parseSchedule(request.schedule, after), text: null, after };
}

/**
 * Calculates what a task with this schedule would do. What creation would refuse is calculated all the same and said in
 * the warnings, because whoever asks wants to see why.
 */
export function previewSchedule(
  request: PreviewRequest,
  { now, minIntervalMs }: { now: number; minIntervalMs: number },
): Preview {
  const { schedule, text, after } = wanted(request, now);
  const refused = refusals(schedule, { now: after, minIntervalMs });
  return {
    schedule,
    text,
    next: nextSlots(schedule, after, { count: request.count ?? previewCountDefault }),
    description: describe(schedule),
    minGapMs: minGapMs(schedule),
    warnings: [
      ...refused.map(({ reason, message }) => ({ code: reason, message })),
      ...warnings(schedule, { now: after }),
    ],
  };
}
