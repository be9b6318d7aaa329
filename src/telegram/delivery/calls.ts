import { InputFile, type RawApi } from 'grammy';
import type {
  EphemeralMessageParameters,
  InputMediaAudio,
  InputMediaDocument,
  InputMediaPhoto,
  InputMediaVideo,
  Message,
  ReplyParameters,
  InlineKeyboardButton,
  InlineKeyboardMarkup,
  MessageEntity,
} from 'grammy/types';
import type { Outgoing, SentIds } from '../../app/ports/outside.ts';
import { assert } from '../../domain/errors.ts';
import { captionLengthMax } from '../../domain/limits.ts';
import type { Album, AlbumItem, Drawn, Media, Button, Entity, MediaKind, Upload } from '../../domain/shown.ts';
import type { CallSignal } from '../api.ts';

/** One call of the Bot API that is about to be made. */
export type Call<T> = (raw: RawApi, signal: CallSignal) => Promise<T>;

export interface Spot {
  readonly address: string;
  readonly messageId: number;
}

/** The thread that a message goes to, and how it comes. */
interface Where {
  readonly chat_id: string;
  readonly message_thread_id?: number;
  readonly disable_notification?: true;
  readonly reply_parameters?: ReplyParameters;
  readonly ephemeral_message_parameters?: EphemeralMessageParameters;
}

/** The thread of a part, and whether it comes without a sound. */
export function whereOf({ route, silent }: Pick<Outgoing, 'route' | 'silent'>): Where {
  return {
    chat_id: route.address,
    ...(route.topic === null ? {} : { message_thread_id: route.topic }),
    ...(silent ? { disable_notification: true } : {}),
  };
}

/** Bytes of files that are about to be uploaded, by their hash. */
export type Loaded = ReadonlyMap<string, Uint8Array>;

/** A new message: the words, or a file with the words below it, or an album, which is several. */
export function sendCall(where: Where, drawn: Drawn, loaded: Loaded = new Map()): Call<readonly Message[]> {
  const { media, album } = drawn;
  if (album !== undefined) return sendAlbum(where, album, loaded);
  const one: Call<Message> =
    media === undefined
      ? (raw, signal) => raw.sendMessage({ ...where, ...contentOf(drawn) }, signal)
      : sendFile({ ...where, ...captionOf(drawn) }, media.kind, fileOf(media, loaded));
  return async (raw, signal) => [await one(raw, signal)];
}

function fileOf(file: Media | Upload, loaded: Loaded): string | InputFile {
  if ('fileId' in file) return file.fileId;
  const bytes = loaded.get(file.sha256);
  assert(bytes !== undefined, 'a file is sent before its bytes are read');
  return new InputFile(bytes, quoted(file.name));
}

/** The client library writes a name as it is into the head of its part, where a blank would end it and a line break more than that. */
function quoted(name: string): string {
  return `"${name.replaceAll(/[\p{Cc}"\\]/gu, '_')}"`;
}

function sendFile(
  shown: Where & ReturnType<typeof captionOf>,
  kind: MediaKind,
  file: string | InputFile,
): Call<Message> {
  switch (kind) {
    case 'photo':
      return (raw, signal) => raw.sendPhoto({ ...shown, photo: file }, signal);
    case 'document':
      // As it is: Telegram would make a sticker of one picture, and a film without sound of another.
      return (raw, signal) =>
        raw.sendDocument({ ...shown, document: file, disable_content_type_detection: true }, signal);
    case 'video':
      return (raw, signal) => raw.sendVideo({ ...shown, video: file }, signal);
    case 'audio':
      return (raw, signal) => raw.sendAudio({ ...shown, audio: file }, signal);
    case 'voice':
      return (raw, signal) => raw.sendVoice({ ...shown, voice: file }, signal);
    case 'animation':
      return (raw, signal) => raw.sendAnimation({ ...shown, animation: file }, signal);
  }
}

function sendAlbum(where: Where, album: Album, loaded: Loaded): Call<readonly Message[]> {
  // Kinds that stand together were put together, which the client library wants to see in the types.
  const media = album.map((item) => albumItem(item, loaded)) as readonly InputMediaDocument[];
  return async (raw, signal) => {
    const messages = await raw.sendMediaGroup({ ...where, media }, signal);
    // Fewer, or more, are no answer to what was asked.
    if (messages.length !== album.length)
      throw new Error(`Telegram answered an album with ${messages.length} messages`);
    return messages;
  };
}

function albumItem(
  item: AlbumItem,
  loaded: Loaded,
): InputMediaAudio | InputMediaDocument | InputMediaPhoto | InputMediaVideo {
  const { kind, caption } = item;
  assert(kind !== 'voice' && kind !== 'animation', 'a file of this kind stands in no album');
  return { type: kind, media: fileOf(item, loaded), caption };
}

export type Edited = Message | true;

/** A message of words and one of a file are changed by different methods, and each method refuses the other kind. */
export function editCall(spot: Spot, drawn: Drawn, isFile = drawn.media !== undefined): Call<Edited> {
  const at = { chat_id: spot.address, message_id: spot.messageId };
  if (!isFile) return (raw, signal) => raw.editMessageText({ ...at, ...contentOf(drawn) }, signal);
  // Words that do not fit below a file leave those there as they are; the buttons still say what is true now.
  if (drawn.text.length > captionLengthMax) return setButtons(spot, drawn.buttons ?? []);
  return (raw, signal) => raw.editMessageCaption({ ...at, ...captionOf(drawn) }, signal);
}

export function setButtons({ address, messageId }: Spot, rows: NonNullable<Drawn['buttons']>): Call<Edited> {
  return (raw, signal) =>
    raw.editMessageReplyMarkup({ chat_id: address, message_id: messageId, reply_markup: keyboardOf(rows) }, signal);
}

/** Drawn words as Telegram takes them: formatted by entities alone, so that no character of a text has a meaning. */
export function contentOf(drawn: Drawn) {
  const { caption: text, caption_entities: entities, ...below } = captionOf(drawn);
  return { text, entities, ...below, link_preview_options: { is_disabled: true } };
}

/** The words below a file; Telegram shows no preview of links there. */
function captionOf({ text, entities = [], buttons = [] }: Drawn) {
  return { caption: text, caption_entities: entities.map(entityOf), reply_markup: keyboardOf(buttons) };
}

/** An edit without a keyboard and one with an empty keyboard take away the buttons alike. */
function keyboardOf(rows: readonly (readonly Button[])[]): InlineKeyboardMarkup {
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

/** The numbers of all that a part became. */
export function idsOfAll([first, ...more]: readonly Named[]): SentIds {
  assert(first !== undefined, 'nothing was sent');
  const ids = idsOf(first);
  return more.length === 0 ? ids : { ...ids, more: more.map(({ message_id: id }) => id) };
}

/** A reply carries a thread of its own kind; only a topic's is the number of a place. */
export function idsOf(message: Named): SentIds {
  const threadId = message.is_topic_message === true ? (message.message_thread_id ?? null) : null;
  const ids = { chatId: String(message.chat.id), threadId, messageId: message.message_id };
  return message.ephemeral_message_id === undefined ? ids : { ...ids, ephemeralId: message.ephemeral_message_id };
}
