import { imageSize } from '../../domain/files/kind.ts';
import type { DocumentShown, MediaKind } from '../world/world.ts';

interface KindFacts {
  /** The beginning of ids of such files. */
  readonly prefix: string;
  /** The word of error texts. */
  readonly type: string;
  readonly name: string;
  readonly mimeType: string;
}

const kinds: Readonly<Record<MediaKind, KindFacts>> = {
  photo: { prefix: 'AgAC', type: 'Photo', name: 'photo.png', mimeType: 'image/png' },
  document: { prefix: 'BQAC', type: 'Document', name: 'notes.txt', mimeType: 'text/plain' },
  video: { prefix: 'BAAC', type: 'Video', name: 'clip.mp4', mimeType: 'video/mp4' },
  audio: { prefix: 'CQAC', type: 'Audio', name: 'song.mp3', mimeType: 'audio/mpeg' },
  voice: { prefix: 'AwAC', type: 'VoiceNote', name: 'voice.ogg', mimeType: 'audio/ogg' },
  animation: { prefix: 'CgAC', type: 'Animation', name: 'loop.mp4', mimeType: 'video/mp4' },
};

/** A photo has a second, smaller size, with an id of its own that stands for the same file. */
const smallSuffix = '-s';

export function smallId(fileId: string): string {
  return `${fileId}${smallSuffix}`;
}

export function fileIdOf(given: string): string {
  return given.endsWith(smallSuffix) ? given.slice(0, -smallSuffix.length) : given;
}

export function kindOf(fileId: string): MediaKind {
  const names: readonly MediaKind[] = ['photo', 'video', 'audio', 'voice', 'animation'];
  return names.find((kind) => fileId.startsWith(kinds[kind].prefix)) ?? 'document';
}

export function typeName(kind: MediaKind): string {
  return kinds[kind].type;
}

export interface GivenFile {
  readonly kind: MediaKind;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A disc of white on blue, 48 pixels wide. */
const samplePhoto = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAMAAABg3Am1AAAABlBMVEUqfeH///9sb7uuAAAAUUlEQVR42u3UMQoAIAzF0Ob+l3ZxE8QI1Q7N3Lfpj+jK' +
    'xsxdHxqW7P1egBPgBDgBUlgAUqQDkKJBCij4NB78B/9F/Qj4mfFD5qfSj/HF3Hc/GpwiAy3axshsAAAAAElFTkSuQmCC',
  'base64',
);

/** A sample for a program that has no file at hand. Only the photo is a real one: nothing here plays films or sounds. */
export function sampleFile(kind: MediaKind): GivenFile {
  const facts = kinds[kind];
  const bytes = kind === 'photo' ? samplePhoto : Buffer.from(`A sample of the sandbox: ${facts.type}.\n`);
  return { kind, name: facts.name, mimeType: facts.mimeType, bytes };
}

/** Telegram's words for an upload that it does not take; null where it does. Those about a picture come from its servers, later. */
export function uploadRefused(kind: MediaKind, { byteLength: size }: Uint8Array): string | null {
  if (size === 0) return 'file must be non-empty';
  if (kind !== 'photo' || size <= photoMax) return null;
  return `file of size ${size} bytes is too big for a photo; the maximum size is ${photoMax} bytes`;
}

export function pictureRefused(kind: MediaKind, bytes: Uint8Array): string | null {
  if (kind !== 'photo') return null;
  const size = imageSize(bytes);
  if (size === null) return 'IMAGE_PROCESS_FAILED';
  const [short, long] = [Math.min(size.width, size.height), Math.max(size.width, size.height)];
  return short === 0 || short + long > sidesMax || long > short * ratioMax ? 'PHOTO_INVALID_DIMENSIONS' : null;
}

/** Limits of Telegram for a photo. */
const photoMax = 10_485_760;
const sidesMax = 10_000;
const ratioMax = 20;

/** Albums are told apart by numbers of their own, as long as those of Telegram. */
export function newAlbum(counter: { count(name: 'lastAlbum'): number }): string {
  return String(14_000_000_000_000_000n + BigInt(counter.count('lastAlbum')));
}

interface FileKeeper {
  count(name: 'lastFile'): number;
  addFile(file: Omit<GivenFile, 'kind'> & { readonly id: string }): void;
}

export function keepFile(keeper: FileKeeper, { kind, name, mimeType, bytes }: GivenFile): DocumentShown {
  const fileId = `${kinds[kind].prefix}${String(keeper.count('lastFile')).padStart(12, '0')}`;
  keeper.addFile({ id: fileId, name, mimeType, bytes });
  return { fileId, kind, name, mimeType, size: bytes.byteLength };
}
