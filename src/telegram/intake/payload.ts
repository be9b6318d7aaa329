import type { CallbackQuery, Chat, ChatMember, Message, MessageEntity, Update, User } from 'grammy/types';
import { z } from 'zod';
import type { Drawn, Entity, Media, MediaKind } from '../../domain/shown.ts';

/**
 * Updates as they come over the wire. They are checked as far as they are read here, once: when they are admitted, or when they are
 * read from the table after a start. What is unreadable today is stored all the same, to be looked at.
 */
const id = z.int();
const text = z.string().optional();
const user = z.object({ id, is_bot: z.boolean(), first_name: z.string(), last_name: text });
const chat = z.object({
  id,
  type: z.enum(['private', 'group', 'supergroup', 'channel']),
  title: text,
  first_name: text,
  last_name: text,
});
const entities = z.array(z.object({ type: z.string(), offset: z.int(), length: z.int() })).optional();
const file = z.object({ file_id: z.string() });

/** Texts and files of a message that can be sent again. A photo comes in several sizes, the largest last. */
const brought = {
  text,
  caption: text,
  entities,
  caption_entities: entities,
  photo: z.array(file).optional(),
  video: file.optional(),
  voice: file.optional(),
  audio: file.optional(),
  document: file.optional(),
  animation: file.optional(),
};
const placed = { message_id: id, chat, date: z.int(), message_thread_id: id.optional() };
const message = z.object({
  ...placed,
  ...brought,
  from: user.optional(),
  edit_date: z.int().optional(),
  media_group_id: text,
  reply_to_message: z
    .object({
      message_id: id,
      from: user.optional(),
      forward_origin: z.object({ type: z.string(), sender_user: user.optional() }).optional(),
      ...brought,
    })
    .optional(),
  migrate_to_chat_id: id.optional(),
  migrate_from_chat_id: id.optional(),
  new_chat_members: z.array(user).optional(),
  left_chat_member: user.optional(),
});
const callback = z.object({
  id: z.string(),
  from: user,
  // One that is too old to be shown has a date of 0 and nothing else, but for its chat and its number.
  message: z.object({ ...placed, ...brought }).optional(),
  data: text,
});
const member = z.object({ status: z.string(), user });
const memberChange = z.object({ chat, from: user, new_chat_member: member });

const update = z.object({
  update_id: id,
  message: message.optional(),
  edited_message: message.optional(),
  callback_query: callback.optional(),
  my_chat_member: memberChange.optional(),
  chat_member: memberChange.optional(),
});

/** Every update that is asked for by name: member changes of others do not come otherwise. */
export const updatesWanted = ['message', 'edited_message', 'callback_query', 'my_chat_member', 'chat_member'] as const;

/** Null when it is not an update as we know them. */
export function readUpdate(payload: string): Update | null {
  try {
    const value: unknown = JSON.parse(payload);
    return isUpdate(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function isUpdate(value: unknown): value is Update {
  return update.safeParse(value).success;
}

/** The number alone, of whatever came: without it an update cannot be kept at all. */
export function updateIdOf(value: unknown): number | null {
  const read = z.looseObject({ update_id: z.int().positive() }).safeParse(value);
  return read.success ? read.data.update_id : null;
}

/** Facts that every update has in common. */
export interface Origin {
  readonly chat: Chat | null;
  readonly from: User | null;
  readonly topic: number | null;
  /** A message that is there, whoever wrote it. The one of a callback tells nothing new: it is one of ours. */
  readonly messageId: number | null;
}

export function originOf(read: Update): Origin {
  const spoken = read.message ?? read.edited_message;
  if (spoken !== undefined) {
    return { chat: spoken.chat, from: spoken.from ?? null, topic: topicOf(spoken), messageId: spoken.message_id };
  }
  if (read.callback_query !== undefined) return originOfPress(read.callback_query);
  const change = read.my_chat_member ?? read.chat_member;
  return { chat: change?.chat ?? null, from: change?.from ?? null, topic: null, messageId: null };
}

/** Updates of one chat and thread are handled one after the other; null for one without a chat. */
export function laneOf({ chat, topic }: Origin): string | null {
  return chat === null ? null : `${chat.id} ${topic ?? 'base'}`;
}

function originOfPress({ message: pressed, from }: CallbackQuery): Origin {
  if (pressed === undefined) return { chat: null, from, topic: null, messageId: null };
  return { chat: pressed.chat, from, topic: topicOf(pressed), messageId: null };
}

interface Placed {
  readonly chat: Pick<Chat, 'type'>;
  readonly message_thread_id?: number | undefined;
  readonly is_topic_message?: boolean | undefined;
}

/**
 * A reply outside of every topic carries the number of its thread of replies, in which nothing can be sent; only with
 * `is_topic_message` is it a topic. In a private chat every number is one. Topic 1 is the base thread of a forum.
 */
export function topicOf({ chat: place, message_thread_id: thread, is_topic_message: isTopic }: Placed): number | null {
  if (thread === undefined || thread === 1) return null;
  return isTopic === true || place.type === 'private' ? thread : null;
}

export function nameOf({
  first_name: first,
  last_name: last,
}: Pick<Chat.PrivateChat, 'first_name' | 'last_name'>): string {
  return [first, last].filter((part) => part !== undefined && part !== '').join(' ') || 'somebody';
}

export function titleOf(chat: Chat): string | null {
  return chat.title ?? (chat.first_name === undefined ? null : nameOf(chat));
}

/** The status of a member as far as we tell it apart. */
export function memberStatusOf(member: ChatMember): 'admin' | 'member' | 'out' {
  const { status } = member;
  if (status === 'creator' || status === 'administrator') return 'admin';
  if (status === 'member') return 'member';
  return status === 'restricted' && member.is_member ? 'member' : 'out';
}

/** The rights of the bot that its work in a group needs. */
export function rightsOf(member: ChatMember) {
  const isCreator = member.status === 'creator';
  const rights = member.status === 'administrator' ? member : null;
  return {
    canManageTopics: isCreator || rights?.can_manage_topics === true,
    canPin: isCreator || rights?.can_pin_messages === true,
  };
}

const shownEntities: readonly string[] = [
  'bold',
  'italic',
  'code',
  'pre',
  'text_link',
  'strikethrough',
  'blockquote',
] satisfies readonly Entity['type'][];

type File = { readonly file_id: string };

export type Brought = { readonly photo?: readonly File[] } & { readonly [kind in Exclude<MediaKind, 'photo'>]?: File };

/** The file that came with a message; an animation comes as a document too, for clients that know no animations. */
export function mediaOf(message: Brought): Media | null {
  const photo = message.photo?.at(-1);
  if (photo !== undefined) return { kind: 'photo', fileId: photo.file_id };
  for (const kind of ['animation', 'video', 'voice', 'audio', 'document'] as const) {
    const found = message[kind];
    if (found !== undefined) return { kind, fileId: found.file_id };
  }
  return null;
}

/** A message of ours without its buttons; null when it is too old for Telegram to tell. */
export function shownOf(message: Partial<Message>): Drawn | null {
  const text = message.text ?? message.caption;
  if (text === undefined) return null;
  const entities = (message.text === undefined ? message.caption_entities : message.entities) ?? [];
  const media = mediaOf(message);
  return { text, entities: entities.filter(isShown).map(entityOf), ...(media === null ? {} : { media }) };
}

function isShown(each: MessageEntity): each is MessageEntity & Pick<Entity, 'type'> {
  return shownEntities.includes(each.type);
}

function entityOf(each: MessageEntity & Pick<Entity, 'type'>): Entity {
  const { type, offset, length } = each;
  return {
    type,
    offset,
    length,
    ...(each.type === 'text_link' ? { url: each.url } : {}),
    ...(each.type === 'pre' && each.language !== undefined ? { language: each.language } : {}),
  };
}
