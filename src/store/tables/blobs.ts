import { sql } from 'drizzle-orm';
import type { Dialect } from './dialect.ts';

/** Bytes of a chat, known by the hash of what is in them, so that equal ones are there once. */
export function blobsTable(d: Dialect) {
  const { text, int } = d;
  return d.table(
    'blobs',
    {
      chatId: text('chat_id').notNull(),
      sha256: text('sha256').notNull(),
      mime: text('mime').notNull(),
      size: int('size').notNull(),
      /** 1 once all of its chunks are there; its place in the quota is taken from the first one on. */
      isWhole: int('is_whole').notNull(),
      /** When somebody brought it last: what is oldest goes first where there is no room. */
      putAt: int('put_at').notNull(),
      /** From then on it may go; null while something refers to it. */
      expiresAt: int('expires_at'),
    },
    (t) => [
      d.primaryKey({ name: 'blobs_pk', columns: [t.chatId, t.sha256] }),
      d.index('blobs_size').on(t.chatId, t.size),
      d.index('blobs_expiry').on(t.expiresAt).where(sql.raw('expires_at is not null')),
      d.check('blobs_size_known', sql.raw('size >= 0')),
    ],
  );
}

/** The bytes themselves, in pieces that are small enough to be written and read without holding anything up. */
export function blobChunksTable(d: Dialect) {
  const { text, int, bytes } = d;
  return d.table(
    'blob_chunks',
    {
      chatId: text('chat_id').notNull(),
      sha256: text('sha256').notNull(),
      chunk: int('chunk').notNull(),
      bytes: bytes('bytes').notNull(),
    },
    (t) => [d.primaryKey({ name: 'blob_chunks_pk', columns: [t.chatId, t.sha256, t.chunk] })],
  );
}

/** Runs that refer to a blob: as a file of their result, or as a part of their input. */
export function blobRefsTable(d: Dialect) {
  const { text } = d;
  return d.table(
    'blob_refs',
    {
      runId: text('run_id').notNull(),
      sha256: text('sha256').notNull(),
      role: text('role').$type<'input' | 'output'>().notNull(),
      chatId: text('chat_id').notNull(),
    },
    (t) => [
      d.primaryKey({ name: 'blob_refs_pk', columns: [t.runId, t.sha256, t.role] }),
      d.index('blob_refs_blob').on(t.chatId, t.sha256),
      d.check('blob_refs_role', sql.raw(`role in ('input', 'output')`)),
    ],
  );
}

/** The value that a task watches, as its last run saw it. */
export function watchesTable(d: Dialect) {
  const { text, int } = d;
  return d.table('watches', {
    taskId: text('task_id').primaryKey(),
    chatId: text('chat_id').notNull(),
    hash: text('hash').notNull(),
    value: text('value'),
    at: int('at').notNull(),
  });
}
