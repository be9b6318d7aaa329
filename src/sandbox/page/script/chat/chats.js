/** @import { ChatJson, TopicJson } from '../../../control/shapes.ts' */
/** @import { Thread } from '../shown.js' */
import { byId, draw, el } from '../nodes.js';
import {
  chatAt,
  currentChat,
  currentTopic,
  foldTopics,
  hasTopics,
  liveTopics,
  memory,
  nameOf,
  openPlace,
  placeOf,
  purposeOf,
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
  const chat = chatAt(chats, key ?? '', isNarrow());
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

/** A narrow screen shows either the list or a chat. */
function isNarrow() {
  return matchMedia('(max-width: 719px)').matches;
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
  const isListAlone = document.body.dataset.screen !== 'chat' && isNarrow();
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
  draw(byId('chats'), [rows, [...unfolded]], () => rows.map(chatRow));
  drawBegin(state.chats);
  draw(byId('links'), state.links, () => state.links.map((link) => el('a', { href: link.href }, link.title)));
}

/**
 * Leads a newcomer with a narrow screen, who sees the list alone, to the chat in which it begins.
 *
 * @param {readonly ChatJson[]} chats
 */
function drawBegin(chats) {
  const first = chats.find((chat) => chat.key === 'ada');
  const begin = byId('begin', HTMLAnchorElement);
  begin.hidden = first === undefined || first.is_started;
  if (first === undefined) return;
  begin.href = addressOf(first, hasTopics(first) ? 'general' : null);
  const [word = ''] = shown.state?.starters ?? [];
  draw(begin, word, () => [
    el('b', {}, 'Start here'),
    ` Open ${nameOf('ada')}'s chat, and send the bot `,
    el('code', {}, word.split(' ', 1)[0] ?? ''),
  ]);
}

/** @type {Set<string>} */
const unfolded = new Set();

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
  const stays = (/** @type {TopicJson} */ { thread_id: id }) => unfolded.has(chat.key) || id === row.thread;
  const { shown: kept, folded } = foldTopics(liveTopics(chat), stays);
  const topics = kept.map((topic) =>
    topicRow(row, { id: topic.thread_id, name: topic.name, isClosed: topic.is_closed }),
  );
  const more = folded.length === 0 ? null : el('li', {}, moreButton(row, folded));
  const list = el('ul', { class: 'topics', 'aria-label': `Topics of ${titleOf(chat)}` }, general, ...topics, more);
  return el('div', { class: 'chat-group' }, chatHead(row), list);
}

/**
 * @param {Row} row
 * @param {readonly TopicJson[]} folded
 */
function moreButton({ chat: { key }, unread }, folded) {
  const click = () => {
    unfolded.add(key);
    drawChats();
  };
  const isNews = folded.some(({ thread_id: id }) => unread.includes(id));
  const given = { type: 'button', class: 'quiet more', 'data-focus': `more ${key}`, on: { click } };
  return el('button', given, `${folded.length} more`, isNews ? unreadDot() : null);
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
function lastWords(chat) {
  if (chat.last === null) return purposeOf(chat);
  const [name, text] = [nameOf(chat.last.from), chat.last.text];
  // A line of service, such as that of a pin, begins with the name already.
  return text.startsWith(`${name} `) ? text : `${name}: ${text}`;
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
  const purpose = purposeOf(chat);
  const facts = [...topicFacts(chat), ...(purpose === '' || currentTopic() !== null ? [] : [purpose]), standing(chat)];
  byId('subtitle').textContent = facts.join(' · ');
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
  if (kind === 'private') return bot.status === 'kicked' ? 'the bot is blocked' : 'private chat';
  const present = members.filter((member) => !['left', 'kicked'].includes(member.status));
  return `${present.map((member) => nameOf(member.key)).join(', ')}, bot: ${bot.status}`;
}
