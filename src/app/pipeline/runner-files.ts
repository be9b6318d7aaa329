import { errorText, isAway } from '../../domain/errors.ts';
import { fileKind } from '../../domain/files/kind.ts';
import { outputTextMax, resultFilesMax, unreferredFileMs, uploadBytesMax } from '../../domain/files/limits.ts';
import type { Showing } from '../../domain/files/parts.ts';
import { sizeText, summarized } from '../../domain/files/summary.ts';
import { backoffMs } from '../../domain/limits.ts';
import type { Media } from '../../domain/shown.ts';
import type { Action, Outcome } from '../actions/action.ts';
import { blobChunkBytes, type BlobStore, type FileLeft, type FileRef, type NewFile } from '../ports/blobs.ts';
import type { World } from '../ports/outside.ts';
import type { StartableRun } from '../ports/pipeline.ts';

export interface FileDeps extends Pick<World, 'clock' | 'digest' | 'timer' | 'log'> {
  readonly blobs: BlobStore;
}

/**
 * Keeps the files of a result before its end is written, so that the end has only to refer to them. A file that cannot be
 * kept is told as one that is missing, and the others go on. Null when the process must end first: the attempt stays open.
 */
export async function keepFiles(
  deps: FileDeps,
  run: Pick<StartableRun, 'id' | 'chatId'>,
  files: readonly NewFile[],
  signal: AbortSignal,
): Promise<readonly (FileRef | FileLeft)[] | null> {
  const kept: (FileRef | FileLeft)[] = [];
  for (const [index, file] of files.entries()) {
    const reason = run.chatId === null ? 'it belongs to no chat' : tooMuch(file, index);
    const found = reason === null ? await keptFile(deps, run, file, signal) : left(file, reason);
    if (found === null) return null;
    kept.push(found);
  }
  return kept;
}

function tooMuch({ bytes }: NewFile, index: number): string | null {
  if (index >= resultFilesMax) return `a result has ${resultFilesMax} files at most`;
  return bytes.length > uploadBytesMax ? `a file has ${sizeText(uploadBytesMax)} at most` : null;
}

function left({ name, bytes }: NewFile, reason: string): FileLeft {
  return { name, size: bytes.length, reason };
}

/** While the store is away the file waits for it, as the end of the run does. */
async function keptFile(
  deps: FileDeps,
  { id, chatId }: Pick<StartableRun, 'id' | 'chatId'>,
  file: NewFile,
  signal: AbortSignal,
): Promise<FileRef | FileLeft | null> {
  const { name, mime, bytes, caption } = file;
  const sha256 = await hashOf(deps, bytes);
  for (let failures = 1; ; failures += 1) {
    if (signal.reason === 'stopping') return null;
    const now = deps.clock.now();
    try {
      const blob = { chatId: chatId ?? '', sha256, mime, bytes, now, expiresAt: now + unreferredFileMs };
      const answer = await deps.blobs.putBlob(blob);
      if (answer === 'over_quota') return left(file, 'the files of this chat take up all the room that it has');
      const words = caption === undefined ? {} : { caption };
      return { kind: fileKind(bytes), sha256, name, mime, size: bytes.length, ...words };
    } catch (error) {
      if (!isAway(error)) {
        deps.log.error('file_not_kept', { run_id: id, error: errorText(error) });
        return left(file, 'it could not be kept');
      }
      if (signal.aborted) return signal.reason === 'stopping' ? null : left(file, 'its run was called off');
      if (failures === 1) deps.log.error('file_waits', { run_id: id, error: error.message });
      await new Promise<void>((resolve) => deps.timer.after(backoffMs(failures), resolve));
    }
  }
}

/** In pieces, because all of a large file at once would hold up everything else. */
async function hashOf({ digest, timer }: FileDeps, bytes: Uint8Array): Promise<string> {
  const hash = digest.ofBytes();
  for (let at = 0; at < bytes.length; at += blobChunkBytes) {
    if (at > 0) await timer.yield();
    hash.add(bytes.subarray(at, at + blobChunkBytes));
  }
  return hash.hex();
}

type Done = Extract<Outcome, { is: 'done' }>;

/** The files of a result, whose bytes must be kept before its end is written; the first may be its text, if that is too long. */
export function filesOf(
  action: Pick<Action, 'isCut'> | undefined,
  { text, attachments = [] }: Done,
): readonly NewFile[] {
  const long = longText(action, text);
  if (long === null) return attachments;
  const { name, mime } = long.file;
  return [{ name, mime, bytes: new TextEncoder().encode(long.file.text) }, ...attachments];
}

function longText(action: Pick<Action, 'isCut'> | undefined, text: string) {
  return action?.isCut === true ? null : summarized(text);
}

/** A text for whose file there was no room comes as messages. */
export function showingOf(
  action: Pick<Action, 'isCut'> | undefined,
  { text, media, album }: Done,
  files: readonly (FileRef | FileLeft)[],
): Showing {
  const long = longText(action, text);
  const sent = { ...(media === undefined ? {} : { media }), ...(album === undefined ? {} : { album }) };
  const [first, ...others] = files;
  if (long === null || first === undefined) return { ...sent, text, files };
  return 'sha256' in first ? { ...sent, text: long.summary, files } : { ...sent, text, files: others };
}

/** One envelope for what every kind of action brings back. */
export function outputOf(
  kind: string,
  text: string,
  { data, media, album = [], files }: Done & { readonly files: readonly (FileRef | FileLeft)[] },
) {
  const sent = [...(media === undefined ? [] : [media]), ...album, ...files].map(attachmentOf);
  return {
    type: kind,
    text,
    ...(data === undefined ? {} : { data }),
    ...(sent.length === 0 ? {} : { attachments: sent }),
  };
}

/** A file that was not kept has its place among the others, so that each keeps its number. */
function attachmentOf(file: Media | FileRef | FileLeft) {
  if ('fileId' in file) return { kind: file.kind, file_id: file.fileId };
  if ('reason' in file) return { name: file.name, size: file.size, missing: file.reason };
  return file;
}

/** A text that is kept as a file, and is long, is not kept twice. */
export function outputTextOf(
  action: Pick<Action, 'isCut'> | undefined,
  { text }: Done,
  [first]: readonly (FileRef | FileLeft)[],
) {
  if (text.length <= outputTextMax || first === undefined || !('sha256' in first)) return text;
  return longText(action, text)?.summary ?? text;
}
