import type { EntityShown } from '../world/world.ts';
import { type Arguments, badRequest } from './request.ts';
import { type Formatted, checkBytes, readEntities } from './texts.ts';

const tags: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  'tg-spoiler': 'spoiler',
  code: 'code',
  pre: 'pre',
  a: 'text_link',
  blockquote: 'blockquote',
};
const named: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface Open {
  readonly tag: string;
  readonly attributes: string;
  readonly offset: number;
}

/** The few tags that Telegram knows. Anything else is refused, as there: text of people must be escaped. */
function parseHtml(source: string): Formatted {
  const open: Open[] = [];
  const entities: EntityShown[] = [];
  let text = '';
  let at = 0;
  for (const match of source.matchAll(/<(\/?)([^\s>]*)([^>]*)(>?)/g)) {
    text += unescaped(source.slice(at, match.index));
    at = match.index + match[0].length;
    const [, slash, tag = '', attributes = '', end] = match;
    const place = Buffer.byteLength(source.slice(0, match.index));
    if (slash === '') {
      checkStart({ tag, end, place });
      open.push({ tag: tag.toLowerCase(), attributes, offset: text.length });
    } else {
      const entity = closed(open.pop(), { tag: tag.toLowerCase(), place, end: text.length });
      if (entity !== null) entities.push(entity);
    }
  }
  text += unescaped(source.slice(at));
  const left = open.at(-1);
  if (left !== undefined) throw unreadable(`Can't find end tag corresponding to start tag "${left.tag}"`);
  return { text, entities: entities.sort((a, b) => a.offset - b.offset || b.length - a.length) };
}

function checkStart({ tag, end, place }: { tag: string; end: string | undefined; place: number }): void {
  if (tags[tag.toLowerCase()] === undefined) {
    throw unreadable(`Unsupported start tag "${tag.toLowerCase()}" at byte offset ${place}`);
  }
  if (end !== '>') throw unreadable(`Unclosed start tag at byte offset ${place}`);
}

function closed(start: Open | undefined, stop: { tag: string; place: number; end: number }): EntityShown | null {
  if (start === undefined) throw unreadable(`Unexpected end tag at byte offset ${stop.place}`);
  if (stop.tag !== '' && stop.tag !== start.tag) {
    throw unreadable(
      `Unmatched end tag at byte offset ${stop.place}, expected "</${start.tag}>", found "</${stop.tag}>"`,
    );
  }
  const type = tags[start.tag] ?? start.tag;
  const length = stop.end - start.offset;
  const entity = { type, offset: start.offset, length };
  if (length === 0) return null;
  return type === 'text_link' ? linked(entity, start.attributes) : entity;
}

/** A link without an address is plain text. */
function linked(entity: EntityShown, attributes: string): EntityShown | null {
  const found = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+))/i.exec(attributes);
  const url = found?.slice(1).find((each) => each !== undefined);
  return url === undefined ? null : { ...entity, url: unescaped(url) };
}

function unescaped(text: string): string {
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w+);?/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return named[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : whole;
  });
}

function unreadable(text: string): Error {
  return badRequest(`can't parse entities: ${text}`);
}

/** The text of a call with its entities, from `parse_mode` or from the list; a parse mode makes the list count for nothing. */
export function readFormatted(args: Arguments, names: { readonly text: string; readonly entities: string }): Formatted {
  const text = args.text(names.text);
  checkBytes(text);
  const mode = args.text('parse_mode').toLowerCase();
  if (text === '' || mode === '' || mode === 'none') {
    return { text, entities: readEntities(args.json(names.entities)) };
  }
  if (mode === 'html') return parseHtml(text);
  if (mode === 'markdown' || mode === 'markdownv2') {
    throw badRequest(`the sandbox reads HTML and entities only, not parse_mode ${args.text('parse_mode')}`);
  }
  throw badRequest('unsupported parse_mode');
}
