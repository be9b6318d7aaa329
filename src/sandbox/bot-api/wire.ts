import { bot, botKey, people } from '../world/first-world.ts';
import type { ChatRow, MessageRow, TopicRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import type { BotCommand, BotRights, DocumentShown, MediaKind } from '../world/world.ts';
import { smallId } from './media.ts';

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
    language_code: language,
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
    ...ephemeralOf(row),
    ...(row.album === null ? {} : { media_group_id: row.album }),
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

/** The receiver of what a person says there is the bot. */
function ephemeralOf({ ephemeral, from }: MessageRow): Json {
  if (ephemeral === null) return {};
  return { receiver_user: userJson(from === botKey ? ephemeral.person : botKey), ephemeral_message_id: ephemeral.id };
}

/** A message that answers nothing inside a topic answers the one that made the topic. */
function replyOf(state: State, row: MessageRow, chat: ChatRow | undefined): Json {
  const isInTopic = row.threadId !== null && chat?.isForum === true && row.messageId !== row.threadId;
  const id = row.replyTo ?? (isInTopic ? row.threadId : null);
  const secret = row.ephemeral?.replyTo ?? null;
  const ordinary = id === null ? undefined : state.message(row.chatId, id);
  const target = secret === null ? ordinary : state.ephemeral(row.chatId, secret);
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

const fieldsOf: Readonly<Record<Exclude<MediaKind, 'photo'>, Json>> = {
  document: {},
  video: { duration: 5, width: 320, height: 240 },
  audio: { duration: 30 },
  voice: { duration: 3 },
  animation: { duration: 2, width: 320, height: 240 },
};

function documentJson({ fileId, kind, name, mimeType, size }: DocumentShown): Json {
  const file = { file_id: fileId, file_unique_id: `u${fileId}` };
  if (kind === 'photo') {
    const small = { file_id: smallId(fileId), file_unique_id: `u${smallId(fileId)}` };
    // The smallest comes first.
    return {
      photo: [
        { ...small, file_size: Math.ceil(size / 4), width: 90, height: 90 },
        { ...file, file_size: size, width: 320, height: 320 },
      ],
    };
  }
  const named = { ...(kind === 'voice' ? {} : { file_name: name }), mime_type: mimeType, ...file, file_size: size };
  const media = { [kind]: { ...fieldsOf[kind], ...named } };
  // For bots that are older than animations, each of them is a document as well.
  return kind === 'animation' ? { ...media, document: named } : media;
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
  };
}

/** A member as the Bot API describes one; `left` for a person who has never been there. */
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

/** The language of everybody here, as their apps tell it. */
const language = 'en';

/** The commands that this person is offered in this group: those of the narrowest scope that has any. */
export function commandsFor({ settings }: State, chat: ChatRow, key: string): readonly BotCommand[] {
  const status = chat.members[key];
  const isAdmin = status === 'creator' || status === 'administrator';
  const id = people.find((each) => each.key === key)?.id ?? 0;
  const scopes = [
    `chat_member ${chat.id} ${id}`,
    ...(isAdmin ? [`chat_administrators ${chat.id}`] : []),
    `chat ${chat.id}`,
    ...(isAdmin ? ['all_chat_administrators'] : []),
    'all_group_chats',
    'default',
  ];
  const keys = scopes.flatMap((scope) => [`${scope} ${language}`, `${scope} `]);
  const found = keys.find((each) => (settings.commands[each] ?? []).length > 0);
  return found === undefined ? [] : (settings.commands[found] ?? []);
}
