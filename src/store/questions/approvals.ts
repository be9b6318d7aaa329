import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { Approval, ApprovalStore, Approved } from '../../app/use-cases/approvals.ts';
import { approvalExpiryMs } from '../../domain/limits.ts';
import { spanText } from '../../domain/schedule/words/words.ts';
import type { View } from '../../domain/shown.ts';
import { row, rows, type Engine, type Script } from '../engine/engine.ts';
import { insertPart } from '../outbox/new-parts.ts';
import { tellEvents } from '../records/journal.ts';
import { decisionIn } from '../runs/codec.ts';
import { questionColumns, sayExpired, type QuestionRow } from './questions.ts';

/**
 * Results that wait for somebody to approve them: their parts are `blocked` with this cause, in a lane of their own, until a
 * person lets them go, discards them, or the time is over. Nothing else releases them.
 */
export function approvalStore(engine: Engine): ApprovalStore {
  return { decideApproval: (approval) => engine.transact(() => decideApproval(approval)) };
}

export const notApprovedError = `nobody approved it within ${spanText(approvalExpiryMs)}`;
const discardedError = 'discarded';

/** The question, in the thread where the task was asked for: the task may have no topic yet, and none is made for this. */
export function* askApproval(ends: readonly RunEnd[]): Script<void> {
  for (const { run, status, approval, finishedAt } of ends) {
    if (approval === undefined || status !== 'succeeded' || run.taskId === null || run.chatId === null) continue;
    const { id, ...asked } = approval;
    const { decideBy } = asked;
    const content: View = { view: 'approval', runId: run.id, ...asked };
    const home = yield* row<{ home_topic: number | null }>(`select home_topic from tasks where id = ?t`, run.taskId);
    const { taskId, chatId } = run;
    const place = { chatId, taskId, thread: { topic: home?.home_topic ?? null } };
    const part = { ...place, id, run: { id: run.id, part: questionPart }, expiresAt: decideBy };
    yield* insertPart({ ...part, kind: 'notice', content }, finishedAt);
  }
}

/** Among the words about a run, after those about how it ended. */
const questionPart = 3;

/** The time is over: the question says so by itself, once for all parts of the result. */
export function* tellNotApproved(runId: string | null, now: number): Script<void> {
  const question = yield* row<QuestionRow>(
    `select ${questionColumns} from deliveries
     where run_id = ?t and kind = 'notice' and part = ?i and status = 'delivered'`,
    runId,
    questionPart,
  );
  yield* sayExpired(question, now);
}

interface PartRow {
  readonly task_id: string | null;
  readonly status: string;
  readonly cause: string | null;
  readonly error: string | null;
  readonly evidence: string | null;
}

function* decideApproval(approval: Approval & { readonly at: number }): Script<Approved> {
  const { runId, actor, isGiven, at } = approval;
  const evidence = JSON.stringify({ [isGiven ? 'approved_by' : 'discarded_by']: actor, approval_at: at });
  const decided = yield* rows<{ id: string; task_id: string | null }>(
    isGiven ? releaseText : discardText,
    ...(isGiven ? [at] : []),
    evidence,
    runId,
    at,
  );
  if (decided.length === 0) return yield* decidedBefore(runId);
  const taskId = decided[0]?.task_id ?? null;
  yield* tellEvents([{ kind: isGiven ? 'approval.given' : 'approval.refused', at, taskId, ref: runId }]);
  if (isGiven) yield* rows(remindText, at, runId);
  else yield* tellEvents(decided.map(({ id }) => ({ kind: 'delivery.failed', at, taskId, ref: id })));
  return { is: 'decided', isGiven, by: actor, at, isFirst: true };
}

const waiting = `run_id = ?t and kind = 'result' and status = 'blocked' and cause = 'approval' and expires_at > ?i`;

/** Somebody has just looked at it, so it is neither too old nor held for quiet hours. */
const releaseText = `update deliveries set status = 'pending', ready_at = ?i, cause = null, expires_at = null, urgent = 1,
    lane = 'task:' || task_id, evidence = ?t where ${waiting} returning id, task_id`;
/** While it waited it was looked for ever more seldom, and now it comes at once. */
const remindText = `update acks set nag_at = ?i + nag_every_ms
  where status = 'open' and occurrence_id = (select r.occurrence_id from runs r where r.id = ?t)`;
const discardText = `update deliveries set status = 'failed', ready_at = null, error = '${discardedError}', evidence = ?t
  where ${waiting} returning id, task_id`;

function* decidedBefore(runId: string): Script<Approved> {
  const part = yield* row<PartRow>(
    `select task_id, status, cause, error, evidence from deliveries where run_id = ?t and kind = 'result' order by part limit 1`,
    runId,
  );
  if (part === undefined) return { is: 'none' };
  const known = decisionIn(part.evidence);
  if (known !== null) return { is: 'decided', ...known, isFirst: false };
  const isWaiting = part.status === 'blocked' && part.cause === 'approval';
  return isWaiting || part.error === notApprovedError ? { is: 'expired' } : { is: 'none' };
}
