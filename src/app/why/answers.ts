import type { OccurrenceSource } from '../../domain/occurrence.ts';
import type { KindPause } from '../../domain/processes/process.ts';
import type { Attempt, SlotAck } from '../ports/runs.ts';
import type { GapRow, SlotDelivery } from '../ports/why.ts';

/** The fate of a slot. */
export type Decision =
  | 'ran'
  | 'late'
  | 'failed'
  | 'running'
  | 'waiting'
  | 'skipped'
  | 'missed'
  | 'cancelled'
  | 'gap'
  | 'paused'
  | 'completed'
  | 'deleted'
  | 'not_created'
  | 'no_slot'
  | 'planned'
  | 'due'
  | 'unrecorded';

export interface Evidence {
  readonly taskRunId?: string;
  readonly runId?: string;
  /** The number of the run within its task. */
  readonly runNumber?: number;
  readonly source?: OccurrenceSource;
  /** How long after its slot it was taken up. */
  readonly lateMs?: number;
  /** How long after its slot its work began, once it has. */
  readonly startedAfterMs?: number;
  readonly attempts?: {
    readonly count: number;
    readonly lastError: string | null;
    /** The last of them: who made it, and the job that had named its run. */
    readonly last: Pick<Attempt, 'worker' | 'jobId'> | null;
  };
  /** Its kind of actions is paused, so it waits. */
  readonly kindPaused?: KindPause;
  readonly deliveries?: readonly SlotDelivery[];
  readonly ack?: SlotAck;
  /** The retried or replayed occurrence. */
  readonly replayOf?: string;
  /** The row of the audit that tells who did it, and when. */
  readonly deed?: { readonly id: string; readonly at: number; readonly actor: string; readonly verb: string };
  readonly gap?: Pick<GapRow, 'id' | 'count'>;
  /** The version of the task that was in force. */
  readonly version?: number;
  readonly error?: string;
}

/** An instant, and whether it is a slot. */
export function point(at: number, isSlot: boolean): Pick<Answer, 'at' | 'from' | 'to' | 'slot'> {
  return { at, from: null, to: null, slot: isSlot ? at : null };
}

export function stretchOf(from: number | null, to: number | null): Pick<Answer, 'at' | 'from' | 'to' | 'slot'> {
  return { at: null, from, to, slot: null };
}

/** One truthful answer. A point has `at`; a stretch of time has `from` and `to`, null where it has no end. */
export interface Answer {
  readonly at: number | null;
  readonly from: number | null;
  readonly to: number | null;
  /** The slot it is about, for a point that is one. */
  readonly slot: number | null;
  readonly decision: Decision;
  /** One machine word: a reason, or what takes its place. */
  readonly cause: string;
  readonly evidence: Evidence;
  /** One line for people, with times on the clock of the task's zone. */
  readonly line: string;
}
