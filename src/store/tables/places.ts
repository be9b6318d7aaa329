import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

/** One base thread: a chat, or a thread such as `cli:default` that is delivered nowhere. Task numbers count in it. */
export function chatsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'chats',
    {
      id: text('id').primaryKey(),
      provider: text('provider').notNull(),
      address: text('address').notNull(),
      title: text('title'),
      kind: text('kind'),
      state: text('state').notNull(),
      timezone: text('timezone'),
      settings: text('settings').notNull(),
      approved_by: text('approved_by'),
      last_number: int('last_number').notNull(),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
      /** Of a chat that is gone: the state that it gets back when it can be reached again. */
      state_before: text('state_before'),
    },
    (t) => [
      d.uniqueIndex('chats_address').on(t.provider, t.address),
      d.check('chats_state', sql.raw(`state in ('new', 'approved', 'refused', 'gone')`)),
    ],
  );
}

/** Every address under which a chat was ever known, so that a migrated group is still found by its old id. */
export function chatAliasesTable(d: Dialect, chats: ReturnType<typeof chatsTable>) {
  const { text, int } = d;
  return d.table(
    'chat_aliases',
    {
      provider: text('provider').notNull(),
      address: text('address').notNull(),
      chat_id: text('chat_id')
        .notNull()
        .references(() => chats.id),
      created_at: int('created_at').notNull(),
    },
    (t) => [d.primaryKey({ name: 'chat_aliases_pk', columns: [t.provider, t.address] })],
  );
}

/** Principals: people, tokens, the product. The id is the typed actor. */
export function usersTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'users',
    {
      id: text('id').primaryKey(),
      name: text('name'),
      role: text('role').notNull(),
      timezone: text('timezone'),
      created_at: int('created_at').notNull(),
      updated_at: int('updated_at').notNull(),
    },
    () => [d.check('users_role', sql.raw(`role in ('owner', 'user', 'system')`))],
  );
}

/** What the platform last said about a person in a chat. */
export function membersTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'members',
    {
      chat_id: text('chat_id').notNull(),
      user_id: text('user_id').notNull(),
      status: text('status').notNull(),
      checked_at: int('checked_at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'members_pk', columns: [t.chat_id, t.user_id] }),
      d.check('members_status', sql.raw(`status in ('admin', 'member', 'out')`)),
    ],
  );
}

export function grantsTable(
  d: Dialect,
  { chats, users }: { chats: ReturnType<typeof chatsTable>; users: ReturnType<typeof usersTable> },
) {
  const { text, int } = d;
  return d.table(
    'grants',
    {
      id: text('id').primaryKey(),
      owner_id: text('owner_id')
        .notNull()
        .references(() => users.id),
      chat_id: text('chat_id')
        .notNull()
        .references(() => chats.id),
      scopes: text('scopes').notNull(),
      expires_at: int('expires_at'),
      revoked_at: int('revoked_at'),
      revoked_by: text('revoked_by'),
      created_at: int('created_at').notNull(),
      created_by: text('created_by').notNull(),
    },
    // A constraint and not an index, because Postgres makes indexes after the foreign key of the tasks that points here.
    (t) => [d.unique('grants_owner').on(t.id, t.owner_id)],
  );
}
