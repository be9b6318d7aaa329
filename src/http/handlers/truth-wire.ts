import type { z } from 'zod';
import type { auditEntry, downtimeAnswer, eventPage, whyAnswer } from '../../api/truth.ts';
import type { Deed, Downtime, EventRow } from '../../app/ports/why.ts';
import type { Answer, Evidence } from '../../app/why/answers.ts';
import type { Window } from '../../app/why/truth.ts';
import { AppError } from '../../domain/errors.ts';
import { threadKeyOf } from '../../domain/thread.ts';
import { iso, isoOrNull } from './wire.ts';

type WireAnswer = z.output<typeof whyAnswer>;

export function wireAnswer({ at, from, to, slot, decision, cause, evidence, line }: Answer): WireAnswer {
  return {
    at: isoOrNull(at),
    from: isoOrNull(from),
    to: isoOrNull(to),
    slot: isoOrNull(slot),
    decision,
    cause,
    evidence: wireEvidence(evidence),
    line,
  };
}

function wireEvidence(evidence: Evidence): WireAnswer['evidence'] {
  const { attempts, deliveries, deed, gap } = evidence;
  const named: Readonly<Record<string, unknown>> = {
    task_run_id: evidence.taskRunId,
    run_id: evidence.runId,
    source: evidence.source,
    late_ms: evidence.lateMs,
    started_after_ms: evidence.startedAfterMs,
    attempts: attempts === undefined ? undefined : { count: attempts.count, last_error_message: attempts.lastError },
    deliveries: deliveries?.map((part) => ({
      delivery_id: part.id,
      part: part.part,
      status: part.status,
      thread_key: threadKeyOf(part.thread),
      message_id: part.messageId,
      cause: part.cause,
      error_message: part.error,
      delivered_at: isoOrNull(part.deliveredAt),
    })),
    done:
      evidence.ack === undefined
        ? undefined
        : {
            status: evidence.ack.status,
            reminders: evidence.ack.nags,
            at: isoOrNull(evidence.ack.doneAt),
            by: evidence.ack.doneBy,
          },
    replay_of: evidence.replayOf,
    audit: deed === undefined ? undefined : { entry_id: deed.id, at: iso(deed.at), actor: deed.actor, verb: deed.verb },
    gap: gap === undefined ? undefined : { gap_id: gap.id, count: gap.count },
    version: evidence.version,
    error_message: evidence.error,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

/** The place of the next page holds the stretch of the first one, so that a page needs nothing but its cursor. */
export function wirePlace({ at, rank, from, to }: Window): string {
  return Buffer.from(`why:${from}:${to}:${at}:${rank}`).toString('base64url');
}

export function readPlace(cursor: string): Window {
  const text = Buffer.from(cursor, 'base64url').toString();
  const found = /^why:(-?\d{1,15}):(-?\d{1,15}):(-?\d{1,15}):([0-3])$/.exec(text);
  if (found === null || Buffer.from(text).toString('base64url') !== cursor) {
    throw new AppError('invalid_cursor', 'This cursor was not made by this list; start again without one.');
  }
  const [, from, to, at, rank] = found.map(Number);
  return { from: from ?? 0, to: to ?? 0, at: at ?? 0, rank: rank ?? 0 };
}

export function wireEvent({
  cursor,
  at,
  kind,
  taskId,
  ref,
  data,
}: EventRow): z.output<typeof eventPage>['events'][number] {
  return { cursor, at: iso(at), kind, task_id: taskId, ref, data: data === null ? null : { ...data } };
}

export function wireDeed(deed: Deed): z.output<typeof auditEntry> {
  return {
    entry_id: deed.id,
    at: iso(deed.at),
    actor: deed.actor,
    verb: deed.verb,
    task_id: deed.taskId,
    state_before: deed.stateBefore,
    state_after: deed.stateAfter,
    before: deed.before === null ? null : { ...deed.before },
    after: deed.after === null ? null : { ...deed.after },
    trace_id: deed.traceId,
  };
}

export function wireDowntime({ id, from, to, counts, reportedAt }: Downtime): z.output<typeof downtimeAnswer> {
  return {
    downtime_id: id,
    from: iso(from),
    to: iso(to),
    counts: counts === null ? null : { ...counts },
    reported_at: isoOrNull(reportedAt),
  };
}
