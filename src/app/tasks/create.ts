import { apiPrincipal, isPerson, type Actor } from '../../domain/access.ts';
import { settingsOf, wordsIn, type ChatSettings } from '../../domain/chat-settings.ts';
import { idempotencyRetentionMs } from '../../domain/limits.ts';
import { type AdviceWords, englishAdvice, type Warning } from '../../domain/schedule/advice.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import { parseThreadKey, type Thread } from '../../domain/thread.ts';
import type { Assumed } from '../../domain/when/asked.ts';
import { endOfPause } from '../pipeline/scheduler.ts';
import type { SlotPlanDeps } from '../pipeline/slot-plans.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { World } from '../ports/outside.ts';
import type { Created, Quota, TaskStore } from '../ports/tasks.ts';
import type { Once } from '../use-cases/kept-answers.ts';
import type { SecretsAhead } from '../use-cases/run-secrets.ts';
import type { SecretReach } from '../use-cases/secret-reach.ts';
import {
  defineTask,
  firstSlot,
  inFields,
  type Trials,
  withTemplates,
  type Rules,
  type TaskInput,
  type TaskInWords,
} from './definition.ts';
import { replaceDefinition } from './edit.ts';
import { refusePastEnd } from './grants.ts';
import { claimsFirst } from './verbs.ts';

export interface CreateRequest {
  readonly threadKey: string;
  readonly input: TaskInput | TaskInWords;
  readonly onExisting?: 'fail' | 'upsert' | 'add' | undefined;
  readonly actor: Actor;
  readonly idempotencyKey: Key;
  /** The request in whose course it is made, as its client named it. */
  readonly traceId?: string | null | undefined;
  /** For what is said about its schedule; English without them. */
  readonly words?: AdviceWords | undefined;
}

/** A key that comes again has no second effect. A surface that keeps its answers says what the key stands for. */
export type Key = string | Once | null;

export interface CreateDeps extends SlotPlanDeps, Pick<World, 'log' | 'clock' | 'digest' | 'bell' | 'timer'> {
  readonly store: TaskStore & Pick<ChatStore, 'findChat'>;
  readonly rules: Omit<Rules, 'parsed'>;
  readonly templates: Trials;
  readonly secretsAhead: SecretsAhead;
  readonly secretReach: SecretReach;
  readonly quota: Quota;
  /** Told when a task may have another schedule now: a hint that may get lost. */
  readonly retimed?: ((taskId: string) => void) | undefined;
}

export interface CreatedTask extends Created {
  /** Assumptions of the words that it was made from. */
  readonly assumed: readonly Assumed[];
}

/** Validates, plans the first slot, and writes task and grant: all or nothing. */
export async function createTask(deps: CreateDeps, request: CreateRequest): Promise<CreatedTask> {
  const { clock, ids, store } = deps;
  const now = clock.now();
  const home = parseThreadKey(request.threadKey);
  const { threadKey, input, onExisting, idempotencyKey } = request;
  const once = onceOf(deps, idempotencyKey, {
    scope: 'create',
    target: '',
    payload: [threadKey, input, onExisting ?? null],
  });
  // Asked before anything is checked: what was right when the task was made may be past by the time of the repeat.
  const made = once === null ? null : await store.madeUnder(once, now);
  if (made !== null) return { ...made, assumed: [] };
  // Read after that, because words such as "in 20 minutes" mean another time by the repeat.
  const settings = await settingsAt(store, home);
  const { fields, assumed } = inFields(input, { now, ...('when' in input ? wordsIn(settings) : {}) });
  const checked = await withTemplates(deps, request.actor, async (rules) =>
    defineTask({ ...rules, words: request.words, hosts: settings.hosts }, fields, now),
  );
  const { definition, policy } = checked;
  const ownerId = isPerson(request.actor) ? request.actor : null;
  const unset = await unsetSecrets(deps, { action: definition.action, ownerId, chat: home }, request.words);
  const scopes = deps.scopesOf(definition.action);
  const reach = await deps.secretReach(request.actor, home);
  const unconfirmed = reach.heedNew(ownerId, scopes);
  const result = await store.createTask(
    {
      ...definition,
      id: ids.next(),
      grant: { id: ids.next(), scopes, unconfirmed, expiresAt: grantEndOf(fields, settings, now) },
      home,
      owner: ownerId,
      ownerIfNone: apiPrincipal,
      actor: request.actor,
      at: now,
      nextAt: firstSlot(definition.schedule, policy, now),
      minGapMs: checked.minGapMs,
      context: fields.context ?? {},
      onExisting: onExisting ?? (definition.subject === null ? 'add' : 'fail'),
      quota: deps.quota,
      once,
      traceId: request.traceId,
      newChatId: ids.next(),
      warnings: [...checked.warnings, ...unset],
      endPause: (due) => endOfPause(deps, due),
    },
    (scene) => {
      const claimed = claimsFirst(deps, scene, now);
      return reach.heed(scene, replaceDefinition(claimed, { scene, rules: deps.rules, checked, input: fields, now }));
    },
  );
  // A new task is nobody's business but the scheduler's, until its first slot is due.
  if (result.created) deps.bell.ring('scheduler');
  else ringAll(deps);
  if (!result.replayed) deps.retimed?.(result.task.id);
  return { ...result, assumed };
}

/** The choices of a chat; the usual ones where none is known. */
export async function settingsAt(
  store: Pick<ChatStore, 'findChat'>,
  { provider, address }: Pick<Thread, 'provider' | 'address'>,
): Promise<ChatSettings> {
  const chat = provider === 'telegram' ? await store.findChat(address) : null;
  return settingsOf(chat?.settings ?? {});
}

/** Refuses what a task calls where the chat to which it is to go does not let its tasks call that. */
export async function refuseHostsAt(
  {
    store,
    rules,
  }: Pick<CreateDeps, 'rules'> & { readonly store: Pick<TaskStore, 'readTask'> & Pick<ChatStore, 'findChat'> },
  taskId: string,
  home: Thread,
): Promise<void> {
  const { hosts } = await settingsAt(store, home);
  const task = hosts === null ? null : await store.readTask(taskId);
  if (task !== null) rules.actions.require(task.action.kind).check(task.action, task.instructions, hosts);
}

/** How long grants hold that name no end, by the choice of the task's chat. */
export async function grantLastsMs(
  store: Pick<TaskStore, 'readTask'> & Pick<ChatStore, 'findChat'>,
  taskId: string,
): Promise<number | null> {
  const task = await store.readTask(taskId);
  const { grantDays } = task === null ? settingsOf({}) : await settingsAt(store, task.home);
  return grantDays === null ? null : grantDays * DAY_MS;
}

/** Secrets may be set after the task that names them, so that is a warning; those that it must not use are refused. */
export async function unsetSecrets(
  { secretsAhead }: Pick<CreateDeps, 'secretsAhead'>,
  task: Parameters<SecretsAhead>[0],
  words: AdviceWords = englishAdvice,
): Promise<readonly Warning[]> {
  const names = await secretsAhead(task);
  return names.map((name) => ({ code: 'secret_missing', message: words.secretMissing(name) }));
}

function grantEndOf({ grantExpiresAt: at }: Pick<TaskInput, 'grantExpiresAt'>, settings: ChatSettings, now: number) {
  const { grantDays } = settings;
  if (at === undefined) return grantDays === null ? null : now + grantDays * DAY_MS;
  if (at !== null) refusePastEnd('grant_expires_at', at, now);
  return at;
}

interface Deed {
  readonly scope: string;
  readonly target: string;
  readonly payload: unknown;
}

/** A key that names nothing but itself stands for the deed and for what it was given. */
export function onceOf({ digest, clock }: Pick<CreateDeps, 'digest' | 'clock'>, key: Key, deed: Deed): Once | null {
  if (typeof key !== 'string') return key;
  const payloadHash = digest.of(JSON.stringify(deed.payload));
  return { scope: deed.scope, target: deed.target, key, payloadHash, expiresAt: clock.now() + idempotencyRetentionMs };
}

/** A due slot may have been dispatched on the way, and a run that was asked to stop is told by its runner. */
export function ringAll({ bell }: Pick<CreateDeps, 'bell'>): void {
  bell.ring('scheduler');
  bell.ring('runner');
  // The card of the task shows what was done to it.
  bell.ring('deliverer');
}
