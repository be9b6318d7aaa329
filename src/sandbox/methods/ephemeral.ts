import { readMarkup } from '../bot-api/keyboard.ts';
import { type Arguments, badRequest } from '../bot-api/request.ts';
import { captionText, messageText } from '../bot-api/texts.ts';
import { botKey } from '../world/first-world.ts';
import type { ChatRow, Keyboard, MessageRow } from '../world/rows.ts';
import { chatOf, idIn, type Api, type Method, receiverIn } from './access.ts';
import { applyEdit, type Edit } from './editing.ts';
import { inputCaption, inputText } from './sending.ts';

/** Ephemeral messages are named by chat, receiver and their own id together, and no other method knows them. */
interface Found {
  readonly chat: ChatRow;
  readonly row: MessageRow;
}

function found(api: Api, args: Arguments): Found {
  const chat = chatOf(api, args, 'edit');
  const receiver = args.integer('receiver_user_id');
  if (receiver <= 0) throw badRequest('invalid receiver_user_id specified');
  const { key } = receiverIn(chat, receiver);
  const row = api.state.ephemeral(chat.id, idIn(args, 'ephemeral_message_id'));
  if (row?.ephemeral?.person !== key) throw badRequest('ephemeral message not found');
  return { chat, row };
}

function editable(api: Api, args: Arguments): Found {
  const it = found(api, args);
  if (it.row.from !== botKey || it.row.hasReplyKeyboard) throw badRequest("message can't be edited");
  return it;
}

/** Such an edit answers only that it was done. */
function apply(api: Api, it: Found, edit: Edit): true {
  applyEdit(api, it, edit);
  return true;
}

function keyboardIn(args: Arguments): Keyboard | null {
  return readMarkup(args.text('reply_markup'), args.json('reply_markup')).keyboard;
}

const editEphemeralMessageText: Method = (api, args) => {
  const given = inputText(args);
  const keyboard = keyboardIn(args);
  const it = editable(api, args);
  if (it.row.document !== null) throw badRequest('there is no text in the message to edit');
  return apply(api, it, { shown: messageText(given), keyboard });
};

const editEphemeralMessageCaption: Method = (api, args) => {
  const given = inputCaption(args);
  const keyboard = keyboardIn(args);
  const it = editable(api, args);
  if (it.row.document === null) throw badRequest('there is no caption in the message to edit');
  return apply(api, it, { shown: captionText(given), keyboard });
};

const editEphemeralMessageReplyMarkup: Method = (api, args) => {
  const keyboard = keyboardIn(args);
  const it = editable(api, args);
  return apply(api, it, { shown: { text: it.row.text, entities: it.row.entities }, keyboard });
};

const deleteEphemeralMessage: Method = (api, args) => {
  api.platform.remove(found(api, args).row, botKey);
  return true;
};

export const ephemeralMethods: Readonly<Record<string, Method>> = {
  editEphemeralMessageText,
  editEphemeralMessageCaption,
  editEphemeralMessageReplyMarkup,
  deleteEphemeralMessage,
};
