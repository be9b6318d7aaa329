import { type Arguments, badRequest } from '../bot-api/request.ts';
import { cleaned } from '../bot-api/texts.ts';
import { topicJson } from '../bot-api/wire.ts';
import { botKey } from '../world/first-world.ts';
import type { ChatRow, TopicRow } from '../world/rows.ts';
import { chatOf, hasRight, idIn, type Api, type Method } from './access.ts';

const nameMax = 128;
export const iconColors = [7_322_096, 16_766_590, 13_338_331, 9_367_192, 16_749_490, 16_478_047];

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
  api.rates.spend(chat);
  return topicJson(api.platform.addTopic({ chat: chat.id, by: botKey }, { name, iconColor }));
};

interface Found {
  readonly chat: ChatRow;
  readonly topic: TopicRow;
}

/** The maker of a topic needs no right to change it; everybody else needs `right`. */
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
  if (args.text('name') === '') return true;
  const name = topicName(args.text('name'));
  if (name === '') throw badRequest('name must be non-empty');
  if (name === topic.name) throw badRequest('TOPIC_NOT_MODIFIED');
  api.platform.changeTopic({ ...topic, name }, botKey, { field: 'forum_topic_edited', value: { name } });
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

export const topicMethods: Readonly<Record<string, Method>> = {
  createForumTopic,
  editForumTopic,
  closeForumTopic: setClosed(true),
  reopenForumTopic: setClosed(false),
  deleteForumTopic,
};
