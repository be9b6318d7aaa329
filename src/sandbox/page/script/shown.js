/** @import { CallJson, ChatJson, DocumentJson, MessageJson, StateJson, TopicJson } from '../../control/shapes.ts' */

/** @typedef {number | 'general' | null} Thread is the id of a topic, General, or null for a chat without topics. */

/** The memory is what the browser keeps for the next visit. A private window may keep nothing. */
export const memory = {
  /**
   * @template T
   * @param {string} key
   * @param {T} fallback
   * @returns {T}
   */
  read(key, fallback) {
    try {
      const kept = /** @type {T | null} */ (JSON.parse(localStorage.getItem(`sandbox:${key}`) ?? 'null'));
      return kept ?? fallback;
    } catch {
      return fallback;
    }
  },
  /**
   * @param {string} key
   * @param {unknown} value
   */
  write(key, value) {
    try {
      localStorage.setItem(`sandbox:${key}`, JSON.stringify(value));
    } catch {
      // The page works without a memory.
    }
  },
};

/**
 * The page shows the world as it was last read, and the place that is open.
 *
 * @type {{
 *   state: StateJson | null;
 *   chatKey: string;
 *   thread: Thread;
 *   messages: readonly MessageJson[];
 *   hasOlder: boolean;
 *   limit: number;
 *   isFresh: boolean;
 *   loaded: string | null;
 *   as: string;
 *   seen: Record<string, number>;
 *   replyTo: MessageJson | null;
 *   editing: MessageJson | null;
 *   calls: readonly CallJson[];
 *   clockAt: number;
 *   clockRead: number;
 * }}
 */
export const shown = {
  state: null,
  chatKey: 'ada',
  thread: null,
  messages: [],
  hasOlder: false,
  limit: 100,
  isFresh: false,
  loaded: null,
  as: memory.read('as', 'ada'),
  seen: memory.read('seen', {}),
  replyTo: null,
  editing: null,
  calls: [],
  clockAt: 0,
  clockRead: 0,
};

/**
 * The chat of an address. Where the list stands alone, the topics of the chat that was left stay in reach.
 *
 * @param {readonly ChatJson[]} chats
 * @param {string} key
 * @param {boolean} isListAlone
 */
export function chatAt(chats, key, isListAlone) {
  const wanted = key || (isListAlone ? shown.chatKey : 'ada');
  return chats.find((each) => each.key === wanted) ?? chats.find((each) => each.key === 'ada') ?? chats[0];
}

/** @returns {ChatJson | null} */
export function currentChat() {
  return shown.state?.chats.find((chat) => chat.key === shown.chatKey) ?? null;
}

/** @returns {TopicJson | null} */
export function currentTopic() {
  return currentChat()?.topics.find((topic) => topic.thread_id === shown.thread) ?? null;
}

/** Answers who writes and presses. In a private chat this is always its own person. */
export function actor() {
  return currentChat()?.person || shown.as;
}

/** Lists the messages for the acting person. An ephemeral one is there for one person, and may stand in the place of another. */
export function visibleMessages() {
  const mine = shown.messages.filter((message) => message.only_for === null || message.only_for === actor());
  const replaced = new Set(mine.map((message) => message.replaces).filter((id) => id !== null));
  return mine.filter((message) => message.ephemeral_id !== null || !replaced.has(message.message_id));
}

/** @param {string} key */
export function nameOf(key) {
  if (key === 'bot') return shown.state?.bot.name ?? 'Bot';
  return shown.state?.people.find((each) => each.key === key)?.first_name ?? key;
}

/** @param {ChatJson} chat */
export function titleOf(chat) {
  return chat.person ? nameOf(chat.person) : chat.title;
}

/** @type {Readonly<Record<string, string>>} */
const purposes = {
  ada: 'Your own chat with the bot',
  ben: 'A colleague to let in',
  mallory: 'A stranger nobody lets in',
  lab: 'A team: each task gets a topic',
  home: 'A family: a second group',
  no_rights: 'The bot may not make topics',
  plain: 'A group without topics',
};

/**
 * Says what a chat is there for.
 *
 * @param {ChatJson} chat
 */
export function purposeOf(chat) {
  return purposes[chat.key] ?? '';
}

/** @param {string} key */
export function toneOf(key) {
  return key === 'bot' ? 5 : (key.charCodeAt(0) + key.length * 2) % 6;
}

/**
 * @param {string | number} chat
 * @param {Thread} thread
 */
export function placeOf(chat, thread) {
  return `${chat}${thread === null ? '' : `/${thread}`}`;
}

export function openPlace() {
  return placeOf(shown.chatKey, shown.thread);
}

/** @param {ChatJson} chat */
export function hasTopics(chat) {
  return chat.is_forum || liveTopics(chat).length > 0;
}

/** @param {ChatJson} chat */
export function liveTopics(chat) {
  return chat.topics.filter((topic) => !topic.is_deleted);
}

/** More topics than this at once hide the chats below them. */
const topicsShown = 8;

/**
 * Puts the topics in order, the one with the newest message first and closed ones last, and folds those that are too many.
 *
 * @template {{ readonly thread_id: number; readonly is_closed: boolean; readonly last_message_id: number | null }} Topic
 * @param {readonly Topic[]} topics
 * @param {(topic: Topic) => boolean} stays is true for one that is never folded away
 * @returns {{ readonly shown: readonly Topic[]; readonly folded: readonly Topic[] }}
 */
export function foldTopics(topics, stays) {
  const newest = (/** @type {Topic} */ topic) => topic.last_message_id ?? topic.thread_id;
  const sorted = topics.toSorted((a, b) => Number(a.is_closed) - Number(b.is_closed) || newest(b) - newest(a));
  // One alone takes no more room than the line that tells of it.
  const most = sorted.length === topicsShown + 1 ? sorted.length : topicsShown;
  const isShown = (/** @type {Topic} */ topic, /** @type {number} */ at) => at < most || stays(topic);
  return { shown: sorted.filter(isShown), folded: sorted.filter((topic, at) => !isShown(topic, at)) };
}

/**
 * Lists as what a file of that type can be sent, the usual way first.
 *
 * @param {string} type
 * @returns {readonly DocumentJson['kind'][]}
 */
export function kindsOf(type) {
  if (type === 'image/gif') return ['animation', 'document'];
  if (/^image\/(?:png|jpeg|webp)$/.test(type)) return ['photo', 'document'];
  if (type.startsWith('video/')) return ['video', 'animation', 'document'];
  if (type === 'audio/ogg') return ['voice', 'audio', 'document'];
  if (type.startsWith('audio/')) return ['audio', 'voice', 'document'];
  return ['document'];
}
