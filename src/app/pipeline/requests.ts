import { occurrenceKey } from '../../domain/occurrence.ts';
import { policyOf, type Policy } from '../../domain/policy.ts';
import type { RunRequest } from '../../domain/run.ts';
import { isDeliverable } from '../../domain/thread.ts';
import type { DueTask } from '../ports/pipeline.ts';

/** What a run takes from its task; a task that is paused or completed can be run by hand as well. */
export type RunnableTask = Omit<
  DueTask,
  'nextAt' | 'live' | 'waiting' | 'reserved' | 'skipped' | 'grant' | 'boundedRuns'
>;

export interface SlotRequest {
  readonly occurrenceId: string;
  readonly slotAt: number;
  readonly late: boolean;
  readonly priority: number;
  /** A run by hand moves no slot, not even that of a delay after the last finish. */
  readonly byHand: boolean;
}

export function policyFor(task: Pick<RunnableTask, 'policies' | 'action' | 'minGapMs'>): Policy {
  return policyOf(task.policies, { actionKind: task.action.kind, minGapMs: task.minGapMs });
}

/** The request that an occurrence makes: the same for a slot, a catch-up and a run by hand. */
export function requestOf(task: RunnableTask, policy: Policy, slot: SlotRequest): RunRequest {
  return {
    source: 'task',
    idempotencyKey: occurrenceKey(task.id, slot.slotAt),
    lane: null,
    exclusive: policy.overlap !== 'allow',
    priority: slot.priority,
    taskId: task.id,
    taskVersion: task.version,
    occurrenceId: slot.occurrenceId,
    chatId: task.chatId,
    ownerId: task.ownerId,
    ...(policy.jitterMs > 0 && !slot.byHand ? { jitterMs: policy.jitterMs } : {}),
    input: {
      title: task.title,
      instructions: task.instructions,
      action: task.action,
      timezone: task.schedule.timezone,
      number: task.number,
      slotAt: slot.slotAt,
      late: slot.late,
      delivers: isDeliverable(task),
      context: unlessEmpty(task.context),
      policies: unlessEmpty(task.policies),
      byHand: slot.byHand ? true : undefined,
      follows: slot.byHand ? undefined : followsOf(task, policy),
    },
  };
}

function unlessEmpty<T extends object>(facts: T): T | undefined {
  for (const _key in facts) return facts;
  return undefined;
}

/** Only the end of such a run says when the next one is due. */
function followsOf({ schedule }: RunnableTask, policy: Policy): RunRequest['input']['follows'] {
  const follows = schedule.kind === 'interval' && schedule.from === 'completion';
  return follows ? { schedule, bounds: { startAt: policy.startAt, until: policy.until } } : undefined;
}
