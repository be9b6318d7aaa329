import type { BlobName } from '../../app/ports/blobs.ts';
import { unreferredFileMs } from '../../domain/files/limits.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { forUpdate, forUpdateSkipLocked, limit, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, hold, insertAll, one, returning, run, select, update, updateAll } from '../engine/statements.ts';

/** Runs refer to blobs. While one does the blob has no end; with the last of them its time runs out. */

interface Ref extends BlobName {
  readonly runId: string;
  readonly role: 'input' | 'output';
}

export const isBlob = ({ chatId, sha256 }: BlobName): Sql => sql`chat_id = ${chatId} and sha256 = ${sha256}`;

/** One order for all who lock several. */
function inOrder<T extends BlobName>(refs: readonly T[]): T[] {
  const byName = new Map(refs.map((ref) => [`${ref.chatId} ${ref.sha256}`, ref]));
  return [...byName].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, ref]) => ref);
}

/** A blob that has gone in the meantime is not referred to: whoever looks for it is told that it is not kept any more. */
export function* addRefs(refs: readonly Ref[]): Script<void> {
  if (refs.length === 0) return;
  const there = yield* updateAll('blobs', inOrder(refs), {
    set: () => ({ expiresAt: null }),
    where: (ref) => sql`${isBlob(ref)} and is_whole = 1`,
  });
  const names = new Set(there.map(({ chatId, sha256 }) => `${chatId} ${sha256}`));
  const rows = refs.filter(({ chatId, sha256 }) => names.has(`${chatId} ${sha256}`));
  yield* insertAll(
    'blobRefs',
    rows.map(({ runId, sha256, role, chatId }) => ({ runId, sha256, role, chatId })),
    raw('on conflict (run_id, sha256, role) do nothing'),
  );
}

/** Answers how many were dropped. */
export function* dropRefs(which: Sql, expiresAt: number): Script<number> {
  const gone = yield* all(
    returning(pick(columns.blobRefs, 'chatId', 'sha256'), sql`delete from blob_refs where ${which}`),
  );
  const names = inOrder(gone);
  // Locked first, so that the look for other references sees those of everybody who had the row before.
  for (const name of names) yield* hold(sql`select chat_id from blobs where ${isBlob(name)} ${forUpdate}`);
  yield* updateAll('blobs', names, {
    set: () => ({ expiresAt }),
    where: (name) => sql`${isBlob(name)} and expires_at is null
      and not exists (select 1 from blob_refs r where r.chat_id = blobs.chat_id and r.sha256 = blobs.sha256)`,
  });
  return gone.length;
}

/** The same bytes may have been put again a moment ago, and not be referred to yet. */
export function* dropRefsOf(runIds: readonly string[], now: number): Script<number> {
  if (runIds.length === 0) return 0;
  return yield* dropRefs(sql`run_id in ${list(runIds)}`, now + unreferredFileMs);
}

/** Chunks that one step removes: 1 MB, for which SQLite needs some milliseconds. */
const chunksPerStep = 4;

/** Removes what has expired, a few chunks at a time, and answers how many blobs are gone. */
export function* dropExpiredBlobs(now: number): Script<{ readonly removed: number; readonly more: boolean }> {
  let removed = 0;
  let steps = 0;
  while (steps < chunksPerStep) {
    const name = yield* one(
      select(pick(columns.blobs, 'chatId', 'sha256'))`from blobs
        where expires_at <= ${now} order by expires_at ${limit(1)} ${forUpdateSkipLocked}`,
    );
    if (name === undefined) return { removed, more: false };
    yield* update('blobs', { isWhole: 0 }, isBlob(name));
    const chunks = yield* all(
      returning(
        pick(columns.blobChunks, 'chunk'),
        sql`delete from blob_chunks where ${isBlob(name)} and chunk in (
          select chunk from blob_chunks where ${isBlob(name)} order by chunk ${limit(chunksPerStep - steps)})`,
      ),
    );
    steps += chunks.length + 1;
    if (chunks.length > 0) continue;
    yield* run(sql`delete from blobs where ${isBlob(name)}`);
    removed += 1;
  }
  return { removed, more: true };
}
