import type { MediaKind } from '../shown.ts';
import { photoBytesMax, photoRatioMax, photoSidesMax } from './limits.ts';

/**
 * The kind in which a file is shown, judged from its bytes alone: what a server calls it may be wrong, and Telegram refuses
 * a picture that is none. What is no picture, film or piece of music that Telegram plays, or too large for that, is a document.
 */
export function fileKind(bytes: Uint8Array): MediaKind {
  if (startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a')) return 'animation';
  const size = imageSize(bytes);
  if (size !== null) return isPhoto(size, bytes.byteLength) ? 'photo' : 'document';
  if (startsWith(bytes, 'ftyp', 4)) return ofBrand(textAt(bytes, 8, 4));
  return startsWith(bytes, 'OggS') || isMp3(bytes) ? 'audio' : 'document';
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function isPhoto({ width, height }: Size, bytes: number): boolean {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  return bytes <= photoBytesMax && short > 0 && short + long <= photoSidesMax && long <= short * photoRatioMax;
}

/** Containers of one family: films, music, and pictures that Telegram does not show. */
function ofBrand(brand: string): MediaKind {
  if (/^M4[AB]/.test(brand)) return 'audio';
  return /^(?:mp4|iso|avc|M4V|MSNV|dash|3gp)/.test(brand) ? 'video' : 'document';
}

/** A tag before the music, or the head of its first frame: layer III, with a bit rate and a sample rate that exist. */
function isMp3(bytes: Uint8Array): boolean {
  if (startsWith(bytes, 'ID3')) return true;
  const [sync = 0, layer = 0, rates = 0] = bytes;
  const isFrame = sync === 0xff && (layer & 0xe6) === 0xe2 && (layer & 0x18) !== 0x08;
  return isFrame && rates >> 4 !== 0 && rates >> 4 !== 0x0f && (rates & 0x0c) !== 0x0c;
}

/** Width and height of a JPEG, PNG or still WebP picture, from its head; null for anything else, and where that is broken. */
export function imageSize(bytes: Uint8Array): Size | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (startsWith(bytes, '\x89PNG\r\n\x1a\n') && startsWith(bytes, 'IHDR', 12)) return pngSize(view);
  if (startsWith(bytes, '\xff\xd8\xff')) return jpegSize(view);
  return startsWith(bytes, 'RIFF') && startsWith(bytes, 'WEBP', 8) ? webpSize(bytes, view) : null;
}

function pngSize(view: DataView): Size | null {
  return view.byteLength < 24 ? null : { width: view.getUint32(16), height: view.getUint32(20) };
}

/** Walks over the segments to the one that tells the size: any start of a frame, but not the tables that share its numbers. */
function jpegSize(view: DataView): Size | null {
  for (let at = 2; at + 9 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
    // Fill bytes may stand before a marker.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2);
  }
  return null;
}

const animationFlag = 0x02;

function webpSize(bytes: Uint8Array, view: DataView): Size | null {
  if (view.byteLength < 30) return null;
  switch (textAt(bytes, 12, 4)) {
    case 'VP8 ':
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X': {
      if ((view.getUint8(20) & animationFlag) !== 0) return null;
      // Each is one less, in three bytes.
      return { width: (view.getUint32(24, true) & 0xff_ffff) + 1, height: (view.getUint32(26, true) >>> 8) + 1 };
    }
    default:
      return null;
  }
}

function startsWith(bytes: Uint8Array, text: string, at = 0): boolean {
  return textAt(bytes, at, text.length) === text;
}

/** Each byte as the character of its number. */
function textAt(bytes: Uint8Array, at: number, length: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + length));
}
