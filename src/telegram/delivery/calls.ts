import type { RawApi } from 'grammy';
import type { EphemeralMessageParameters, Message, ReplyParameters } from 'grammy/types';
import { captionLengthMax } from '../../domain/limits.ts';
import type { Drawn, Media } from '../../domain/shown.ts';
import type { CallSignal } from '../api.ts';
import { captionOf, contentOf, keyboardOf } from './message.ts';

/** One call of the Bot API that is about to be made. */
export type Call<T> = (raw: RawApi, signal: CallSignal) => Promise<T>;

export interface Spot {
  readonly address: string;
  readonly messageId: number;
}

/** Where a message goes, and how it comes. */
export interface Where {
  readonly chat_id: string;
  readonly message_thread_id?: number;
  readonly disable_notification?: true;
  readonly reply_parameters?: ReplyParameters;
  readonly ephemeral_message_parameters?: EphemeralMessageParameters;
}

/** A new message: the words, or a file with the words below it. */
export function sendCall(where: Where, drawn: Drawn): Call<Message> {
  const { media } = drawn;
  if (media === undefined) return (raw, signal) => raw.sendMessage({ ...where, ...contentOf(drawn) }, signal);
  return sendFile({ ...where, ...captionOf(drawn) }, media);
}

function sendFile(shown: Where & ReturnType<typeof captionOf>, { kind, fileId }: Media): Call<Message> {
  switch (kind) {
    case 'photo':
      return (raw, signal) => raw.sendPhoto({ ...shown, photo: fileId }, signal);
    case 'document':
      return (raw, signal) => raw.sendDocument({ ...shown, document: fileId }, signal);
    case 'video':
      return (raw, signal) => raw.sendVideo({ ...shown, video: fileId }, signal);
    case 'audio':
      return (raw, signal) => raw.sendAudio({ ...shown, audio: fileId }, signal);
    case 'voice':
      return (raw, signal) => raw.sendVoice({ ...shown, voice: fileId }, signal);
    case 'animation':
      return (raw, signal) => raw.sendAnimation({ ...shown, animation: fileId }, signal);
  }
}

export type Edited = Message | true;

/** A message of words and one of a file are changed by different methods, and each method refuses the other kind. */
export function editCall(spot: Spot, drawn: Drawn, isFile = drawn.media !== undefined): Call<Edited> {
  const at = { chat_id: spot.address, message_id: spot.messageId };
  if (!isFile) return (raw, signal) => raw.editMessageText({ ...at, ...contentOf(drawn) }, signal);
  // What does not fit below a file leaves the words there as they are; the buttons still say what is true now.
  if (drawn.text.length > captionLengthMax) return setButtons(spot, drawn.buttons ?? []);
  return (raw, signal) => raw.editMessageCaption({ ...at, ...captionOf(drawn) }, signal);
}

export function setButtons({ address, messageId }: Spot, rows: NonNullable<Drawn['buttons']>): Call<Edited> {
  return (raw, signal) =>
    raw.editMessageReplyMarkup({ chat_id: address, message_id: messageId, reply_markup: keyboardOf(rows) }, signal);
}
