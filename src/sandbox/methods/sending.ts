import { checkKeyboard, isObject, readMarkup } from '../bot-api/keyboard.ts';
import { fileIdOf, keepFile, kindOf, newAlbum, pictureRefused, typeName, uploadRefused } from '../bot-api/media.ts';
import { integerIn, type Arguments, badRequest, type Upload } from '../bot-api/request.ts';
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
  const { chat, draft } = draftOf(api, args);
  const { document, ...content } = contentOf(chat);
  checkKeyboard(draft.keyboard);
  api.rates.spend(chat);
  return api.platform.post({ ...draft, ...content, document: document?.() ?? null });
}

/** Where a message goes and how, before what it says. */
function draftOf(api: Api, args: Arguments) {
  const reply = readReply(args);
  const { keyboard, hasReplyKeyboard } = readMarkup(args);
  const asked = readEphemeral(args);
  const chat = chatOf(api, args, 'write');
  const ephemeral = ephemeralFor(api, chat, { asked, replyTo: reply.ephemeralId });
  const target = replyTarget(api, chat, reply);
  const given = threadOf(api, chat, args);
  const threadId = given ?? (chat.isForum ? (target?.threadId ?? null) : null);
  checkOpen(api, chat, threadId);
  const draft = {
    chatId: chat.id,
    from: botKey,
    threadId,
    replyTo: target?.messageId ?? null,
    keyboard,
    hasReplyKeyboard,
    ephemeral,
    isSilent: args.boolean('disable_notification'),
  };
  return { chat, draft };
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
    const given = { kind: field, upload: args.file(field), fileId: args.text(field) };
    if (given.upload === null && given.fileId === '') throw badRequest(`there is no ${field} in the request`);
    checkUpload(given);
    const row = send(api, args, () => {
      const shown = captionText(caption);
      const refused = given.upload === null ? null : pictureRefused(field, given.upload.bytes);
      if (refused !== null) throw badRequest(refused);
      return { ...shown, document: fileOf(api, given) };
    });
    return messageJson(api.state, row);
  };

/** A file as a call names it: its bytes come with the call, or Telegram has it. */
interface Given {
  readonly kind: MediaKind;
  readonly upload: Upload | null;
  readonly fileId: string;
}

function checkUpload({ kind, upload }: Given): void {
  const refused = upload === null ? null : uploadRefused(kind, upload.bytes);
  if (refused !== null) throw badRequest(refused);
}

function fileOf(api: Api, { kind, upload, fileId }: Given): () => DocumentShown {
  if (upload === null) return knownFile(api, fileId, kind);
  const name = upload.name === '' ? 'file' : upload.name;
  return () => keepFile(api.state, { ...upload, name, kind });
}

const albumMax = 10;
const albumKinds = ['photo', 'video', 'audio', 'document'] as const;
/** These stand among their own kind alone. */
const unmixed: readonly MediaKind[] = ['audio', 'document'];

/** Each file is a message of its own; all of them are sent, or none. A keyboard and a single reader are not among what it reads. */
const sendMediaGroup: Method = (api, args) => {
  const items = albumIn(args);
  const plain = ['reply_markup', 'ephemeral_message_parameters'].reduce((all, name) => all.without(name), args);
  const { chat, draft } = draftOf(api, plain);
  const contents = items.map(({ caption, given }) => ({ ...captionText(caption), document: fileOf(api, given) }));
  checkAlbum(items);
  api.rates.spend(chat, items.length);
  const album = items.length > 1 ? newAlbum(api.state) : null;
  return contents
    .map(({ document, ...content }) => api.platform.post({ ...draft, ...content, document: document(), album }))
    .map((row) => messageJson(api.state, row));
};

interface Item {
  readonly caption: Formatted;
  readonly given: Given;
}

function albumIn(args: Arguments): readonly Item[] {
  const media = args.json('media');
  if (media === undefined && args.has('media')) throw badRequest("can't parse media JSON object");
  if (!Array.isArray(media) || media.length === 0) throw badRequest('there are no messages to send');
  if (media.length > albumMax) throw badRequest('too many messages to send as an album');
  return media.map((item: unknown) => {
    if (!isObject(item)) throw badRequest("can't parse InputMedia: expected an Object");
    const fields = args.within(item);
    const kind = albumKinds.find((each) => each === fields.text('type'));
    if (kind === undefined) throw badRequest('type must be one of photo, video, audio or document');
    const reference = fields.text('media');
    const given = { kind, upload: fields.attached(reference), fileId: reference };
    const isMissing = given.upload === null && (reference === '' || reference.startsWith('attach://'));
    if (isMissing) throw badRequest("can't parse InputMedia: media not found");
    checkUpload(given);
    return { caption: inputCaption(fields), given };
  });
}

function checkAlbum(items: readonly Item[]): void {
  const kinds = new Set(items.map(({ given }) => given.kind));
  const mixed = unmixed.find((kind) => kinds.has(kind) && kinds.size > 1);
  if (mixed !== undefined) throw badRequest(`${mixed} can't be mixed with other media types`);
  for (const [index, { given }] of items.entries()) {
    const refused = given.upload === null ? null : pictureRefused(given.kind, given.upload.bytes);
    if (refused !== null) throw badRequest(`failed to send message #${index + 1} with the error message "${refused}"`);
  }
}

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
  sendMediaGroup,
};
