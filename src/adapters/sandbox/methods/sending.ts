import { botKey } from '../first-world.ts';
import { badRequest } from '../failure.ts';
import { checkKeyboard, isObject, readMarkup } from '../keyboard.ts';
import { readFormatted } from '../parse-mode.ts';
import type { Draft } from '../platform.ts';
import { integerIn, type Arguments, type Upload } from '../request.ts';
import type { ChatRow, MessageRow } from '../rows.ts';
import { captionText, messageText, type Formatted } from '../texts.ts';
import { messageJson } from '../wire.ts';
import type { DocumentShown } from '../world.ts';
import { chatOf, checkOpen, idIn, messageOf, threadOf, type Api, type Method } from './access.ts';

interface Content extends Pick<Draft, 'forwardOf'>, Formatted {
  /** Called once nothing can be refused any more: a new file is kept then. */
  readonly document?: () => DocumentShown;
}

/** Checks in the order of the real server: the input, the chat, the place, the content, and last the pace. */
function send(api: Api, args: Arguments, contentOf: (chat: ChatRow) => Content): MessageRow {
  const reply = readReply(args);
  const { keyboard, hasReplyKeyboard } = readMarkup(args.text('reply_markup'), args.json('reply_markup'));
  const chat = chatOf(api, args, 'write');
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
  });
}

interface Reply {
  readonly messageId: number;
  readonly isOptional: boolean;
}

function readReply(args: Arguments): Reply {
  const text = args.text('reply_parameters');
  if (text === '') {
    return {
      messageId: idIn(args, 'reply_to_message_id'),
      isOptional: args.boolean('allow_sending_without_reply'),
    };
  }
  const value = args.json('reply_parameters');
  if (value === undefined) throw badRequest("can't parse reply parameters JSON object");
  if (!isObject(value)) throw badRequest('object expected as reply parameters');
  const id = value['message_id'];
  const messageId = typeof id === 'string' ? integerIn(id) : id;
  return {
    messageId: typeof messageId === 'number' ? messageId : 0,
    isOptional: value['allow_sending_without_reply'] === true,
  };
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
  (field: 'document' | 'photo'): Method =>
  (api, args) => {
    const caption = inputCaption(args);
    const upload = args.file(field);
    const fileId = args.text(field);
    if (upload === null && fileId === '') throw badRequest(`there is no ${field} in the request`);
    if (upload?.bytes.byteLength === 0) throw badRequest('file must be non-empty');
    const row = send(api, args, () => {
      if (upload !== null) return { ...captionText(caption), document: () => stored(api, upload, field === 'photo') };
      const sent = known(api, fileId);
      return { ...captionText(caption), document: () => sent };
    });
    return messageJson(api.state, row);
  };

function stored({ state }: Api, upload: Upload, isPhoto: boolean): DocumentShown {
  const fileId = `${isPhoto ? 'AgAC' : 'BQAC'}${String(state.count('lastFile')).padStart(12, '0')}`;
  const name = upload.name === '' ? 'file' : upload.name;
  state.addFile({ id: fileId, name, mimeType: upload.mimeType, bytes: upload.bytes });
  return { fileId, name, mimeType: upload.mimeType, size: upload.bytes.byteLength, isPhoto };
}

/** A file that was sent before, by its id. Addresses on the web are not fetched: a sandbox has no network. */
function known({ state }: Api, fileId: string): DocumentShown {
  if (/^https?:/i.test(fileId)) throw badRequest('failed to get HTTP URL content');
  const sent = state.messages.all().flatMap(({ document }) => (document?.fileId === fileId ? [document] : []))[0];
  if (sent === undefined) throw badRequest('wrong file identifier/HTTP URL specified');
  return sent;
}

/** Messages of the kinds that carry nothing but news cannot be passed on. */
function source(api: Api, args: Arguments, verb: 'forward' | 'copy'): MessageRow {
  const from = chatOf(api, args.text('from_chat_id'), 'read');
  const row = messageOf(api, from, { id: idIn(args, 'message_id'), words: `message to ${verb}` });
  if (row.service !== null) {
    throw badRequest(verb === 'copy' ? "message can't be copied" : "the message can't be forwarded");
  }
  return row;
}

function carried(document: DocumentShown | null): Pick<Content, 'document'> {
  return document === null ? {} : { document: () => document };
}

const forwardMessage: Method = (api, args) => {
  const { text, entities, document, from, date, forwardOf } = source(api, args, 'forward');
  const content = { text, entities, ...carried(document), forwardOf: forwardOf ?? { from, date } };
  return messageJson(
    api.state,
    send(api, args, () => content),
  );
};

const copyMessage: Method = (api, args) => {
  const { text, entities, document } = source(api, args, 'copy');
  const caption = args.has('caption') && document !== null ? inputCaption(args) : { text, entities };
  const row = send(api, args, () => ({
    ...(document === null ? caption : captionText(caption)),
    ...carried(document),
  }));
  return { message_id: row.messageId };
};

export const sendingMethods: Readonly<Record<string, Method>> = {
  sendMessage,
  sendDocument: sendFile('document'),
  sendPhoto: sendFile('photo'),
  forwardMessage,
  copyMessage,
};
