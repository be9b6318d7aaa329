/** @import { DocumentJson, MessageJson } from '../../../control/shapes.ts' */
import { act, ask, toast } from '../dialogs.js';
import { el } from '../nodes.js';
import { post } from '../server.js';
import { actor, nameOf, toneOf } from '../shown.js';
import { fullOf, timeOf } from '../times.js';
import { startEdit, startReply } from './composer.js';
import { safeLink, textNodes } from './entities.js';

/** @typedef {MessageJson['buttons'][number][number]} Button */

/** @param {Pick<MessageJson, 'message_id' | 'ephemeral_id'>} message */
export function idOf(message) {
  return message.ephemeral_id === null ? `m${message.message_id}` : `e${message.ephemeral_id}`;
}

/**
 * @param {MessageJson} message
 * @param {MessageJson | null} quoted
 */
export function messageNode(message, quoted) {
  if (message.service !== null) return serviceNode(message, message.service);
  const isMine = message.from === actor();
  const mine = isMine ? ' mine' : '';
  const fromBot = message.from === 'bot' ? ' from-bot' : '';
  const secret = message.only_for === null ? '' : ' secret';
  const bubble = el(
    'div',
    { class: 'bubble' },
    headNode(message),
    message.only_for === null ? null : el('div', { class: 'only' }, `Only ${nameOf(message.only_for)} sees this`),
    message.reply_to === null ? null : quoteNode(message.reply_to, quoted),
    message.document === null ? null : documentNode(message.document),
    message.text === '' ? null : el('div', { class: 'text' }, ...textNodes(message.text, message.entities)),
    reactionsNode(message),
    footNode(message, isMine),
  );
  const inAlbum = message.album === null ? '' : ' in-album';
  const attributes = { class: `message${mine}${fromBot}${secret}${inAlbum}`, id: idOf(message) };
  return el('li', attributes, bubble, message.buttons.length === 0 ? null : keyboardNode(message));
}

/**
 * @param {MessageJson} message
 * @param {string} service
 */
function serviceNode(message, service) {
  const title = `${service} · ${fullOf(message.date * 1000)}`;
  return el('li', { class: 'service', id: idOf(message), title }, el('span', {}, message.text || service));
}

/** @param {MessageJson} message */
function headNode({ from, is_silent: isSilent, is_pinned: isPinned }) {
  const words = 'Came without a sound';
  return el(
    'div',
    { class: 'head' },
    el('span', { class: `name tone-${toneOf(from)}` }, nameOf(from)),
    el(
      'span',
      { class: 'marks' },
      isSilent ? el('span', { class: 'silent', role: 'img', title: words, 'aria-label': words }, '🔕') : null,
      isPinned ? el('span', { class: 'pin', title: 'Pinned' }, '📌') : null,
    ),
  );
}

/** @param {MessageJson} message */
function reactionsNode({ reactions }) {
  if (reactions.length === 0) return null;
  const signs = reactions.map((emoji) => el('span', {}, emoji));
  return el('div', { class: 'reactions', 'aria-label': 'Reactions of the bot' }, ...signs);
}

/**
 * @param {MessageJson} message
 * @param {boolean} isMine
 */
function footNode(message, isMine) {
  const at = message.date * 1000;
  const edited = message.edit_date;
  const title = `${fullOf(at)} here, ${fullOf(at, 'UTC')} UTC, message ${idOf(message).slice(1)}`;
  return el(
    'div',
    { class: 'foot' },
    deedNode('reply', 'Reply', () => startReply(message)),
    isMine && message.only_for === null ? deedNode('edit', 'Edit', () => startEdit(message)) : null,
    edited === null ? null : el('span', { class: 'edited', title: `Edited ${fullOf(edited * 1000)}` }, 'edited'),
    el('time', { datetime: new Date(at).toISOString(), title }, timeOf(at)),
  );
}

/**
 * @param {string} mark
 * @param {string} words
 * @param {() => void} click
 */
function deedNode(mark, words, click) {
  return el('button', { type: 'button', class: 'deed', 'data-focus': mark, on: { click } }, words);
}

/**
 * @param {number} id
 * @param {MessageJson | null} quoted
 */
function quoteNode(id, quoted) {
  return el(
    'button',
    { type: 'button', class: 'quote', on: { click: () => goTo(id) } },
    el('b', {}, quoted === null ? 'An earlier message' : nameOf(quoted.from)),
    el('span', {}, quoted === null ? `number ${id}` : (quoted.text || (quoted.document?.name ?? '')).slice(0, 140)),
  );
}

/** @type {Readonly<Record<string, string>>} */
const fileSigns = { document: '📄', video: '🎬', audio: '🎵', voice: '🎤', animation: '🎞' };

/** @param {DocumentJson} file */
function documentNode({ file_id: id, kind, name, size }) {
  const href = `/sandbox/control/document?id=${encodeURIComponent(id)}`;
  if (kind === 'photo') {
    return el('a', { class: 'photo', href, download: name }, el('img', { src: href, alt: name, loading: 'lazy' }));
  }
  return el(
    'a',
    { class: 'document', href, download: name },
    el('span', { class: 'sheet', 'aria-hidden': 'true' }, fileSigns[kind] ?? '📄'),
    el('span', {}, el('b', {}, name), el('small', {}, `${kind}, ${sizeOf(size)}`)),
  );
}

/** @param {number} bytes */
function sizeOf(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1_048_576).toFixed(1)} MB`;
}

/** @param {MessageJson} message */
function keyboardNode(message) {
  const rows = message.buttons.map((row) =>
    el('div', { class: 'keys' }, ...row.map((button) => keyNode(message, button))),
  );
  return el('div', { class: 'keyboard' }, ...rows);
}

/**
 * @param {MessageJson} message
 * @param {Button} button
 */
function keyNode(message, button) {
  if (button.url !== undefined) return linkKeyNode(button.text, safeLink(button.url));
  const mark = `key ${button.data || button.text}`;
  const given = { type: 'button', class: 'key', 'data-focus': mark, title: button.data || null };
  const key = el('button', given, button.text);
  key.addEventListener('click', () => void act(() => press(message, button), key));
  return key;
}

/**
 * @param {string} text
 * @param {string | null} href
 */
function linkKeyNode(text, href) {
  if (href === null) return el('span', { class: 'key' }, text);
  return el('a', { class: 'key', href, target: '_blank', rel: 'noopener noreferrer' }, `${text} ↗`);
}

/**
 * @param {MessageJson} message
 * @param {Button} button
 */
async function press({ chat_id: chat, message_id, ephemeral_id }, { text, data }) {
  const target = ephemeral_id === null ? { message_id } : { ephemeral_id };
  const { callback } = await post('press', { as: actor(), chat, ...target, button: data || text, wait: 10_000 });
  if (callback === null) toast('The bot has not answered the button within ten seconds.', true);
  else if (callback.alert) await ask(callback.text ?? '', false);
  else if (callback.text) toast(callback.text);
}

/**
 * Shows a message that stands on the page, and lights it up for a moment.
 *
 * @param {number} id
 */
export function goTo(id) {
  const node = document.getElementById(`m${id}`);
  if (node === null) {
    toast('That message is not on this page.');
    return;
  }
  node.scrollIntoView({ block: 'center', behavior: 'smooth' });
  node.classList.add('lit');
  setTimeout(() => node.classList.remove('lit'), 1600);
}
