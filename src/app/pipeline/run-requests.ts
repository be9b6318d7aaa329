import { priorityBackground, priorityRunNow } from '../../domain/limits.ts';
import { isByHand, isPlanned, occurrenceKey, type OccurrenceSource } from '../../domain/occurrence.ts';
import { type Policy, policyOf } from '../../domain/policy.ts';
import type { NewRun, RunInput, RunRequest } from '../../domain/run.ts';
import { isDelay } from '../../domain/schedule/slots.ts';
import { isDeliverable } from '../../domain/thread.ts';
import type { Estimates } from '../ports/metering.ts';
import type { Digest, World } from '../ports/outside.ts';
import type { DueTask, RunStore } from '../ports/pipeline.ts';

/**
 * The only way to execution. All that asks for work makes a request; a request becomes a run here, with its key and the
 * hash of its payload, and nowhere else. The same key with the same payload is the same run.
 */
export interface RunService {
  /** Makes the run that a store method inserts together with the rows that asked for it. */
  prepare(request: RunRequest, now: number): NewRun;
  /** Prepares and stores a run that stands alone. */
  ingest(request: RunRequest): Promise<{ readonly runId: string; readonly created: boolean }>;
}

interface RunServiceDeps extends Pick<World, 'ids' | 'digest' | 'clock' | 'bell'> {
  readonly store: Pick<RunStore, 'addRun'>;
  readonly reckoning: Estimates;
}

export function createRunService({ store, ids, digest, clock, bell, reckoning }: RunServiceDeps): RunService {
  const prepare = (request: RunRequest, now: number): NewRun => {
    const { title, instructions, ...rest } = request.input;
    const whole = JSON.stringify(rest);
    // The payload is hashed as one text, as it was when all of it stood in one column: a repeated key still finds its run.
    const payload = `${JSON.stringify({ title, instructions }).slice(0, -1)},${whole.slice(1)}`;
    const costs = reckoning.costsOf(request.input.action);
    const isLarge = whole.length > inlineInputMax && request.chatId !== null;
    return {
      ...request,
      id: ids.next(),
      ...(isLarge ? apart(digest, rest) : { inputText: whole }),
      payloadHash: digest.of(`${request.lane ?? ''}\n${payload}`),
      ...(costs === null ? {} : { costs }),
      createdAt: now,
      readyAt: now + spread(digest, request),
    };
  };
  return {
    prepare,
    ingest: async (request) => {
      const result = await store.addRun(prepare(request, clock.now()));
      if (result.created) bell.ring('runner');
      return result;
    },
  };
}

/** An input of more is mostly the settings of its action or a context, which few runs change. */
const inlineInputMax = 4096;

function apart(digest: Digest, { context, action, ...rest }: Omit<RunInput, 'title' | 'instructions'>) {
  const text = JSON.stringify({ context, action });
  const hash = digest.ofBytes();
  hash.add(new TextEncoder().encode(text));
  return { inputText: JSON.stringify(rest), snapshot: { sha256: hash.hex(), text } };
}

/** Facts that a run takes from its task; a task that is paused or completed can be run by hand as well. */
export type RunnableTask = Omit<
  DueTask,
  'nextAt' | 'live' | 'waiting' | 'reserved' | 'held' | 'skipped' | 'grant' | 'boundedRuns'
>;

interface SlotRequest {
  readonly occurrenceId: string;
  readonly slotAt: number;
  readonly source: OccurrenceSource;
}

export function policyFor(task: Pick<RunnableTask, 'policies' | 'action' | 'minGapMs'>): Policy {
  return policyOf(task.policies, { actionKind: task.action.kind, minGapMs: task.minGapMs });
}

/** The request that an occurrence makes: the same for a slot, a catch-up and a run by hand. */
export function requestOf(task: RunnableTask, policy: Policy, slot: SlotRequest): RunRequest {
  // A run beside the schedule moves no slot, not even that of a delay after the last finish.
  const planned = isPlanned(slot.source);
  return {
    source: 'task',
    idempotencyKey: occurrenceKey(task.id, slot.slotAt),
    lane: null,
    exclusive: policy.overlap !== 'allow',
    priority: priorityOf(slot.source, policy),
    taskId: task.id,
    taskVersion: task.version,
    occurrenceId: slot.occurrenceId,
    chatId: task.chatId,
    ownerId: task.ownerId,
    ...(policy.jitterMs > 0 && planned ? { jitterMs: policy.jitterMs } : {}),
    input: {
      title: task.title,
      instructions: task.instructions,
      action: task.action,
      timezone: task.schedule.timezone,
      number: task.number,
      slotAt: slot.slotAt,
      late: slot.source === 'catch_up',
      source: slot.source === 'schedule' ? undefined : slot.source,
      delivers: isDeliverable(task),
      context: unlessEmpty(task.context),
      policies: unlessEmpty(task.policies),
      byHand: isByHand(slot.source) ? true : undefined,
      follows: planned ? followsOf(task, policy) : undefined,
    },
  };
}

/** Two classes stand outside of the priorities that people give to tasks: whoever asked by hand goes before them, a refresh after them. */
function priorityOf(source: OccurrenceSource, { priority }: Policy): number {
  if (isPlanned(source)) return priority;
  return isByHand(source) ? priorityRunNow : priorityBackground;
}

function unlessEmpty<T extends object>(facts: T): T | undefined {
  for (const _key in facts) return facts;
  return undefined;
}

/** A prime, so that texts that differ little fall far apart. */
const places = 1_000_003;

/** A delay that is the same for a request on every machine and at every try; different slots fall on different places. */
function spread(digest: Digest, { jitterMs = 0, idempotencyKey }: RunRequest): number {
  if (jitterMs === 0) return 0;
  let place = 0;
  for (const sign of digest.of(idempotencyKey)) place = (place * 31 + sign.charCodeAt(0)) % places;
  return Math.floor((place / places) * jitterMs);
}

/** Only the end of such a run says when the next one is due. */
function followsOf({ schedule }: RunnableTask, policy: Policy): RunRequest['input']['follows'] {
  return isDelay(schedule) ? { schedule, bounds: { startAt: policy.startAt, until: policy.until } } : undefined;
}
