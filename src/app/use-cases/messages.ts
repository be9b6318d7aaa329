import { apiPrincipal } from '../../domain/access.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { threadLane, type RunInput, type RunRequest, type Sound } from '../../domain/run.ts';
import { isBlank } from '../../domain/task.ts';
import { isDeliverable, parseThreadKey, type Thread } from '../../domain/thread.ts';
import type { RunService } from '../pipeline/run-requests.ts';
import type { World } from '../ports/outside.ts';
import type { RunView } from '../ports/runs.ts';
import type { TaskStore } from '../ports/tasks.ts';

/** A text that a client puts into a thread. It belongs to no task, and is shown as it stands. */
export interface MessageRequest {
  readonly threadKey: string;
  readonly text: string;
  /** The name of the client; each source has keys of its own. */
  readonly source: string;
  readonly userKey?: string | undefined;
  readonly mode: Sound;
  /** A key names one message, for as long as its run is kept. */
  readonly idempotencyKey: string | null;
  readonly traceId?: string | null | undefined;
}

type MessagesDeps = Pick<World, 'clock' | 'ids'> & {
  readonly store: Pick<TaskStore, 'openThread' | 'readRun'>;
  readonly runs: RunService;
};

export type Messages = ReturnType<typeof createMessages>;

export function createMessages({ store, runs, ids, clock }: MessagesDeps) {
  return {
    post: async (request: MessageRequest): Promise<RunView> => {
      const thread = parseThreadKey(request.threadKey);
      checkText(request.text);
      checkSource(request.source);
      const place = await store.openThread(thread, ids.next(), clock.now());
      if (place === null) throw noThread();
      const { runId } = await runs.ingest({
        ...requestOf(request, thread),
        // Without a key of the client's own, no other message is meant.
        idempotencyKey: request.idempotencyKey ?? `message:${ids.next()}`,
        lane: threadLane(place.chatId, thread.topic),
        chatId: place.chatId,
        ownerId: place.approvedBy ?? apiPrincipal,
      });
      const run = await store.readRun(runId);
      if (run === null) throw noThread();
      return run;
    },
  };
}

function requestOf(
  { text, source, userKey, mode, traceId }: MessageRequest,
  thread: Thread,
): Omit<RunRequest, 'idempotencyKey' | 'lane' | 'chatId' | 'ownerId'> {
  const input: RunInput = {
    title: 'Message',
    instructions: text,
    action: { kind: 'message', plain: true },
    timezone: 'UTC',
    number: null,
    slotAt: null,
    late: false,
    delivers: isDeliverable(thread),
    message: { topic: thread.topic, mode, ...(userKey === undefined ? {} : { userKey }) },
  };
  return {
    source,
    exclusive: false,
    priority: limits.priorityRunNow,
    taskId: null,
    taskVersion: null,
    occurrenceId: null,
    traceId,
    input,
  };
}

function checkText(text: string): void {
  if (isBlank(text)) throw invalid('text', 'text: a message has at least one character that can be seen.');
  if (text.length <= limits.messageLengthMax) return;
  throw invalid(
    'text',
    `text: a message has at most ${limits.messageLengthMax} characters, and most emoji count as two; send it in several.`,
  );
}

const sourceShape = /^[a-z][a-z0-9_.-]{0,31}$/;

/** The runs of tasks have keys of their own, under the name `task`. */
function checkSource(source: string): void {
  if (sourceShape.test(source) && source !== 'task') return;
  const message = 'source: it has 1 to 32 of a-z, 0-9, "_", "." and "-", begins with a letter, and is not "task".';
  throw invalid('source', message);
}

/** A chat that sent the bot away looks like one that does not exist. */
export function noThread(): AppError {
  return new AppError(
    'not_found',
    'There is no such thread. Add the bot to the chat as an owner of it, and try again.',
  );
}
