import { describe, expect, it } from 'vitest';
import { fileKind, imageSize } from '../../../src/domain/files/kind.ts';
import { photoBytesMax } from '../../../src/domain/files/limits.ts';
import { gif, jpeg, mp4, png, webp } from '../../support/files.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

describe('the kind of a file', () => {
  it.each([
    ['a PNG', png(10, 20), 'photo'],
    ['a JPEG', jpeg(640, 480), 'photo'],
    ['a JPEG with other segments first', jpeg(640, 480, 3), 'photo'],
    ['a lossy WebP', webp('VP8 ', 300, 200), 'photo'],
    ['a lossless WebP', webp('VP8L', 300, 200), 'photo'],
    ['an extended WebP', webp('VP8X', 300, 200), 'photo'],
    ['a moving WebP', webp('VP8X', 300, 200, true), 'document'],
    ['a GIF', gif, 'animation'],
    ['an MP4', mp4('isom'), 'video'],
    ['another MP4', mp4('mp42'), 'video'],
    ['an M4A', mp4('M4A '), 'audio'],
    ['a HEIC picture', mp4('heic'), 'document'],
    ['a QuickTime film', mp4('qt  '), 'document'],
    ['an MP3 with a tag', bytes('ID3\x04\x00'), 'audio'],
    ['an MP3 without', bytes('\xff\xfb\x90\x64'), 'audio'],
    ['an Ogg', bytes('OggS\x00\x02'), 'audio'],
    ['an AAC stream', bytes('\xff\xf1\x50\x80'), 'document'],
    ['a text in UTF-16', bytes('\xff\xfeh\x00i\x00'), 'document'],
    ['a PDF', bytes('%PDF-1.7'), 'document'],
    ['a text', bytes('GIF is a format'), 'document'],
    ['nothing', bytes(''), 'document'],
  ])('of %s is known from its bytes', (_name, file, kind) => {
    expect(fileKind(file)).toBe(kind);
  });

  it.each([
    ['more bytes than Telegram takes', Buffer.concat([png(10, 10), Buffer.alloc(photoBytesMax)])],
    ['sides that are too long', png(6000, 4001)],
    ['one side twenty-one times the other', png(21, 1)],
    ['no side', png(0, 10)],
    ['a head that ends early', png(10, 10).subarray(0, 20)],
    ['a JPEG that never tells its size', jpeg(10, 10).subarray(0, 12)],
    ['a WebP that ends early', webp('VP8 ', 10, 10).subarray(0, 22)],
    ['a WebP of a kind that nobody knows', webp('VP9?', 10, 10)],
  ])('is a document where a picture has %s', (_name, file) => {
    expect(fileKind(file)).toBe('document');
  });

  it('is a photo up to the limits of Telegram', () => {
    expect(fileKind(png(6000, 4000))).toBe('photo');
    expect(fileKind(png(20, 1))).toBe('photo');
  });
});

it('reads width and height alike in every form', () => {
  const size = { width: 300, height: 200 };
  const files = [png(300, 200), jpeg(300, 200, 2), ...['VP8 ', 'VP8L', 'VP8X'].map((form) => webp(form, 300, 200))];
  for (const file of files) expect(imageSize(file)).toEqual(size);
});
