import { z } from 'zod';
import type { Drawn, Entity, Media, MediaKind } from '../../domain/shown.ts';

/**
 * Updates as they come over the wire, as far as they are read here. They are checked when they are taken up and not when
 * they are stored: what is unreadable today is still there to be looked at.
 */
const id = z.int();

const user = z.object({
  id,
  is_bot: z.boolean(),
  first_name: z.string(),
  last_name: z.string().optional(),
  username: z.string().optional(),
});
export type FromUser = z.output<typeof user>;

const chat = z.object({
  id,
  type: z.enum(['private', 'group', 'supergroup', 'channel']),
  title: z.string().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  is_forum: z.boolean().optional(),
});
export type FromChat = z.output<typeof chat>;

const entity = z.object({
  type: z.string(),
  offset: z.int(),
  length: z.int(),
  url: z.string().optional(),
  language: z.string().optional(),
});

const present = z.unknown().optional();

const file = z.looseObject({ file_id: z.string() }).optional();

/** What a message can bring along and that can be sent again. A photo comes in several sizes, the largest last. */
const brought = {
  text: z.string().optional(),
  caption: z.string().optional(),
  photo: z.array(z.looseObject({ file_id: z.string() })).optional(),
  video: file,
  voice: file,
  audio: file,
  document: file,
  animation: file,
};

const message = z.object({
  message_id: id,
  message_thread_id: id.optional(),
  is_topic_message: z.boolean().optional(),
  from: user.optional(),
  sender_chat: z.object({ id, type: z.string() }).optional(),
  is_automatic_forward: z.boolean().optional(),
  chat,
  date: z.int(),
  edit_date: z.int().optional(),
  ...brought,
  media_group_id: z.string().optional(),
  entities: z.array(entity).optional(),
  caption_entities: z.array(entity).optional(),
  reply_to_message: z
    .object({
      message_id: id,
      from: user.optional(),
      forward_origin: z.looseObject({ type: z.string(), sender_user: user.optional() }).optional(),
      forum_topic_created: present,
      ...brought,
    })
    .optional(),
  migrate_to_chat_id: id.optional(),
  migrate_from_chat_id: id.optional(),
  new_chat_members: z.array(user).optional(),
  left_chat_member: user.optional(),
  forum_topic_created: present,
  forum_topic_edited: present,
  forum_topic_closed: present,
  forum_topic_reopened: present,
  general_forum_topic_hidden: present,
  general_forum_topic_unhidden: present,
  sticker: present,
  video_note: present,
  location: present,
  contact: present,
  poll: present,
  dice: present,
});
export type FromMessage = z.output<typeof message>;

/** A message that is too old to be shown has a date of 0 and nothing else, but for its chat and its number. */
const pressedMessage = z.object({
  message_id: id,
  ephemeral_message_id: id.optional(),
  date: z.int(),
  chat,
  message_thread_id: id.optional(),
  is_topic_message: z.boolean().optional(),
  ...brought,
  entities: z.array(entity).optional(),
  caption_entities: z.array(entity).optional(),
});
type FromPressed = z.output<typeof pressedMessage>;

const callback = z.object({
  id: z.string(),
  from: user,
  message: pressedMessage.optional(),
  data: z.string().optional(),
});
export type FromCallback = z.output<typeof callback>;

const member = z.object({
  status: z.enum(['creator', 'administrator', 'member', 'restricted', 'left', 'kicked']),
  user,
  is_member: z.boolean().optional(),
  can_manage_topics: z.boolean().optional(),
  can_pin_messages: z.boolean().optional(),
  can_send_messages: z.boolean().optional(),
});
export type FromMember = z.output<typeof member>;

const memberChange = z.object({ chat, from: user, old_chat_member: member, new_chat_member: member });
export type FromMemberChange = z.output<typeof memberChange>;

const update = z.object({
  update_id: id,
  message: message.optional(),
  edited_message: message.optional(),
  callback_query: callback.optional(),
  my_chat_member: memberChange.optional(),
  chat_member: memberChange.optional(),
});
export type FromUpdate = z.output<typeof update>;

/** Every update that is asked for by name: member changes of others do not come otherwise. */
export const updatesWanted = ['message', 'edited_message', 'callback_query', 'my_chat_member', 'chat_member'] as const;

/** Null when it is not an update as we know them. */
export function readUpdate(payload: string): FromUpdate | null {
  try {
    return checkedUpdate(JSON.parse(payload));
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function checkedUpdate(value: unknown): FromUpdate | null {
  const read = update.safeParse(value);
  return read.success ? read.data : null;
}

/** The number alone, of whatever came: without it an update cannot be kept at all. */
export function updateIdOf(value: unknown): number | null {
  const read = z.looseObject({ update_id: z.int().positive() }).safeParse(value);
  return read.success ? read.data.update_id : null;
}

/** What every update has in common. */
export interface Origin {
  readonly chat: FromChat | null;
  readonly from: FromUser | null;
  readonly topic: number | null;
  /** A message that is there, whoever wrote it. A pressed one tells nothing new: it is one of ours. */
  readonly messageId: number | null;
}

export function originOf(read: FromUpdate): Origin {
  const spoken = read.message ?? read.edited_message;
  if (spoken !== undefined) {
    return { chat: spoken.chat, from: spoken.from ?? null, topic: topicOf(spoken), messageId: spoken.message_id };
  }
  if (read.callback_query !== undefined) return originOfPress(read.callback_query);
  const change = read.my_chat_member ?? read.chat_member;
  return { chat: change?.chat ?? null, from: change?.from ?? null, topic: null, messageId: null };
}

function originOfPress({ message: pressed, from }: FromCallback): Origin {
  if (pressed === undefined) return { chat: null, from, topic: null, messageId: null };
  return { chat: pressed.chat, from, topic: topicOf(pressed), messageId: null };
}

type Placed = Pick<FromMessage, 'chat' | 'message_thread_id' | 'is_topic_message'>;

/**
 * A reply outside of every topic carries the number of its thread of replies, in which nothing can be sent; only with
 * `is_topic_message` is it a topic. In a private chat every number is one. Topic 1 is the base thread of a forum.
 */
export function topicOf({ chat: place, message_thread_id: thread, is_topic_message: isTopic }: Placed): number | null {
  if (thread === undefined || thread === 1) return null;
  return isTopic === true || place.type === 'private' ? thread : null;
}

export function nameOf({ first_name: first, last_name: last }: Pick<FromUser, 'first_name' | 'last_name'>): string {
  return [first, last].filter((part) => part !== undefined && part !== '').join(' ') || 'somebody';
}

export function titleOf({ title, first_name: first, last_name: last }: FromChat): string | null {
  return title ?? (first === undefined ? null : nameOf({ first_name: first, last_name: last }));
}

/** As an administrator, as somebody inside, or not at all. */
export function standingOf({ status, is_member: isMember }: FromMember): 'admin' | 'member' | 'out' {
  if (status === 'creator' || status === 'administrator') return 'admin';
  if (status === 'member') return 'member';
  return status === 'restricted' && isMember === true ? 'member' : 'out';
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

type Brought = Pick<FromMessage, 'photo' | Exclude<MediaKind, 'photo'>>;

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

/** What a message of ours shows, without its buttons; null when it is too old for the platform to tell. */
export function shownOf(message: FromPressed): Drawn | null {
  const text = message.text ?? message.caption;
  if (text === undefined) return null;
  const entities = (message.text === undefined ? message.caption_entities : message.entities) ?? [];
  const media = mediaOf(message);
  return { text, entities: entities.filter(isShown).map(entityOf), ...(media === null ? {} : { media }) };
}

function isShown(each: z.output<typeof entity>): each is z.output<typeof entity> & Pick<Entity, 'type'> {
  return shownEntities.includes(each.type);
}

function entityOf({ type, offset, length, url, language }: z.output<typeof entity> & Pick<Entity, 'type'>): Entity {
  return {
    type,
    offset,
    length,
    ...(url === undefined ? {} : { url }),
    ...(language === undefined ? {} : { language }),
  };
}
