import { AppError } from '../../domain/errors.ts';
import { blobChunkBytes, type BlobStore, type ChunkStore } from '../ports/blobs.ts';
import type { World } from '../ports/outside.ts';

interface BlobDeps extends Pick<World, 'timer'> {
  readonly store: ChunkStore;
  /** Bytes that one chat may keep. */
  readonly quota: number;
}

/** Files of any length over a store whose transactions are short: between two chunks everybody else has a turn. */
export function createBlobs({ store, timer, quota }: BlobDeps): BlobStore {
  const openBlob: BlobStore['openBlob'] = async (chatId, sha256) => {
    const blob = { chatId, sha256 };
    const size = await store.blobSize(blob);
    if (size === null) return null;
    return (async function* () {
      for (let chunk = 0; chunk < chunksOf(size); chunk += 1) {
        await timer.yield();
        const bytes = await store.readChunk(blob, chunk);
        if (bytes === null) throw new AppError('not_found', 'The file was removed while it was read.');
        yield bytes;
      }
    })();
  };
  return {
    openBlob,
    putBlob: async ({ bytes, ...blob }) => {
      const begun = await store.beginBlob({ ...blob, size: bytes.length, quota });
      if (begun === 'over_quota') return begun;
      if (begun === 'there') return 'kept';
      const chunks = chunksOf(bytes.length);
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        await timer.yield();
        await store.putChunk(blob, chunk, bytes.subarray(chunk * blobChunkBytes, (chunk + 1) * blobChunkBytes));
      }
      if (!(await store.endBlob(blob, chunks)))
        throw new AppError('internal', 'chunks of a file went while it was kept');
      return 'kept';
    },
    readBlob: async (chatId, sha256) => {
      const chunks = await openBlob(chatId, sha256);
      if (chunks === null) return null;
      const all: Uint8Array[] = [];
      for await (const chunk of chunks) all.push(chunk);
      return Buffer.concat(all);
    },
  };
}

function chunksOf(size: number): number {
  return Math.ceil(size / blobChunkBytes);
}
