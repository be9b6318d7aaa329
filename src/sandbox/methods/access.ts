import { isObject } from '../bot-api/keyboard.ts';
import type { Rates } from '../bot-api/rates.ts';
import { integerIn, type Arguments, Failure, badRequest, forbidden } from '../bot-api/request.ts';
import { botKey, people } from '../world/first-world.ts';
import { hasMet, type Platform, isPresent, type Secrecy } from '../world/platform.ts';
import type { ChatRow, MessageRow, CallbackRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import type { BotRights, Person } from '../world/world.ts';

/** The parts of the sandbox that every method is given. */
export interface Api {
  readonly state: State;
  readonly platform: Platform;
  readonly rates: Rates;
}

export type Method = (api: Api, args: Arguments) => unknown;

/** `members` needs as much as `write` does in a group that is no more. */
type Access = 'read' | 'members' | 'edit' | 'write';

/** `args` may be only the text of a chat's id, where it stands inside another argument. */
export function chatOf({ state }: Api, args: Arguments | string, access: Access): ChatRow {
  const text = (typeof args === 'string' ? args : args.text('chat_id')).trim();
  if (text === '') throw badRequest('chat_id is empty');
  const chat = text.startsWith('@') ? undefined : state.chat(integerIn(text));
  if (chat === undefined) throw badRequest('chat not found');
  if (chat.kind === 'private') checkPrivate(state, chat, access);
  else if (chat.kind === 'group') checkGroup(chat, access);
  else checkSupergroup(chat);
  return chat;
}

function checkPrivate(state: State, chat: ChatRow, access: Access): void {
  if (!chat.isStarted && !hasMet(state, chat.id)) throw badRequest('chat not found');
  if (access !== 'write') return;
  if (!chat.isStarted) throw forbidden("bot can't initiate conversation with a user");
  if (chat.botStatus === 'kicked') throw forbidden('bot was blocked by the user');
}

function checkGroup(chat: ChatRow, access: Access): void {
  if (chat.migratedTo !== null) {
    if (access !== 'write' && access !== 'members') return;
    throw new Failure(400, 'Bad Request: group chat was upgraded to a supergroup chat', {
      migrate_to_chat_id: chat.migratedTo,
    });
  }
  if (access === 'read') return;
  if (chat.botStatus === 'kicked') throw forbidden('bot was kicked from the group chat');
  if (chat.botStatus === 'left') throw forbidden('bot is not a member of the group chat');
}

/** A private supergroup cannot even be read from outside. */
function checkSupergroup({ botStatus }: ChatRow): void {
  if (botStatus === 'kicked') throw forbidden('bot was kicked from the supergroup chat');
  if (botStatus === 'left') throw forbidden('bot is not a member of the supergroup chat');
}

/** Only an administrator has rights; in a private chat nobody needs any. */
export function hasRight(chat: ChatRow, right: keyof BotRights): boolean {
  return chat.botStatus === 'administrator' && chat.botRights[right];
}

export function idIn(args: Arguments, name: string): number {
  return Math.max(args.integer(name), 0);
}

/** `words` is how the error calls it: "message to edit". Of what privacy mode hides, the bot knows nothing. */
export function messageOf(
  { state }: Api,
  chat: ChatRow,
  { id, words }: { readonly id: number; readonly words: string },
): MessageRow {
  const row = state.message(chat.id, id);
  if (row === undefined || row.isHidden) throw badRequest(`${words} not found`);
  return row;
}

/** The topic that is meant, checked. In a chat that is no forum the number is ignored; General has none. */
export function threadOf({ state }: Api, chat: ChatRow, args: Arguments): number | null {
  const thread = idIn(args, 'message_thread_id');
  if (thread === 0 || !chat.isForum) return null;
  if (state.topic(chat.id, thread) === undefined) throw badRequest('message thread not found');
  return thread;
}

/** A closed topic is open to those who may manage topics, and to its maker. */
export function checkOpen({ state }: Api, chat: ChatRow, thread: number | null): void {
  const topic = thread === null || !chat.isForum ? undefined : state.topic(chat.id, thread);
  if (topic?.isClosed !== true || topic.createdBy === botKey || hasRight(chat, 'can_manage_topics')) return;
  throw badRequest('TOPIC_CLOSED');
}

/** Any bot may answer to a person alone so long after their callback, or after their message to the bot alone. */
const windowSeconds = 15;

/** The wish that `ephemeral_message_parameters` tells. */
interface EphemeralAsked {
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
 * Checks whether this message may be one for a single person. An administrator may write to any member at any time; any other
 * bot needs what it answers: a callback, or an ephemeral message, of that person in that chat, at most 15 seconds old.
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

/** A callback below an ephemeral message replaces nothing: such a message is edited instead. */
function replacedBy(callback: CallbackRow | null): number {
  if (callback === null || callback.ephemeralId !== null) throw badRequest('MESSAGE_ID_INVALID');
  return callback.messageId;
}
