import { checkKeyboard, isObject, readMarkup } from '../bot-api/keyboard.ts';
import { fileIdOf, keepFile, kindOf, typeName } from '../bot-api/media.ts';
import { integerIn, type Arguments, badRequest } from '../bot-api/request.ts';
import { captionText, messageText, readFormatted, type Formatted } from '../bot-api/texts.ts';
import { messageJson } from '../bot-api/wire.ts';
import { botKey } from '../world/first-world.ts';
import type { ChatRow, MessageRow } from '../world/rows.ts';
import type { DocumentShown, MediaKind } from '../world/world.ts';
import { chatOf, checkOpen, idIn, threadOf, type Api, type Method, ephemeralFor, readEphemeral } from './access.ts';

interface Content extends Formatted {
  /** Called once nothing can be refused any more: a new file is kept then. */
  readonly document?: () => DocumentShown;
}

/** Checks in the order of the real server: the input, the chat, the place, the content, and last the pace. */
function send(api: Api, args: Arguments, contentOf: (chat: ChatRow) => Content): MessageRow {
  const reply = readReply(args);
  const { keyboard, hasReplyKeyboard } = readMarkup(args);
  const asked = readEphemeral(args);
  const chat = chatOf(api, args, 'write');
  const ephemeral = ephemeralFor(api, chat, { asked, replyTo: reply.ephemeralId });
  const target = replyTarget(api, chat, reply);
  const given = threadOf(api, chat, args);
  const threadId = given ?? (chat.isForum ? (target?.threadId ?? null) : null);
  checkOpen(api, chat, threadId);
  const { document, ...content } = contentOf(chat);
  checkKeyboard(keyboard);
  api.rates.spend(chat);
  const replyTo = target?.messageId ?? null;
  return api.platform.post({
    ...content,
    document: document?.() ?? null,
    chatId: chat.id,
    from: botKey,
    threadId,
    replyTo,
    keyboard,
    hasReplyKeyboard,
    ephemeral,
    isSilent: args.boolean('disable_notification'),
  });
}

interface Reply {
  readonly messageId: number;
  /** Given in the place of `messageId` in an answer to an ephemeral message. */
  readonly ephemeralId: number;
  readonly isOptional: boolean;
}

function readReply(args: Arguments): Reply {
  const text = args.text('reply_parameters');
  if (text === '') {
    return {
      messageId: idIn(args, 'reply_to_message_id'),
      ephemeralId: 0,
      isOptional: args.boolean('allow_sending_without_reply'),
    };
  }
  const value = args.json('reply_parameters');
  if (value === undefined) throw badRequest("can't parse reply parameters JSON object");
  if (!isObject(value)) throw badRequest('object expected as reply parameters');
  return {
    messageId: integerOf(value['message_id']),
    ephemeralId: integerOf(value['ephemeral_message_id']),
    isOptional: value['allow_sending_without_reply'] === true,
  };
}

function integerOf(value: unknown): number {
  const number = typeof value === 'string' ? integerIn(value) : value;
  return typeof number === 'number' ? number : 0;
}

function replyTarget(api: Api, chat: ChatRow, { messageId, isOptional }: Reply): MessageRow | null {
  if (messageId <= 0) return null;
  const row = api.state.message(chat.id, messageId);
  if (row !== undefined && !row.isHidden) return row;
  if (isOptional) return null;
  throw badRequest('message to be replied not found');
}

export function inputText(args: Arguments): Formatted {
  if (args.text('text') === '') throw badRequest('message text is empty');
  return readFormatted(args, { text: 'text', entities: 'entities' });
}

export function inputCaption(args: Arguments): Formatted {
  return readFormatted(args, { text: 'caption', entities: 'caption_entities' });
}

const sendMessage: Method = (api, args) => {
  const given = inputText(args);
  return messageJson(
    api.state,
    send(api, args, () => messageText(given)),
  );
};

const sendFile =
  (field: MediaKind): Method =>
  (api, args) => {
    const caption = inputCaption(args);
    const upload = args.file(field);
    const fileId = args.text(field);
    if (upload === null && fileId === '') throw badRequest(`there is no ${field} in the request`);
    if (upload?.bytes.byteLength === 0) throw badRequest('file must be non-empty');
    const row = send(api, args, () => {
      const shown = captionText(caption);
      if (upload === null) return { ...shown, document: knownFile(api, fileId, field) };
      const name = upload.name === '' ? 'file' : upload.name;
      return { ...shown, document: () => keepFile(api.state, { ...upload, name, kind: field }) };
    });
    return messageJson(api.state, row);
  };

/**
 * A file that was sent before, by its id; it outlives the message. Addresses on the web are not fetched: a sandbox has
 * no network. Only photos are a class of their own: any other file is sent as what it is, whichever method was called.
 */
function knownFile({ state }: Api, given: string, as: MediaKind): () => DocumentShown {
  if (/^https?:/i.test(given)) throw badRequest('failed to get HTTP URL content');
  const fileId = fileIdOf(given);
  const file = state.file(fileId);
  if (file === null) throw badRequest('wrong file identifier/HTTP URL specified');
  const kind = kindOf(fileId);
  if (kind !== as && [kind, as].includes('photo')) {
    throw badRequest(`can't use file of type ${typeName(kind)} as ${typeName(as)}`);
  }
  return () => ({ fileId, kind, name: file.name, mimeType: file.mimeType, size: file.bytes.byteLength });
}

export const sendingMethods: Readonly<Record<string, Method>> = {
  sendMessage,
  sendPhoto: sendFile('photo'),
  sendDocument: sendFile('document'),
  sendVideo: sendFile('video'),
  sendAudio: sendFile('audio'),
  sendVoice: sendFile('voice'),
  sendAnimation: sendFile('animation'),
};
