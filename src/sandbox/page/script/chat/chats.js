/** @import { ChatJson } from '../../../control/shapes.ts' */
/** @import { Thread } from '../shown.js' */
import { byId, draw, el } from '../nodes.js';
import {
  currentChat,
  currentTopic,
  hasTopics,
  liveTopics,
  memory,
  nameOf,
  openPlace,
  placeOf,
  shown,
  titleOf,
  toneOf,
} from '../shown.js';
import { endContext } from './composer.js';

/** @typedef {{ chat: ChatJson; isOpen: boolean; unread: readonly Thread[]; thread: Thread }} Row */

/** Reads the open place from the address, so that Back works. A place that is gone falls back to the first chat. */
export function readAddress() {
  const [key, thread] = decodeURIComponent(location.hash.slice(1)).split('/');
  const chats = shown.state?.chats ?? [];
  const chat = chats.find((each) => each.key === key) ?? chats.find((each) => each.key === 'ada') ?? chats[0];
  if (chat === undefined) return;
  const before = openPlace();
  shown.chatKey = chat.key;
  shown.thread = threadIn(chat, Number(thread));
  document.body.dataset.screen = key ? 'chat' : 'list';
  if (openPlace() === before) return;
  shown.messages = [];
  shown.limit = 100;
  shown.isFresh = true;
  endContext();
}

/**
 * @param {ChatJson} chat
 * @param {number} id
 * @returns {Thread}
 */
function threadIn(chat, id) {
  if (!hasTopics(chat)) return null;
  return liveTopics(chat).some((topic) => topic.thread_id === id) ? id : 'general';
}

/**
 * @param {ChatJson} chat
 * @param {Thread} thread
 */
function newestOf(chat, thread) {
  if (typeof thread !== 'number') return chat.general_last_message_id ?? 0;
  return chat.topics.find((each) => each.thread_id === thread)?.last_message_id ?? 0;
}

/**
 * @param {ChatJson} chat
 * @param {Thread} thread
 */
function isUnread(chat, thread) {
  return newestOf(chat, thread) > (shown.seen[placeOf(chat.chat_id, thread)] ?? 0);
}

/** Remembers that the messages on the screen have been seen. */
export function markSeen() {
  const chat = currentChat();
  const isListAlone = document.body.dataset.screen !== 'chat' && matchMedia('(max-width: 719px)').matches;
  if (chat === null || document.hidden || isListAlone) return;
  const place = placeOf(chat.chat_id, shown.thread);
  const newest = newestOf(chat, shown.thread);
  if ((shown.seen[place] ?? 0) === newest) return;
  shown.seen[place] = newest;
  memory.write('seen', shown.seen);
}

export function drawChats() {
  const { state } = shown;
  if (state === null) return;
  const rows = state.chats.filter((chat) => chat.migrated_to === null).map(rowOf);
  draw(byId('chats'), rows, () => rows.map(chatRow));
  draw(byId('links'), state.links, () => state.links.map((link) => el('a', { href: link.href }, link.title)));
}

/**
 * @param {ChatJson} chat
 * @returns {Row}
 */
function rowOf(chat) {
  /** @type {readonly Thread[]} */
  const threads = hasTopics(chat) ? ['general', ...liveTopics(chat).map((topic) => topic.thread_id)] : [null];
  const isOpen = chat.key === shown.chatKey;
  const unread = threads.filter((thread) => isUnread(chat, thread));
  return { chat, isOpen, unread, thread: isOpen ? shown.thread : null };
}

/** @param {Row} row */
function chatRow(row) {
  const { chat, isOpen } = row;
  if (!isOpen || !hasTopics(chat)) return el('div', { class: 'chat-group' }, chatHead(row));
  const general = topicRow(row, { id: 'general', name: 'General', isClosed: false });
  const topics = liveTopics(chat).map((topic) =>
    topicRow(row, { id: topic.thread_id, name: topic.name, isClosed: topic.is_closed }),
  );
  const list = el('ul', { class: 'topics', 'aria-label': `Topics of ${titleOf(chat)}` }, general, ...topics);
  return el('div', { class: 'chat-group' }, chatHead(row), list);
}

/** @param {Row} row */
function chatHead({ chat, isOpen, unread, thread }) {
  const isNews = unread.length > 0 && !(isOpen && unread.every((each) => each === thread));
  const initial = titleOf(chat).replace(/^The /, '').slice(0, 1);
  return el(
    'a',
    {
      class: `chat-row${isOpen ? ' open' : ''}`,
      href: addressOf(chat, hasTopics(chat) ? 'general' : null),
      'data-focus': `chat ${chat.key}`,
      'aria-current': isOpen && !hasTopics(chat) ? 'page' : null,
    },
    el('span', { class: `avatar tone-${toneOf(chat.key)}`, 'aria-hidden': 'true' }, initial),
    el(
      'span',
      { class: 'chat-words' },
      el('span', { class: 'chat-title' }, titleOf(chat), el('small', {}, chat.kind)),
      el('span', { class: 'chat-last' }, lastWords(chat)),
    ),
    isNews ? unreadDot() : null,
  );
}

/** @param {ChatJson} chat */
function lastWords({ last, is_started: isStarted }) {
  if (last !== null) return `${nameOf(last.from)}: ${last.text}`;
  return isStarted ? 'No messages yet' : 'Not started yet';
}

/**
 * @param {Row} row
 * @param {{ id: number | 'general'; name: string; isClosed: boolean }} topic
 */
function topicRow({ chat, thread, unread }, { id, name, isClosed }) {
  const isOpen = id === thread;
  const link = el(
    'a',
    {
      class: `topic-row${isOpen ? ' open' : ''}`,
      href: addressOf(chat, id),
      'data-focus': `topic ${chat.key}${id}`,
      'aria-current': isOpen ? 'page' : null,
    },
    el('span', { class: 'sign', 'aria-hidden': 'true' }, '#'),
    el('span', { class: 'topic-name' }, name),
    isClosed ? el('small', { class: 'tag' }, 'closed') : null,
    unread.includes(id) && !isOpen ? unreadDot() : null,
  );
  return el('li', {}, link);
}

function unreadDot() {
  return el('span', { class: 'dot' }, el('span', { class: 'hidden-text' }, 'unread'));
}

/**
 * @param {ChatJson} chat
 * @param {Thread} thread
 */
function addressOf(chat, thread) {
  return `#${placeOf(chat.key, thread)}`;
}

export function drawTitle() {
  const chat = currentChat();
  if (chat === null) return;
  const title = currentTopic()?.name ?? titleOf(chat);
  byId('title').textContent = title;
  byId('subtitle').textContent = [...topicFacts(chat), standing(chat)].join(' · ');
  document.title = `${title} · Cronogram sandbox`;
}

/** @param {ChatJson} chat */
function topicFacts(chat) {
  const topic = currentTopic();
  if (topic !== null) return [titleOf(chat), ...(topic.is_closed ? ['closed'] : [])];
  return shown.thread === 'general' ? ['General'] : [];
}

/** @param {ChatJson} chat */
function standing({ kind, bot, members }) {
  if (kind === 'private') return bot.status === 'kicked' ? 'the bot is blocked' : 'private chat with the bot';
  const present = members.filter((member) => !['left', 'kicked'].includes(member.status));
  return `${present.map((member) => nameOf(member.key)).join(', ')}, bot: ${bot.status}`;
}
