import type { BlobStore } from '../../app/ports/blobs.ts';
import type { CallFault, Outgoing, Sent } from '../../app/ports/outside.ts';
import { uploadBytesPerSecond } from '../../domain/files/limits.ts';
import { leftLine, type Part } from '../../domain/files/parts.ts';
import { captionLengthMax } from '../../domain/limits.ts';
import type { AlbumItem, Drawn, Media, Upload } from '../../domain/shown.ts';
import { texts } from '../chat/texts.ts';
import type { Loaded } from './calls.ts';

/** Files of a part: their bytes before it leaves, and what is left of it when Telegram does not take one of them. */

type File = Media | Upload;

function filesIn({ media, album }: Part): readonly File[] {
  return album ?? (media === undefined ? [] : [media]);
}

function uploadsIn(drawn: Drawn): readonly Upload[] {
  return filesIn(drawn).filter((file) => 'sha256' in file);
}

/** The bytes of all files that Telegram does not have yet. What is not kept any more is refused as if Telegram had done it. */
export async function loadedFor(
  blobs: Pick<BlobStore, 'readBlob'>,
  { chatId }: Pick<Outgoing, 'chatId'>,
  drawn: Drawn,
): Promise<Loaded | CallFault> {
  const loaded = new Map<string, Uint8Array>();
  for (const { sha256 } of uploadsIn(drawn)) {
    if (loaded.has(sha256)) continue;
    const bytes = await readFrom(blobs, chatId, sha256);
    if (bytes instanceof Error) return { is: 'unreached', error: `a file cannot be read now: ${bytes.message}` };
    if (bytes === null) return notKept(drawn, sha256);
    loaded.set(sha256, bytes);
  }
  return loaded;
}

/** The store may be away, and then nothing has left. */
async function readFrom(blobs: Pick<BlobStore, 'readBlob'>, chatId: string, sha256: string) {
  try {
    return await blobs.readBlob(chatId, sha256);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function notKept(drawn: Drawn, sha256: string): CallFault {
  const at = filesIn(drawn).findIndex((file) => 'sha256' in file && file.sha256 === sha256);
  return { is: 'refused', error: `failed to send message #${at + 1} with the error message "${bytesGone}"` };
}

const bytesGone = 'its bytes are not kept any more';

/** To one person alone files are named: Telegram has no albums there, and what is a trial for one need not be uploaded. */
export function named(drawn: Drawn): Drawn {
  const { media, album, ...words } = drawn;
  if (album !== undefined) return { ...words, text: album.map(({ caption }) => caption).join('\n') };
  return media !== undefined && 'sha256' in media ? words : drawn;
}

export function uploadBytes(drawn: Drawn): number {
  return uploadsIn(drawn).reduce((sum, { size }) => sum + size, 0);
}

/** The answer to an upload is waited for as long as its bytes may take on a slow line, beyond the usual wait. */
export function uploadMs(drawn: Drawn): number {
  return Math.ceil((uploadBytes(drawn) / uploadBytesPerSecond) * 1000);
}

/** Space in memory for the bytes of uploads, given out in the order in which it was asked for. What uploads nothing needs none. */
export function createSpace(most: number) {
  let taken = 0;
  const waiting: { readonly bytes: number; readonly go: () => void }[] = [];
  const admit = () => {
    for (let [next] = waiting; next !== undefined && (taken === 0 || taken + next.bytes <= most); [next] = waiting) {
      taken += next.bytes;
      waiting.shift();
      next.go();
    }
  };
  return async <T>(bytes: number, work: () => Promise<T>): Promise<T> => {
    if (bytes === 0) return work();
    await new Promise<void>((go) => {
      waiting.push({ bytes, go });
      admit();
    });
    try {
      return await work();
    } finally {
      taken -= bytes;
      admit();
    }
  };
}

/** A chat may take words and no photos, or the other way round. */
const kindForbidden =
  /not enough rights to send (?!text)|CHAT_SEND_(?:PHOTOS|DOCS|VIDEOS|AUDIOS|GIFS|VOICES|MEDIA)_FORBIDDEN/i;

/** The words are taken where the file is not. */
export function isFileRefused(sent: Sent, drawn: Drawn): sent is Extract<Sent, { is: 'refused' | 'blocked' }> {
  if (filesIn(drawn).length === 0) return false;
  return sent.is === 'refused' || (sent.is === 'blocked' && kindForbidden.test(sent.error));
}

/** Telegram names the message of an album that is at fault, and why. */
const atFault = /failed to send message #(\d+) with the error message "(.*)"/is;

/**
 * The part without the file that Telegram does not take: a line says which, and why. What it does not take as a photo or a film it may
 * take as a document. Of an album in which no file is named all are at fault.
 */
export function withoutFile(drawn: Drawn, error: string): Drawn {
  const [, position, reason = error] = atFault.exec(error) ?? [];
  const { media, album, ...words } = drawn;
  if (album !== undefined) return withoutItem(words, album, { at: Number(position ?? 0) - 1, reason });
  if (media === undefined) return drawn;
  if ('sha256' in media && media.kind !== 'document' && reason !== bytesGone)
    return { ...drawn, media: { ...media, kind: 'document' } };
  const line = missing(media, reason);
  return { ...words, text: words.text === '' || isNameOf(words.text, media) ? line : `${words.text}\n\n${line}` };
}

interface Fault {
  /** -1 where no file is named. */
  readonly at: number;
  readonly reason: string;
}

function withoutItem(words: Drawn, album: readonly AlbumItem[], { at, reason }: Fault): Drawn {
  const [first, ...others] = album.filter((_item, index) => at >= 0 && index !== at);
  const line = album.filter((_item, index) => at < 0 || index === at).map((item) => missing(item, reason));
  if (first === undefined) return { ...words, text: line.join('\n\n') };
  const noted = { ...first, caption: withNote(first.caption, line.join('\n\n')) };
  if (others.length > 0) return { ...words, album: [noted, ...others] };
  const { caption: text, ...media } = noted;
  return { ...words, text, media };
}

function withNote(caption: string, line: string): string {
  const room = Math.max(captionLengthMax - line.length - '…\n\n'.length, 0);
  const kept = caption.length > room ? `${caption.slice(0, room)}…` : caption;
  return `${kept}${kept === '' ? '' : '\n\n'}${line}`.slice(0, captionLengthMax);
}

function missing(file: File, reason: string): string {
  if ('fileId' in file) return texts.out.fileGone(file.kind);
  const why = reason === bytesGone ? reason : `Telegram refused it (${reason.replace(/^Bad Request: /, '')})`;
  return leftLine({ ...file, reason: why });
}

function isNameOf(text: string, media: File): boolean {
  return 'name' in media && text === media.name;
}
