import type { NewUpdate } from '../../../app/chat-store.ts';
import { AppError } from '../../../domain/errors.ts';
import type { Claim } from './claim.ts';
import type { Errands } from './errands.ts';
import type { Me } from './identity.ts';
import type { TelegramInNeeds } from './needs.ts';
import { actorOf, makeOwner } from './owners.ts';
import {
  checkedUpdate,
  nameOf,
  originOf,
  standingOf,
  updateIdOf,
  type FromMessage,
  type FromUpdate,
  type Origin,
} from './payload.ts';
import type { Refusals } from './refusals.ts';
import * as texts from './texts.ts';
import { readWording } from './wording.ts';

/**
 * The door: whoever is neither an owner nor in an approved chat gets no further, and nothing of what they send is stored.
 * An update that cannot be read is let in, because it is told about where it is handled.
 */
export interface Door {
  /** Those of the updates that are to be stored. */
  admit(updates: readonly unknown[], me: Me): Promise<readonly NewUpdate[]>;
}

interface Needs extends Pick<
  TelegramInNeeds,
  'store' | 'clock' | 'ids' | 'settings' | 'log' | 'bell' | 'conversation'
> {
  readonly claim: Claim;
  readonly refusals: Refusals;
  readonly errands: Errands;
  /** Somebody became an owner. */
  readonly onOwner: () => void;
}

export function createDoor(needs: Needs): Door {
  return {
    admit: async (updates, me) => {
      const admitted: NewUpdate[] = [];
      for (const update of updates) {
        const admittedOne = await lookSafely(needs, update, me);
        if (admittedOne !== null) admitted.push(admittedOne);
      }
      return admitted;
    },
  };
}

/** A fault of ours over one update keeps that one out, and no other. */
async function lookSafely(needs: Needs, update: unknown, me: Me): Promise<NewUpdate | null> {
  try {
    return await lookAt(needs, update, me);
  } catch (error) {
    if (error instanceof AppError && error.code === 'store_unavailable') throw error;
    const text = error instanceof Error ? error.message : String(error);
    needs.log.error('door_failed', { update_id: updateIdOf(update), error: text });
    return null;
  }
}

async function lookAt(needs: Needs, update: unknown, me: Me): Promise<NewUpdate | null> {
  const id = updateIdOf(update);
  if (id === null) {
    needs.log.error('update_without_number');
    return null;
  }
  const read = checkedUpdate(update);
  if (read === null) return { id, payload: JSON.stringify(update), address: null, messageId: null };
  const origin = originOf(read);
  if (await isLetIn(needs, read, origin)) return kept(id, update, origin);
  const claimed = await turnAway(needs, { read, origin, me });
  return claimed === null ? null : kept(id, claimed, origin);
}

function kept(id: number, update: unknown, { chat, messageId }: Origin): NewUpdate {
  const address = messageId === null || chat === null ? null : String(chat.id);
  return { id, payload: JSON.stringify(update), address, messageId };
}

async function isLetIn(needs: Needs, read: FromUpdate, { chat, from }: Origin): Promise<boolean> {
  if (chat === null || chat.type === 'channel') return false;
  if (await isOpenChat(needs, chat.id)) return true;
  // A chat that was never approved can have tasks all the same, by the API; when it is lost they are to be paused.
  const change = read.my_chat_member;
  if (change !== undefined && standingOf(change.new_chat_member) === 'out') return isKnown(needs, chat.id);
  // The first word out of a supergroup that an approved group has become.
  const before = read.message?.migrate_from_chat_id;
  if (before !== undefined && (await isOpenChat(needs, before))) return true;
  if (from === null) return false;
  return (await needs.store.readUser(actorOf(from.id)))?.role === 'owner';
}

/** A chat that was approved and could not be reached is open: the word that it is back comes from there. */
async function isOpenChat({ store }: Needs, id: number): Promise<boolean> {
  const state = (await store.findChat(String(id)))?.state;
  return state === 'approved' || state === 'gone';
}

async function isKnown({ store }: Needs, id: number): Promise<boolean> {
  return (await store.findChat(String(id))) !== null;
}

interface Turned {
  readonly read: FromUpdate;
  readonly origin: Origin;
  readonly me: Me;
}

/** Answers the update to be kept after all, when somebody has just become an owner by it. */
async function turnAway(needs: Needs, turned: Turned): Promise<FromUpdate | null> {
  const { read, origin } = turned;
  const { callback_query: press, message, my_chat_member: change } = read;
  if (press !== undefined) {
    needs.errands.answerPress({ id: press.id, ageMs: 0 }, { text: texts.pressRefused, isAlert: false });
    needs.refusals.notePress(press.from.id);
    return null;
  }
  if (message?.chat.type === 'private') return refuseInPrivate(needs, turned, message);
  const isAddedNow = change !== undefined && standingOf(change.new_chat_member) !== 'out';
  if (isAddedNow || isForUs(needs, turned)) refuseChat(needs, origin);
  return null;
}

async function refuseInPrivate(needs: Needs, { read, me }: Turned, message: FromMessage): Promise<FromUpdate | null> {
  const { from, chat } = message;
  if (from === undefined || from.is_bot) return null;
  const code = startCode(message, me);
  if (code !== null && needs.claim.isOpen()) {
    if (await claims(needs, { message, code, updateId: read.update_id })) return withoutCode(read, message);
    needs.errands.refuse({ chatId: chat.id, topic: message.message_thread_id ?? null }, texts.claimWrong);
    return null;
  }
  if (needs.refusals.isNew({ userId: from.id, chatId: null })) {
    needs.errands.refuse({ chatId: chat.id, topic: message.message_thread_id ?? null }, texts.strangerRefused);
  }
  return null;
}

function startCode(message: FromMessage, me: Me): string | null {
  const wording = readWording(message, me.username);
  return wording?.command === 'start' && wording.args !== '' ? wording.args : null;
}

interface Try {
  readonly message: FromMessage;
  readonly code: string;
  readonly updateId: number;
}

async function claims(needs: Needs, { message: { from, chat }, code, updateId }: Try): Promise<boolean> {
  if (from === undefined || needs.claim.attempt(code, updateId) !== 'right') return false;
  try {
    await makeOwner(needs, { id: from.id, name: nameOf(from) });
    await needs.store.addMessages([greeting(needs, chat.id)], needs.clock.now());
  } catch (error) {
    needs.claim.reopen();
    throw error;
  }
  needs.bell.ring('deliverer');
  needs.onOwner();
  return true;
}

function greeting({ ids }: Needs, chatId: number) {
  return {
    id: ids.next(),
    kind: 'answer' as const,
    thread: { provider: 'telegram', address: String(chatId), topic: null },
    taskId: null,
    shown: { text: texts.claimed },
    edits: null,
    expiresAt: null,
  };
}

/** The bare `/start` is handled like any other; the code is used up, and is not kept all the same. */
function withoutCode(read: FromUpdate, message: FromMessage): FromUpdate {
  const command = '/start';
  const entities = [{ type: 'bot_command', offset: 0, length: command.length }];
  return { ...read, message: { ...message, text: command, entities } };
}

/** In a group other bots are spoken to as well, so only our own name or our own words count. */
function isForUs({ conversation }: Needs, { read, me }: Turned): boolean {
  if (read.message === undefined) return false;
  const wording = readWording(read.message, me.username);
  if (wording === null || wording.command === null) return false;
  return wording.isAddressed || conversation.commands.some(({ name }) => name === wording.command);
}

function refuseChat({ refusals, errands }: Needs, { chat, from, topic }: Origin): void {
  if (chat === null || chat.type === 'private') return;
  if (!refusals.isNew({ userId: from?.id ?? null, chatId: chat.id })) return;
  errands.refuse({ chatId: chat.id, topic }, texts.groupRefused);
}
