import { admittedFault } from '../../domain/grant.ts';
import * as limits from '../../domain/limits.ts';
import type { Obstacle } from '../../domain/occurrence.ts';
import { type RunErrorCode, waitsForConsent } from '../../domain/run.ts';
import { type Actions, isEffect } from '../actions/action.ts';
import type { Reckoning } from '../actions/costs.ts';
import { effectText } from '../actions/form.ts';
import type { World } from '../ports/outside.ts';
import type { StartableRun, StartPlan, Unreadable } from '../ports/pipeline.ts';
import { noticesOf } from './runner-ends.ts';

export interface StartDeps extends Pick<World, 'ids' | 'log'> {
  readonly actions: Actions;
  readonly reckoning: Reckoning;
  /** Kinds of which nothing begins for now. */
  readonly pausedKinds: () => readonly string[];
}

/** Whether a claimed run may start, has to wait, or how it ends without an attempt. */
export function startPlan(deps: StartDeps, run: StartableRun | Unreadable, now: number): StartPlan {
  const { actions, ids, log } = deps;
  if ('unreadable' in run) {
    log.error('run_unreadable', { run_id: run.id, reason: run.unreadable });
    const error = `unreadable: ${run.unreadable}`;
    return ended(run.id, { status: 'failed', occurrence: 'failed', errorCode: 'internal', error });
  }
  const interrupted = run.status === 'running';
  const refused = refusal(actions, run, now) ?? withoutConsent(run, now);
  if (refused !== null) {
    const { status, error } = refused;
    const notices = noticesOf(ids, run, { status, error, attempts: run.attempts, finishedAt: now });
    return { ...ended(run.id, refused), interrupted, notices };
  }
  const waits = consentPlan(actions, ids, run, now);
  if (waits !== null) return { ...waits, interrupted };
  const { action: spec } = run.input;
  const hold = pauseOf(deps, run, now) ?? holdOf(actions, run, now);
  if (hold !== null && 'until' in hold) return { runId: run.id, does: 'wait', interrupted, ...hold };
  const starts = { runId: run.id, does: 'start', interrupted, ...(hold === null ? {} : { place: hold }) } as const;
  const costs = interrupted || run.reserved === null ? deps.reckoning.costsOf(spec) : null;
  if (costs === null) return starts;
  const without = { ...ended(run.id, leftOut('budget')), interrupted };
  return { ...starts, reserve: { costs, without } };
}

/** A run whose attempt was lost is found although its kind is paused: the attempt is closed, and then it waits like the others. */
function pauseOf({ pausedKinds }: StartDeps, { input: { action } }: StartableRun, now: number) {
  if (!pausedKinds().includes(action.kind)) return null;
  return { until: now + lookAgainMs, reason: `${action.kind} is paused` };
}

/** By then its kind is among those that are not looked for, unless it goes on. */
const lookAgainMs = 10_000;

/** A test begins whatever holds it, so that it says within its attempt what stands in the way. */
function holdOf(actions: Actions, { id: runId, taskId, input }: StartableRun, now: number) {
  if (input.message?.isTest === true) return null;
  const { action: spec } = input;
  return actions.get(spec.kind)?.hold?.({ spec, runId, taskId }, now) ?? null;
}

/** Null where it may happen: nobody needs to allow it, or somebody has. */
function consentPlan(
  actions: Actions,
  ids: StartDeps['ids'],
  { id, taskId, input, policy, consent }: StartableRun,
  now: number,
): Extract<StartPlan, { does: 'wait' }> | null {
  const action = actions.get(input.action.kind);
  const isAsked = taskId !== null && policy.approval === 'required' && isEffect(action, input.action);
  if (!isAsked || consent?.is === 'given') return null;
  const waits = { runId: id, does: 'wait', interrupted: false, reason: waitsForConsent } as const;
  if (consent !== null) return { ...waits, until: consent.is === 'asked' ? consent.decideBy : now };
  const decideBy = now + effectExpiryMs;
  const text = effectText(action?.form, input.action).slice(0, limits.approvalQuoteMax);
  return { ...waits, until: decideBy, question: { id: input.delivers ? ids.next() : null, text, decideBy } };
}

/** The question ends before the next slot of a daily task, which would find its run in the way. */
const effectExpiryMs = limits.approvalExpiryMs - 60_000;

/** The effect was refused, or nobody allowed it in time. */
function withoutConsent({ consent, status }: StartableRun, now: number): Refusal | null {
  if (status === 'running' || consent === null || consent.is === 'given') return null;
  if (consent.is === 'asked' && consent.decideBy > now) return null;
  const error = consent.is === 'asked' ? 'nobody approved it in time' : 'discarded';
  return { status: 'cancelled', occurrence: 'skipped', reason: 'discarded', errorCode: 'not_allowed', error };
}

interface Refusal {
  readonly status: 'failed' | 'cancelled';
  readonly occurrence: 'failed' | 'cancelled' | 'skipped';
  readonly reason?: Extract<StartPlan, { does: 'end' }>['reason'];
  readonly error: string;
  readonly errorCode: RunErrorCode;
}

const calledOff = { status: 'cancelled', occurrence: 'cancelled', errorCode: 'cancelled' } as const;

function ended(runId: string, { reason = null, ...refusal }: Refusal): Extract<StartPlan, { does: 'end' }> {
  return { runId, does: 'end', interrupted: false, reason, ...refusal };
}

function refusal(actions: Actions, run: StartableRun, now: number): Refusal | null {
  if (run.cancelRequested) return { ...calledOff, reason: 'cancelled', error: 'cancelled' };
  if (run.taskState === 'deleted') {
    return { ...calledOff, reason: 'deleted', error: 'the task was deleted' };
  }
  const { action: spec } = run.input;
  const action = actions.get(spec.kind);
  // An attempt that was lost may have done something, whatever has become of its kind.
  if (action === undefined) return run.status === 'running' ? afterCrash(false, run) : leftOut('gone_kind');
  const at = { admittedAt: run.createdAt, now };
  const fault = run.taskId === null ? null : admittedFault(run.grant, actions.scopesOf(spec), at);
  if (fault !== null) return leftOut(fault);
  return run.status === 'running' ? afterCrash(action.repeatable(spec), run) : null;
}

function leftOut(reason: Obstacle | 'budget'): Refusal {
  return { status: 'cancelled', occurrence: 'skipped', errorCode: 'not_allowed', reason, error: reason };
}

/** An attempt lost in a crash costs no retry, but it is repeated only if that does no harm, and not for ever. */
function afterCrash(repeatable: boolean, run: StartableRun): Refusal | null {
  const lost = { status: 'failed', occurrence: 'failed', errorCode: 'interrupted' } as const;
  if (!repeatable) return { ...lost, error: 'interrupted, effects unknown' };
  if (run.interruptions + 1 < limits.interruptionsMax) return null;
  return { ...lost, error: `interrupted ${limits.interruptionsMax} times` };
}
