import { jsonParsedMax } from '../../../domain/files/limits.ts';
import { beginning, sizeText, summarized } from '../../../domain/files/summary.ts';
import type { NewFile } from '../../ports/blobs.ts';
import type { OutboundEnd } from '../../ports/outbound.ts';
import { wordsOfPage } from './page.ts';

/** The answer to a call, read by what it holds and not only by what it is called. */

type Answered = Extract<OutboundEnd, { is: 'answered' }>;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON as the value that it is, everything else that can be read as text; null where it is a file, or where there is none. */
  readonly body: unknown;
  /** The body as people read it: JSON with a line for each value, a page without its tags; null where it is a file. */
  readonly text: string | null;
  readonly file: NewFile | null;
  /** Words above the file, where it is text. */
  readonly summary: string | null;
}

/** A text above this is a file: nobody reads it in a chat, and it is kept with its run. */
export const textBytesMax = 262_144;

export function readAnswer(answered: Answered): Answer {
  const { status, headers, body: bytes, url } = answered;
  const read = { status, headers, body: null, text: null, file: null, summary: null };
  if (bytes.byteLength === 0) return { ...read, text: '' };
  const type = typeOf(headers['content-type']);
  const magic = mimeByMagic(bytes);
  const isReadable = magic === null && (isText(type.mime) || (isUnsaid(type.mime) && looksLikeText(bytes)));
  if (isReadable) return { ...read, ...readText(answered, type) };
  const mime = magic ?? (type.mime === '' ? 'application/octet-stream' : type.mime);
  return { ...read, file: { name: nameOf(headers, url, mime), mime, bytes } };
}

function readText({ headers, body: bytes, url }: Answered, type: MediaType): Partial<Answer> {
  const mime = isUnsaid(type.mime) ? 'text/plain' : type.mime;
  const file = { name: nameOf(headers, url, mime), mime, bytes };
  if (bytes.byteLength > textBytesMax) return { file, summary: summaryOf(bytes, type) };
  const text = decoded(bytes, type.charset);
  const json = isJson(type.mime) || isUnsaid(type.mime) ? parsed(text) : undefined;
  if (json !== undefined) return { body: json, text: typeof json === 'string' ? json : readable(json, text) };
  const words = isPage(type.mime) ? wordsOfPage(text) : text;
  const read = { body: text, text: words };
  return isSentAsFile(headers) ? { ...read, file, summary: summarized(words)?.summary ?? null } : read;
}

/** The words above a text that is too long to be read. Of one that is longer still its beginning is looked at alone. */
function summaryOf(bytes: Uint8Array, { mime, charset }: MediaType): string {
  const isWhole = bytes.byteLength <= jsonParsedMax && !isPage(mime);
  const head = decoded(isWhole ? bytes : bytes.subarray(0, headBytes), charset);
  const words = isPage(mime) ? wordsOfPage(head) : head;
  const found = isWhole ? summarized(words) : null;
  return found?.summary ?? beginning(words, sizeText(bytes.byteLength));
}

/** Enough for the first words of a page behind what nobody sees of it. */
const headBytes = 65_536;

/** A name says that it is meant to be kept; programs send JSON with one as well, to keep browsers from showing it. */
function isSentAsFile(headers: Answer['headers']): boolean {
  return /^\s*attachment\b[\s\S]*filename/i.test(headers['content-disposition'] ?? '');
}

interface MediaType {
  readonly mime: string;
  readonly charset: string;
}

function typeOf(header = ''): MediaType {
  const [mime = '', ...parameters] = header.split(';').map((part) => part.trim());
  const charset = parameters.find((one) => /^charset=/i.test(one)) ?? '';
  return { mime: mime.toLowerCase(), charset: charset.slice('charset='.length).replace(/^"|"$/g, '') };
}

function isJson(mime: string): boolean {
  return /^(?:application|text)\/(?:[\w.+-]*\+)?json$/.test(mime);
}

function isText(mime: string): boolean {
  return isJson(mime) || /^text\/|[/+](?:xml|yaml|x-yaml|javascript|x-ndjson|x-www-form-urlencoded)$/.test(mime);
}

function isPage(mime: string): boolean {
  return mime === 'text/html' || mime === 'application/xhtml+xml';
}

/** Servers say so of what they know nothing about. */
function isUnsaid(mime: string): boolean {
  return mime === '' || mime === 'application/octet-stream' || mime === 'binary/octet-stream';
}

/** Files that people send around, by their first bytes. */
const beginnings: readonly (readonly [mime: string, bytes: string, at?: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF8'],
  ['image/webp', 'WEBP', 8],
  ['video/mp4', 'ftyp', 4],
  ['audio/ogg', 'OggS'],
  ['audio/mpeg', 'ID3'],
  ['application/pdf', '%PDF-'],
  ['application/zip', 'PK\x03\x04'],
  ['application/gzip', '\x1f\x8b\x08'],
];

function mimeByMagic(bytes: Uint8Array): string | null {
  const begins = (text: string, at: number) =>
    [...text].every((sign, index) => bytes[at + index] === sign.charCodeAt(0));
  return beginnings.find(([, text, at = 0]) => begins(text, at))?.[0] ?? null;
}

/** UTF-8 without the bytes that no text has. */
function looksLikeText(bytes: Uint8Array): boolean {
  if (bytes.byteLength > textBytesMax || bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Bytes that are no text become signs that say so, and NUL, which no database keeps in a text, becomes one as well. */
function decoded(bytes: Uint8Array, charset: string): string {
  return readIn(charset === '' ? 'utf-8' : charset, bytes).replaceAll('\0', '\ufffd');
}

function readIn(charset: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** A line for each value; as it came where that would be far longer, as of many values deep within others. */
function readable(json: unknown, text: string): string {
  return writtenOut(text).length > jsonParsedMax ? text : JSON.stringify(json, null, 2);
}

/** The levels of a JSON text, and its length with a line for each value, without making it. */
function writtenOut(text: string): { readonly depth: number; readonly length: number } {
  let [depth, deepest, length, isWord] = [0, 0, text.length, false];
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') isWord = !isWord;
    else if (isWord) at += sign === '\\' ? 1 : 0;
    else if (sign === '[' || sign === '{') deepest = Math.max(deepest, (depth += 1));
    else if (sign === ']' || sign === '}') depth -= 1;
    else if (sign !== ',') continue;
    if (!isWord) length += 1 + 2 * depth;
  }
  return { depth: deepest, length };
}

/** Levels of JSON that the code behind this can walk, as it calls itself once for each. */
const jsonDepthMax = 500;

/** Undefined for what is no JSON, whatever it is called, and for what nobody could go through. */
function parsed(text: string): unknown {
  try {
    if (writtenOut(text).depth > jsonDepthMax) return undefined;
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

const nameLengthMax = 100;

/** The name that the other side gives it, else the end of its address. */
function nameOf(headers: Answer['headers'], url: string, mime: string): string {
  const disposition = headers['content-disposition'] ?? '';
  const [, encoded] = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(disposition) ?? [];
  const [, quoted, bare] = /filename\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(disposition) ?? [];
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  const names = [encoded === undefined ? '' : unescaped(encoded), quoted ?? bare ?? '', unescaped(last)];
  const [name = 'file'] = names.map(plainName).filter((one) => one !== '');
  return name.includes('.') ? name : `${name}.${extensions[mime] ?? 'bin'}`;
}

/** The last part of a path, without what a file system or a chat would stumble over. */
function plainName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  return last
    .replace(/[\p{Cc}\p{Cf}<>:"|?*]/gu, '')
    .replace(/^\.+/, '')
    .trim()
    .slice(-nameLengthMax);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'video/mp4': 'mp4',
  'audio/ogg': 'ogg',
  'audio/mpeg': 'mp3',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/json': 'json',
  'text/html': 'html',
  'text/csv': 'csv',
  'text/plain': 'txt',
  'application/xml': 'xml',
  'text/xml': 'xml',
};
