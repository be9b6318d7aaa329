import { apiPrincipal, isPerson, type Actor } from '../../domain/access.ts';
import { actionScope } from '../../domain/grant.ts';
import { idempotencyRetentionMs, pageMax } from '../../domain/limits.ts';
import type { Warning } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import { parseThreadKey } from '../../domain/thread.ts';
import { endPauses } from '../pipeline/scheduler.ts';
import type { Bell, Clock, Digest, Ids, Log, Timer } from '../ports/outside.ts';
import type { SlotStore } from '../ports/pipeline.ts';
import type { Quota, TaskStore } from '../ports/tasks.ts';
import type { Once } from '../use-cases/kept-answers.ts';
import { defineTask, firstSlot, inFields, type Rules, type TaskInput, type TaskInWords } from './definition.ts';
import { replaceDefinition } from './edit.ts';
import { claimsFirst, type ClaimFirst } from './verbs.ts';

export interface CreateRequest {
  readonly threadKey: string;
  readonly input: TaskInput | TaskInWords;
  readonly onExisting?: 'fail' | 'upsert' | 'add' | undefined;
  readonly actor: Actor;
  readonly idempotencyKey: string | null;
  /** The request in whose course it is made, as its client named it. */
  readonly traceId?: string | null | undefined;
}

export interface CreateNeeds extends ClaimFirst {
  readonly store: TaskStore & Pick<SlotStore, 'resumeDue'>;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly bell: Bell;
  readonly timer: Timer;
  readonly rules: Rules;
  readonly quota: Quota;
  /** Told when a task has another title now; nobody waits for what becomes of that. */
  readonly renamed?: ((task: Task) => void) | undefined;
  /** Told when a task may have another schedule now: a hint that may get lost. */
  readonly retimed?: ((taskId: string) => void) | undefined;
}

export interface CreateResult {
  readonly task: Task;
  readonly created: boolean;
  /** The answer to an earlier request with the same Idempotency-Key. */
  readonly replayed: boolean;
  readonly warnings: readonly Warning[];
}

/** Validates, plans the first slot, and writes task and grant: all or nothing. */
export async function createTask(needs: CreateNeeds, request: CreateRequest): Promise<CreateResult> {
  const { clock, ids, store } = needs;
  const now = clock.now();
  const home = parseThreadKey(request.threadKey);
  const once = onceOf(needs, request, now);
  // Asked before anything is checked: what was right when the task was made may be past by the time of the repeat.
  const made = once === null ? null : await store.madeUnder(once, now);
  if (made !== null) return { task: made, created: false, replayed: true, warnings: [] };
  // Read after that, because words such as "in 20 minutes" mean another time by the repeat.
  const input = inFields(request.input, now);
  const checked = defineTask(needs.rules, input, now);
  const { definition, policy } = checked;
  await endDuePauses(needs, now);
  const result = await store.createTask(
    {
      ...definition,
      id: ids.next(),
      grant: { id: ids.next(), scopes: [actionScope(definition.action.kind)] },
      home,
      owner: isPerson(request.actor) ? request.actor : null,
      ownerIfNone: apiPrincipal,
      actor: request.actor,
      at: now,
      nextAt: firstSlot(definition.schedule, policy, now),
      minGapMs: checked.minGapMs,
      autoPause: policy.autoPause,
      context: input.context ?? {},
      onExisting: request.onExisting ?? (definition.subject === null ? 'add' : 'fail'),
      quota: needs.quota,
      once,
      traceId: request.traceId,
      newChatId: ids.next(),
    },
    (scene) => replaceDefinition(claimsFirst(needs, scene, now), { scene, checked, input, now }),
  );
  // A new task is nobody's business but the scheduler's, until its first slot is due.
  if (result.created) needs.bell.ring('scheduler');
  else ringAll(needs);
  if (!result.replayed) needs.retimed?.(result.task.id);
  return { ...result, warnings: checked.warnings };
}

function onceOf({ digest }: CreateNeeds, request: CreateRequest, now: number): Once | null {
  if (request.idempotencyKey === null) return null;
  return {
    scope: 'create',
    key: request.idempotencyKey,
    payloadHash: digest.of(JSON.stringify([request.threadKey, request.input, request.onExisting ?? null])),
    expiresAt: now + idempotencyRetentionMs,
  };
}

/** A due slot may have been dispatched on the way, and a run that was asked to stop is told by its runner. */
export function ringAll({ bell }: Pick<CreateNeeds, 'bell'>): void {
  bell.ring('scheduler');
  bell.ring('runner');
  // The card of the task shows what was done to it.
  bell.ring('deliverer');
}

/** A pause may be longer over than the scheduler knows; whatever is done to a task finds it as it stands by now. */
export async function endDuePauses(needs: Pick<CreateNeeds, 'store' | 'log'>, now: number): Promise<void> {
  for (let more = true; more;) ({ more } = await endPauses(needs, { now, limit: pageMax, waits: true }));
}
