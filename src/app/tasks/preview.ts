import { previewCountDefault } from '../../domain/limits.ts';
import type { AdviceWords } from '../../domain/schedule/advice.ts';
import {
  assumptions,
  describe,
  minGapMs,
  nextSlots,
  parseSchedule,
  refusals,
  type Schedule,
  type ScheduleInput,
  warnings,
} from '../../domain/schedule/schedule.ts';
import { type Asked, readAnywhere } from '../../domain/when/asked.ts';

/** Either a schedule in its fields, or a text that begins with a when in plain words. */
export type PreviewRequest =
  | { readonly schedule: ScheduleInput; readonly after?: number | undefined; readonly count?: number | undefined }
  | {
      readonly when: string;
      readonly timezone: string;
      readonly language?: string | undefined;
      readonly now?: number | undefined;
      readonly count?: number | undefined;
    };

export interface Preview {
  readonly schedule: Schedule;
  readonly next: readonly number[];
  readonly description: string;
  readonly minGapMs: number | null;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/** A preview, and what else the words said; null where no words were sent. */
export interface AskedPreview extends Preview {
  readonly asked: Pick<Asked, 'text' | 'policies' | 'assumed' | 'forWhom'> | null;
}

interface Looking {
  readonly after: number;
  readonly minIntervalMs: number;
  readonly count?: number | undefined;
  /** English without them. */
  readonly words?: AdviceWords | undefined;
}

/**
 * Calculates what a task with this schedule would do. What creation would refuse is calculated all the same and said in
 * the warnings, because whoever asks wants to see why.
 */
export function previewOf(schedule: Schedule, looking: Looking): Preview {
  const { after, minIntervalMs, count = previewCountDefault, words } = looking;
  const refused = refusals(schedule, { now: after, minIntervalMs, words });
  return {
    schedule,
    next: nextSlots(schedule, after, { count }),
    description: describe(schedule),
    minGapMs: minGapMs(schedule),
    warnings: [
      ...refused.map(({ reason, message }) => ({ code: reason, message })),
      ...warnings(schedule, { now: after, words }),
    ],
  };
}

/** A preview of what a client sent. */
export function previewSchedule(
  request: PreviewRequest,
  { now, minIntervalMs }: { now: number; minIntervalMs: number },
): AskedPreview {
  const { count } = request;
  if ('when' in request) {
    const after = request.now ?? now;
    const asked = readAnywhere(request.when, { timezone: request.timezone, now: after, language: request.language });
    const preview = previewOf(asked.schedule, { after, minIntervalMs, count });
    return { ...preview, next: preview.next.slice(0, asked.policies.max_runs), asked };
  }
  const after = request.after ?? now;
  const preview = previewOf(parseSchedule(request.schedule, after), { after, minIntervalMs, count });
  return { ...preview, warnings: [...preview.warnings, ...assumptions(request.schedule)], asked: null };
}
