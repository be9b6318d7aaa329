/** @import { MessageJson } from '../../../control/shapes.ts' */
import { act } from '../dialogs.js';
import { el } from '../nodes.js';
import { say } from './composer.js';

/** @typedef {MessageJson['entities'][number]} Entity */

/**
 * Makes the nodes of a text. Entities count in UTF-16 units, as in the Bot API and in JavaScript, and may lie in one another.
 *
 * @param {string} text
 * @param {readonly Entity[]} entities
 * @returns {(string | HTMLElement)[]}
 */
export function textNodes(text, entities) {
  const blocks = entities.filter(({ type }) => type === 'pre');
  // A block of code needs no code inside.
  const isInBlock = (/** @type {Entity} */ { offset, length }) =>
    blocks.some((block) => block.offset <= offset && block.offset + block.length >= offset + length);
  const sorted = entities
    .filter((each) => each.length > 0 && each.offset < text.length && !(each.type === 'code' && isInBlock(each)))
    .toSorted((a, b) => a.offset - b.offset || b.length - a.length);
  return partNodes(text, { from: 0, to: text.length }, sorted);
}

/**
 * @param {string} text
 * @param {{ readonly from: number; readonly to: number }} part
 * @param {readonly Entity[]} entities
 * @returns {(string | HTMLElement)[]}
 */
function partNodes(text, { from, to }, entities) {
  /** @type {(string | HTMLElement)[]} */
  const nodes = [];
  let at = from;
  let index = 0;
  for (let entity = entities[0]; entity !== undefined; entity = entities[index]) {
    const start = Math.max(entity.offset, at);
    const end = Math.min(entity.offset + entity.length, to);
    index += 1;
    if (end <= start) continue;
    const later = entities.slice(index);
    const beyond = later.findIndex((each) => each.offset >= end);
    const inner = beyond < 0 ? later : later.slice(0, beyond);
    index += inner.length;
    // A block stands on lines of its own, and the line breaks around it would show as empty lines.
    const isBlock = ['pre', 'blockquote', 'expandable_blockquote'].includes(entity.type);
    const before = text.slice(at, start);
    if (before !== '') nodes.push(isBlock ? before.replace(/\n$/, '') : before);
    nodes.push(entityNode(entity, text.slice(start, end), partNodes(text, { from: start, to: end }, inner)));
    at = isBlock && text[end] === '\n' && end < to ? end + 1 : end;
  }
  if (at < to) nodes.push(text.slice(at, to));
  return nodes;
}

/** @type {Readonly<Record<string, keyof HTMLElementTagNameMap>>} */
const plainTags = {
  bold: 'strong',
  italic: 'em',
  underline: 'u',
  strikethrough: 's',
  code: 'code',
  blockquote: 'blockquote',
  expandable_blockquote: 'blockquote',
};

/**
 * @param {Entity} entity
 * @param {string} text
 * @param {readonly (string | HTMLElement)[]} children
 * @returns {HTMLElement}
 */
function entityNode(entity, text, children) {
  const tag = plainTags[entity.type];
  if (tag !== undefined) return el(tag, {}, ...children);
  if (entity.type === 'pre') {
    const given = { 'data-language': entity.language || null, tabindex: '0' };
    return el('pre', given, el('code', {}, ...children));
  }
  if (entity.type === 'spoiler') return el('span', { class: 'spoiler', tabindex: '0' }, ...children);
  if (entity.type === 'bot_command') {
    const given = { type: 'button', class: 'command', on: { click: () => act(() => say(text)) } };
    return el('button', given, ...children);
  }
  const href = addressIn(entity, text);
  if (href !== null) return el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, ...children);
  return el('span', { class: `entity-${entity.type.replace(/[^a-z_]/g, '')}` }, ...children);
}

/**
 * @param {Entity} entity
 * @param {string} text
 */
function addressIn({ type, url }, text) {
  if (type === 'text_link') return safeLink(url ?? '');
  return type === 'url' ? safeLink(/^[a-z]+:/i.test(text) ? text : `http://${text}`) : null;
}

/**
 * Answers an address that a browser opens without running anything, and null for any other.
 *
 * @param {string} text
 */
export function safeLink(text) {
  try {
    const url = new URL(text);
    return ['http:', 'https:', 'mailto:', 'tg:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
