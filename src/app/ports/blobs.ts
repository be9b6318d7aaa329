import type { Upload } from '../../domain/shown.ts';

/** A file with its bytes, on the way from an action to the store. */
export interface NewFile {
  readonly name: string;
  /** As the other side calls it; the kind in which it is shown follows from its first bytes. */
  readonly mime: string;
  readonly bytes: Uint8Array;
  readonly caption?: string;
}

/** A file whose bytes are in the store: what a run keeps of it, and what a delivery refers to. Its kind is that of `fileKind`. */
export interface FileRef extends Upload {
  readonly caption?: string;
}

/** A file that a run brought and that was not kept, with the reason for people. */
export interface FileLeft {
  readonly name: string;
  readonly size: number;
  readonly reason: string;
}

/** Bytes of a chat, by the hash of what is in them. Equal ones are kept once for each chat. */
export interface BlobStore {
  /**
   * Keeps bytes, in chunks, each in a transaction of its own, before anything refers to them: until `expiresAt`, or as long as
   * something refers to them. Answers `over_quota` where the chat has no room left.
   */
  putBlob(blob: NewBlob): Promise<'kept' | 'over_quota'>;
  /** All bytes of one blob of the chat; null where there is none. */
  readBlob(chatId: string, sha256: string): Promise<Uint8Array | null>;
  /** The same piece by piece, for whoever passes them on; null where there is none. */
  openBlob(chatId: string, sha256: string): Promise<AsyncIterable<Uint8Array> | null>;
}

export interface NewBlob extends BlobName {
  readonly mime: string;
  readonly bytes: Uint8Array;
  readonly now: number;
  readonly expiresAt: number;
}

export interface BlobName {
  readonly chatId: string;
  readonly sha256: string;
}

/** A size that SQLite writes to the disk in some milliseconds, so that no file holds up anything else. */
export const blobChunkBytes = 262_144;

/** The store below it: every method is one short transaction, whatever the size of the blob. */
export interface ChunkStore {
  /**
   * Takes the place that the blob needs, and makes it last until `expiresAt` at least. Where the quota of its chat leaves too
   * little room, the oldest files go first of which nothing is on its way to anybody.
   */
  beginBlob(blob: BlobHead): Promise<'there' | 'missing' | 'over_quota'>;
  putChunk(blob: BlobName, chunk: number, bytes: Uint8Array): Promise<void>;
  /** All of its chunks are there. False where some of them are not. */
  endBlob(blob: BlobName, chunks: number): Promise<boolean>;
  /** How long a blob is; null where it is not there, or not whole. */
  blobSize(blob: BlobName): Promise<number | null>;
  readChunk(blob: BlobName, chunk: number): Promise<Uint8Array | null>;
}

export interface BlobHead extends BlobName {
  readonly mime: string;
  readonly size: number;
  readonly now: number;
  readonly expiresAt: number;
  /** Bytes that its chat may keep. */
  readonly quota: number;
}

/** The value that a task watches, as its last run saw it. It is kept beside the task, and people do not edit it. */
export interface Watched {
  /** The hash of the value, by which a change is known. */
  readonly hash: string;
  /** The value itself, as far as it is kept for a comparison that people read. */
  readonly value: string | null;
  readonly at: number;
}

export interface WatchStore {
  watchedBy(taskId: string): Promise<Watched | null>;
}
