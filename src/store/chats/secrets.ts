import type {
  PutSecret,
  SealedSecret,
  Secret,
  SecretPlace,
  SecretScene,
  SecretStore,
} from '../../app/ports/secrets.ts';
import { AppError } from '../../domain/errors.ts';
import { secretsPerChatMax } from '../../domain/secrets/secret.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, count, mapped, pick, together } from '../engine/fields.ts';
import { chatOfThread } from '../engine/queries.ts';
import { reach, seen } from '../engine/reach.ts';
import { allOf, forUpdate, limit as limited, list, raw, sql, type Sql } from '../engine/sql.ts';
import {
  all,
  insertReturning,
  one,
  returning,
  run,
  select,
  update,
  updateAll,
  updateReturning,
} from '../engine/statements.ts';
import { redrawSoon } from '../outbox/standing.ts';
import { recordOther } from '../records/journal.ts';
import { readTexts } from '../tasks/codec.ts';
import { chatOf } from './rows.ts';

/** Secrets, sealed: what is in the rows is of no use without the key, and their values leave the store nowhere else. */
export const secretStore = {
  secretsOf,
  secretUsers,
  secretChat,
  secretScene,
  putSecret,
  deleteSecret,
  replaceSecret,
  useSecrets,
  sealedKeys,
  sealedByOthers,
  sealAnew,
};

const { secrets } = columns;

const fields = {
  ...pick(secrets, 'id', 'name', 'version'),
  hosts: mapped(secrets.hosts, listed),
  chats: mapped(secrets.chats, listed),
  ...pick(secrets, 'setBy', 'createdAt', 'updatedAt', 'lastUsedAt'),
};
const sealed = together(pick(secrets, 'keyId', 'box'), (row) => row);
const sealedFields = { ...fields, chatId: secrets.chatId, sealed };
const selectSecrets = select(fields);

function listed(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

const isLack = raw(`word = 'may_not_run' and reason in ('secret_missing', 'secret_host')`);
const byOperator = raw('chat_id is null');

function of(place: SecretPlace): Sql {
  return place === null ? byOperator : sql`chat_id = ${chatOfThread(place)}`;
}

function* secretsOf(place: SecretPlace): Script<Secret[]> {
  return yield* all(selectSecrets`from secrets where ${of(place)} order by name`);
}

const t = columnsOf('tasks', 't');
const userFields = {
  taskId: t.id,
  ...pick(t, 'number', 'title'),
  scopes: mapped(columnsOf('grants', 'g').scopes, (text) => readTexts('scopes', text)),
};

function* secretUsers(place: SecretPlace): Script<Awaited<ReturnType<SecretStore['secretUsers']>>> {
  if (place === null) return [];
  return yield* all(
    select(userFields)`from tasks t join grants g on g.id = t.grant_id
      where t.chat_id = ${chatOfThread(place)} and t.state in ('active', 'paused') order by t.number`,
  );
}

const c = columnsOf('chats', 'c');

function* secretChat(
  thread: Parameters<SecretStore['secretChat']>[0],
): Script<Awaited<ReturnType<SecretStore['secretChat']>>> {
  const where = allOf(sql`c.id = ${chatOfThread(thread)}`, yield* seen(c.id.sql));
  const chat = yield* one(select({ chatId: c.id, approvedBy: c.approvedBy })`from chats c where ${where}`);
  return chat ?? null;
}

function* secretScene(asked: Parameters<SecretStore['secretScene']>[0]): Script<SecretScene> {
  const { names, ownerId } = asked;
  const chats = yield* reach();
  // A chat that is not there for the caller has no secrets either.
  const chatId = asked.chatId !== null && chats?.includes(asked.chatId) === false ? null : asked.chatId;
  const mine = chatId === null ? byOperator : sql`(chat_id is null or chat_id = ${chatId})`;
  const found: SealedSecret[] = yield* all(
    select(sealedFields)`from secrets where name in ${list(names)} and ${mine} order by id`,
  );
  const owner = yield* one(select(pick(columns.users, 'id'))`from users where id = ${ownerId} and role = 'owner'`);
  const aliases =
    chatId === null
      ? []
      : yield* all(
          select(pick(columns.chatAliases, 'address'))`from chat_aliases
            where chat_id = ${chatId} and provider = 'telegram'`,
        );
  return { secrets: found, isOwner: owner !== undefined, addresses: aliases.map(({ address }) => address) };
}

function* putSecret(put: PutSecret): Script<Awaited<ReturnType<SecretStore['putSecret']>>> {
  const { place, name, id, at } = put;
  // Under the lock of its chat two who set the same name come one after the other; those of the operator meet in the index.
  const chat = place === null ? null : yield* chatOf(place, put.newChatId, at);
  const mine = chat === null ? byOperator : sql`chat_id = ${chat.id}`;
  const known = yield* one(select(pick(secrets, 'id'))`from secrets where ${mine} and name = ${name} ${forUpdate}`);
  if (known !== undefined && known.id !== id) return { is: 'other', id: known.id };
  if (known === undefined) yield* heedQuota(mine);
  const chatId = chat?.id ?? null;
  const secret = known === undefined ? yield* insertSecret(put, chatId) : yield* updateSecret(put);
  if (secret === undefined) throw new AppError('internal', 'A secret vanished.');
  yield* forgetLacks(chat?.id ?? null, at);
  const { hosts, chats } = secret;
  const deed = { at, actor: put.by, chatId, traceId: put.traceId };
  yield* recordOther({ ...deed, verb: 'secret_set', kind: 'secret.set', after: { name, hosts, chats } });
  return { is: 'put', secret };
}

function* insertSecret(put: PutSecret, chatId: string | null): Script<Secret | undefined> {
  const { id, name, at, by, hosts = [], chats = [] } = put;
  const rules = { hosts: hosts.join(','), chats: chats.join(',') };
  const made = { id, chatId, name, version: at, ...put.sealed, ...rules, setBy: by, createdAt: at, updatedAt: at };
  return yield* insertReturning('secrets', made, fields);
}

function* updateSecret(put: PutSecret): Script<Secret | undefined> {
  const rules = { hosts: put.hosts?.join(','), chats: put.chats?.join(',') };
  const anew = { ...put.sealed, ...rules, setBy: put.by, updatedAt: put.at, version: raw('version + 1') };
  return (yield* updateReturning('secrets', anew, sql`id = ${put.id}`, fields))[0];
}

/** Words about a missing secret are over once one is set, and are news when it is missing again. */
function* forgetLacks(chatId: string | null, now: number): Script<void> {
  const there = allOf(chatId === null ? undefined : sql`chat_id = ${chatId}`, isLack);
  const mended = yield* all(returning(pick(columns.told, 'taskId'), sql`delete from told where ${there}`));
  yield* redrawSoon(
    mended.map(({ taskId }) => taskId),
    now,
  );
}

function* heedQuota(mine: Sql): Script<void> {
  const { held = 0 } = (yield* one(select({ held: count })`from secrets where ${mine}`)) ?? {};
  if (held < secretsPerChatMax) return;
  const words = `There are ${secretsPerChatMax} secrets here, which is the limit. Delete one that is no longer needed.`;
  throw new AppError('quota_exceeded', words, { details: { quota: 'secrets', field: 'name' } });
}

function* deleteSecret(asked: Parameters<SecretStore['deleteSecret']>[0]): Script<boolean> {
  const { place, name, at, by, traceId } = asked;
  const gone = yield* one(
    select(pick(secrets, 'id', 'chatId'))`from secrets where ${of(place)} and name = ${name} ${forUpdate}`,
  );
  if (gone === undefined) return false;
  yield* run(sql`delete from secrets where id = ${gone.id}`);
  const deed = { at, actor: by, chatId: gone.chatId, traceId };
  yield* recordOther({ ...deed, verb: 'secret_delete', kind: 'secret.delete', before: { name } });
  return true;
}

function* replaceSecret(asked: Parameters<SecretStore['replaceSecret']>[0]): Script<boolean> {
  const { id, version, at } = asked;
  return yield* update(
    'secrets',
    { ...asked.sealed, version: version + 1, updatedAt: at },
    sql`id = ${id} and version = ${version}`,
  );
}

function* useSecrets(ids: readonly string[], at: number): Script<void> {
  yield* update('secrets', { lastUsedAt: at }, sql`id in ${list(ids)}`);
}

function* sealedKeys(): Script<Awaited<ReturnType<SecretStore['sealedKeys']>>> {
  return yield* all(select({ keyId: secrets.keyId, count })`from secrets group by key_id order by key_id`);
}

function* sealedByOthers(
  asked: Parameters<SecretStore['sealedByOthers']>[0],
): Script<Awaited<ReturnType<SecretStore['sealedByOthers']>>> {
  return yield* all(
    select({ id: secrets.id, sealed })`from secrets
      where key_id <> ${asked.keyId} and id > ${asked.after} order by id ${limited(asked.limit)}`,
  );
}

function* sealAnew(boxes: Parameters<SecretStore['sealAnew']>[0]): Script<void> {
  yield* updateAll('secrets', boxes, {
    set: (one) => one.sealed,
    where: ({ id, old }) => sql`id = ${id} and box = ${old}`,
  });
}

/** Of two secrets of one name the one that was set later stays. */
export function* mergeSecrets(oldId: string, youngId: string): Script<void> {
  const both = sql`chat_id in (${oldId}, ${youngId})`;
  yield* run(sql`delete from secrets where ${both} and exists (select 1 from secrets other
    where other.chat_id in (${oldId}, ${youngId}) and other.name = secrets.name and other.id <> secrets.id
      and (other.updated_at > secrets.updated_at
        or (other.updated_at = secrets.updated_at and other.id > secrets.id)))`);
  yield* update('secrets', { chatId: oldId }, sql`chat_id = ${youngId}`);
}
