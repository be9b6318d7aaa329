import type { BlobHead, BlobName } from '../../app/ports/blobs.ts';
import { inItsChat } from '../chats/survivors.ts';
import type { Script } from '../engine/engine.ts';
import { columns, count, number, pick } from '../engine/fields.ts';
import { forShare, forUpdate, limit, raw, sql, type Sql } from '../engine/sql.ts';
import { all, hold, insert, one, select, update } from '../engine/statements.ts';
import { dropRefs, isBlob } from './refs.ts';

/**
 * Bytes of chats, in chunks. A blob that is whole has all of them, at any time. Its chat may become one with another between two of
 * these steps.
 */
export const chunkStore = { beginBlob, putChunk, endBlob };

export const chunkReads = { blobSize, readChunk };

const { blobs, blobChunks } = columns;

/** A blob that is not kept is on its way out, and takes nobody's place. */
const isKept = (now: number): Sql => sql`(expires_at is null or expires_at > ${now})`;

function* beginBlob(head: BlobHead): Script<'there' | 'missing' | 'over_quota'> {
  const blob = yield* inItsChat(head);
  const { chatId, sha256, mime, size, now, expiresAt } = blob;
  // Two that come at once must not both take the last room.
  yield* hold(sql`select id from chats where id = ${chatId} ${forShare()}`);
  const known = yield* knownBlob(blob);
  const hasRoom = (found: typeof known) => found !== undefined && (found.expiresAt === null || found.expiresAt > now);
  // The same bytes may have come while the sum was made, because a chat without a row holds up nobody.
  if (!hasRoom(known) && !(yield* makeRoom(blob)) && !hasRoom(yield* knownBlob(blob))) return 'over_quota';
  yield* insert(
    'blobs',
    { sha256, chatId, mime, size, isWhole: 0, putAt: now, expiresAt },
    raw(`on conflict (chat_id, sha256) do update set put_at = excluded.put_at,
      expires_at = case when blobs.expires_at < excluded.expires_at then excluded.expires_at else blobs.expires_at end`),
  );
  return known?.isWhole === 1 ? 'there' : 'missing';
}

function* knownBlob(blob: BlobName): Script<{ isWhole: number; expiresAt: number | null } | undefined> {
  return yield* one(select(pick(blobs, 'isWhole', 'expiresAt'))`from blobs where ${isBlob(blob)} ${forUpdate}`);
}

/** Whether it fits, once what is oldest has gone. */
function* makeRoom({ chatId, size, now, quota }: BlobHead): Script<boolean> {
  if (size > quota) return false;
  // The sum of all of them stands in an index, and mostly suffices.
  if ((yield* bytesOf(sql`chat_id = ${chatId}`)) + size <= quota) return true;
  const kept = yield* bytesOf(sql`chat_id = ${chatId} and ${isKept(now)}`);
  return yield* letOldestGo(chatId, kept + size - quota, now);
}

function* bytesOf(which: Sql): Script<number> {
  const found = yield* one(select({ size: number(raw('sum(size)')) })`from blobs where ${which}`);
  return found?.size ?? 0;
}

/** A run still needs it: for its input, because it is under way, or because something of it is on its way to somebody. */
const isNeeded = sql`exists (select 1 from blob_refs r join runs on runs.id = r.run_id
  where r.chat_id = blobs.chat_id and r.sha256 = blobs.sha256 and (r.role = 'input'
    or runs.status in ('queued', 'running', 'backoff', 'waiting')
    or exists (select 1 from deliveries d where d.run_id = r.run_id and d.status in ('pending', 'blocked', 'sending', 'unknown'))))`;

/** As many as one transaction takes back; where more would have to go, nothing does. */
const oldestMax = 200;

/** A run that has put it may not have referred to it yet. */
const putLatelyMs = 600_000;

/** Files of old results give way to new ones, which somebody waits for. */
function* letOldestGo(chatId: string, excess: number, now: number): Script<boolean> {
  if (excess <= 0) return true;
  const oldest = yield* all(
    select(pick(blobs, 'sha256', 'size'))`from blobs
      where chat_id = ${chatId} and expires_at is null and put_at < ${now - putLatelyMs} and not ${isNeeded} order by put_at, sha256 ${limit(oldestMax)}`,
  );
  let freed = 0;
  const going = oldest.filter(({ size }) => {
    const goes = freed < excess;
    if (goes) freed += size;
    return goes;
  });
  if (freed < excess) return false;
  for (const { sha256 } of going) yield* dropRefs(isBlob({ chatId, sha256 }), now);
  return true;
}

function* putChunk(name: BlobName, chunk: number, bytes: Uint8Array): Script<void> {
  const { chatId, sha256 } = yield* inItsChat(name);
  yield* insert(
    'blobChunks',
    { sha256, chatId, chunk, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) },
    raw('on conflict (chat_id, sha256, chunk) do nothing'),
  );
}

function* endBlob(name: BlobName, chunks: number): Script<boolean> {
  const blob = yield* inItsChat(name);
  const found = yield* one(select({ count })`from blob_chunks where ${isBlob(blob)}`);
  if (found?.count !== chunks) return false;
  return yield* update('blobs', { isWhole: 1 }, isBlob(blob));
}

function* blobSize(name: BlobName): Script<number | null> {
  const blob = yield* inItsChat(name);
  const found = yield* one(select(pick(blobs, 'size'))`from blobs where ${isBlob(blob)} and is_whole = 1`);
  return found?.size ?? null;
}

function* readChunk(name: BlobName, chunk: number): Script<Uint8Array | null> {
  const blob = yield* inItsChat(name);
  const found = yield* one(
    select(pick(blobChunks, 'bytes'))`from blob_chunks where ${isBlob(blob)} and chunk = ${chunk}`,
  );
  return found?.bytes ?? null;
}
