import { outboxRanks } from '../../domain/delivery.ts';
import { causeOf } from '../../domain/incident.ts';
import type { View } from '../../domain/shown.ts';
import type { Ids } from '../ports/outside.ts';
import type { EndNotices, NewDelivery, StartableRun } from '../ports/pipeline.ts';

/** How a run ended, as far as words about it need that. */
export interface RunEnding {
  readonly status: 'succeeded' | 'failed' | 'cancelled' | 'backoff';
  readonly error: string | null;
  /** Attempts that were made. */
  readonly attempts: number;
  readonly finishedAt: number;
}

export const noNotices: EndNotices = { cause: null, byHand: false, failed: null, autoPaused: null, recovered: null };

/**
 * Words about how a run of a task ended, for a thread that is delivered. While it is tried again there is nothing to tell,
 * and whoever called it off knows that. It reads only what cannot be at fault in the input of a run.
 */
export function noticesOf(ids: Ids, run: StartableRun, ending: RunEnding): EndNotices {
  const { input } = run;
  if (run.taskId === null || !input.delivers) return noNotices;
  const byHand = input.byHand === true || input.again !== undefined;
  if (ending.status === 'succeeded') {
    return {
      ...noNotices,
      byHand,
      recovered: notice(ids, 1, { view: 'recovered', since: ending.finishedAt, failures: 0 }),
    };
  }
  if (ending.status !== 'failed') return noNotices;
  const error = ending.error ?? '';
  return {
    ...noNotices,
    cause: causeOf(error),
    byHand,
    failed: notice(ids, 1, {
      view: 'failed',
      runId: run.id,
      slotAt: input.slotAt ?? null,
      attempts: ending.attempts,
      error,
    }),
    autoPaused: notice(ids, 2, { view: 'autoPaused', reason: 'auto:consecutive_failures', failures: 0, error }),
  };
}

/** It is as urgent as the result in whose place it stands. That it may arrive twice does less harm than a question about it. */
function notice(ids: Ids, part: number, content: View): NewDelivery {
  return {
    id: ids.next(),
    kind: 'notice',
    rank: outboxRanks.result,
    part,
    content,
    unknown: 'resend',
    expiresAt: null,
  };
}
