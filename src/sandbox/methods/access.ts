import { Failure, badRequest, forbidden } from '../bot-api/failure.ts';
import { botKey } from '../world/first-world.ts';
import { hasMet, type Platform } from '../world/platform.ts';
import type { Rates } from '../bot-api/rates.ts';
import { integerIn, type Arguments } from '../bot-api/request.ts';
import type { ChatRow, MessageRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import type { BotRights } from '../world/world.ts';

/** What every method is given. */
export interface Api {
  readonly state: State;
  readonly platform: Platform;
  readonly rates: Rates;
}

export type Method = (api: Api, args: Arguments) => unknown;

/** `members` needs as much as `write` does in a group that is no more. */
export type Access = 'read' | 'members' | 'edit' | 'write';

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

/** Whoever may manage topics writes in closed ones too, and so does the maker of the topic. */
export function checkOpen({ state }: Api, chat: ChatRow, thread: number | null): void {
  if (!chat.isForum || hasRight(chat, 'can_manage_topics')) return;
  const topic = thread === null ? undefined : state.topic(chat.id, thread);
  const isClosed = topic === undefined ? chat.isGeneralClosed : topic.isClosed;
  if (isClosed && topic?.createdBy !== botKey) throw badRequest('TOPIC_CLOSED');
}
