import { isByHand } from '../../domain/occurrence.ts';
import type { SlotRow, SlotRun } from '../ports/why.ts';
import { point, type Answer, type Evidence } from './answers.ts';
import { lastError, startedAfterMs, versionAt, type Case, type Timeline } from './timeline.ts';

/** The truth about one slot that has its row. */
export function answerSlot(timeline: Timeline, row: SlotRow): Answer {
  const one: Case = { ...row, timeline, decidedAt: row.createdAt };
  return {
    ...point(row.slotAt, true),
    ...fateOf(timeline, row),
    evidence: evidenceOf(timeline, row),
    line: timeline.words.line(whenText(timeline, row), timeline.words.slot(one, row)),
  };
}

/** A slot is exact; what somebody asked for by hand came about then. */
function whenText({ moments, about }: Timeline, { source, slotAt }: SlotRow): string {
  return (isByHand(source) ? about : moments).full(slotAt);
}

function fateOf({ now }: Timeline, row: SlotRow): Pick<Answer, 'decision' | 'cause'> {
  const { status, source, reason, slotAt, run } = row;
  switch (status) {
    case 'pending':
      return source === 'snooze' && slotAt > now
        ? { decision: 'planned', cause: 'snooze' }
        : { decision: 'waiting', cause: reason ?? 'admission' };
    case 'dispatched':
      return { decision: 'running', cause: run?.status ?? 'dispatched' };
    case 'succeeded':
      return { decision: source === 'catch_up' ? 'late' : 'ran', cause: reason ?? source };
    default:
      return { decision: status, cause: reason ?? (status === 'failed' ? 'error' : status) };
  }
}

function evidenceOf(timeline: Timeline, row: SlotRow): Evidence {
  const { run } = row;
  const deed = row.deed ?? row.asker;
  const startedAfter = startedAfterMs(row);
  return {
    taskRunId: row.id,
    source: row.source,
    lateMs: row.lateMs,
    ...(startedAfter === null ? {} : { startedAfterMs: startedAfter }),
    ...(run === null ? {} : runEvidence(run, row)),
    ...(row.ack === null ? {} : { ack: row.ack }),
    ...(row.replayOf === null ? {} : { replayOf: row.replayOf }),
    ...(deed === null ? {} : { deed }),
    ...versionAt(timeline, row.slotAt),
    ...(row.error === null ? {} : { error: row.error }),
  };
}

function runEvidence({ id, number, attempts, deliveries }: SlotRun, row: SlotRow): Evidence {
  const numbered = number === null ? {} : { runNumber: number };
  return { runId: id, ...numbered, attempts: { count: attempts.length, lastError: lastError(row) }, deliveries };
}
