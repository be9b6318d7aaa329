import { type Arguments, badRequest } from '../bot-api/request.ts';
import { cleaned } from '../bot-api/texts.ts';
import { topicJson } from '../bot-api/wire.ts';
import { botKey } from '../world/first-world.ts';
import type { ChatRow, TopicRow } from '../world/rows.ts';
import { chatOf, hasRight, idIn, type Api, type Method } from './access.ts';
import { unpinAll } from './editing.ts';

const nameMax = 128;
export const iconColors = [7_322_096, 16_766_590, 13_338_331, 9_367_192, 16_749_490, 16_478_047];

/** The icons that every bot may use, as custom emoji. */
const icons: Readonly<Record<string, string>> = {
  '5434144690511290129': '📰',
  '5312536423851630001': '💡',
  '5312016608254762256': '⚡️',
  '5377544228505134960': '🎙',
  '5418085807791545980': '🔝',
  '5357121491508928442': '👀',
  '5379748062124056162': '❗️',
  '5237699328843200968': '✅',
  '5408906741125490282': '🏁',
  '5433614043006903194': '📆',
  '5357193964787081133': '☕️',
  '5310132165583840589': '🤖',
};

/** A topic's name as it will be: cleaned, and cut rather than refused. */
export function topicName(given: string): string {
  return [...cleaned({ text: given, entities: [] }).text.replaceAll('\n', ' ')].slice(0, nameMax).join('').trim();
}

function checkForum(chat: ChatRow): void {
  if (!chat.isForum) throw badRequest('the chat is not a forum');
}

/** A private chat has topics that nobody can close. */
function checkSupergroupForum(chat: ChatRow): void {
  if (!chat.isForum || chat.kind !== 'supergroup') throw badRequest('the chat is not a supergroup forum');
}

function iconOf(args: Arguments): string | null {
  const icon = args.text('icon_custom_emoji_id');
  if (icon !== '' && icon !== '0' && icons[icon] === undefined) throw badRequest('DOCUMENT_INVALID');
  return icon === '' || icon === '0' ? null : icon;
}

const createForumTopic: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  checkForum(chat);
  if (chat.kind !== 'private' && !hasRight(chat, 'can_manage_topics')) {
    throw badRequest('not enough rights to create a topic');
  }
  const name = topicName(args.text('name'));
  if (name === '') throw badRequest('name must be non-empty');
  const color = args.integer('icon_color');
  const iconColor = iconColors.find((each) => each === color) ?? 7_322_096;
  const iconEmoji = iconOf(args);
  api.rates.spend(chat);
  return topicJson(api.platform.addTopic({ chat: chat.id, by: botKey }, { name, iconColor, iconEmoji }));
};

interface Found {
  readonly chat: ChatRow;
  readonly topic: TopicRow;
}

/** Its maker needs no right to change a topic; everybody else needs `right`. */
function topicOf({ state }: Api, args: Arguments, chat: ChatRow): Found {
  const thread = idIn(args, 'message_thread_id');
  if (thread === 0) throw badRequest('invalid message thread identifier specified');
  const topic = state.topic(chat.id, thread);
  if (topic === undefined) throw badRequest('TOPIC_ID_INVALID');
  return { chat, topic };
}

function checkMay({ chat, topic }: Found, right: 'can_manage_topics' | 'can_delete_messages', words: string): void {
  const isFree = chat.kind === 'private' || topic.createdBy === botKey;
  if (!isFree && !hasRight(chat, right)) throw badRequest(`not enough rights to ${words} the topic`);
}

const editForumTopic: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  checkForum(chat);
  const { topic } = topicOf(api, args, chat);
  checkMay({ chat, topic }, 'can_manage_topics', 'edit');
  const isNamed = args.text('name') !== '';
  const name = isNamed ? topicName(args.text('name')) : topic.name;
  if (name === '') throw badRequest('name must be non-empty');
  const isIconed = args.has('icon_custom_emoji_id');
  if (!isNamed && !isIconed) return true;
  const iconEmoji = isIconed ? iconOf(args) : topic.iconEmoji;
  if (name === topic.name && iconEmoji === topic.iconEmoji) throw badRequest('TOPIC_NOT_MODIFIED');
  const value = {
    ...(name === topic.name ? {} : { name }),
    ...(iconEmoji === topic.iconEmoji ? {} : { icon_custom_emoji_id: iconEmoji ?? '' }),
  };
  api.platform.changeTopic({ ...topic, name, iconEmoji }, botKey, { field: 'forum_topic_edited', value });
  return true;
};

const setClosed =
  (isClosed: boolean): Method =>
  (api, args) => {
    const chat = chatOf(api, args, 'write');
    checkSupergroupForum(chat);
    const { topic } = topicOf(api, args, chat);
    checkMay({ chat, topic }, 'can_manage_topics', 'close or open');
    if (topic.isClosed === isClosed) throw badRequest('TOPIC_NOT_MODIFIED');
    const field = isClosed ? 'forum_topic_closed' : 'forum_topic_reopened';
    api.platform.changeTopic({ ...topic, isClosed }, botKey, { field, value: {} });
    return true;
  };

const deleteForumTopic: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  checkForum(chat);
  const { topic } = topicOf(api, args, chat);
  checkMay({ chat, topic }, 'can_delete_messages', 'delete');
  api.platform.deleteTopic(topic, botKey);
  return true;
};

const unpinAllForumTopicMessages: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  checkForum(chat);
  const { topic } = topicOf(api, args, chat);
  return unpinAll(api, chat, ({ threadId }) => threadId === topic.threadId);
};

const unpinAllGeneralForumTopicMessages: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  checkSupergroupForum(chat);
  return unpinAll(api, chat, ({ threadId }) => threadId === null);
};

interface GeneralChange {
  readonly change: Partial<Pick<ChatRow, 'isGeneralClosed' | 'isGeneralHidden'>>;
  readonly field: string;
}

/** The General topic is everybody's: only the right counts. A hidden one is closed as well. */
const setGeneral =
  ({ change, field }: GeneralChange): Method =>
  (api, args) => {
    const chat = chatOf(api, args, 'write');
    checkSupergroupForum(chat);
    if (!hasRight(chat, 'can_manage_topics')) throw badRequest('not enough rights to close or open the topic');
    const after = { ...chat, ...change };
    const isSame = after.isGeneralClosed === chat.isGeneralClosed && after.isGeneralHidden === chat.isGeneralHidden;
    if (isSame) throw badRequest('TOPIC_NOT_MODIFIED');
    api.state.chats.put(after);
    api.platform.post({ chatId: chat.id, from: botKey, service: { field, value: {} } });
    api.state.tell('topic', chat.id);
    return true;
  };

const editGeneralForumTopic: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  checkSupergroupForum(chat);
  if (!hasRight(chat, 'can_manage_topics')) throw badRequest('not enough rights to edit the topic');
  const name = topicName(args.text('name'));
  if (name === '') throw badRequest('name must be non-empty');
  const key = `general ${chat.id}`;
  const { texts } = api.state.settings;
  if ((texts[key] ?? 'General') === name) throw badRequest('TOPIC_NOT_MODIFIED');
  api.state.set({ texts: { ...texts, [key]: name } });
  api.platform.post({ chatId: chat.id, from: botKey, service: { field: 'forum_topic_edited', value: { name } } });
  return true;
};

const getForumTopicIconStickers: Method = () =>
  Object.entries(icons).map(([id, emoji]) => ({
    width: 512,
    height: 512,
    emoji,
    set_name: 'Topics',
    is_animated: true,
    is_video: false,
    type: 'custom_emoji',
    custom_emoji_id: id,
    file_id: `CAAC${id}`,
    file_unique_id: `uCAAC${id}`,
  }));

export const topicMethods: Readonly<Record<string, Method>> = {
  createForumTopic,
  editForumTopic,
  closeForumTopic: setClosed(true),
  reopenForumTopic: setClosed(false),
  deleteForumTopic,
  unpinAllForumTopicMessages,
  editGeneralForumTopic,
  closeGeneralForumTopic: setGeneral({ change: { isGeneralClosed: true }, field: 'forum_topic_closed' }),
  reopenGeneralForumTopic: setGeneral({
    change: { isGeneralClosed: false, isGeneralHidden: false },
    field: 'forum_topic_reopened',
  }),
  hideGeneralForumTopic: setGeneral({
    change: { isGeneralClosed: true, isGeneralHidden: true },
    field: 'general_forum_topic_hidden',
  }),
  unhideGeneralForumTopic: setGeneral({
    change: { isGeneralHidden: false },
    field: 'general_forum_topic_unhidden',
  }),
  unpinAllGeneralForumTopicMessages,
  getForumTopicIconStickers,
};
