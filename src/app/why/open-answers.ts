import type { Answer, Decision } from './answers.ts';
import type { Stretch } from './standing.ts';
import { evidenceOf, standingText } from './stretch-answers.ts';
import { rulingAt, type Timeline } from './timeline.ts';

/** A slot that the schedule in force names and that no row, gap or stretch tells of. */
export function answerOpen(timeline: Timeline, slot: number): Answer {
  const { now, keptFrom, rows } = timeline;
  const nextAt = rows.task.nextAt ?? rows.task.resumeAt;
  if (slot > now) return open(timeline, slot, ['planned', 'schedule', 'planned']);
  if (nextAt !== null && slot >= nextAt) {
    return open(timeline, slot, ['due', 'due', 'due, and about to be taken up']);
  }
  if (slot < keptFrom) {
    return open(timeline, slot, ['unrecorded', 'retention', `its record was removed ${removedText(timeline)}`]);
  }
  const quarantine = nextPause(timeline, slot);
  if (quarantine !== null) {
    const text = `no run; ${standingText(timeline, quarantine, slot)}, before this run was taken up`;
    return { ...open(timeline, slot, ['missed', 'unreadable', text]), evidence: evidenceOf(quarantine) };
  }
  if ((rulingAt(timeline, slot)?.version ?? null) === null) {
    const text = 'no record, and which schedule was in force then was not kept';
    return open(timeline, slot, ['unrecorded', 'no_version', text]);
  }
  if (rows.twice.some(({ from, to }) => from <= slot && slot <= to)) {
    const text =
      'no record; the clock was set back around then, so this time came twice, and the schedule that names it did not hold both times';
    return open(timeline, slot, ['unrecorded', 'clock_set_back', text]);
  }
  return open(timeline, slot, [
    'unrecorded',
    'no_record',
    'no record, though the schedule names this time; this should not happen, and the nightly audit reports it',
  ]);
}

/** A row that cannot be read is paused when its slot comes, which therefore nobody takes up. */
function nextPause({ stretches, rows }: Timeline, slot: number): Stretch | null {
  const next = stretches.find(({ first }) => first > slot);
  if (next?.begun?.verb !== 'quarantine') return null;
  // Only slots since the last one with a row were still to be taken up.
  return rows.slots.some(({ slotAt }) => slotAt > slot && slotAt < next.first) ? null : next;
}

/** By the retention that holds now, or by one that was shorter. */
function removedText({ keptFrom, now, retentionMs }: Timeline): string {
  return keptFrom > now - retentionMs
    ? 'while records were kept for a shorter time than now'
    : `after ${Math.round(retentionMs / 86_400_000)} days`;
}

function open(timeline: Timeline, slot: number, [decision, cause, text]: readonly [Decision, string, string]): Answer {
  const version = rulingAt(timeline, slot)?.version ?? null;
  return {
    at: slot,
    from: null,
    to: null,
    slot,
    decision,
    cause,
    evidence: version === null ? {} : { version },
    line: `${timeline.moments.full(slot)}: ${text}.`,
  };
}

/** What is older than the records, apart from the few rows that are kept longer. */
export function answerRemoved(timeline: Timeline, from: number, to: number): Answer {
  const { moments } = timeline;
  const isPoint = from === to;
  return {
    at: isPoint ? from : null,
    from: isPoint ? null : from,
    to: isPoint ? null : to,
    slot: null,
    decision: 'unrecorded',
    cause: 'retention',
    evidence: {},
    line: `${isPoint ? moments.full(from) : `From ${moments.full(from)} to ${moments.full(to)}`}: records of that time were removed ${removedText(timeline)}.`,
  };
}
