import type { Message, Update, User, UserFromGetMe } from 'grammy/types';
import { createRecent, type Recent } from '../../app/operations/recent.ts';
import type { NewUpdate } from '../../app/ports/chats.ts';
import { errorText, isAway } from '../../domain/errors.ts';
import { claimedArg, secretArg, setupArg } from '../chat/context.ts';
import { texts } from '../chat/texts.ts';
import type { TelegramInDeps } from './deps.ts';
import type { Errands } from './errands.ts';
import { actorOf, makeOwner, type Claim } from './owners.ts';
import { isUpdate, laneOf, nameOf, originOf, memberStatusOf, updateIdOf, type Origin } from './payload.ts';
import { takenOf, type Taken } from './update.ts';
import { isOfAnother, wordingOf, type Wording } from './wording.ts';

/** The row that an update becomes, and what is handed on with it. */
interface Admitted {
  readonly row: NewUpdate;
  readonly taken: Taken;
}

interface AdmissionDeps extends Pick<
  TelegramInDeps,
  'store' | 'clock' | 'ids' | 'digest' | 'settings' | 'log' | 'conversation' | 'access' | 'secretQuestions'
> {
  readonly me: UserFromGetMe;
  readonly claim: Claim;
  readonly refusals: Refusals;
  readonly errands: Errands;
  /** Called when somebody became an owner. */
  readonly onOwner: () => void;
}

/**
 * Strangers, who are neither owners nor in an approved chat, get no further, and nothing of what they send is stored.
 * An update that cannot be read is let in, because it is told about where it is handled.
 */
export function createAdmission(deps: AdmissionDeps) {
  return {
    /** The updates that are let in. */
    admit: async (updates: readonly unknown[]): Promise<readonly Admitted[]> => {
      const admitted: Admitted[] = [];
      for (const update of updates) {
        try {
          const one = await lookAt(deps, update);
          if (one !== null) admitted.push(one);
        } catch (error) {
          if (isAway(error)) throw error;
          // A fault of ours over one update keeps that one out, and no other.
          deps.log.error('admission_failed', { update_id: updateIdOf(update), error: errorText(error) });
        }
      }
      return admitted;
    },
  };
}

async function lookAt(deps: AdmissionDeps, update: unknown): Promise<Admitted | null> {
  if (!isUpdate(update)) {
    const payload = JSON.stringify(update) ?? 'undefined';
    return kept(deps, updateIdOf(update) ?? standInOf(deps, payload), null, payload);
  }
  const coming: Coming = { update, origin: originOf(update), wording: wordingOf(update, deps.me.username) };
  const word = startWord(coming);
  // A chat that was approved in advance can be the one of the first owner.
  const tried = word === null ? 'none' : await tryCode(deps, update, word);
  if (tried === 'right') return keptWhole(deps, startAlone(update, claimedArg));
  if (tried === 'wrong') return null;
  if (!(await isLetIn(deps, coming))) {
    await turnAway(deps, coming);
    return null;
  }
  // A person who is shut out later is told so, whenever they were refused before.
  if (coming.origin.from !== null) deps.refusals.forget(coming.origin.from.id);
  if (word !== null) return keptStart(deps, coming, word);
  return keptWhole(deps, (await sealedIn(deps, coming)) ?? update);
}

/** Whoever is led here from a group to be asked for a secret may write its value before the question stands here. */
async function keptStart(deps: AdmissionDeps, { update, origin }: Coming, word: string): Promise<Admitted> {
  const { chat, from } = origin;
  if (word === secretArg && chat?.type === 'private' && from !== null) await deps.secretQuestions.begin(from.id);
  return keptWhole(deps, startAlone(update, [setupArg, secretArg].find((arg) => arg === word) ?? null));
}

/**
 * The update that is kept in the place of one whose words answer the question for a secret: with the box alone. Everything
 * else of the message may hold the value as well, such as the preview of a link.
 */
async function sealedIn({ secretQuestions, conversation }: AdmissionDeps, coming: Coming): Promise<Update | null> {
  const { update, wording } = coming;
  const said = update.message ?? update.edited_message;
  if (said?.chat.type !== 'private' || said.from === undefined || said.from.is_bot) return null;
  if (conversation.commands.some(({ name }) => name === wording?.command)) {
    const isAsking = wording?.command === 'secrets' && /^set\s/i.test(wording.args.trim());
    if (isAsking && update.message !== undefined) await secretQuestions.expect(said.from.id, actorOf(said.from.id));
    return null;
  }
  const { from, chat, date, message_id: messageId, message_thread_id: thread } = said;
  const box = await secretQuestions.sealed(from.id, messageId, said.text ?? null);
  if (box === null) return null;
  const command = '/secrets';
  const kept = {
    message_id: messageId,
    from,
    chat,
    date,
    text: `${command} ${box}`,
    entities: [{ type: 'bot_command' as const, offset: 0, length: command.length }],
    ...(thread === undefined ? {} : { message_thread_id: thread }),
  };
  return { update_id: update.update_id, message: kept };
}

/** A number below all of Telegram's, the same whenever the same comes again: it is put aside once. */
function standInOf({ digest }: AdmissionDeps, payload: string): number {
  return -1 - Buffer.from(digest.of(payload), 'base64url').readUIntBE(0, 6);
}

function keptWhole(deps: AdmissionDeps, update: Update): Admitted {
  return kept(deps, update.update_id, update, JSON.stringify(update));
}

/** A word that one person alone sees has 0 in the place of a number, which explains nothing about the chat. */
function kept({ clock, me }: AdmissionDeps, id: number, update: Update | null, payload: string): Admitted {
  const origin = update === null ? null : originOf(update);
  const { chat = null, messageId = null } = origin ?? {};
  const isNumbered = messageId !== null && messageId > 0 && chat !== null;
  const at = isNumbered ? { address: String(chat.id), messageId } : { address: null, messageId: null };
  const stored = { id, payload, attempts: 0, receivedAt: clock.now() };
  return {
    row: { id, payload, ...at, lane: origin === null ? null : laneOf(origin) },
    taken: takenOf(stored, update, me.username),
  };
}

/** An update that can be read, with its words taken apart. */
interface Coming {
  readonly update: Update;
  readonly origin: Origin;
  readonly wording: Wording | null;
}

async function isLetIn(deps: AdmissionDeps, { update, origin: { chat, from } }: Coming): Promise<boolean> {
  if (chat === null || chat.type === 'channel') return false;
  if (await isOpenChat(deps, chat.id)) return true;
  if (await isLost(deps, update)) return true;
  // The first word out of a supergroup that an approved group has become.
  const before = update.message?.migrate_from_chat_id;
  if (before !== undefined && (await isOpenChat(deps, before))) return true;
  if (from === null) return false;
  return (await deps.store.readUser(actorOf(from.id)))?.role === 'owner';
}

/** A chat that was approved and could not be reached is open: the word that it is back comes from there. */
async function isOpenChat({ store }: AdmissionDeps, id: number): Promise<boolean> {
  const chat = await store.findChat(String(id));
  return chat?.state === 'approved' || (chat?.state === 'gone' && chat.approvedBy !== null);
}

/** A chat that was never approved can have tasks all the same, by the API: they are paused when it is lost. */
async function isLost({ store }: AdmissionDeps, { my_chat_member: change }: Update): Promise<boolean> {
  if (change === undefined || memberStatusOf(change.new_chat_member) !== 'out') return false;
  return (await store.findChat(String(change.chat.id))) !== null;
}

async function turnAway(deps: AdmissionDeps, { update, origin, wording }: Coming): Promise<void> {
  const { callback_query: press, message, my_chat_member: change } = update;
  if (press !== undefined) {
    deps.errands.refuseCallback(press.id, texts.intake.pressRefused);
    deps.refusals.noteCallback(press.from.id);
    return;
  }
  if (message?.chat.type === 'private') {
    await refuseInPrivate(deps, message);
    return;
  }
  const isAddedNow = change !== undefined && memberStatusOf(change.new_chat_member) !== 'out';
  if (isAddedNow || (message !== undefined && isOwnCommand(deps, wording))) refuseChat(deps, origin);
}

async function refuseInPrivate(deps: AdmissionDeps, { from, chat, ...message }: Message): Promise<void> {
  if (from === undefined || from.is_bot) return;
  const { refusals, errands } = deps;
  const at = { chatId: chat.id, topic: message.message_thread_id ?? null };
  const claim = await claimOf(deps);
  if (claim !== 'none') {
    const words = claim === 'locked' ? texts.intake.claimLocked : texts.intake.unclaimed;
    refusals.eachMinute(from.id, () => errands.refuse(at, words));
    return;
  }
  const words = texts.intake.strangerRefused(from.id);
  refusals.once({ userId: from.id, chatId: null }, () => errands.refuse(at, words));
}

/** The code of a bot without an owner. One may have been named from elsewhere since the start. */
async function claimOf({ claim, store }: Pick<AdmissionDeps, 'claim' | 'store'>): Promise<'none' | 'open' | 'locked'> {
  const standing = await claim.standing();
  return standing === 'none' || (await store.listOwners()).length > 0 ? 'none' : standing;
}

/** The word behind `/start`, wherever it was said by the sender: that may be a code. Null where there is none. */
function startWord({ update, wording }: Coming): string | null {
  if (isOfAnother(update.message)) return null;
  return wording?.command === 'start' && wording.args !== '' ? wording.args : null;
}

/** `none` where no code is taken: in groups, from bots, and when there is an owner. */
async function tryCode(deps: AdmissionDeps, update: Update, word: string): Promise<'right' | 'wrong' | 'none'> {
  const { message } = update;
  if (message?.chat.type !== 'private' || message.from.is_bot || (await claimOf(deps)) !== 'open') return 'none';
  const { from, chat } = message;
  if (await claims(deps, from, word, update.update_id)) return 'right';
  const words = (await deps.claim.standing()) === 'locked' ? texts.intake.claimLocked : texts.intake.claimWrong;
  deps.errands.say({ chatId: chat.id, topic: message.message_thread_id ?? null }, words);
  return 'wrong';
}

async function claims(deps: AdmissionDeps, from: User, code: string, updateId: number): Promise<boolean> {
  if ((await deps.claim.attempt(code, updateId)) !== 'right') return false;
  try {
    await makeOwner(deps, { id: from.id, name: nameOf(from) });
  } catch (error) {
    await deps.claim.reopen();
    throw error;
  }
  deps.onOwner();
  return true;
}

/**
 * The `/start` is handled like any other. The word behind it is not kept, whoever said it: it may be a code that is good
 * still, or that was said twice.
 */
function startAlone(update: Update, word: string | null): Update {
  const alone = structuredClone(update);
  const spoken = alone.message ?? alone.edited_message;
  if (spoken === undefined) return alone;
  const command = '/start';
  spoken.text = word === null ? command : `${command} ${word}`;
  spoken.entities = [{ type: 'bot_command', offset: 0, length: command.length }];
  delete spoken.caption;
  delete spoken.caption_entities;
  return alone;
}

/** In a group other bots are spoken to as well, so only our own name or our own words count. */
function isOwnCommand({ conversation }: AdmissionDeps, wording: Wording | null): boolean {
  if (wording === null || wording.command === null) return false;
  return wording.isAddressed || conversation.commands.some(({ name }) => name === wording.command);
}

function refuseChat({ refusals, errands }: AdmissionDeps, { chat, from, topic }: Origin): void {
  if (chat === null || chat.type === 'private') return;
  const at = { chatId: chat.id, topic };
  refusals.once({ userId: from?.id ?? null, chatId: chat.id }, () => errands.refuse(at, texts.intake.groupRefused));
}

const dayMs = 86_400_000;
const minuteMs = 60_000;
/** Strangers that are remembered; past that the oldest is forgotten and may be refused once more. */
const rememberedMax = 10_000;

type Refusals = ReturnType<typeof createRefusals>;

/**
 * Refusals: a stranger and a group are refused once a day; while the bot has no owner, a stranger each minute. They are remembered in
 * memory alone, so a restart forgets them; nothing of a stranger is kept but the line in the log.
 */
export function createRefusals({ stopwatch, log }: Pick<TelegramInDeps, 'stopwatch' | 'log'>) {
  const people = createRecent<true>(rememberedMax, { ms: dayMs, stopwatch });
  const newcomers = createRecent<true>(rememberedMax, { ms: minuteMs, stopwatch });
  const chats = createRecent<true>(rememberedMax, { ms: dayMs, stopwatch });
  const note = (seen: Recent<true>, key: string, facts: object) => {
    if (seen.has(`seen ${key}`)) return;
    log.info('stranger_refused', { ...facts });
    seen.put(`seen ${key}`, true);
  };
  const once = (refused: Recent<true>, key: string, refuse: () => boolean) => {
    if (!refused.has(key) && refuse()) refused.put(key, true);
  };
  return {
    /** Those who were not refused yet count as refused when the word is on its way. A group has its `chatId`. */
    once: (
      { userId, chatId }: { readonly userId: number | null; readonly chatId: number | null },
      refuse: () => boolean,
    ) => {
      const [refused, key, where] =
        chatId === null ? [people, `user ${userId}`, {}] : [chats, `${chatId}`, { address: String(chatId) }];
      note(refused, key, { user_id: userId, ...where });
      once(refused, key, refuse);
    },
    /** While nobody owns the bot, whoever writes is most likely to be its owner, and needs the words again. */
    eachMinute: (userId: number, refuse: () => boolean) => {
      note(people, `user ${userId}`, { user_id: userId });
      once(newcomers, `user ${userId}`, refuse);
    },
    forget: (userId: number) => {
      for (const key of [`user ${userId}`, `seen user ${userId}`]) people.drop(key);
    },
    /** A callback is refused each time, because each must be answered; it is logged once a day. */
    noteCallback: (userId: number) => note(people, `press ${userId}`, { user_id: userId, by: 'press' }),
  };
}
