import { splitText } from '../delivery.ts';
import { captionLengthMax } from '../limits.ts';
import type { Album, AlbumItem, Drawn, Media, MediaKind, Upload } from '../shown.ts';
import { albumMax, fileNameLengthMax, filesLeftShownMax, resultFilesMax, uploadBytesMax } from './limits.ts';
import { sizeText } from './summary.ts';

/** A file that the result refers to, with words of its own if whoever made it gave it any. */
type Brought = Upload & { readonly caption?: string };

/** A file that is missing, with the reason for people. */
interface Left {
  readonly name: string;
  readonly size: number;
  readonly reason: string;
}

/** All that a run wants to show: words, files of Telegram that a person has sent, and files that it brought. */
export interface Showing {
  readonly text: string;
  readonly media?: Media;
  readonly album?: readonly Media[];
  readonly files?: readonly (Brought | Left)[];
}

export type Part = Pick<Drawn, 'text' | 'media' | 'album'>;

/**
 * The messages of a result. Words that fit below the only file stand there. Else they come before the files, as a headline
 * does; but the last message bears the buttons, which an album cannot, so behind an album the words come last. Photos come
 * first, in albums, then films, music and documents; each has a caption, by which a lost answer is settled. A file that cannot
 * be sent is a line among the words, and takes nothing else along.
 */
export function partsOf(showing: Showing): readonly Part[] {
  const { media, album, files = [] } = showing;
  const { uploads, lines } = sorted(files);
  const text = [showing.text, ...lines].filter((each) => each.trim() !== '').join('\n\n');
  const kept = keptOf(media, album);
  const [only, ...others] = uploads;
  if (only !== undefined && others.length === 0 && kept === null) return [...underOne(only, text)];
  if (only === undefined && kept !== null && 'media' in kept) return underKept(kept, text);
  return withButtonsLast([...(kept === null ? [] : [kept]), ...uploadParts(uploads)], wordsOf(text));
}

function wordsOf(text: string): readonly Part[] {
  return splitText(text).map((part) => ({ text: part }));
}

function keptOf(media: Media | undefined, album: readonly Media[] | undefined): Part | null {
  if (album !== undefined) return { text: '', album: album.map((each) => ({ ...each, caption: '' })) };
  return media === undefined ? null : { text: '', media };
}

/** A file of Telegram needs no words; those that do not fit follow it. */
function underKept(file: Part, text: string): readonly Part[] {
  return text.length <= captionLengthMax ? [{ ...file, text }] : [file, ...wordsOf(text)];
}

function underOne(file: Brought, text: string): readonly Part[] {
  const { caption, ...media } = file;
  const all = [text, caption].filter((each) => each !== undefined && each.trim() !== '').join('\n\n');
  if (text !== '' && all.length <= captionLengthMax) return [{ text: all, media }];
  return [...wordsOf(text), { text: captionOf(file), media }];
}

function withButtonsLast(files: readonly Part[], words: readonly Part[]): readonly Part[] {
  if (files.at(-1)?.album === undefined) return [...words, ...files];
  return [...files, ...(words.length > 0 ? words : [{ text: countOf(files) }])];
}

function countOf(files: readonly Part[]): string {
  const count = files.reduce((sum, { album }) => sum + (album?.length ?? 1), 0);
  return `${count} files`;
}

const order: readonly MediaKind[] = ['photo', 'animation', 'video', 'voice', 'audio', 'document'];

function sorted(files: readonly (Brought | Left)[]) {
  const taken = files.slice(0, resultFilesMax);
  const left = taken.flatMap((file) => ('reason' in file ? file : tooLarge(file)));
  const uploads = taken.flatMap((file) => ('reason' in file || tooLarge(file).length > 0 ? [] : file));
  return {
    uploads: uploads.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind)),
    lines: [...leftLines(left), ...moreLine(files.length - taken.length)],
  };
}

function tooLarge({ name, size }: Brought): readonly Left[] {
  if (size <= uploadBytesMax) return [];
  return [{ name, size, reason: `Telegram takes ${sizeText(uploadBytesMax)} at most` }];
}

function leftLines(left: readonly Left[]): readonly string[] {
  const lines = left.slice(0, filesLeftShownMax).map(leftLine);
  const more = left.length - lines.length;
  return [...lines, ...(more > 0 ? [`(${more} more files are missing.)`] : [])];
}

/** The line in the place of a file that is missing. */
export function leftLine({ name, size, reason }: Left): string {
  return `(${nameOf(name)}, ${sizeText(size)}, is missing: ${reason}.)`;
}

function moreLine(count: number): readonly string[] {
  if (count <= 0) return [];
  return [`(${count} more ${count === 1 ? 'file is' : 'files are'} left out: a result shows ${resultFilesMax}.)`];
}

/** Photos stand together, as many as one request may carry; every other file is a message of its own. */
function uploadParts(uploads: readonly Brought[]): readonly Part[] {
  const photos = uploads.filter(({ kind }) => kind === 'photo');
  const others = uploads.filter(({ kind }) => kind !== 'photo');
  return [...inAlbums(photos).map(asAlbum), ...others.map(alone)];
}

/** Albums of about the same size, so that none is left with a single photo where that can be helped. */
function inAlbums(photos: readonly Brought[]): readonly (readonly Brought[])[] {
  const most = Math.ceil(photos.length / Math.ceil(photos.length / albumMax));
  const albums: Brought[][] = [];
  let bytes = 0;
  for (const photo of photos) {
    const last = albums.at(-1);
    bytes += photo.size;
    if (last !== undefined && last.length < most && bytes <= uploadBytesMax) last.push(photo);
    else {
      albums.push([photo]);
      bytes = photo.size;
    }
  }
  return albums;
}

/** Telegram shows pictures and films together, and documents or music only among themselves. */
export function areOneAlbum(kinds: readonly MediaKind[]): boolean {
  const groups = [['photo', 'video'], ['document'], ['audio']];
  return groups.some((group) => kinds.every((kind) => group.includes(kind)));
}

function asAlbum(photos: readonly Brought[]): Part {
  const [only] = photos;
  if (only !== undefined && photos.length === 1) return alone(only);
  const album: Album = photos.map((photo): AlbumItem => ({ ...photo, caption: captionOf(photo) }));
  return { text: '', album };
}

function alone(file: Brought): Part {
  const { caption: _own, ...media } = file;
  return { text: captionOf(file), media };
}

/** Never empty, so that the message can be told from others. */
function captionOf({ caption = '', name }: Brought): string {
  return splitText(caption, captionLengthMax)[0] ?? nameOf(name);
}

function nameOf(name: string): string {
  return splitText(name, fileNameLengthMax)[0]?.split('\n', 1)[0]?.trim() || 'file';
}
