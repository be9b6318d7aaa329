import type { InlineKeyboardButton, InlineKeyboardMarkup, Message, MessageEntity } from 'grammy/types';
import type { SentIds } from '../../app/ports/outside.ts';
import type { Button, Drawn, Entity } from '../../domain/shown.ts';

/** Drawn words as the platform takes them: formatted by entities alone, so that no character of a text has a meaning. */
export interface Content {
  readonly text: string;
  readonly entities: MessageEntity[];
  readonly reply_markup: InlineKeyboardMarkup;
  readonly link_preview_options: { readonly is_disabled: true };
}

export function contentOf({ text, entities = [], buttons = [] }: Drawn): Content {
  return {
    text,
    entities: entities.map(entityOf),
    reply_markup: keyboardOf(buttons),
    link_preview_options: { is_disabled: true },
  };
}

/** The same below a file; the platform shows no preview of links there. */
export interface Caption {
  readonly caption: string;
  readonly caption_entities: MessageEntity[];
  readonly reply_markup: InlineKeyboardMarkup;
}

export function captionOf({ text, entities = [], buttons = [] }: Drawn): Caption {
  return { caption: text, caption_entities: entities.map(entityOf), reply_markup: keyboardOf(buttons) };
}

/** An edit without a keyboard and one with an empty keyboard take away the buttons alike. */
export function keyboardOf(rows: readonly (readonly Button[])[]): InlineKeyboardMarkup {
  return { inline_keyboard: rows.map((row) => row.map(buttonOf)) };
}

function buttonOf(button: Button): InlineKeyboardButton {
  const { text } = button;
  return 'data' in button ? { text, callback_data: button.data } : { text, url: button.url };
}

function entityOf({ type, offset, length, url, language }: Entity): MessageEntity {
  if (type === 'text_link') return { type, offset, length, url: url ?? '' };
  if (type === 'pre') return language === undefined ? { type, offset, length } : { type, offset, length, language };
  return { type, offset, length };
}

type Named = Pick<Message, 'chat' | 'message_id' | 'message_thread_id' | 'is_topic_message' | 'ephemeral_message_id'>;

/** A reply carries a thread of its own kind; only a topic's is the number of a place. */
export function idsOf(message: Named): SentIds {
  const threadId = message.is_topic_message === true ? (message.message_thread_id ?? null) : null;
  const ids = { chatId: String(message.chat.id), threadId, messageId: message.message_id };
  return message.ephemeral_message_id === undefined ? ids : { ...ids, ephemeralId: message.ephemeral_message_id };
}
