import { outboxRanks } from '../../domain/delivery.ts';
import { partsOf, type Part, type Showing } from '../../domain/files/parts.ts';
import * as limits from '../../domain/limits.ts';
import { type MessageInput, conclude, isOfSlot, type AttemptOutcome } from '../../domain/run.ts';
import { nextSlot } from '../../domain/schedule/schedule.ts';
import { MINUTE_MS } from '../../domain/schedule/time/calendar.ts';
import type { Shown, View } from '../../domain/shown.ts';
import { failuresPause, jsonBytes } from '../../domain/task.ts';
import { type Outcome, type Actions, isEffect } from '../actions/action.ts';
import type { Reckoning } from '../actions/costs.ts';
import type { FileLeft, FileRef } from '../ports/blobs.ts';
import type { Ids, Log, World } from '../ports/outside.ts';
import type { NewDelivery, RunEnd, StartableRun, StartedRun, EndNotices } from '../ports/pipeline.ts';
import { momentsIn } from '../why/moments.ts';
import { outputOf, outputTextOf, showingOf } from './runner-files.ts';

interface EndDeps extends Pick<World, 'ids' | 'log'> {
  readonly actions: Actions;
  readonly reckoning: Pick<Reckoning, 'bookingsOf'>;
}

/** How an attempt went, and when. */
interface Ended {
  readonly result: Outcome | 'timedOut' | 'cancelled';
  /** The files of `filesOf` as they were kept, or left out; absent where it brought none. */
  readonly files?: readonly (FileRef | FileLeft)[];
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly durationMs: number;
}

/** The end of an attempt as it is written: what it means for its run, and what is to be shown. */
export function endOf(deps: EndDeps, { run, attempt: number, fence }: StartedRun, ended: Ended): RunEnd {
  const { input } = run;
  const { result, startedAt, finishedAt, durationMs } = ended;
  const outcome = outcomeOf(run, result);
  const { retry, timeoutMs } = run.policy;
  const conclusion = conclude(outcome, {
    used: number - run.interruptions - run.freeAttempts,
    free: run.freeAttempts,
    retry,
    repeatable: deps.actions.get(input.action.kind)?.repeatable(input.action) ?? false,
    timeoutMs,
    now: finishedAt,
    chance: deps.ids.chance(),
  });
  const error = conclusion.error?.slice(0, limits.errorMessageLengthMax) ?? null;
  return {
    run,
    attempt: number,
    fence,
    attemptStatus: conclusion.attempt,
    status: conclusion.run,
    readyAt: conclusion.readyAt,
    startedAt,
    finishedAt,
    durationMs,
    httpStatus: statusIn(result),
    error,
    usage: spentIn(deps, run, ended),
    ...marksOf(result),
    ...tested(deps, run, { ...ended, status: conclusion.run, error }),
    // Made after the parts of the result, so that they come after them.
    notices: {
      ...noticesOf(deps.ids, run, { status: conclusion.run, error, attempts: number, finishedAt }),
      ...contextNotice(deps.ids, run, result),
    },
    follows: conclusion.run === 'backoff' ? null : followingSlot(run, finishedAt),
  };
}

/** Somebody looks at the screen for a test, so what stands in its way is told and not waited for. */
function outcomeOf({ input }: StartableRun, result: Ended['result']): AttemptOutcome {
  if (typeof result === 'string') return { is: result };
  const isHeld = result.is === 'retry' && result.isFree === true && input.message?.isTest === true;
  return isHeld ? { is: 'giveUp', error: result.error } : result;
}

/** An attempt that was cut off has spent something, and nobody heard what. */
function spentIn({ reckoning }: EndDeps, { input }: StartableRun, { result, durationMs }: Ended): RunEnd['usage'] {
  const spent = typeof result === 'string' ? 'unknown' : (result.usage ?? []);
  return reckoning.bookingsOf(input.action.kind, spent, durationMs);
}

function statusIn(result: Ended['result']): number | null {
  return typeof result === 'string' || result.is === 'skip' ? null : (result.httpStatus ?? null);
}

/** Marks that an action set on its end. */
function marksOf(
  result: Ended['result'],
): Pick<RunEnd, 'isFree' | 'isHarmful' | 'isInvalid' | 'isUnchanged' | 'leftOut'> {
  if (typeof result === 'string') return {};
  if (result.is === 'done') return result.unshown === 'unchanged' ? { isUnchanged: true } : {};
  if (result.is === 'skip') return { leftOut: result.reason };
  if (result.is === 'retry') return result.isFree ? { isFree: true } : {};
  return { ...(result.isHarmful ? { isHarmful: true } : {}), ...(result.isInvalid ? { isInvalid: true } : {}) };
}

type Concluded = Concluding & Pick<RunEnd, 'status'>;
type Concluding = Ended & Pick<RunEnd, 'error'>;
type Confirmed = Brought & Pick<RunEnd, 'ack' | 'approval' | 'ifUnchanged'>;

/** Of an action that is only tried out it is told how it ended, whatever that was, above what it brought. */
function tested(deps: EndDeps, run: StartableRun, { status, ...ended }: Concluded): Confirmed {
  const { title, message, delivers } = run.input;
  if (message?.isTest !== true || status === 'backoff' || !delivers) return confirmed(deps, run, ended);
  const id = deps.ids.next();
  const brought = confirmed(deps, run, ended);
  const { result, durationMs, error } = ended;
  const answered = statusIn(result);
  const isEmpty = brought.deliveries.length === 0;
  const content = { view: 'tested', title, status: answered, durationMs, error, isEmpty } as const;
  return {
    ...brought,
    deliveries: [{ ...notice(deps.ids, 1, content), id, ...messagePlace(message) }, ...brought.deliveries],
  };
}

/** The result, and what people are asked about it: whether it is shown, and whether it is done. */
function confirmed(deps: EndDeps, run: StartableRun, ended: Concluding): Confirmed {
  const { ack, approval, skipIfUnchanged: wanted } = run.policy;
  const brought = { ...broughtBack(deps, run, ended), ...(wanted === 'none' ? {} : { ifUnchanged: wanted }) };
  if (brought.deliveries.length === 0 || run.taskId === null) return brought;
  const asked = ack === null || run.occurrenceId === null ? brought : { ...brought, ack };
  // An effect that was allowed before it happened is not asked about again.
  const { action: spec } = run.input;
  if (approval !== 'required' || isEffect(deps.actions.get(spec.kind), spec)) return asked;
  const decideBy = ended.finishedAt + limits.approvalExpiryMs;
  return {
    ...asked,
    deliveries: brought.deliveries.map((part) => ({ ...part, approveBy: decideBy })),
    approval: { id: deps.ids.next(), ...quoteOf(deps, run, ended), decideBy },
  };
}

/** Enough to judge by; the message around it must fit as well. */
function quoteOf(deps: EndDeps, run: StartableRun, { result, files = [], startedAt }: Ended) {
  if (typeof result === 'string' || result.is !== 'done') return { text: '' };
  const { media, album = [] } = result;
  const words = wordsOf(run, showingOf(deps.actions.get(run.input.action.kind), result, files), startedAt);
  const named = [...album.map(({ kind }) => kind), ...files.map(({ name }) => name)].join(', ');
  const quoted = [words, named === '' ? '' : `[${named}]`].filter((each) => each !== '').join('\n\n');
  const text = quoted.slice(0, limits.approvalQuoteMax);
  return media === undefined ? { text } : { text, mediaKind: media.kind };
}

type Done = Extract<Outcome, { is: 'done' }>;

type Brought = Pick<RunEnd, 'output' | 'deliveries' | 'context' | 'files' | 'watched'>;

/** Only work that was done brings something back, but for what a program reads of a failure. */
function broughtBack(deps: EndDeps, run: StartableRun, ended: Concluding): Brought {
  const { result, files = [], startedAt, finishedAt } = ended;
  if (typeof result === 'string' || result.is !== 'done') {
    const data = dataOfFailure(deps, run, ended);
    const output = data === undefined ? null : { type: run.input.action.kind, text: '', data };
    return { output, deliveries: [], context: null };
  }
  const { ids, log, actions } = deps;
  const { kind } = run.input.action;
  const showing = showingOf(actions.get(kind), result, files);
  const shown = { ...showing, text: wordsOf(run, showing, startedAt) };
  return {
    output: outputOf(kind, outputTextOf(actions.get(kind), result, files), { ...result, files }),
    deliveries: isShown(run, result) ? deliveriesOf(ids, run, { shown, finishedAt }) : [],
    ...(files.length === 0 ? {} : { files: files.filter((file) => 'sha256' in file) }),
    ...watchedBy(run, result),
    context: smallEnough(log, run, contextLeft(run, result)),
  };
}

function dataOfFailure({ actions }: EndDeps, { input }: StartableRun, { result, error }: Concluding): unknown {
  if (result === 'timedOut') return actions.get(input.action.kind)?.cutOff?.(error ?? '');
  return result === 'cancelled' || result.is === 'done' || result.is === 'skip' ? undefined : result.data;
}

/** A person who asked for it by hand is shown it, though it tells nothing new. */
function isShown({ input }: StartableRun, { unshown }: Done): boolean {
  return unshown === undefined || input.byHand === true || input.again !== undefined || input.message !== undefined;
}

/** A replay shows what was, and must not bring back what was seen then. */
function watchedBy({ input }: StartableRun, { watched }: Done): Pick<RunEnd, 'watched'> {
  return watched === undefined || input.again?.kind === 'replay' ? {} : { watched };
}

/** The text as people read it: it is added when a late result was meant for, and what the action brought stays as it is. */
function wordsOf({ input }: StartableRun, showing: Showing, startedAt: number): string {
  const { text } = showing;
  const isEmpty = text.trim() === '';
  if (!input.late || (isEmpty && partsOf(showing).length === 0)) return text;
  const { slotAt, timezone } = input;
  const minute = (instant: number) => Math.floor(instant / MINUTE_MS) * MINUTE_MS;
  const [due, ran] = [minute(slotAt ?? startedAt), minute(startedAt)];
  const told = momentsIn(timezone, startedAt);
  const late = `Late: due ${told.full(due)}, ran ${told.beside(ran, due)} (${timezone})`;
  return isEmpty ? late : `${text}\n\n${late}`;
}

function deliveriesOf(
  ids: Ids,
  { input, policy, occurrenceId }: StartableRun,
  { shown, finishedAt }: { shown: Showing; finishedAt: number },
): NewDelivery[] {
  if (!input.delivers) return [];
  const { unknown, maxAgeMs, quiet } = policy;
  const place = input.message === undefined ? {} : messagePlace(input.message);
  // A person who asked for it just now waits for it, at whatever hour.
  const isUrgent = input.byHand === true || input.again !== undefined || quiet?.mode === 'off';
  const parts = partsOf(shown);
  return parts.map((part, index) => ({
    id: ids.next(),
    kind: 'result',
    rank: outboxRanks.result,
    part: index + 1,
    content: index === parts.length - 1 ? lastPart(part, occurrenceId) : part,
    unknown,
    expiresAt: maxAgeMs === null ? null : (input.again?.askedAt ?? input.slotAt ?? finishedAt) + maxAgeMs,
    ...(isUrgent ? { urgent: true as const } : {}),
    ...place,
  }));
}

/** A message belongs to the thread that was named, and comes as it was asked for. */
function messagePlace(message: MessageInput): Pick<NewDelivery, 'thread' | 'urgent' | 'silent' | 'onlyFor'> {
  const { topic, mode, onlyFor } = message;
  const place = { thread: { topic }, ...(onlyFor === undefined ? {} : { onlyFor }) };
  if (mode === 'silent') return { ...place, silent: true };
  return mode === 'urgent' ? { ...place, urgent: true } : place;
}

/** The buttons stand under the last part, which is no album; they act on the occurrence, so what has none bears none. */
function lastPart(part: Part, occurrenceId: string | null): Shown {
  return occurrenceId === null ? part : { view: 'result', ...part, occurrenceId };
}

/** A replay shows what was, and must not bring back an old context. */
function contextLeft({ input }: StartableRun, result: Ended['result']): RunEnd['context'] {
  if (typeof result === 'string' || result.is !== 'done' || input.again?.kind === 'replay') return null;
  return result.context ?? null;
}

function contextNotice(ids: Ids, run: StartableRun, result: Ended['result']): Pick<EndNotices, 'context'> {
  const context = contextLeft(run, result);
  if (context === null || run.taskId === null || !run.input.delivers) return {};
  return { context: notice(ids, 5, { view: 'contextLeft', size: jsonBytes(context) }) };
}

/** The run was done, so it succeeds; a context that has outgrown its limit stays as it was. */
function smallEnough(log: Log, run: StartableRun, context: RunEnd['context']) {
  if (context === null || jsonBytes(context) <= limits.contextBytesMax) return context;
  log.warn('context_too_large', { run_id: run.id, task_id: run.taskId });
  return null;
}

/** For a delay after the last finish: the next slot, now that the end is known; without one the task is completed. */
function followingSlot({ input }: StartableRun, finishedAt: number): RunEnd['follows'] {
  if (input.follows === undefined) return null;
  const { schedule, bounds } = input.follows;
  return { schedule, nextAt: nextSlot(schedule, finishedAt, bounds) };
}

/** The end of a run where making its end failed: a fault of ours, and its task hears of it like of any other. */
export function thrownEnd(
  { ids }: Pick<EndDeps, 'ids'>,
  started: StartedRun,
  { at, error }: { readonly at: number; readonly error: string },
): RunEnd {
  const end = brokenEnd(started, at, error);
  const { run, attempt: attempts } = started;
  return { ...end, notices: noticesOf(ids, run, { status: 'failed', error: end.error, attempts, finishedAt: at }) };
}

/**
 * The end of a run whose real end could not be made or written. It brings nothing back and tells nobody, so nothing in it
 * can be at fault again; a run without an end would hold up its task for ever.
 */
export function brokenEnd({ run, attempt, fence }: Omit<StartedRun, 'placeAt'>, at: number, error: string): RunEnd {
  return {
    run,
    attempt,
    fence,
    attemptStatus: 'failed',
    status: 'failed',
    readyAt: null,
    startedAt: at,
    finishedAt: at,
    durationMs: 0,
    httpStatus: null,
    error: error.slice(0, limits.errorMessageLengthMax),
    isInternal: true,
    output: null,
    deliveries: [],
    notices: noNotices,
    context: null,
    usage: null,
    follows: null,
  };
}

/** How a run ended, as far as words about it need that. */
interface RunEnding {
  readonly status: 'succeeded' | 'failed' | 'cancelled' | 'backoff';
  readonly error: string | null;
  /** Attempts that were made. */
  readonly attempts: number;
  readonly finishedAt: number;
}

const noNotices: EndNotices = { byHand: false, failed: null, autoPaused: null, recovered: null, completed: null };

/**
 * Words about how a run of a task ended, for a thread that is delivered. While it is tried again there is nothing to tell,
 * and whoever called it off knows that. It reads only what cannot be at fault in the input of a run.
 */
export function noticesOf(ids: Ids, run: StartableRun, ending: RunEnding): EndNotices {
  const { input } = run;
  if (run.taskId === null || !input.delivers) return noNotices;
  const byHand = input.byHand === true || input.again !== undefined;
  const over = ending.status === 'backoff' ? noNotices : { ...noNotices, completed: completionOf(ids, run) };
  if (ending.status === 'succeeded') {
    const recovered = notice(ids, 1, { view: 'recovered', since: ending.finishedAt, failures: 0 });
    return { ...over, byHand, recovered };
  }
  if (ending.status !== 'failed') return over;
  const error = ending.error ?? '';
  return {
    ...over,
    byHand,
    failed: notice(ids, 1, {
      view: 'failed',
      runId: run.id,
      slotAt: input.slotAt ?? null,
      attempts: ending.attempts,
      error,
    }),
    autoPaused: notice(ids, 2, { view: 'autoPaused', reason: failuresPause, failures: 0, error }),
  };
}

/** The number of its part is behind that of the question whether the result is shown. */
function completionOf(ids: Ids, { input, policy }: StartableRun): NewDelivery | null {
  return policy.maxRuns === null || !isOfSlot(input) ? null : notice(ids, 4, { view: 'completed', runs: 0 });
}

/** A word as urgent as the result in whose place it stands. Arriving twice does less harm than a question about it would. */
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
