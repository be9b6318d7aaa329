import { badRequest } from '../bot-api/failure.ts';
import { people } from '../world/first-world.ts';
import { isObject } from '../bot-api/keyboard.ts';
import { isPresent, type Secrecy } from '../world/platform.ts';
import { integerIn, type Arguments } from '../bot-api/request.ts';
import type { CallbackRow, ChatRow } from '../world/rows.ts';
import type { Person } from '../world/world.ts';
import type { Api } from './access.ts';

/** How long after a press, or after a message said to the bot alone, any bot may answer to that person alone. */
const windowSeconds = 15;

/** What `ephemeral_message_parameters` asks for. */
export interface EphemeralAsked {
  readonly receiverId: number;
  readonly callbackId: string;
  readonly isReplacing: boolean;
}

export function readEphemeral(args: Arguments): EphemeralAsked | null {
  if (args.text('ephemeral_message_parameters') === '') return null;
  const value = args.json('ephemeral_message_parameters');
  if (value === undefined) throw badRequest("can't parse ephemeral message parameters JSON object");
  if (!isObject(value)) throw badRequest('object expected as ephemeral message parameters');
  const receiver = value['receiver_user_id'];
  const callback = value['callback_query_id'];
  return {
    receiverId: typeof receiver === 'string' ? integerIn(receiver) : typeof receiver === 'number' ? receiver : 0,
    callbackId: typeof callback === 'string' || typeof callback === 'number' ? String(callback) : '',
    isReplacing: value['replace_callback_query_message'] === true,
  };
}

interface Wanted {
  readonly asked: EphemeralAsked | null;
  /** The ephemeral message that is answered; 0 for none. */
  readonly replyTo: number;
}

/**
 * Whether this message may be one for a single person. An administrator may write to any member at any time; any other
 * bot needs what it answers: a press, or an ephemeral message, of that person in that chat, at most 15 seconds old.
 * The rules are those of the Bot API. Of the error texts only BOT_NOT_ADMIN was seen in answers of the real server (it
 * is what a private chat gets); the others are not known, and nobody should read more out of them than the status 400.
 */
export function ephemeralFor(api: Api, chat: ChatRow, { asked, replyTo }: Wanted): Secrecy | null {
  if (asked === null) {
    // An answer to an ephemeral message must be one itself.
    if (replyTo > 0) throw badRequest('message to be replied not found');
    return null;
  }
  if (!api.state.settings.isEphemeralOn) throw badRequest('EPHEMERAL_NOT_SUPPORTED');
  if (chat.kind === 'private') throw badRequest('BOT_NOT_ADMIN');
  const { key } = receiverIn(chat, asked.receiverId);
  const callback = asked.callbackId === '' ? null : callbackOf(api, chat, { id: asked.callbackId, key });
  if (replyTo > 0) checkAnswered(api, chat, { id: replyTo, key });
  if (chat.botStatus !== 'administrator' && callback === null && replyTo === 0) throw badRequest('BOT_NOT_ADMIN');
  return {
    person: key,
    replaces: asked.isReplacing ? replacedBy(callback) : null,
    replyTo: replyTo === 0 ? null : replyTo,
  };
}

/** The person of this id who is in the chat. */
export function receiverIn(chat: ChatRow, id: number): Person {
  const person = people.find((each) => each.id === id);
  if (person === undefined || !isPresent(chat.members[person.key])) throw badRequest('PARTICIPANT_ID_INVALID');
  return person;
}

function callbackOf({ state }: Api, chat: ChatRow, { id, key }: { id: string; key: string }): CallbackRow {
  const callback = state.callbacks.get(id);
  const isTheirs = callback?.chatId === chat.id && callback.person === key;
  if (callback === undefined || !isTheirs || state.clock.now() - callback.at > windowSeconds * 1000) {
    throw badRequest('query is too old and response timeout expired or query ID is invalid');
  }
  return callback;
}

function checkAnswered({ state }: Api, chat: ChatRow, { id, key }: { id: number; key: string }): void {
  const row = state.ephemeral(chat.id, id);
  if (row?.from !== key || state.seconds() - row.date > windowSeconds) {
    throw badRequest('message to be replied not found');
  }
}

/** What stands in the place of an ephemeral message already is edited instead. */
function replacedBy(callback: CallbackRow | null): number {
  if (callback === null || callback.ephemeralId !== null) throw badRequest('MESSAGE_ID_INVALID');
  return callback.messageId;
}
