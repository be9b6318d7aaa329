import { checkKeyboard, isObject, readMarkup } from '../bot-api/keyboard.ts';
import { type Arguments, badRequest } from '../bot-api/request.ts';
import { captionText, messageText, type Formatted } from '../bot-api/texts.ts';
import { messageJson, type Json } from '../bot-api/wire.ts';
import { botKey } from '../world/first-world.ts';
import type { ChatRow, Keyboard, MessageRow } from '../world/rows.ts';
import { chatOf, hasRight, idIn, messageOf, receiverIn, type Api, type Method } from './access.ts';
import { inputCaption, inputText } from './sending.ts';

const deleteLifeSeconds = 48 * 3600;
/** The message, if it can be edited at all: own ones that were not passed on and carry no other keyboard. */
function editable(api: Api, args: Arguments): Found {
  if (args.text('chat_id') === '' && !args.has('message_id') && args.text('inline_message_id') === '') {
    throw badRequest('message identifier is not specified');
  }
  const chat = chatOf(api, args, 'edit');
  const row = messageOf(api, chat, { id: idIn(args, 'message_id'), words: 'message to edit' });
  const isOwn = row.from === botKey && row.service === null;
  if (!isOwn || row.hasReplyKeyboard) throw badRequest("message can't be edited");
  return { chat, row };
}

interface Found {
  readonly chat: ChatRow;
  readonly row: MessageRow;
}

interface Edit extends Formatted {
  readonly keyboard: Keyboard | null;
}

/** An edit is paid for even when it changes nothing, because only the far server compares. */
function apply(api: Api, { chat, row }: Found, { text, entities, keyboard }: Edit): Json {
  checkKeyboard(keyboard);
  api.rates.spend(chat);
  if (JSON.stringify([row.text, row.entities, row.keyboard]) === JSON.stringify([text, entities, keyboard])) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  return messageJson(api.state, api.platform.edited({ ...row, text, entities, keyboard }));
}

const editMessageText: Method = (api, args) => {
  const given = inputText(args);
  const { keyboard } = readMarkup(args);
  const found = editable(api, args);
  if (found.row.document !== null) throw badRequest('there is no text in the message to edit');
  return apply(api, found, { ...messageText(given), keyboard });
};

/** Edits a message that one person alone sees. It is named by chat, receiver and an id of its own, and the answer says only that it was done. */
const editEphemeralMessageText: Method = (api, args) => {
  const given = inputText(args);
  const { keyboard } = readMarkup(args);
  const chat = chatOf(api, args, 'edit');
  const receiver = args.integer('receiver_user_id');
  if (receiver <= 0) throw badRequest('invalid receiver_user_id specified');
  const { key } = receiverIn(chat, receiver);
  const row = api.state.ephemeral(chat.id, idIn(args, 'ephemeral_message_id'));
  if (row?.ephemeral?.person !== key) throw badRequest('ephemeral message not found');
  if (row.from !== botKey || row.hasReplyKeyboard) throw badRequest("message can't be edited");
  if (row.document !== null) throw badRequest('there is no text in the message to edit');
  apply(api, { chat, row }, { ...messageText(given), keyboard });
  return true;
};

const editMessageCaption: Method = (api, args) => {
  const given = inputCaption(args);
  const { keyboard } = readMarkup(args);
  const found = editable(api, args);
  if (found.row.document === null) throw badRequest('there is no caption in the message to edit');
  return apply(api, found, { ...captionText(given), keyboard });
};

const editMessageReplyMarkup: Method = (api, args) => {
  const { keyboard } = readMarkup(args);
  const found = editable(api, args);
  const { text, entities } = found.row;
  return apply(api, found, { text, entities, keyboard });
};

const deleteMessage: Method = (api, args) => {
  const chat = chatOf(api, args, 'write');
  const row = messageOf(api, chat, { id: idIn(args, 'message_id'), words: 'message to delete' });
  const refusal = whyKept(api, chat, row);
  if (refusal !== null) throw badRequest(refusal);
  api.platform.remove(row, botKey);
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

/** A callback waits so long for its answer. */
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

export const editingMethods: Readonly<Record<string, Method>> = {
  editMessageText,
  editEphemeralMessageText,
  editMessageCaption,
  editMessageReplyMarkup,
  deleteMessage,
  pinChatMessage,
  setMessageReaction,
  answerCallbackQuery,
};
