import type { NewRun } from '../../domain/run.ts';
import type { Script } from '../engine/engine.ts';
import { columns, like, type Field } from '../engine/fields.ts';
import { raw } from '../engine/sql.ts';
import { insertAll } from '../engine/statements.ts';

/** Large inputs of runs: a blob that many of them refer to, of one chunk, written with the run itself. */

const snapshotType = 'application/json';

export function* keepSnapshots(runs: readonly NewRun[]): Script<void> {
  const large = runs.flatMap(({ id, chatId, snapshot, createdAt }) =>
    snapshot === undefined || chatId === null ? [] : { runId: id, chatId, createdAt, ...snapshot },
  );
  if (large.length === 0) return;
  const distinct = [...new Map(large.map((one) => [`${one.chatId} ${one.sha256}`, one])).values()].map((one) => {
    const { chatId, sha256, createdAt: putAt, text } = one;
    return { chatId, sha256, putAt, bytes: Buffer.from(text) };
  });
  yield* insertAll(
    'blobs',
    distinct.map(({ bytes, ...one }) => {
      return { ...one, mime: snapshotType, size: bytes.length, isWhole: 1, expiresAt: null };
    }),
    raw(`on conflict (chat_id, sha256) do update set is_whole = 1, put_at = excluded.put_at, expires_at = null`),
  );
  yield* insertAll(
    'blobChunks',
    distinct.map(({ chatId, sha256, bytes }) => ({ chatId, sha256, chunk: 0, bytes })),
    raw('on conflict (chat_id, sha256, chunk) do nothing'),
  );
  yield* insertAll(
    'blobRefs',
    large.map(({ runId, sha256, chatId }) => ({ runId, sha256, role: 'input' as const, chatId })),
  );
}

/** The bytes of the snapshot of a run; null where it has none, or where they are gone. */
export function snapshotOf(runs: string): Field<Buffer | null> {
  const found = `(select s.bytes from blob_chunks s where s.chat_id = ${runs}.chat_id and s.sha256 = ${runs}.snapshot and s.chunk = 0)`;
  return like(columns.blobChunks.bytes as Field<Buffer | null>, raw(found));
}
