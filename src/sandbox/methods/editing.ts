import { checkKeyboard, isObject, readMarkup } from '../bot-api/keyboard.ts';
import { type Arguments, badRequest } from '../bot-api/request.ts';
import { captionText, messageText, type Formatted } from '../bot-api/texts.ts';
import { messageJson } from '../bot-api/wire.ts';
import { botKey } from '../world/first-world.ts';
import type { ChatRow, Keyboard, MessageRow } from '../world/rows.ts';
import { chatOf, hasRight, idIn, messageOf, type Api, type Method } from './access.ts';
import { inputCaption, inputText } from './sending.ts';

const deleteLifeSeconds = 48 * 3600;
const deletesMax = 100;

/** The message, if it can be edited at all: own ones that were not passed on and carry no other keyboard. */
function editable(api: Api, args: Arguments): { readonly chat: ChatRow; readonly row: MessageRow } {
  if (args.text('chat_id') === '' && !args.has('message_id') && args.text('inline_message_id') === '') {
    throw badRequest('message identifier is not specified');
  }
  const chat = chatOf(api, args, 'edit');
  const row = messageOf(api, chat, { id: idIn(args, 'message_id'), words: 'message to edit' });
  const isOwn = row.from === botKey && row.service === null && row.forwardOf === null;
  if (!isOwn || row.hasReplyKeyboard) throw badRequest("message can't be edited");
  return { chat, row };
}

export interface Edit {
  readonly shown: Formatted;
  readonly keyboard: Keyboard | null;
}

/** An edit is paid for even when it changes nothing, because only the far server compares. */
export function applyEdit(
  api: Api,
  { chat, row }: { readonly chat: ChatRow; readonly row: MessageRow },
  { shown, keyboard }: Edit,
): MessageRow {
  checkKeyboard(keyboard);
  api.rates.spend(chat);
  const before = JSON.stringify([row.text, row.entities, row.keyboard]);
  if (before === JSON.stringify([shown.text, shown.entities, keyboard])) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  return api.platform.edited({ ...row, text: shown.text, entities: shown.entities, keyboard });
}

function apply(api: Api, found: { readonly chat: ChatRow; readonly row: MessageRow }, edit: Edit): unknown {
  return messageJson(api.state, applyEdit(api, found, edit));
}

const editMessageText: Method = (api, args) => {
  const given = inputText(args);
  const { keyboard } = readMarkup(args.text('reply_markup'), args.json('reply_markup'));
  const found = editable(api, args);
  if (found.row.document !== null) throw badRequest('there is no text in the message to edit');
  return apply(api, found, { shown: messageText(given), keyboard });
};

const editMessageCaption: Method = (api, args) => {
  const given = inputCaption(args);
  const { keyboard } = readMarkup(args.text('reply_markup'), args.json('reply_markup'));
  const found = editable(api, args);
  if (found.row.document === null) throw badRequest('there is no caption in the message to edit');
  return apply(api, found, { shown: captionText(given), keyboard });
};

const editMessageReplyMarkup: Method = (api, args) => {
  const { keyboard } = readMarkup(args.text('reply_markup'), args.json('reply_markup'));
  const found = editable(api, args);
  const { text, entities } = found.row;
  return apply(api, found, { shown: { text, entities }, keyboard });
};

const deleteMessage: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  const row = messageOf(api, chat, { id: idIn(args, 'message_id'), words: 'message to delete' });
  const refusal = whyKept(api, chat, row);
  if (refusal !== null) throw badRequest(refusal);
  api.platform.remove(row, botKey);
  return true;
};

/** Ids that are unknown, or that may not be deleted, are passed over. */
const deleteMessages: Method = (api, args) => {
  const ids = args.json('message_ids');
  if (args.text('message_ids') === '') throw badRequest('message identifiers are not specified');
  if (!Array.isArray(ids)) throw badRequest("can't parse message identifiers JSON object");
  if (ids.length > deletesMax) throw badRequest('too many message identifiers specified');
  const chat = chatOf(api, args, 'write');
  for (const id of ids.map(Number)) {
    const row = api.state.message(chat.id, id);
    if (row !== undefined && !row.isHidden && whyKept(api, chat, row) === null) api.platform.remove(row, botKey);
  }
  return true;
};

function whyKept(api: Api, chat: ChatRow, row: MessageRow): string | null {
  if (row.service?.field === 'forum_topic_created') return "message can't be deleted";
  const mayAny = hasRight(chat, 'can_delete_messages');
  if (row.from !== botKey && chat.kind !== 'private' && !mayAny) return "message can't be deleted";
  const isOld = api.state.seconds() - row.date > deleteLifeSeconds;
  return isOld && !mayAny ? "message can't be deleted for everyone" : null;
}

const pinChatMessage: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  const row = messageOf(api, chat, { id: idIn(args, 'message_id'), words: 'message to pin' });
  checkPinning(chat);
  if (row.isPinned) return true;
  if (row.service !== null) throw badRequest("message can't be pinned");
  api.state.messages.put({ ...row, isPinned: true });
  const service = { field: 'pinned_message', value: row.messageId };
  const isSilent = args.boolean('disable_notification');
  api.platform.post({ chatId: chat.id, from: botKey, threadId: row.threadId, service, isSilent });
  return true;
};

function checkPinning(chat: ChatRow): void {
  if (chat.kind !== 'private' && !hasRight(chat, 'can_pin_messages')) {
    throw badRequest('not enough rights to manage pinned messages in the chat');
  }
}

const unpinChatMessage: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  const id = idIn(args, 'message_id');
  const row = id === 0 ? lastPinned(api, chat) : messageOf(api, chat, { id, words: 'message to unpin' });
  checkPinning(chat);
  if (row?.isPinned === true) unpin(api, row);
  return true;
};

function lastPinned(api: Api, chat: ChatRow): MessageRow {
  const row = api.state.messages.all().findLast(({ chatId, isPinned }) => chatId === chat.id && isPinned);
  if (row === undefined) throw badRequest('message to unpin not found');
  return row;
}

function unpin(api: Api, row: MessageRow): void {
  api.state.messages.put({ ...row, isPinned: false });
  api.platform.note(row.chatId, row.threadId, 'Cronogram unpins a message');
  api.state.tell('edit', row.chatId);
}

/** `inPlace` says whether a pinned message is one of those meant. */
export function unpinAll(api: Api, chat: ChatRow, inPlace: (row: MessageRow) => boolean): true {
  checkPinning(chat);
  for (const row of api.state.messages.all()) {
    if (row.chatId === chat.id && row.isPinned && inPlace(row)) unpin(api, row);
  }
  return true;
}

const unpinAllChatMessages: Method = (api, args) => unpinAll(api, chatOf(api, args, 'write'), () => true);

/** The emoji that stand in every chat's choice of reactions. */
const reactionEmoji = new Set(
  (
    '👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 🌚 🌭 💯 🤣 💔 🏆 🍌 😴 😭 🤓 👻 👀 🎃 🙈 😇 😨 🤝 ' +
    '🎅 🎄 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 😡 ❤ ❤‍🔥 ⚡ 🤨 😐 🍓 🍾 💋 🖕 😈 👨‍💻 ✍ 🤗 ☃ 🤷‍♂ 🤷 🤷‍♀'
  ).split(' '),
);

const setMessageReaction: Method = (api, args) => {
  const given = args.json('reaction');
  const chat = chatOf(api, args, 'read');
  const row = messageOf(api, chat, { id: idIn(args, 'message_id'), words: 'message to react' });
  const reactions = (Array.isArray(given) ? given : []).map((each: unknown) => {
    const emoji = isObject(each) && each['type'] === 'emoji' ? each['emoji'] : undefined;
    const plain = typeof emoji === 'string' ? emoji.replace(/\uFE0F$/, '') : '';
    if (!reactionEmoji.has(plain)) throw badRequest('REACTION_INVALID');
    return plain;
  });
  if (reactions.length > 1) throw badRequest('REACTIONS_TOO_MANY');
  if (row.service !== null) throw badRequest('REACTION_INVALID');
  api.state.messages.put({ ...row, reactions });
  const words = reactions.length === 0 ? 'takes the reaction back' : `reacts with ${reactions.join('')}`;
  api.platform.note(chat.id, row.threadId, `Cronogram ${words}`);
  api.state.tell('edit', chat.id);
  return true;
};

/** How long a press waits for its answer. */
const callbackLifeMs = 20_000;
const answerMax = 200;

const answerCallbackQuery: Method = (api, args) => {
  const callback = api.state.callbacks.get(args.text('callback_query_id'));
  const isDead = callback === undefined || callback.answer !== null;
  if (isDead || api.state.clock.now() - callback.at > callbackLifeMs) {
    throw badRequest('query is too old and response timeout expired or query ID is invalid');
  }
  const text = args.text('text');
  if (text.length > answerMax) throw badRequest('MESSAGE_TOO_LONG');
  const alert = args.boolean('show_alert');
  api.state.callbacks.put({ ...callback, answer: { text: text === '' ? null : text, alert } });
  const { chatId, messageId, ephemeralId } = callback;
  const row = ephemeralId === null ? api.state.message(chatId, messageId) : api.state.ephemeral(chatId, ephemeralId);
  const words = text === '' ? 'answers the press' : `answers the press${alert ? ' aloud' : ''}: ${text}`;
  api.platform.note(chatId, row?.threadId ?? null, `Cronogram ${words}`);
  api.state.tell('callback', chatId);
  return true;
};

const actions = new Set([
  'typing',
  'upload_photo',
  'record_video',
  'upload_video',
  'record_audio',
  'record_voice',
  'upload_audio',
  'upload_voice',
  'upload_document',
  'choose_sticker',
  'find_location',
  'pick_up_location',
  'record_video_note',
  'upload_video_note',
  'cancel',
]);

const sendChatAction: Method = (api, args) => {
  if (!actions.has(args.text('action').toLowerCase())) throw badRequest('wrong parameter action in request');
  const chat = chatOf(api, args, 'write');
  const thread = idIn(args, 'message_thread_id');
  if (chat.isForum && thread !== 0 && api.state.topic(chat.id, thread) === undefined) {
    throw badRequest('message thread not found');
  }
  return true;
};

export const editingMethods: Readonly<Record<string, Method>> = {
  editMessageText,
  editMessageCaption,
  editMessageReplyMarkup,
  deleteMessage,
  deleteMessages,
  pinChatMessage,
  unpinChatMessage,
  unpinAllChatMessages,
  setMessageReaction,
  answerCallbackQuery,
  sendChatAction,
};
