import type {
  ChangeRequest,
  GrantChange,
  GrantPage,
  GrantQuery,
  GrantState,
  GrantStore,
  GrantView,
} from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import type { GrantFault } from '../../domain/grant.ts';
import type { Reason } from '../../domain/occurrence.ts';
import type { View } from '../../domain/shown.ts';
import type { Task } from '../../domain/task.ts';
import { listOf, rows, write, type Engine, type Script, type Value, row } from '../engine/engine.ts';
import { positionOf, writeCursor, idAt } from '../engine/queries.ts';
import { insertPart, toldScope } from '../outbox/new-parts.ts';
import { readTexts } from './codec.ts';

/**
 * Grants. A person or a token takes one away for good. The product takes one away for a reason that may pass, and gives
 * back what it took for that reason alone: `left` while its owner is out of the chat, `afterDeletion` while its task is
 * deleted. A task that is replaced under a fresh grant leaves the old one behind, revoked.
 */
export function grantStore(engine: Engine): GrantStore {
  return {
    listGrants: (query) => engine.transact(() => listGrants(query)),
    readGrant: (grantId) => engine.transact(() => readGrant(grantId)),
  };
}

export const left = 'system:left';
export const afterDeletion = 'system:deleted';

interface GrantRow {
  readonly id: string;
  readonly owner_id: string;
  readonly provider: string;
  readonly address: string;
  readonly scopes: string;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly revoked_by: string | null;
  readonly created_at: number;
  readonly created_by: string;
}

const selected = `select g.id, g.owner_id, c.provider, c.address, g.scopes, g.expires_at, g.revoked_at, g.revoked_by,
    g.created_at, g.created_by from grants g join chats c on c.id = g.chat_id`;

interface Condition {
  readonly text: string;
  readonly values: readonly Value[];
}

function* listGrants(query: GrantQuery): Script<GrantPage> {
  const conditions = conditionsOf(query);
  const found = yield* rows<GrantRow>(
    `${selected} where ${conditions.map(({ text }) => text).join(' and ')} order by g.id desc limit ?i`,
    ...conditions.flatMap(({ values }) => values),
    query.limit + 1,
  );
  const items = yield* withTasks(found.slice(0, query.limit));
  const last = items.at(-1);
  return { items, next: found.length > query.limit && last !== undefined ? writeCursor('grant', last.id) : null };
}

function conditionsOf({ thread, ownerId, taskId, state, now, cursor }: GrantQuery): readonly Condition[] {
  const all: Condition[] = [{ text: '1 = 1', values: [] }];
  if (cursor !== null) all.push({ text: 'g.id < ?t', values: [positionOf('grant', cursor)] });
  if (thread !== null) {
    const { provider, address, topic } = thread;
    const chat = `(select chat_id from chat_aliases where provider = ?t and address = ?t)`;
    const isInTopic = `g.id in (select t.grant_id from tasks t where t.chat_id in ${chat} and t.home_topic = ?i)`;
    if (topic === null) all.push({ text: `g.chat_id in ${chat}`, values: [provider, address] });
    else all.push({ text: isInTopic, values: [provider, address, topic] });
  }
  if (ownerId !== null) all.push({ text: 'g.owner_id = ?t', values: [ownerId] });
  if (taskId !== null) all.push({ text: `g.id = (select t.grant_id from tasks t where t.id = ?t)`, values: [taskId] });
  if (state !== null) all.push(inState(state, now));
  return all;
}

function inState(state: GrantState, now: number): Condition {
  if (state === 'revoked') return { text: 'g.revoked_at is not null', values: [] };
  const isExpired = state === 'expired';
  const expiry = isExpired ? 'g.expires_at <= ?i' : '(g.expires_at is null or g.expires_at > ?i)';
  return { text: `g.revoked_at is null and ${expiry}`, values: [now] };
}

function* readGrant(grantId: string): Script<GrantView | null> {
  const found = yield* rows<GrantRow>(`${selected} where g.id = ?t`, grantId);
  return (yield* withTasks(found))[0] ?? null;
}

function* withTasks(found: readonly GrantRow[]): Script<GrantView[]> {
  if (found.length === 0) return [];
  const { marks, values } = listOf(found.map(({ id }) => id));
  const tasks = yield* rows<{ id: string; grant_id: string }>(
    `select id, grant_id from tasks where grant_id in (${marks}) order by id`,
    ...values,
  );
  return found.map((one) => ({
    id: one.id,
    taskIds: tasks.filter(({ grant_id: grantId }) => grantId === one.id).map(({ id }) => id),
    ownerId: one.owner_id as Actor,
    thread: { provider: one.provider, address: one.address, topic: null },
    scopes: scopesIn(one.scopes),
    expiresAt: one.expires_at,
    revokedAt: one.revoked_at,
    revokedBy: one.revoked_by,
    createdAt: one.created_at,
    createdBy: one.created_by as Actor,
  }));
}

/** Scopes that cannot be read allow nothing, and a list must not fail because of one row. */
function scopesIn(text: string): readonly string[] {
  try {
    return readTexts('scopes', text);
  } catch {
    return [];
  }
}

type By = Pick<ChangeRequest, 'actor' | 'at'>;

/** Gives a task a fresh grant, or takes the one away that it has. False when that was done before. */
export function* changeGrant(by: By, task: Task, change: GrantChange): Script<boolean> {
  if (change.is === 'revoked') return yield* revoke(by, change.id);
  const { id, scopes, expiresAt } = change;
  yield* write(
    `insert into grants (id, owner_id, chat_id, scopes, expires_at, created_at, created_by)
     values (?t, ?t, ?t, ?t, ?i, ?i, ?t)`,
    id,
    task.ownerId,
    task.chatId,
    JSON.stringify(scopes),
    expiresAt,
    by.at,
    by.actor,
  );
  if (yield* loseIfOut(id, by.at)) throw ownerLeft();
  yield* replaceGrant(by, task, { grantId: id, ownerId: task.ownerId });
  return true;
}

/** By hand it is for good, also where the product had taken it away until something passes. */
function* revoke({ actor, at }: By, grantId: string): Script<boolean> {
  return yield* write(
    `update grants set revoked_at = coalesce(revoked_at, ?i), revoked_by = ?t
     where id = ?t and (revoked_at is null or revoked_by in ('${left}', '${afterDeletion}'))`,
    at,
    actor,
    grantId,
  );
}

interface Replacing {
  readonly grantId: string;
  readonly ownerId: string;
}

/** Grant and owner change together: a task acts only under a grant of its own owner. */
export function* replaceGrant({ actor, at }: By, { id }: Pick<Task, 'id'>, fresh: Replacing): Script<void> {
  yield* write(
    `update grants set revoked_at = coalesce(revoked_at, ?i), revoked_by = coalesce(revoked_by, ?t)
     where id = (select t.grant_id from tasks t where t.id = ?t)`,
    at,
    actor,
    id,
  );
  yield* write(`update tasks set grant_id = ?t, owner_id = ?t where id = ?t`, fresh.grantId, fresh.ownerId, id);
}

/** The grant of a task goes with it and comes back with it, unless its owner has left the chat meanwhile. */
export function* followState({ at }: By, before: Task, state: Task['state'] | undefined): Script<void> {
  if (state === undefined || (before.state === 'deleted') === (state === 'deleted')) return;
  const mine = `id = (select t.grant_id from tasks t where t.id = ?t)`;
  if (state === 'deleted') {
    yield* rows(
      `update grants set revoked_at = ?i, revoked_by = '${afterDeletion}' where ${mine} and revoked_at is null`,
      at,
      before.id,
    );
    return;
  }
  const back = yield* rows<{ id: string }>(
    `update grants set revoked_at = null, revoked_by = null where ${mine} and revoked_by = '${afterDeletion}'
     returning id`,
    before.id,
  );
  for (const { id } of back) yield* loseIfOut(id, at);
}

/** Whoever is out of a chat has no right there; the right of an owner of the bot comes from being one. */
export function* loseIfOut(grantId: string, at: number): Script<boolean> {
  return yield* write(
    `update grants set revoked_at = ?i, revoked_by = '${left}'
     where id = ?t and revoked_at is null and exists (select 1 from members m
         where m.chat_id = grants.chat_id and m.user_id = grants.owner_id and m.status = 'out')
       and not exists (select 1 from users u where u.id = grants.owner_id and u.role = 'owner')`,
    at,
    grantId,
  );
}

function ownerLeft(): AppError {
  return new AppError(
    'owner_left',
    'The owner of this task is out of its chat, so it may not run there. Its right to run comes back when they do.',
  );
}

interface Skip {
  readonly taskId: string | null;
  readonly reason: Reason | null;
}

interface Place {
  readonly chat_id: string;
  readonly revoked_at: number | null;
  readonly revoked_by: string | null;
}

/** Runs that were left out because the task has no right to run any more: its chat is told once for each loss of it. */
export function* tellGrantGone(skips: readonly Skip[], now: number): Script<void> {
  const lost = new Map<string, GrantFault>();
  for (const { taskId, reason } of skips) if (taskId !== null && isGrantFault(reason)) lost.set(taskId, reason);
  for (const [taskId, reason] of lost) {
    const place = yield* row<Place>(
      `select t.chat_id, (select g.revoked_at from grants g where g.id = t.grant_id) as revoked_at,
         (select g.revoked_by from grants g where g.id = t.grant_id) as revoked_by
       from tasks t where t.id = ?t and exists (select 1 from chats c where c.id = t.chat_id and c.provider = 'telegram')`,
      taskId,
    );
    if (place !== undefined && (yield* isNews(taskId, { place, reason, now })))
      yield* insertWord(taskId, { place, reason, now });
  }
}

function isGrantFault(reason: Reason | null): reason is GrantFault {
  return reason?.startsWith('grant_') === true;
}

interface Word {
  readonly place: Place;
  readonly reason: GrantFault;
  readonly now: number;
}

function* isNews(taskId: string, { place, reason, now }: Word): Script<boolean> {
  const told = yield* rows(
    `insert into kv (scope, key, value, updated_at) values (?t, ?t, '', ?i) on conflict (scope, key) do nothing returning key`,
    toldScope(place.chat_id),
    `${reason}:${taskId}:${place.revoked_at ?? ''}`,
    now,
  );
  return told.length > 0;
}

function* insertWord(taskId: string, { place, reason, now }: Word): Script<void> {
  const content: View = { view: 'mayNotRun', reason, hasLeft: place.revoked_by === 'system:left' };
  const part = { id: idAt(now, `grant:${taskId}`), taskId, chatId: place.chat_id, thread: { topic: null } };
  yield* insertPart({ ...part, kind: 'notice', content }, now);
}
