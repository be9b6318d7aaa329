import type { Batch, Counts } from '../../app/ports/pipeline.ts';
import type { Page } from '../../app/ports/runs.ts';
import type {
  ChangeRequest,
  GivenGrant,
  GrantChange,
  GrantQuery,
  GrantState,
  GrantView,
  Quota,
} from '../../app/ports/tasks.ts';
import { isPerson, type Actor } from '../../domain/access.ts';
import { AppError, missing } from '../../domain/errors.ts';
import { grantNoticeMs } from '../../domain/grant.ts';
import { isObstacle, type Obstacle, type Reason } from '../../domain/occurrence.ts';
import type { View } from '../../domain/shown.ts';
import { ownerGonePause, type Task } from '../../domain/task.ts';
import { beyond } from '../engine/caller.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, like, mapped, pick, type Answer } from '../engine/fields.ts';
import { page, chatOfThread, positionOf, writeCursor, idAt } from '../engine/queries.ts';
import { seen } from '../engine/reach.ts';
import { allOf, forShare, limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, hold, insert, one, select, update, updateReturning } from '../engine/statements.ts';
import { insertPart, isNews } from '../outbox/new-parts.ts';
import { redrawWords } from '../outbox/standing.ts';
import { readTexts } from './codec.ts';

/**
 * Grants. A person or a token takes one away for good. The product takes one away for a reason that may pass, and gives
 * back what it took for that reason alone: `left` while its owner is out of the chat, `afterDeletion` while its task is
 * deleted. A task that is replaced under a fresh grant leaves the old one behind, revoked.
 */
export const grantStore = { listGrants, readGrant, tellGrantsEnding };

export const left = 'system:left';
export const afterDeletion = 'system:deleted';

const g = columnsOf('grants', 'g');
const c = columnsOf('chats', 'c');
const a = columnsOf('chats', 'a');

const viewedFields = {
  ...pick(g, 'id', 'ownerId'),
  thread: { provider: c.provider, address: c.address, topic: like(columns.tasks.homeTopic, raw('null')) },
  scopes: mapped(g.scopes, scopesIn),
  unconfirmed: mapped(g.unconfirmed, scopesIn),
  account: { provider: a.provider, address: a.address, topic: like(columns.tasks.homeTopic, raw('null')) },
  ...pick(g, 'expiresAt', 'revokedAt', 'revokedBy', 'createdAt', 'createdBy'),
};

const selectGrants = select(viewedFields);
const source = raw(
  'grants g join chats c on c.id = g.chat_id join chats a on a.id = coalesce(g.account_id, g.chat_id)',
);

function* listGrants(query: GrantQuery): Script<Page<GrantView>> {
  const where = allOf(...conditionsOf(query), yield* seen(g.chatId.sql));
  const { rows, next } = yield* page({
    limit: query.limit,
    found: (limit) => all(selectGrants`from ${source} where ${where} order by g.id desc ${limited(limit)}`),
    keyOf: ({ id }) => id,
  });
  return { items: yield* withTasks(rows), next: next === null ? null : writeCursor('grant', next) };
}

function conditionsOf({
  thread,
  ownerId,
  taskId,
  account = null,
  state,
  now,
  cursor,
}: GrantQuery): readonly (Sql | undefined)[] {
  return [
    cursor === null ? undefined : sql`g.id < ${positionOf('grant', cursor)}`,
    thread === null ? undefined : inThread(thread),
    ownerId === null ? undefined : sql`g.owner_id = ${ownerId}`,
    taskId === null ? undefined : sql`g.id = (select t.grant_id from tasks t where t.id = ${taskId})`,
    account === null ? undefined : sql`g.account_id in ${chatOfThread(account)}`,
    state === null ? undefined : inState(state, now),
  ];
}

function inThread(thread: NonNullable<GrantQuery['thread']>): Sql {
  const chat = chatOfThread(thread);
  if (thread.topic === null) return sql`g.chat_id in ${chat}`;
  return sql`g.id in (select t.grant_id from tasks t where t.chat_id in ${chat} and t.home_topic = ${thread.topic})`;
}

function inState(state: GrantState, now: number): Sql {
  if (state === 'revoked') return raw('g.revoked_at is not null');
  if (state === 'expired') return sql`g.revoked_at is null and g.expires_at <= ${now}`;
  return sql`g.revoked_at is null and (g.expires_at is null or g.expires_at > ${now})`;
}

function* readGrant(grantId: string): Script<GrantView | null> {
  const where = allOf(sql`g.id = ${grantId}`, yield* seen(g.chatId.sql));
  return (yield* withTasks(yield* all(selectGrants`from ${source} where ${where}`)))[0] ?? null;
}

function* withTasks(found: readonly Answer<typeof viewedFields>[]): Script<GrantView[]> {
  if (found.length === 0) return [];
  const tasks = yield* all(
    select(pick(columns.tasks, 'id', 'grantId'))`from tasks
      where grant_id in ${list(found.map(({ id }) => id))} order by id`,
  );
  return found.map((grant) => ({
    ...grant,
    taskIds: tasks.filter(({ grantId }) => grantId === grant.id).map(({ id }) => id),
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
  const { id, expiresAt } = change;
  const { chatId } = task;
  const ownerId = yield* ownerFor(chatId, change);
  yield* lockUser(ownerId, by.at);
  const made = { createdAt: by.at, createdBy: by.actor };
  const account = { chatId, accountId: chatId };
  const [scopes, unconfirmed] = [JSON.stringify(change.scopes), JSON.stringify(change.unconfirmed)];
  yield* insert('grants', { id, ownerId, ...account, scopes, unconfirmed, expiresAt, ...made });
  yield* replaceGrant(by, task, { grantId: id, ownerId });
  yield* redrawWords(chatId, by.at);
  return true;
}

export function* endGrantAt(
  { id, chatId }: Pick<Task, 'id' | 'chatId'>,
  expiresAt: number | null,
  now: number,
): Script<void> {
  yield* update('grants', { expiresAt }, grantOf(id));
  yield* redrawWords(chatId, now);
}

/** The right of an owner who is out of the chat goes to whoever approved it; for a person who is out nothing is there. */
function* ownerFor(chatId: string, { ownerId, standIn }: GivenGrant): Script<Actor> {
  if (!(yield* isOut(chatId, ownerId))) return ownerId;
  if (standIn === null) throw missing('task');
  const chat = yield* one(select(pick(columns.chats, 'approvedBy'))`from chats where id = ${chatId}`);
  const approver = chat?.approvedBy ?? standIn;
  return (yield* isOut(chatId, approver)) ? standIn : approver;
}

function* isOut(chatId: string, person: Actor): Script<boolean> {
  const { members } = columns;
  const out = yield* one(
    select(pick(members, 'userId'))`from members
      where chat_id = ${chatId} and user_id = ${person} and status = 'out' and ${isNoOwner(raw('members.user_id'))}`,
  );
  return out !== undefined;
}

/** The right of an owner of the bot comes from being one, in the chats that they approved and are not in as well. */
function isNoOwner(person: Sql): Sql {
  return sql`not exists (select 1 from users u where u.id = ${person} and u.role = 'owner')`;
}

/** By hand it is for good, also where the product had taken it away until something passes. */
function* revoke({ actor, at }: By, grantId: string): Script<boolean> {
  return yield* update(
    'grants',
    { revokedAt: sql`coalesce(revoked_at, ${at})`, revokedBy: actor },
    sql`id = ${grantId} and (revoked_at is null or revoked_by in (${left}, ${afterDeletion}))`,
  );
}

interface Replacing {
  readonly grantId: string;
  readonly ownerId: Actor;
}

/** Grant and owner change together: a task acts only under a grant of its own owner. */
export function* replaceGrant({ actor, at }: By, { id }: Pick<Task, 'id'>, fresh: Replacing): Script<void> {
  yield* update(
    'grants',
    { revokedAt: sql`coalesce(revoked_at, ${at})`, revokedBy: sql`coalesce(revoked_by, ${actor})` },
    grantOf(id),
  );
  yield* update('tasks', fresh, sql`id = ${id}`);
}

function grantOf(taskId: string): Sql {
  return sql`id = (select t.grant_id from tasks t where t.id = ${taskId})`;
}

/** The grants of tasks go with them. */
export function* endGrants(taskIds: readonly string[], at: number): Script<void> {
  yield* update(
    'grants',
    { revokedAt: at, revokedBy: afterDeletion },
    sql`id in (select t.grant_id from tasks t where t.id in ${list(taskIds)}) and revoked_at is null`,
  );
}

/** The grant of a task goes with it and comes back with it, unless its owner has left the chat meanwhile. */
export function* followState({ at }: By, before: Task, state: Task['state'] | undefined): Script<void> {
  if (state === undefined || (before.state === 'deleted') === (state === 'deleted')) return;
  if (state === 'deleted') {
    yield* endGrants([before.id], at);
    return;
  }
  const back = yield* updateReturning(
    'grants',
    { revokedAt: null, revokedBy: null },
    sql`${grantOf(before.id)} and revoked_by = ${afterDeletion}`,
    pick(columns.grants, 'id'),
  );
  for (const { id } of back) if (!(yield* loseIfOut(id, at))) yield* letGoOn(sql`id = ${before.id}`, at);
}

/** The reason stands in the words of the statement, because the index that finds them has it there too. */
export const waitsForOwner = raw(`state = 'paused' and paused_reason = '${ownerGonePause}'`);

/** Tasks that waited for their owner go on from then on: the next step of the scheduler ends their pause. */
export function* letGoOn(whose: Sql, at: number): Script<boolean> {
  return yield* update('tasks', { resumeAt: at }, sql`${whose} and ${waitsForOwner} and resume_at is null`);
}

/** A member out of a chat has no right there. */
export function* loseIfOut(grantId: string, at: number): Script<boolean> {
  return yield* update(
    'grants',
    { revokedAt: at, revokedBy: left },
    sql`id = ${grantId} and revoked_at is null and exists (select 1 from members m
        where m.chat_id = grants.chat_id and m.user_id = grants.owner_id and m.status = 'out')
      and ${isNoOwner(raw('grants.owner_id'))}`,
  );
}

const endingFields = { taskId: columnsOf('tasks', 't').id, ...pick(g, 'chatId', 'expiresAt') };

/** Each end is told once, in the chat of its task; what was said before about another end of the same task says nothing of this one. */
function* tellGrantsEnding({ now, limit }: Batch): Script<Counts> {
  const found = yield* all(
    select(endingFields)`from grants g join tasks t on t.grant_id = g.id join chats c on c.id = g.chat_id
      where g.expires_at > ${now} and g.expires_at <= ${now + grantNoticeMs} and g.revoked_at is null
        and (g.expires_at - ${now}) * 2 <= g.expires_at - g.created_at
        and t.state in ('active', 'paused') and c.provider = 'telegram'
        and not exists (select 1 from told w where w.chat_id = g.chat_id and w.word = 'grant_ends' and w.reason = ''
          and w.task_id = t.id and w.about = cast(g.expires_at as text))
      order by g.expires_at, t.id ${limited(limit)}`,
  );
  for (const { taskId, chatId, expiresAt } of found) {
    if (expiresAt === null) continue;
    yield* isNews(chatId, { word: 'grant_ends', taskId, about: String(expiresAt) }, now);
    const content: View = { view: 'grantEnds', expiresAt };
    const part = { id: idAt(now, `ends:${taskId}`), taskId, chatId, thread: { topic: null } };
    yield* insertPart({ ...part, kind: 'notice', content }, now);
  }
  return { taken: found.length, more: found.length === limit };
}

export interface Skip {
  readonly taskId: string | null;
  readonly reason: Reason | null;
  /** Told beside the reason, where a run has found it out. */
  readonly error?: string | null;
}

const lossFields = { chatId: columnsOf('tasks', 't').chatId, ...pick(g, 'id', 'revokedAt') };

/**
 * Runs that were left out because the task may not run, or cannot any more: its chat is told once for each loss of a right, and
 * of a kind. Of an owner who is gone it is told with the pause that follows.
 */
export function* tellMayNotRun(skips: readonly Skip[], now: number): Script<void> {
  for (const [taskId, reason] of obstaclesIn(skips)) {
    const loss = yield* one(
      select(lossFields)`from tasks t join grants g on g.id = t.grant_id
        where t.id = ${taskId} and coalesce(g.revoked_by, '') <> ${left}
          and exists (select 1 from chats c where c.id = t.chat_id and c.provider = 'telegram')`,
    );
    if (loss === undefined) continue;
    const { chatId, id: grantId, revokedAt } = loss;
    const word = { word: 'may_not_run', reason, taskId, about: String(revokedAt ?? grantId) } as const;
    if (!(yield* isNews(chatId, word, now))) continue;
    const error = skips.findLast((skip) => skip.taskId === taskId)?.error ?? null;
    const content: View = { view: 'mayNotRun', reason, grantId, ...(error === null ? {} : { error }) };
    const part = { id: idAt(now, `grant:${taskId}`), taskId, chatId, thread: { topic: null } };
    yield* insertPart({ ...part, kind: 'notice', content }, now);
  }
}

/** Tasks among them that may not run or cannot, each with its latest obstacle. */
export function obstaclesIn(skips: readonly Skip[]): ReadonlyMap<string, Obstacle> {
  const stopped = new Map<string, Obstacle>();
  for (const { taskId, reason } of skips) if (taskId !== null && isObstacle(reason)) stopped.set(taskId, reason);
  return stopped;
}

/* ---- how many tasks there may be ---- */

interface Counted {
  readonly chatId: string;
  readonly owner: Actor;
  readonly createdBy: string;
}

/** Only tasks that can still run count. The quota of a user is for what they made themselves: a token that makes tasks in their chat has none. */
export function* checkQuota(quota: Quota, { chatId, owner, createdBy }: Counted): Script<void> {
  yield* checkChatQuota(quota, chatId);
  // What a program makes has no limit but that of its chat.
  if (createdBy !== owner || !isPerson(owner)) return;
  const ofUser = yield* beyond(
    one(
      select({
        count,
      })`from tasks where owner_id = ${owner} and created_by = ${owner} and state in ('active', 'paused')`,
    ),
  );
  if ((ofUser?.count ?? 0) >= quota.user) throw quotaExceeded('user', quota.user);
}

export function* checkChatQuota(quota: Quota, chatId: string): Script<void> {
  const inChat = yield* one(select({ count })`from tasks where chat_id = ${chatId} and state in ('active', 'paused')`);
  if ((inChat?.count ?? 0) >= quota.chat) throw quotaExceeded('chat', quota.chat);
}

function quotaExceeded(whose: 'chat' | 'user', limit: number): AppError {
  return new AppError(
    'quota_exceeded',
    `This ${whose} has ${limit} tasks, which is the limit. Delete one that is no longer needed, or raise QUOTA_PER_${whose.toUpperCase()}.`,
    { details: { quota: whose, limit } },
  );
}

/** The same rows that a creation locks, so that neither can overtake the other at the edge of a quota. */
export function* lockOwner({ chatId, ownerId }: Pick<Task, 'chatId' | 'ownerId'>): Script<void> {
  yield* hold(sql`select id from chats where id = ${chatId} ${keeping}`);
  yield* hold(sql`select id from users where id = ${ownerId} ${keeping}`);
}

/** The row of a principal, made when it is seen for the first time, under its lock. */
export function* lockUser(id: Actor, now: number): Script<void> {
  const role = id.startsWith('system') ? 'system' : 'user';
  yield* insert('users', { id, role, createdAt: now, updatedAt: now }, raw('on conflict (id) do nothing'));
  yield* hold(sql`select id from users where id = ${id} ${keeping}`);
}

const keeping = forShare();
