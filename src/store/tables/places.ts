import { sql } from 'drizzle-orm';
import type { ChatState, Member, User } from '../../app/ports/chats.ts';
import type { Actor } from '../../domain/access.ts';
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
      state: text('state').$type<ChatState>().notNull(),
      timezone: text('timezone'),
      settings: text('settings').notNull(),
      approvedBy: text('approved_by').$type<Actor>(),
      lastNumber: int('last_number').notNull(),
      createdAt: int('created_at').notNull(),
      updatedAt: int('updated_at').notNull(),
      /** Of a chat that is gone: the state that it gets back when it can be reached again. */
      stateBefore: text('state_before').$type<ChatState>(),
      /** Since when it is approved; null where that was noted by no version yet. */
      approvedAt: int('approved_at'),
      /** The topic that its one-offs share, once it is there. */
      sharedTopic: int('shared_topic'),
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
      chatId: text('chat_id')
        .notNull()
        .references(() => chats.id),
      createdAt: int('created_at').notNull(),
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
      id: text('id').$type<Actor>().primaryKey(),
      name: text('name'),
      role: text('role').$type<User['role']>().notNull(),
      timezone: text('timezone'),
      createdAt: int('created_at').notNull(),
      updatedAt: int('updated_at').notNull(),
    },
    () => [d.check('users_role', sql.raw(`role in ('owner', 'user', 'system')`))],
  );
}

/** The last word of Telegram about a person in a chat. */
export function membersTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'members',
    {
      chatId: text('chat_id').notNull(),
      userId: text('user_id').$type<Actor>().notNull(),
      status: text('status').$type<Member['status']>().notNull(),
      checkedAt: int('checked_at').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'members_pk', columns: [t.chatId, t.userId] }),
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
      ownerId: text('owner_id')
        .$type<Actor>()
        .notNull()
        .references(() => users.id),
      chatId: text('chat_id')
        .notNull()
        .references(() => chats.id),
      /** Whose budget its runs spend: the chat's, unless another one is named. */
      accountId: text('account_id'),
      scopes: text('scopes').notNull(),
      /** Scopes for hosts and secrets that nobody has vouched for who may use the secrets of the operator. */
      unconfirmed: text('unconfirmed').notNull().default('[]'),
      expiresAt: int('expires_at'),
      revokedAt: int('revoked_at'),
      revokedBy: text('revoked_by'),
      createdAt: int('created_at').notNull(),
      createdBy: text('created_by').$type<Actor>().notNull(),
    },
    // A constraint and not an index, because Postgres makes indexes after the foreign key of the tasks that points here.
    (t) => [
      d.unique('grants_owner').on(t.id, t.ownerId),
      d.index('grants_of_owner').on(t.ownerId, t.id),
      d.index('grants_of_account').on(t.accountId, t.id),
      d.index('grants_ending').on(t.expiresAt).where(sql.raw('expires_at is not null and revoked_at is null')),
    ],
  );
}

/** What tasks may use and nobody is shown, of a chat or of the operator, sealed under the id of its row. */
export function secretsTable(d: Dialect, chats: ReturnType<typeof chatsTable>) {
  const { text, int } = d;
  return d.table(
    'secrets',
    {
      id: text('id').primaryKey(),
      /** Null for one of the operator. */
      chatId: text('chat_id').references(() => chats.id),
      name: text('name').notNull(),
      keyId: text('key_id').notNull(),
      box: text('box').notNull(),
      /** Counts up with its values from the instant at which it was made, so that no two rows meet in it. */
      version: int('version').notNull(),
      /** Where it may go, as EGRESS_ALLOW is written; empty where nobody said so. */
      hosts: text('hosts').notNull(),
      /** Addresses of the chats whose tasks may use one of the operator; empty for one of a chat. */
      chats: text('chats').notNull(),
      setBy: text('set_by').$type<Actor>().notNull(),
      createdAt: int('created_at').notNull(),
      updatedAt: int('updated_at').notNull(),
      lastUsedAt: int('last_used_at'),
    },
    (t) => [
      d.uniqueIndex('secrets_of_chat').on(t.chatId, t.name),
      d.uniqueIndex('secrets_of_operator').on(t.name).where(sql.raw('chat_id is null')),
    ],
  );
}

/** Named tokens of the API. Of the token itself nothing is kept but its hash, and the beginning by which it is found. */
export function tokensTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'tokens',
    {
      id: text('id').primaryKey(),
      name: text('name').notNull(),
      prefix: text('prefix').notNull(),
      hash: text('hash').notNull(),
      scopes: text('scopes').notNull(),
      /** 1 where it holds for the chats that it names alone. */
      confined: int('confined').notNull(),
      expiresAt: int('expires_at'),
      /** To the minute. */
      lastUsedAt: int('last_used_at'),
      revokedAt: int('revoked_at'),
      revokedBy: text('revoked_by').$type<Actor>(),
      createdAt: int('created_at').notNull(),
      createdBy: text('created_by').$type<Actor>().notNull(),
    },
    (t) => [
      d.uniqueIndex('tokens_prefix').on(t.prefix),
      d.uniqueIndex('tokens_hash').on(t.hash),
      d.uniqueIndex('tokens_name').on(t.name).where(sql.raw('revoked_at is null')),
    ],
  );
}

/** The chats of a token that does not hold for all of them. */
export function tokenChatsTable(
  d: Dialect,
  { tokens, chats }: { tokens: ReturnType<typeof tokensTable>; chats: ReturnType<typeof chatsTable> },
) {
  const { text } = d;
  return d.table(
    'token_chats',
    {
      tokenId: text('token_id')
        .notNull()
        .references(() => tokens.id),
      chatId: text('chat_id')
        .notNull()
        .references(() => chats.id),
    },
    (t) => [
      d.primaryKey({ name: 'token_chats_pk', columns: [t.tokenId, t.chatId] }),
      d.index('token_chats_chat').on(t.chatId),
    ],
  );
}
