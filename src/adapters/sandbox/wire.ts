import { bot, botKey, people } from './first-world.ts';
import type { ChatRow, MessageRow, TopicRow } from './rows.ts';
import type { State } from './state.ts';
import type { BotRights, DocumentShown } from './world.ts';

/** The objects of the Bot API, made from rows. Fields stand in the order of the Bot API; absent ones are left out. */
export type Json = Readonly<Record<string, unknown>>;

export function userJson(key: string): Json {
  if (key === botKey) return { id: bot.id, is_bot: true, first_name: bot.name, username: bot.username };
  const person = people.find((each) => each.key === key);
  return {
    id: person?.id ?? 0,
    is_bot: false,
    first_name: person?.firstName ?? key,
    username: person?.username ?? key,
    language_code: 'en',
  };
}

export function chatJson(chat: ChatRow): Json {
  if (chat.kind === 'private') {
    const { id, first_name, username } = userJson(chat.person ?? '');
    return { id, first_name, username, type: 'private' };
  }
  if (chat.kind === 'group') {
    return { id: chat.id, title: chat.title, type: 'group', all_members_are_administrators: false };
  }
  return { id: chat.id, title: chat.title, ...(chat.isForum ? { is_forum: true } : {}), type: 'supergroup' };
}

export function messageJson(state: State, row: MessageRow): Json {
  return build(state, row, true);
}

function build(state: State, row: MessageRow, isOuter: boolean): Json {
  const chat = state.chat(row.chatId);
  return {
    message_id: row.messageId,
    ...threadOf(row, chat),
    from: userJson(row.from),
    chat: chat === undefined ? { id: row.chatId } : chatJson(chat),
    date: row.date,
    ...(row.editDate === null ? {} : { edit_date: row.editDate }),
    ...forwardOf(row),
    ...(isOuter ? replyOf(state, row, chat) : {}),
    ...contentOf(row),
    ...(row.service === null ? {} : serviceOf(state, row)),
    ...(row.keyboard === null ? {} : { reply_markup: { inline_keyboard: row.keyboard } }),
  };
}

function threadOf(row: MessageRow, chat: ChatRow | undefined): Json {
  if (row.threadId !== null && chat?.isForum === true) {
    return { message_thread_id: row.threadId, is_topic_message: true };
  }
  return row.replyRoot === null ? {} : { message_thread_id: row.replyRoot };
}

function forwardOf({ forwardOf: origin }: MessageRow): Json {
  if (origin === null) return {};
  return { forward_origin: { type: 'user', sender_user: userJson(origin.from), date: origin.date } };
}

/** What answers nothing inside a topic answers the message that made the topic. */
function replyOf(state: State, row: MessageRow, chat: ChatRow | undefined): Json {
  const isInTopic = row.threadId !== null && chat?.isForum === true && row.messageId !== row.threadId;
  const id = row.replyTo ?? (isInTopic ? row.threadId : null);
  const target = id === null ? undefined : state.message(row.chatId, id);
  return target === undefined ? {} : { reply_to_message: build(state, target, false) };
}

function contentOf(row: MessageRow): Json {
  if (row.service !== null) return {};
  const entities = row.entities.length > 0 ? row.entities : null;
  if (row.document === null) return { text: row.text, ...(entities === null ? {} : { entities }) };
  return {
    ...documentJson(row.document),
    ...(row.text === '' ? {} : { caption: row.text }),
    ...(entities === null ? {} : { caption_entities: entities }),
  };
}

function documentJson(document: DocumentShown): Json {
  const file = { file_id: document.fileId, file_unique_id: `u${document.fileId}`, file_size: document.size };
  if (document.isPhoto) return { photo: [{ ...file, width: 320, height: 320 }] };
  return { document: { file_name: document.name, mime_type: document.mimeType, ...file } };
}

function serviceOf(state: State, row: MessageRow): Json {
  const { field, value } = row.service ?? { field: '', value: null };
  if (field !== 'pinned_message') return { [field]: value };
  const pinned = state.message(row.chatId, Number(value));
  if (pinned !== undefined) return { pinned_message: build(state, pinned, false) };
  const chat = state.chat(row.chatId);
  return { pinned_message: { chat: chat && chatJson(chat), message_id: Number(value), date: 0 } };
}

export function topicJson(topic: TopicRow): Json {
  return {
    message_thread_id: topic.threadId,
    name: topic.name,
    icon_color: topic.iconColor,
    ...(topic.iconEmoji === null ? {} : { icon_custom_emoji_id: topic.iconEmoji }),
  };
}

/** A member as the Bot API describes one; `status` is null for whoever has never been there. */
export function memberJson(key: string, status: string, rights: BotRights): Json {
  const user = userJson(key);
  if (status === 'creator') return { user, status, is_anonymous: false };
  if (status === 'administrator') return { user, status, ...administratorRights(rights) };
  if (status === 'kicked') return { user, status, until_date: 0 };
  return { user, status };
}

function administratorRights(rights: BotRights): Json {
  return {
    can_be_edited: false,
    can_manage_chat: true,
    can_change_info: false,
    can_delete_messages: rights.can_delete_messages,
    can_invite_users: false,
    can_restrict_members: false,
    can_pin_messages: rights.can_pin_messages,
    can_manage_topics: rights.can_manage_topics,
    can_promote_members: false,
    can_manage_video_chats: false,
    can_post_stories: false,
    can_edit_stories: false,
    can_delete_stories: false,
    is_anonymous: false,
    can_manage_voice_chats: false,
  };
}
