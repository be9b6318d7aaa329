import type { NewQuestion, RunEnd } from '../../app/ports/pipeline.ts';
import type { Approval, Approved } from '../../app/ports/questions.ts';
import { approvalExpiryMs } from '../../domain/limits.ts';
import { spanText } from '../../domain/schedule/words/words.ts';
import type { View } from '../../domain/shown.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { sql, text as bound } from '../engine/sql.ts';
import { offer, one, select, update, updateReturning } from '../engine/statements.ts';
import { taskLaneOf } from '../outbox/lanes.ts';
import { insertPart } from '../outbox/new-parts.ts';
import { tellEvents } from '../records/journal.ts';
import { consentIn, decisionIn, offeredFields } from '../runs/codec.ts';
import { questionFields, sayExpired } from './questions.ts';

/**
 * Results that wait for somebody to approve them: their parts are `blocked` with this cause, in a lane of their own, until a
 * person lets them go, discards them, or the time is over. Nothing else releases them.
 */
export const approvalStore = { decideApproval };

export const notApprovedError = `nobody approved it within ${spanText(approvalExpiryMs)}`;
const discardedError = 'discarded';

/** The question, in the thread where the task was asked for: the task may have no topic yet, and none is made for this. */
export function* askApproval(ends: readonly RunEnd[]): Script<void> {
  for (const { run, status, approval, finishedAt } of ends) {
    if (approval === undefined || status !== 'succeeded' || run.taskId === null || run.chatId === null) continue;
    const { id, ...asked } = approval;
    const { decideBy } = asked;
    const content: View = { view: 'approval', runId: run.id, ...asked };
    const { taskId, chatId } = run;
    const home = yield* one(select(pick(columns.tasks, 'homeTopic'))`from tasks where id = ${taskId}`);
    const place = { chatId, taskId, thread: { topic: home?.homeTopic ?? null } };
    const part = { ...place, id, run: { id: run.id, part: questionPart }, expiresAt: decideBy };
    yield* insertPart({ ...part, kind: 'notice', content }, finishedAt);
  }
}

interface Asked {
  readonly runId: string;
  readonly taskId: string | null;
  readonly chatId: string | null;
  readonly now: number;
}

/** The question whether an effect may happen, in the same place; nobody is asked where nothing is delivered. */
export function* askBefore({ id, text, decideBy }: NewQuestion, { runId, taskId, chatId, now }: Asked): Script<void> {
  if (id === null || taskId === null || chatId === null) return;
  const content: View = { view: 'approval', runId, text, decideBy, isEffect: true };
  const home = yield* one(select(pick(columns.tasks, 'homeTopic'))`from tasks where id = ${taskId}`);
  const place = { chatId, taskId, thread: { topic: home?.homeTopic ?? null } };
  const part = { ...place, id, run: { id: runId, part: questionPart }, expiresAt: decideBy };
  yield* insertPart({ ...part, kind: 'notice', content }, now);
}

/** Among the words about a run, after those about how it ended. */
const questionPart = 3;

/** The time is over: the question says so by itself, once for all parts of the result. */
export function* tellNotApproved(runId: string | null, now: number): Script<void> {
  if (runId === null) return;
  const question = yield* one(
    select(questionFields)`from deliveries
      where run_id = ${runId} and kind = 'notice' and part = ${questionPart} and status = 'delivered'`,
  );
  yield* sayExpired(question, now);
}

function* decideApproval(approval: Approval & { readonly at: number }): Script<Approved> {
  const { runId, actor, isGiven, at } = approval;
  const effect = yield* decideEffect(approval);
  if (effect !== null) return effect;
  const decision = JSON.stringify({ [isGiven ? 'approved_by' : 'discarded_by']: actor, approval_at: at });
  const waiting = sql`run_id = ${runId} and kind = 'result' and status = 'blocked' and cause = 'approval' and expires_at > ${at}`;
  const decided = yield* updateReturning(
    'deliveries',
    isGiven ? released(at, decision) : discarded(decision),
    waiting,
    pick(columns.deliveries, 'id', 'taskId', 'chatId'),
  );
  if (decided.length === 0) return yield* decidedBefore(runId);
  yield* offer({ chats: decided.map(({ chatId }) => chatId) });
  const taskId = decided[0]?.taskId ?? null;
  yield* tellEvents([{ kind: isGiven ? 'approval.given' : 'approval.refused', at, taskId, ref: runId }]);
  if (isGiven) yield* remindFrom(runId, at);
  else yield* tellEvents(decided.map(({ id }) => ({ kind: 'delivery.failed', at, taskId, ref: id })));
  return { is: 'decided', isGiven, by: actor, at, isFirst: true };
}

/** An effect that waits for it, rather than a result; null where nobody was asked about one. */
function* decideEffect({ runId, actor, isGiven, at }: Approval & { readonly at: number }): Script<Approved | null> {
  const run = yield* one(select(effectFields)`from runs where id = ${runId}`);
  const consent = consentIn(run?.approval ?? null);
  if (run === undefined || consent === null) return null;
  if (consent.is !== 'asked') {
    const { by, at: decidedAt } = consent;
    return { is: 'decided', isGiven: consent.is === 'given', by, at: decidedAt, isFirst: false, isEffect: true };
  }
  if (consent.decideBy <= at) return { is: 'expired' };
  // The decision is carried out by the runner, which finds the run ready.
  const approval = JSON.stringify({ [isGiven ? 'approved_by' : 'discarded_by']: actor, approval_at: at });
  const asked = sql`id = ${runId} and status = 'backoff' and approval = ${bound(run.approval)}`;
  const won = yield* updateReturning('runs', { approval, readyAt: at }, asked, offeredFields);
  if (won.length === 0) return { is: 'none' };
  yield* offer({ runs: won });
  yield* tellEvents([{ kind: isGiven ? 'approval.given' : 'approval.refused', at, taskId: run.taskId, ref: runId }]);
  return { is: 'decided', isGiven, by: actor, at, isFirst: true, isEffect: true };
}

const effectFields = pick(columns.runs, 'taskId', 'approval');

/** A released part is not too old nor held for quiet hours: a person just looked at it. */
function released(at: number, decision: string) {
  const lane = taskLaneOf('task_id');
  return { status: 'pending', readyAt: at, cause: null, expiresAt: null, urgent: 1, lane, decision } as const;
}

function discarded(decision: string) {
  return { status: 'failed', readyAt: null, error: discardedError, decision } as const;
}

/** While it waited it was looked for ever more seldom, and now it comes at once. */
function* remindFrom(runId: string, at: number): Script<void> {
  const ofRun = sql`status = 'open' and occurrence_id = (select r.occurrence_id from runs r where r.id = ${runId})`;
  yield* update('acks', { nagAt: sql`${at} + nag_every_ms` }, ofRun);
}

function* decidedBefore(runId: string): Script<Approved> {
  const part = yield* one(
    select(pick(columns.deliveries, 'taskId', 'status', 'cause', 'error', 'decision'))`from deliveries
      where run_id = ${runId} and kind = 'result' order by part limit 1`,
  );
  if (part === undefined) return { is: 'none' };
  const known = decisionIn(part.decision);
  if (known !== null) return { is: 'decided', ...known, isFirst: false };
  const isWaiting = part.status === 'blocked' && part.cause === 'approval';
  return isWaiting || part.error === notApprovedError ? { is: 'expired' } : { is: 'none' };
}
