import type { Once } from '../../app/use-cases/kept-answers.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import type { HttpRooms } from '../serving.ts';

/** Requests in the words of the use cases, which say null where nothing was named. */

export function instantOf(text: string | undefined): number | null {
  return text === undefined ? null : Date.parse(text);
}

export function threadOf(key: string | undefined): Thread | null {
  return key === undefined ? null : parseThreadKey(key);
}

/** The actor, and the request in whose course it acts. */
export function byOf({ traceId }: { readonly traceId: string }, { actor }: Pick<HttpRooms, 'actor'>) {
  return { actor, traceId };
}

interface OfTask {
  readonly params: { readonly task_id: string };
  readonly idempotencyKey: Once | null;
  readonly traceId: string;
}

/** The task of the path, and who does something to it. */
export function targetOf({ params, idempotencyKey, traceId }: OfTask, { actor }: Pick<HttpRooms, 'actor'>) {
  return { taskId: params.task_id, actor, idempotencyKey, traceId };
}
