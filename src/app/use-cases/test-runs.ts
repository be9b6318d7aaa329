import { apiPrincipal, isPerson, type Actor } from '../../domain/access.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import type { MessageInput, RunInput } from '../../domain/run.ts';
import type { ActionSpec } from '../../domain/task.ts';
import { isDeliverable, parseThreadKey } from '../../domain/thread.ts';
import type { Kinds } from '../actions/kinds.ts';
import type { RunService } from '../pipeline/run-requests.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { World } from '../ports/outside.ts';
import type { RunView } from '../ports/runs.ts';
import type { TaskStore } from '../ports/tasks.ts';
import { settingsAt } from '../tasks/create.ts';
import { checkContent, withTemplates, type Rules, type Trials } from '../tasks/definition.ts';
import { noThread } from './messages.ts';
import type { SecretsAhead } from './run-secrets.ts';
import type { SecretReach } from './secret-reach.ts';

/** An action that is done once, before there is a task that does it. */
export interface TestRequest {
  readonly threadKey: string;
  readonly title: string;
  readonly instructions: string;
  readonly action: ActionSpec;
  readonly timezone: string;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly actor: Actor;
  /** The asker has agreed that it may change something where it calls. */
  readonly isAgreed: boolean;
  /** The one person who sees what comes of it; absent where everybody in the thread does. */
  readonly onlyFor?: MessageInput['onlyFor'];
  /** A key names one test, for as long as its run is kept. */
  readonly idempotencyKey: string | null;
  readonly traceId?: string | null | undefined;
}

type TestRunsDeps = Pick<World, 'clock' | 'ids'> & {
  readonly store: Pick<TaskStore, 'openThread' | 'readRun'> & Pick<ChatStore, 'findChat'>;
  readonly runs: RunService;
  readonly kinds: Pick<Kinds, 'changesThings' | 'scopesOf'>;
  readonly rules: Omit<Rules, 'parsed'>;
  readonly templates: Trials;
  readonly secretsAhead: SecretsAhead;
  readonly secretReach: SecretReach;
  /** Kinds of which nothing begins for now. */
  readonly pausedKinds: () => readonly string[];
};

export type TestRuns = ReturnType<typeof createTestRuns>;

/**
 * Tests go through the pipeline like every run, with a key of their own, so that no target takes one for a slot. They are
 * tried once and for a short time, because somebody looks at the screen.
 */
export function createTestRuns(deps: TestRunsDeps) {
  const { store, runs, ids, clock } = deps;
  return {
    /** Refuses what no task could do. */
    check: (wish: Wish) => check(deps, wish),
    run: async (request: TestRequest): Promise<RunView> => {
      const thread = parseThreadKey(request.threadKey);
      await check(deps, request);
      if (deps.pausedKinds().includes(request.action.kind)) throw paused(request.action.kind);
      if (!request.isAgreed && deps.kinds.changesThings(request.action)) throw notAgreed();
      const place = await store.openThread(thread, ids.next(), clock.now());
      if (place === null) throw noThread();
      const { actor, idempotencyKey, traceId } = request;
      const { runId } = await runs.ingest({
        source: 'test',
        idempotencyKey: `test:${idempotencyKey ?? ids.next()}`,
        lane: null,
        exclusive: false,
        priority: limits.priorityRunNow,
        taskId: null,
        taskVersion: null,
        occurrenceId: null,
        chatId: place.chatId,
        ownerId: isPerson(actor) ? actor : (place.approvedBy ?? apiPrincipal),
        traceId,
        input: inputOf(request, thread.topic, isDeliverable(thread)),
      });
      const run = await store.readRun(runId);
      if (run === null) throw noThread();
      return run;
    },
  };
}

interface Wish extends Pick<TestRequest, 'title' | 'instructions' | 'action' | 'actor'> {
  /** Null where no chat has a say yet. */
  readonly threadKey: string | null;
}

/** As the creation of such a task would. */
async function check(deps: TestRunsDeps, { threadKey, title, instructions, action, actor }: Wish): Promise<void> {
  const thread = threadKey === null ? null : parseThreadKey(threadKey);
  const { hosts } = thread === null ? settingsOf({}) : await settingsAt(deps.store, thread);
  const content = { title, instructions, action, policies: {} };
  await withTemplates(deps, actor, async (rules) => checkContent({ ...rules, hosts }, content));
  if (thread === null) return;
  const ownerId = isPerson(actor) ? actor : null;
  await deps.secretsAhead({ action, ownerId, chat: thread });
  (await deps.secretReach(actor, thread)).heedNew(ownerId, deps.kinds.scopesOf(action));
}

/** Somebody looks at the screen, and no test waits for an operator. */
function paused(kind: string): AppError {
  const words = `Kind ${kind} is paused on this server, so it is not tried out now. GET /v1/status tells since when, and by whom.`;
  return new AppError('kind_paused', words, { details: { kind } });
}

function notAgreed(): AppError {
  return invalid(
    'confirm',
    'confirm: this call may change something where it goes, so it is done only on request: "confirm": true.',
  );
}

/** An answer that one person alone sees must come soon after their press. */
const policies = { timeout: 'PT10S', retry: { attempts: 1 } } as const;

function inputOf(request: TestRequest, topic: number | null, delivers: boolean): RunInput {
  const { title, instructions, action, timezone, context, onlyFor } = request;
  return {
    title,
    instructions,
    action,
    timezone,
    number: null,
    slotAt: null,
    late: false,
    delivers,
    policies,
    ...(context === undefined ? {} : { context }),
    message: { topic, mode: 'urgent', isTest: true, ...(onlyFor === undefined ? {} : { onlyFor }) },
  };
}
