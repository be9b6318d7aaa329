import pg from 'pg';
import { AppError, faultCodeOf } from '../../domain/errors.ts';
import type { Client, Script } from './engine.ts';

/**
 * Callers of some chats on Postgres. Their scripts are played under a role that owns nothing, so that the policies of the tables
 * show it the rows of these chats alone, whatever a statement forgets. Policies are made here from the tables as they are, so a new
 * table with a `chat_id` has one from its first start on.
 */
export const callerRole = 'cronogram_caller';

/** Tables that belong to no chat, and what a caller may do there. All others are closed to it. */
export const ofNoChat: Readonly<Record<string, string>> = {
  // Users are read by callers for the names of those who did something, and locked as owners of what is made.
  users: 'select, insert, update',
  // Rows are found by the whole key, which names the token, and belong to whoever has it.
  idempotency_keys: 'select, insert, update',
  // Times in which nothing could be done, in no chat in particular.
  downtimes: 'select',
  set_backs: 'select',
  // An attempt names the process that made it.
  processes: 'select',
  // A run waits while its kind is paused.
  paused_kinds: 'select',
};

/** Tables of chats that only the server itself reads. */
export const withheld: readonly string[] = ['credentials', 'drafts', 'token_chats'];

/** From here to the end of the transaction the rows of these chats are all that there is. */
export function asCaller(chats: readonly string[]): string {
  const odd = chats.find((id) => /\s/.test(id));
  if (odd !== undefined) throw new AppError('internal', `The id of a chat has a space in it: ${odd}.`);
  return `set local role ${callerRole}; set local cronogram.chats = ${pg.escapeLiteral(chats.join(' '))}`;
}

/**
 * Plays a part of a script with the rights of the server, also for a caller: what it looks up is about all chats, and what of
 * it reaches the caller is a number or a refusal. A test lists its uses with their reasons.
 */
export function* beyond<T>(script: Script<T>): Script<T> {
  yield { does: 'step', to: 'server' };
  const found = yield* script;
  yield { does: 'step', to: 'caller' };
  return found;
}

/** The list of chats is read once for a statement, and not once for a row. */
const mine = `any ((select string_to_array(current_setting('cronogram.chats', true), ' '))::text[])`;

/** Tables whose rows belong to a chat by something else than a `chat_id`. */
export const policies: Readonly<Record<string, string>> = {
  chats: `id = ${mine}`,
  // Notes about a task, which is seen only where it is one of the caller's.
  kv: 'exists (select from tasks t where t.id = kv.key)',
};

const literal = (texts: readonly string[]) =>
  `array[${texts.map((text) => pg.escapeLiteral(text)).join(', ')}]::text[]`;

/** The entry of one list at the place of a name in the other. */
const lookUp = (table: Readonly<Record<string, string>>) =>
  `(${literal(Object.values(table))})[array_position(${literal(Object.keys(table))}, t.relname::text)]`;

/** Makes what is missing, and touches nothing that is there. Whoever may make no roles is served without one. */
const secureText = `do $secure$
declare
  one record;
  ready boolean := false;
begin
  if to_regrole('${callerRole}') is null then
    begin
      create role ${callerRole} nologin;
    exception when insufficient_privilege or duplicate_object or unique_violation then null;
    end;
  end if;
  if to_regrole('${callerRole}') is not null then
    begin
      if not pg_has_role('${callerRole}', 'member') then execute format('grant ${callerRole} to %I', current_user); end if;
    exception when others then null;
    end;
    ready := pg_has_role('${callerRole}', 'member');
  end if;
  for one in
    select name, oid, is_on, policy, has_policy,
      case when is_withheld then null when policy is not null then 'select, insert, update, delete' else rights end as rights
    from (
      select t.oid, t.relname as name, t.relrowsecurity as is_on, t.relname = any (${literal(withheld)}) as is_withheld,
        exists (select from pg_policy p where p.polrelid = t.oid and p.polname = 'caller') as has_policy,
        coalesce(${lookUp(policies)}, case when a.attname is not null then ${pg.escapeLiteral(`chat_id = ${mine}`)} end) as policy,
        ${lookUp(ofNoChat)} as rights
      from pg_class t left join pg_attribute a on a.attrelid = t.oid and a.attname = 'chat_id' and not a.attisdropped
      where t.relnamespace = current_schema()::regnamespace and t.relkind = 'r'
    ) found order by name
  loop
    if one.policy is not null and not one.is_on then
      execute format('alter table %I enable row level security', one.name);
    end if;
    if one.policy is not null and not one.has_policy then
      execute format('create policy caller on %I using (%s)', one.name, one.policy);
    end if;
    if ready and one.rights is not null and not has_table_privilege('${callerRole}', one.oid, one.rights) then
      execute format('grant %s on %I to ${callerRole}', one.rights, one.name);
    end if;
  end loop;
  if ready and not has_schema_privilege('${callerRole}', current_schema(), 'usage') then
    execute format('grant usage on schema %I to ${callerRole}', current_schema());
  end if;
  for one in select t.oid, t.relname as name from pg_class t
    where t.relnamespace = current_schema()::regnamespace and t.relkind = 'S' loop
    if ready and not has_sequence_privilege('${callerRole}', one.oid, 'usage') then
      execute format('grant usage on sequence %I to ${callerRole}', one.name);
    end if;
  end loop;
end $secure$`;

/** Whether the user of this connection may become the caller, who is given rights by whoever owns the tables. */
export const callerText = `select coalesce(pg_has_role(to_regrole('${callerRole}'), 'member'), false)
  and coalesce(has_table_privilege(to_regrole('${callerRole}'), to_regclass('tasks'), 'select'), false) as "hasCallers"`;

/** In the transaction of the migration. Answers whether callers can be served under the role. */
export async function secure(client: Pick<Client, 'query'>): Promise<boolean> {
  const whoText = `select current_user as me, row_security_active('tasks') as "isSubject", pg_get_userbyid(relowner) as owner
    from pg_class where oid = to_regclass('tasks')`;
  const [who] = (await client.query(whoText, [])).rows as { me: string; isSubject: boolean; owner: string }[];
  // A connection to which the policies apply would see no task, and so miss every slot.
  if (who?.isSubject === true) throw refused(who);
  try {
    await client.query(secureText, []);
  } catch (error) {
    if (who !== undefined && faultCodeOf(error) === mayNot) throw refused(who);
    throw error;
  }
  const [found] = (await client.query(callerText, [])).rows as { hasCallers: boolean }[];
  return found?.hasCallers === true;
}

const mayNot = '42501';

function refused({ me, owner }: { readonly me: string; readonly owner: string }): AppError {
  return new AppError(
    'store_unavailable',
    `The tables belong to ${owner}, and ${me} sees no rows of theirs. Let DATABASE_URL name ${owner}, or as its owner run: grant "${owner}" to "${me}"`,
  );
}
