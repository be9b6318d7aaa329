import { outboxRanks, splitText } from '../../domain/delivery.ts';
import * as limits from '../../domain/limits.ts';
import { type MessageInput, conclude, isOfSlot, type AttemptOutcome } from '../../domain/run.ts';
import { nextSlot, wallText } from '../../domain/schedule/schedule.ts';
import type { Drawn, Shown, View } from '../../domain/shown.ts';
import { failuresPause } from '../../domain/task.ts';
import type { Outcome, Actions } from '../actions/action.ts';
import type { Ids, Log, World } from '../ports/outside.ts';
import type { NewApproval, NewDelivery, RunEnd, StartableRun, StartedRun, EndNotices } from '../ports/pipeline.ts';

interface EndDeps extends Pick<World, 'ids' | 'log'> {
  readonly actions: Actions;
}

/** How an attempt went, and when. */
interface Ended {
  readonly result: Outcome | 'timedOut' | 'cancelled';
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly durationMs: number;
}

/** The end of an attempt as it is written: what it means for its run, and what is to be shown. */
export function endOf(deps: EndDeps, { run, attempt: number, fence }: StartedRun, ended: Ended): RunEnd {
  const { input } = run;
  const { result, startedAt, finishedAt, durationMs } = ended;
  const outcome: AttemptOutcome = typeof result === 'string' ? { is: result } : result;
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
    httpStatus: typeof result === 'string' ? null : (result.httpStatus ?? null),
    error,
    ...(typeof result === 'object' && result.is === 'retry' && result.isFree ? { isFree: true } : {}),
    ...(typeof result === 'object' && result.is === 'giveUp' && result.isHarmful ? { isHarmful: true } : {}),
    ...confirmed(deps, run, ended),
    // Made after the parts of the result, so that they come after them.
    notices: {
      ...noticesOf(deps.ids, run, { status: conclusion.run, error, attempts: number, finishedAt }),
      ...contextNotice(deps.ids, run, result),
    },
    follows: conclusion.run === 'backoff' ? null : followingSlot(run, finishedAt),
  };
}

/** The result, and what people are asked about it: whether it is shown, and whether it is done. */
function confirmed(
  deps: EndDeps,
  run: StartableRun,
  ended: Ended,
): Brought & Pick<RunEnd, 'ack' | 'approval' | 'ifUnchanged'> {
  const { ack, approval, skipIfUnchanged: wanted } = run.policy;
  const brought = { ...broughtBack(deps, run, ended), ...(wanted === 'none' ? {} : { ifUnchanged: wanted }) };
  if (brought.deliveries.length === 0 || run.taskId === null) return brought;
  const asked = ack === null || run.occurrenceId === null ? brought : { ...brought, ack };
  if (approval !== 'required') return asked;
  const decideBy = ended.finishedAt + limits.approvalExpiryMs;
  return {
    ...asked,
    deliveries: brought.deliveries.map((part) => ({ ...part, approveBy: decideBy })),
    approval: { id: deps.ids.next(), ...quoteOf(run, ended), decideBy },
  };
}

/** Enough to judge by; the message around it must fit as well. */
function quoteOf(run: StartableRun, { result, startedAt }: Ended): Pick<NewApproval, 'text' | 'mediaKind'> {
  if (typeof result === 'string' || result.is !== 'done') return { text: '' };
  const text = wordsOf(run, result, startedAt).slice(0, limits.approvalQuoteMax);
  return result.media === undefined ? { text } : { text, mediaKind: result.media.kind };
}

type Brought = Pick<RunEnd, 'output' | 'deliveries' | 'context' | 'usage'>;

/** Only work that was done brings something back. */
function broughtBack({ ids, log }: EndDeps, run: StartableRun, { result, startedAt, finishedAt }: Ended): Brought {
  if (typeof result === 'string' || result.is !== 'done')
    return { output: null, deliveries: [], context: null, usage: [] };
  const shown = { ...result, text: wordsOf(run, result, startedAt) };
  return {
    output: outputOf(run.input.action.kind, result),
    deliveries: deliveriesOf(ids, run, { shown, finishedAt }),
    context: smallEnough(log, run, contextLeft(run, result)),
    usage: (result.usage ?? []).map(({ kind, quantity }) => ({ kind, quantity: Math.round(quantity) })),
  };
}

type Done = Extract<Outcome, { is: 'done' }>;

/** One envelope for what every kind of action brings back. */
function outputOf(kind: string, { text, data, media }: Done) {
  return {
    type: kind,
    text,
    ...(data === undefined ? {} : { data }),
    ...(media === undefined ? {} : { attachments: [{ kind: media.kind, file_id: media.fileId }] }),
  };
}

/** The text as people read it: it is added when a late result was meant for, and what the action brought stays as it is. */
function wordsOf({ input }: StartableRun, { text, media }: Done, startedAt: number): string {
  const isEmpty = text.trim() === '';
  if (!input.late || (isEmpty && media === undefined)) return text;
  const { slotAt, timezone } = input;
  const late = `Late: due ${wallText(slotAt ?? startedAt, timezone)}, ran ${wallText(startedAt, timezone)} (${timezone})`;
  return isEmpty ? late : `${text}\n\n${late}`;
}

function deliveriesOf(
  ids: Ids,
  { input, policy, occurrenceId }: StartableRun,
  { shown, finishedAt }: { shown: Done; finishedAt: number },
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
function messagePlace({ topic, mode }: MessageInput): Pick<NewDelivery, 'thread' | 'urgent' | 'silent'> {
  const thread = { topic };
  if (mode === 'silent') return { thread, silent: true };
  return mode === 'urgent' ? { thread, urgent: true } : { thread };
}

type Part = Pick<Drawn, 'text' | 'media'>;

/** Words that fit below a file stand there; longer ones follow it. */
function partsOf({ text, media }: Done): readonly Part[] {
  const words = (all: string): Part[] => splitText(all).map((part) => ({ text: part }));
  if (media === undefined) return words(text);
  return text.length <= limits.captionLengthMax ? [{ text, media }] : [{ text: '', media }, ...words(text)];
}

/** The buttons stand under the last part; they act on the occurrence, so what has none bears none. */
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
  return { context: notice(ids, 5, { view: 'contextLeft', size: JSON.stringify(context).length }) };
}

/** The run was done, so it succeeds; a context that has outgrown its limit stays as it was. */
function smallEnough(log: Log, run: StartableRun, context: RunEnd['context']) {
  if (context === null || JSON.stringify(context).length <= limits.contextBytesMax) return context;
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
export function brokenEnd({ run, attempt, fence }: StartedRun, at: number, error: string): RunEnd {
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
    usage: [],
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
