import type { NewUpdate } from '../../app/ports/chats.ts';
import type { Clock, Log } from '../../app/ports/outside.ts';
import { AppError } from '../../domain/errors.ts';
import { claimedArg, setupArg } from '../chat/conversation.ts';
import type { Errands } from './errands.ts';
import type { TelegramInNeeds, Me } from './needs.ts';
import { actorOf, makeOwner, type Claim } from './owners.ts';
import {
  checkedUpdate,
  nameOf,
  originOf,
  standingOf,
  updateIdOf,
  type FromMessage,
  type FromUpdate,
  type FromUser,
  type Origin,
} from './payload.ts';
import * as texts from './texts.ts';
import { readWording } from './texts.ts';

/**
 * The door: whoever is neither an owner nor in an approved chat gets no further, and nothing of what they send is stored.
 * An update that cannot be read is let in, because it is told about where it is handled.
 */
export interface Door {
  /** Those of the updates that are to be stored. */
  admit(updates: readonly unknown[], me: Me): Promise<readonly NewUpdate[]>;
}

interface Needs extends Pick<TelegramInNeeds, 'store' | 'clock' | 'ids' | 'settings' | 'log' | 'conversation'> {
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
  const start = startOf(read, me);
  // A chat that was approved in advance can be the one of the first owner.
  const tried = start === null ? 'none' : await tryCode(needs, read, start);
  if (tried === 'right') return kept(id, startAlone(read, claimedArg), origin);
  if (tried === 'wrong') return null;
  if (!(await isLetIn(needs, read, origin))) {
    turnAway(needs, { read, origin, me });
    return null;
  }
  return kept(id, start === null ? update : startAlone(read, start.word === setupArg ? setupArg : null), origin);
}

/** A word that one person alone sees has 0 in the place of a number, which explains nothing about the chat. */
function kept(id: number, update: unknown, { chat, messageId }: Origin): NewUpdate {
  const isNumbered = messageId !== null && messageId > 0 && chat !== null;
  const at = isNumbered ? { address: String(chat.id), messageId } : { address: null, messageId: null };
  return { id, payload: JSON.stringify(update), ...at };
}

async function isLetIn(needs: Needs, read: FromUpdate, { chat, from }: Origin): Promise<boolean> {
  if (chat === null || chat.type === 'channel') return false;
  if (await isOpenChat(needs, chat.id)) return true;
  if (await isLost(needs, read)) return true;
  // The first word out of a supergroup that an approved group has become.
  const before = read.message?.migrate_from_chat_id;
  if (before !== undefined && (await isOpenChat(needs, before))) return true;
  if (from === null) return false;
  return (await needs.store.readUser(actorOf(from.id)))?.role === 'owner';
}

/** A chat that was approved and could not be reached is open: the word that it is back comes from there. */
async function isOpenChat({ store }: Needs, id: number): Promise<boolean> {
  const chat = await store.findChat(String(id));
  return chat?.state === 'approved' || (chat?.state === 'gone' && chat.approvedBy !== null);
}

/** A chat that was never approved can have tasks all the same, by the API: they are paused when it is lost. */
async function isLost({ store }: Needs, { my_chat_member: change }: FromUpdate): Promise<boolean> {
  if (change === undefined || standingOf(change.new_chat_member) !== 'out') return false;
  return (await store.findChat(String(change.chat.id))) !== null;
}

interface Turned {
  readonly read: FromUpdate;
  readonly origin: Origin;
  readonly me: Me;
}

function turnAway(needs: Needs, turned: Turned): void {
  const { read, origin } = turned;
  const { callback_query: press, message, my_chat_member: change } = read;
  if (press !== undefined) {
    needs.errands.refusePress(press.id, texts.pressRefused);
    needs.refusals.notePress(press.from.id);
    return;
  }
  if (message?.chat.type === 'private') {
    refuseInPrivate(needs, message);
    return;
  }
  const isAddedNow = change !== undefined && standingOf(change.new_chat_member) !== 'out';
  if (isAddedNow || isForUs(needs, turned)) refuseChat(needs, origin);
}

function refuseInPrivate({ claim, refusals, errands }: Needs, { from, chat, ...message }: FromMessage): void {
  if (from === undefined || from.is_bot || !refusals.isNew({ userId: from.id, chatId: null })) return;
  errands.refuse({ chatId: chat.id, topic: message.message_thread_id ?? null }, refusalWords(claim, from.id));
}

function refusalWords(claim: Claim, userId: number): string {
  if (claim.isOpen()) return texts.unclaimed;
  return claim.isLocked() ? texts.claimLocked : texts.strangerRefused(userId);
}

/** `/start` with something behind it, wherever it was said: that may be a code. */
interface Start {
  readonly message: FromMessage;
  readonly word: string;
}

function startOf({ message, edited_message: edited }: FromUpdate, me: Me): Start | null {
  const spoken = message ?? edited;
  const wording = spoken === undefined ? null : readWording(spoken, me.username);
  if (spoken === undefined || wording?.command !== 'start' || wording.args === '') return null;
  return { message: spoken, word: wording.args };
}

/** `none` where no code is taken: in groups, from bots, and when there is an owner. */
async function tryCode(needs: Needs, read: FromUpdate, { message, word }: Start): Promise<'right' | 'wrong' | 'none'> {
  const { from, chat } = message;
  const isTaken = needs.claim.isOpen() && read.message !== undefined && chat.type === 'private';
  if (!isTaken || from === undefined || from.is_bot) return 'none';
  if (await claims(needs, { from, code: word, updateId: read.update_id })) return 'right';
  const words = needs.claim.isLocked() ? texts.claimLocked : texts.claimWrong;
  needs.errands.refuse({ chatId: chat.id, topic: message.message_thread_id ?? null }, words);
  return 'wrong';
}

interface Try {
  readonly from: FromUser;
  readonly code: string;
  readonly updateId: number;
}

async function claims(needs: Needs, { from, code, updateId }: Try): Promise<boolean> {
  if (needs.claim.attempt(code, updateId) !== 'right') return false;
  try {
    await makeOwner(needs, { id: from.id, name: nameOf(from) });
  } catch (error) {
    needs.claim.reopen();
    throw error;
  }
  needs.onOwner();
  return true;
}

/**
 * It is handled like any other `/start`. What stood behind it is not kept, whoever said it: it may be a code that is good
 * still, or that was said twice.
 */
function startAlone(read: FromUpdate, word: string | null = null): FromUpdate {
  const { message, edited_message: edited, ...rest } = read;
  const bare = (spoken: FromMessage): FromMessage => {
    const { caption: _caption, caption_entities: _entities, ...others } = spoken;
    const command = '/start';
    const text = word === null ? command : `${command} ${word}`;
    return { ...others, text, entities: [{ type: 'bot_command', offset: 0, length: command.length }] };
  };
  return {
    ...rest,
    ...(message === undefined ? {} : { message: bare(message) }),
    ...(edited === undefined ? {} : { edited_message: bare(edited) }),
  };
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

const dayMs = 86_400_000;
/** Strangers that are remembered; past that the oldest is forgotten and may be refused once more. */
const rememberedMax = 10_000;

interface Stranger {
  readonly userId: number | null;
  /** Set for a group: it is refused once, whoever speaks there. */
  readonly chatId: number | null;
}

/**
 * Who was refused: a stranger once a day, a group once. It is remembered in memory alone, so a restart forgets it; nothing
 * of a stranger is kept but the line in the log.
 */
interface Refusals {
  /** True when they were not refused yet; then they count as refused from now on. */
  isNew(stranger: Stranger): boolean;
  /** A press is refused each time, because each must be answered; it is logged once a day. */
  notePress(userId: number): void;
}

export function createRefusals({ clock, log }: { readonly clock: Clock; readonly log: Log }): Refusals {
  const refusedAt = new Map<string, number>();
  const isFirst = (key: string, forMs: number): boolean => {
    const last = refusedAt.get(key);
    const now = clock.now();
    // A clock that was set back ends the silence, and no harm is done.
    if (last !== undefined && Math.abs(now - last) < forMs) return false;
    refusedAt.delete(key);
    refusedAt.set(key, now);
    forgetOldest(refusedAt);
    return true;
  };
  return {
    isNew: ({ userId, chatId }) => {
      const isNew = chatId === null ? isFirst(`user ${userId}`, dayMs) : isFirst(`chat ${chatId}`, Infinity);
      const where = chatId === null ? {} : { address: String(chatId) };
      if (isNew) log.info('stranger_refused', { user_id: userId, ...where });
      return isNew;
    },
    notePress: (userId) => {
      if (isFirst(`press ${userId}`, dayMs)) log.info('stranger_refused', { user_id: userId, by: 'press' });
    },
  };
}

function forgetOldest(refusedAt: Map<string, number>): void {
  const [oldest] = refusedAt.keys();
  if (refusedAt.size > rememberedMax && oldest !== undefined) refusedAt.delete(oldest);
}
