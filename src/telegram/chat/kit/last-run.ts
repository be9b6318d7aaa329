import type { ChatStore } from '../../../app/ports/chats.ts';
import type { AckStore } from '../../../app/ports/questions.ts';
import type { RunView } from '../../../app/ports/runs.ts';
import type { TaskStore } from '../../../app/ports/tasks.ts';
import type { Task } from '../../../domain/task.ts';
import { texts } from '../texts.ts';
import { answeredIn } from './action.ts';
import { calledOf, shortName } from './rights.ts';

/** Whether the result of a run has come, and whether somebody has done what it asks for, where it asks. */
export interface LastRun {
  readonly was: keyof typeof texts.task.lastWas;
  readonly done: 'notAsked' | 'open' | 'notDone' | { readonly by: string };
  readonly answered?: number | null;
}

export type LastRunStore = Pick<TaskStore, 'readRun'> & Pick<AckStore, 'readAck'> & Pick<ChatStore, 'readUser'>;

/** Null where nothing has run, or nothing is known of it any more. */
export async function lastRunOf(
  { id: taskId, lastRunId, lastRunStatus, policies }: Task,
  store: LastRunStore,
): Promise<LastRun | null> {
  const run = lastRunId === null ? null : await store.readRun(lastRunId);
  if (run === null || lastRunStatus === null) return null;
  const was = wasOf(lastRunStatus, run.deliveries);
  const { occurrenceId } = run;
  if (policies.ack === undefined || occurrenceId === null) return { was, done: 'notAsked', answered: answeredIn(run) };
  const ack = await store.readAck({ taskId, occurrenceId });
  if (ack === null) return { was, done: 'notAsked' };
  if (ack.doneBy !== null) return { was, done: { by: shortName(await calledOf({ store }, ack.doneBy)) } };
  return { was, done: ack.status === 'open' ? 'open' : 'notDone' };
}

/** The work and its delivery can go wrong alone; the worst part counts. */
export function wasOf(status: NonNullable<Task['lastRunStatus']>, parts: RunView['deliveries']): LastRun['was'] {
  if (status !== 'succeeded') return status;
  if (parts.length === 0) return 'ran';
  if (parts.some((part) => part.status === 'failed')) return 'notDelivered';
  return parts.every((part) => part.status === 'delivered') ? 'delivered' : 'waits';
}
