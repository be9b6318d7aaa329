import type { EntityShown } from '../world/world.ts';
import { type Arguments, badRequest } from './request.ts';

/** Limits of the Bot API. Lengths are counted in UTF-16 units, as entities are. */
export const textMax = 4096;
export const captionMax = 1024;
const textBytesMax = 32_768;
const entityPlaceMax = 1_000_000;

export interface Formatted {
  readonly text: string;
  readonly entities: readonly EntityShown[];
}

const givenTypes = new Set([
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'code',
  'pre',
  'text_link',
  'text_mention',
  'custom_emoji',
  'blockquote',
  'expandable_blockquote',
]);
/** Found in the text by the server; whatever is said about them is ignored. */
const foundTypes = new Set([
  'mention',
  'hashtag',
  'cashtag',
  'bot_command',
  'url',
  'email',
  'phone_number',
  'bank_card_number',
]);

/** The text of a call with its entities. Parse modes are refused, so that the text of people never has to be escaped. */
export function readFormatted(args: Arguments, names: { readonly text: string; readonly entities: string }): Formatted {
  const text = args.text(names.text);
  if (Buffer.byteLength(text) > textBytesMax) throw badRequest('text is too long');
  const mode = args.text('parse_mode');
  if (text !== '' && mode !== '') throw badRequest(`the sandbox reads entities only, not parse_mode ${mode}`);
  return { text, entities: readEntities(args.json(names.entities)) };
}

/** Reads the value of `entities`. Anything but a list is ignored; an entry that cannot be read is refused. */
function readEntities(value: unknown): readonly EntityShown[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const found = readEntity(entry);
    return found === null ? [] : [found];
  });
}

function readEntity(entry: unknown): EntityShown | null {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) throw unreadable('expected an Object');
  const fields = new Map<string, unknown>(Object.entries(entry));
  const offset = integerField(fields, 'offset');
  const length = integerField(fields, 'length');
  const type = typeField(fields);
  if (foundTypes.has(type)) return null;
  if (!givenTypes.has(type)) throw unreadable('Unsupported type specified');
  return { type, offset, length, ...detailsOf(type, fields) };
}

function typeField(fields: ReadonlyMap<string, unknown>): string {
  const type = fields.get('type');
  if (type === undefined) throw unreadable('Can\'t find field "type"');
  if (typeof type !== 'string') throw unreadable('Field "type" must be of type String');
  if (type === '') throw unreadable('Type is not specified');
  return type;
}

function detailsOf(type: string, fields: ReadonlyMap<string, unknown>): { url?: string; language?: string } {
  const { url, language } = { url: fields.get('url'), language: fields.get('language') };
  if (type === 'text_link') {
    if (typeof url !== 'string') throw unreadable('Can\'t find field "url"');
    return { url };
  }
  return type === 'pre' && typeof language === 'string' && language !== '' ? { language } : {};
}

function integerField(fields: ReadonlyMap<string, unknown>, name: string): number {
  const value = fields.get(name);
  if (value === undefined || value === null) throw unreadable(`Can't find field "${name}"`);
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number))
    throw unreadable(`Field "${name}" must be a valid Number`);
  return number;
}

function unreadable(text: string): Error {
  return badRequest(`can't parse MessageEntity: ${text}`);
}

/** The text as it is shown, with its entities moved along and those added that the server finds by itself. */
export function cleaned({ text, entities }: Formatted): Formatted {
  checkPlaces(text, entities);
  const moved: number[] = [];
  let out = '';
  for (let at = 0; at < text.length; at += 1) {
    moved[at] = out.length;
    out += cleanUnit(text.charAt(at));
  }
  moved[text.length] = out.length;
  const place = (at: number): number => moved[at] ?? out.length;
  const whole = entities.map((entity) => {
    const offset = place(entity.offset);
    return { ...entity, offset, length: place(entity.offset + entity.length) - offset };
  });
  return withFound(trimmed(out, whole));
}

function checkPlaces(text: string, entities: readonly EntityShown[]): void {
  for (const { offset, length } of entities) {
    if (offset < 0 || offset > entityPlaceMax) throw badRequest(`receive an entity with incorrect offset ${offset}`);
    if (length < 0 || length > entityPlaceMax) throw badRequest(`receive an entity with incorrect length ${length}`);
    if (offset > text.length) {
      throw badRequest(`entity begins after the end of the text at UTF-16 offset ${text.length}`);
    }
    const begins = `entity beginning at UTF-16 offset ${offset}`;
    if (offset + length > text.length) {
      throw badRequest(`${begins} ends after the end of the text at UTF-16 offset ${text.length}`);
    }
    if (splitsPair(text, offset)) throw badRequest(`entity begins in a middle of a UTF-16 symbol at offset ${offset}`);
    if (splitsPair(text, offset + length)) {
      throw badRequest(`${begins} ends in a middle of a UTF-16 symbol at offset ${offset + length}`);
    }
  }
}

function splitsPair(text: string, at: number): boolean {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at));
}

const vanishing = new Set([0x030a, 0x0333, 0x033f]);

/** Line and direction marks vanish, as do three combining lines; control characters but the line feed become spaces. */
function cleanUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  if (code === 0x0d || (code >= 0x2028 && code <= 0x202e) || vanishing.has(code)) return '';
  return code < 0x20 && code !== 0x0a ? ' ' : unit;
}

function trimmed(text: string, entities: readonly EntityShown[]): Formatted {
  const real = entities.filter(({ length }) => length > 0);
  const end = text.replace(/[ \n]+$/, '').length;
  const firstEntity = Math.min(...real.map(({ offset }) => offset), end);
  const start = Math.min(text.length - text.replace(/^[ \n]+/, '').length, firstEntity);
  const shown = text.slice(start, end);
  const kept = real
    .map((entity) => {
      const offset = entity.offset - start;
      return { ...entity, offset, length: Math.min(offset + entity.length, shown.length) - offset };
    })
    .filter(({ length }) => length > 0)
    .sort((a, b) => a.offset - b.offset || b.length - a.length);
  return { text: shown, entities: kept };
}

const word = String.raw`[\p{L}\p{N}_]`;
const finders: readonly (readonly [string, RegExp])[] = [
  ['url', /\bhttps?:\/\/[^\s<>"']*[^\s<>"'.,;:!?)\]]/gu],
  ['email', /\b[\w.+-]+@[a-z\d-]+(?:\.[a-z\d-]+)*\.[a-z]{2,}\b/giu],
  ['bot_command', /(?<![\p{L}\p{N}_/<>])\/[a-zA-Z0-9_]{1,64}(?:@[a-zA-Z0-9_]{3,32})?(?![\p{L}\p{N}_@<>/])/gu],
  ['mention', /(?<![\p{L}\p{N}_/@.])@[a-zA-Z][a-zA-Z0-9_]{3,31}(?![\p{L}\p{N}_@])/gu],
  ['hashtag', new RegExp(`(?<!${word}|[#/&])#${word}*\\p{L}${word}*`, 'gu')],
];
/** Inside of these nothing is looked for. */
const opaque = new Set(['code', 'pre', 'text_link', 'text_mention', 'custom_emoji']);

function withFound({ text, entities }: Formatted): Formatted {
  if (!/[/@#]/.test(text)) return { text, entities };
  const taken = entities.filter(({ type }) => opaque.has(type));
  const found: EntityShown[] = [];
  for (const [type, pattern] of finders) {
    for (const match of text.matchAll(pattern)) {
      const entity = { type, offset: match.index, length: match[0].length };
      if (![...taken, ...found].some((other) => overlap(entity, other))) found.push(entity);
    }
  }
  const all = [...entities, ...found].sort((a, b) => a.offset - b.offset || b.length - a.length);
  return { text, entities: all };
}

function overlap(a: EntityShown, b: EntityShown): boolean {
  return a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

/** The text of a message as it will be shown, or the refusal that Telegram gives. */
export function messageText(given: Formatted): Formatted {
  const shown = cleaned(given);
  if (shown.text === '') throw badRequest('text must be non-empty');
  if (shown.text.length > textMax) throw badRequest('message is too long');
  return shown;
}

export function captionText(given: Formatted): Formatted {
  const shown = cleaned(given);
  if (shown.text.length > captionMax) throw badRequest('message caption is too long');
  return shown;
}
