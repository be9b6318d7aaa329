import type { NextFunction } from 'grammy';
import type {
  CallbackQuery,
  Chat as FromChat,
  MaybeInaccessibleMessage,
  Message,
  User as FromUser,
  UserFromGetMe,
} from 'grammy/types';
import { createRecent } from '../../app/operations/recent.ts';
import type { Chat, OnlyFor } from '../../app/ports/chats.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { telegramThread } from '../../domain/thread.ts';
import type { ChatContext, ChatDeps, Person, Place, Replied } from '../chat/context.ts';
import { parsePress } from '../chat/kit/press.ts';
import { isDoneWord } from '../chat/results/done.ts';
import { isOrderFor, talkWords } from '../chat/results/replying.ts';
import { inLocale, type Locale, localeOf as offered, texts } from '../chat/texts.ts';
import { placeOf } from './deps.ts';
import { actorOf } from './owners.ts';
import { mediaOf, nameOf, shownOf, topicOf } from './payload.ts';
import { noteChat, personIn, type PlacesDeps } from './places.ts';
import {
  handledBy,
  nothingToSay,
  saying,
  sayingQuietly,
  type Handled,
  type IntakeContext,
  type Taken,
  type Writing,
} from './update.ts';
import { isOfAnother, type Wording } from './wording.ts';

/** Middleware around the handlers of the chat: who says or presses what, where, and whether that is answered at all. */

export interface SpeechDeps extends PlacesDeps {
  readonly flood: FloodLimit;
  readonly me: UserFromGetMe;
  readonly setUp: ChatDeps['setUp'];
}

/** The account behind which the admins of a group hide. */
const anonymousAdmin = 1_087_968_824;

/** The speaker, as far as the message tells: channels and other bots are not listened to. */
function speakerOf({ from, sender_chat: sender, chat, is_automatic_forward: isForward }: Message) {
  if (from === undefined || isForward === true) return null;
  if (sender?.id === chat.id || from.id === anonymousAdmin) return 'anonymous';
  return sender !== undefined || from.is_bot ? null : from;
}

/** For words: hands on those that are for us, and keeps what they are answered. */
export async function hear(deps: SpeechDeps, ctx: IntakeContext, next: NextFunction): Promise<void> {
  const message = ctx.msg;
  const speaker = message === undefined ? null : speakerOf(message);
  if (message === undefined || speaker === null) return;
  const scene = await sceneOf(deps, message.chat, topicOf(message));
  ctx.locale = scene.locale;
  await inLocale(scene.locale, () => hearIn(scene, { deps, ctx, next }, { message, speaker }));
}

interface Hearing {
  readonly deps: SpeechDeps;
  readonly ctx: IntakeContext;
  readonly next: NextFunction;
}

async function hearIn(
  scene: Scene,
  { deps, ctx, next }: Hearing,
  spoken: Spoken<FromUser | 'anonymous'>,
): Promise<void> {
  const heard = await wordsFor(deps, ctx.taken, scene, spoken);
  if (!('person' in heard)) {
    ctx.handled = heard;
    return;
  }
  Object.assign(ctx, heard);
  await next();
  const asker = { userId: heard.person.id, until: heard.date + ephemeralMs };
  ctx.handled = handledBy({ ...scene.writing, ...askerIn(scene.place, asker) }, ctx.answer);
}

/** Facts of an update for its handler, beside what that may use. */
type UpdateFacts = Omit<ChatContext, keyof SpeechDeps['chatDeps'] | 'setUp' | 'bot'>;

interface Spoken<Speaker = FromUser> {
  readonly message: Message;
  readonly speaker: Speaker;
}

async function wordsFor(
  deps: SpeechDeps,
  { stored, wording }: Taken,
  { place, writing }: Scene,
  { message, speaker }: Spoken<FromUser | 'anonymous'>,
): Promise<UpdateFacts | Handled> {
  if (wording === null) return isUnreadable(message) ? saying(writing, texts.intake.textOnly) : nothingToSay;
  if (speaker === 'anonymous') {
    const isAsked = wording.command !== null && isOurCommand(deps, wording, place);
    return isAsked ? saying(writing, texts.intake.postAsYourself) : nothingToSay;
  }
  const concern = await concernOf(deps, place, wording, { message, speaker });
  if (concern !== 'us') return concern === 'talk' ? talkHeard(deps, place, writing) : nothingToSay;
  const person = await listenerFor(deps, place.chat, speaker);
  if (person === 'out') return nothingToSay;
  if (person === 'unknown') return saying(writing, texts.intake.cannotTellWho);
  if (isOrder(wording) && isOfAnother(message)) return saying(writing, texts.intake.notYours);
  const { id: updateId } = stored;
  const pace = paceOf(deps, place.chat, person, { updateId, at: writtenAt(message) });
  if (pace !== 'fine') return pace === 'first' ? saying(writing, texts.intake.tooFast) : nothingToSay;
  return {
    ...unsaid(updateId, message),
    place: await inZoneOf(deps, place, person),
    person,
    isPress: false,
    date: writtenAt(message),
    ...wording,
    repliedTo: repliedTo(deps, message),
    media: mediaOf(message),
    isOfAnother: isOfAnother(message),
    ...(message.media_group_id === undefined ? {} : { album: message.media_group_id }),
  };
}

/** A group of which no zone is known lives by the clocks of the owner who speaks there, until somebody says otherwise. */
async function inZoneOf({ store, clock }: SpeechDeps, place: Place, person: Person): Promise<Place> {
  const { chat } = place;
  if (!person.isOwner || chat.kind === 'private' || chat.timezone !== null) return place;
  const { timezone = null } = (await store.findChat(String(person.id))) ?? {};
  if (timezone === null) return place;
  const settings = { ...chat.settings, zoneOf: person.actor };
  await store.changeChat(chat.id, { timezone, settings }, clock.now());
  return { ...place, chat: { ...chat, timezone, settings }, timezone };
}

async function talkHeard({ store }: SpeechDeps, place: Place, writing: Writing): Promise<Handled> {
  const words = await talkWords(store, place, writing.now);
  return words === null ? nothingToSay : sayingQuietly(writing, words);
}

/** Words that somebody else wrote can be scheduled, but order nothing. */
function isOrder({ command, isAddressed, args }: Wording): boolean {
  return command !== null || isAddressed || isDoneWord(args);
}

/** Facts that every update has, and nothing of what only words or a button bring. */
function unsaid(updateId: number, { message_id: messageId }: Pick<Message, 'message_id'>) {
  const said = { command: null, args: '', repliedTo: null, media: null };
  return {
    updateId,
    key: `telegram:update:${updateId}`,
    messageId,
    ...said,
    press: null,
    shown: null,
    ephemeralId: null,
  };
}

interface Pressed {
  readonly callback: CallbackQuery;
  readonly message: MaybeInaccessibleMessage;
}

/** For callbacks. */
export async function press(deps: SpeechDeps, ctx: IntakeContext, next: NextFunction): Promise<void> {
  const callback = ctx.callbackQuery;
  const message = callback?.message;
  if (callback === undefined || message === undefined) {
    ctx.handled = { ...nothingToSay, toast: { text: texts.intake.oldButton, isAlert: false } };
    return;
  }
  const scene = await sceneOf(deps, message.chat, topicOf(message));
  ctx.locale = scene.locale;
  await inLocale(scene.locale, () => pressIn(scene, { deps, ctx, next }, { callback, message }));
}

async function pressIn(
  { place, writing }: Scene,
  { deps, ctx, next }: Hearing,
  { callback, message }: Pressed,
): Promise<void> {
  const refuse = (text: string) => {
    ctx.handled = saying(writing, text, true);
  };
  const person = await listenerFor(deps, place.chat, callback.from);
  if (person === 'out') return refuse(texts.intake.mayNot);
  if (person === 'unknown') return refuse(texts.intake.cannotTellWho);
  const { id: updateId, receivedAt: date } = ctx.taken.stored;
  if (paceOf(deps, place.chat, person, { updateId, at: date }) !== 'fine') return refuse(texts.intake.tooFast);
  const ephemeralId = message.ephemeral_message_id ?? null;
  const asker = { userId: person.id, callbackId: callback.id, until: date + ephemeralMs };
  const told: UpdateFacts = {
    ...unsaid(updateId, message),
    place,
    person,
    isPress: true,
    date,
    press: parsePress(callback.data ?? ''),
    shown: shownOf(message),
    ephemeralId,
    ...askerIn(place, asker),
  };
  Object.assign(ctx, told);
  await next();
  // A callback from a message that one person alone sees is answered to that person alone.
  const only = askerIn(place, ephemeralId === null ? asker : { ...asker, ephemeralId });
  ctx.handled = handledBy({ ...writing, ...only }, ctx.answer);
}

/** Telegram takes an answer that one person alone sees only so soon after their word or callback. */
const ephemeralMs = 15_000;

/** In a private chat everything is seen by one person alone. */
function askerIn({ chat }: Place, asker: OnlyFor): Pick<Writing, 'asker'> {
  return chat.kind === 'private' ? {} : { asker };
}

interface Scene {
  readonly place: Place;
  readonly locale: Locale;
  readonly writing: Writing;
}

async function sceneOf(deps: SpeechDeps, from: FromChat, topic: number | null): Promise<Scene> {
  const { store, ids, clock, localeOf = offered } = deps;
  const chat = await reachable(deps, await noteChat(deps, from));
  const topicTask = topic === null ? null : await store.taskByTopic(chat.id, topic);
  const hasTopics = deps.me.has_topics_enabled === true;
  const isForum = from.type === 'private' ? topic !== null || hasTopics : from.is_forum === true;
  return {
    place: placeOf(deps, chat, { topic, topicTask, isForum }),
    locale: localeOf(settingsOf(chat.settings)),
    writing: { ids, now: clock.now(), thread: telegramThread(chat.address, topic) },
  };
}

/** A chat that was gone is back as soon as something is heard from it. */
async function reachable({ store, people }: SpeechDeps, chat: Chat): Promise<Chat> {
  if (chat.state !== 'gone') return chat;
  await people.back(chat.id);
  return (await store.findChat(chat.address)) ?? chat;
}

/** A sticker or a place in a private chat is meant for us; service messages about the chat are not. */
function isUnreadable({ chat, sticker, location, contact, poll, dice, video_note: note }: Message): boolean {
  const contents = [sticker, location, contact, poll, dice, note];
  return chat.type === 'private' && contents.some((content) => content !== undefined);
}

function isOurCommand({ conversation }: SpeechDeps, { command, isAddressed }: Wording, { chat, topicTask }: Place) {
  // The topic of a task is ours; elsewhere in a group an unknown command is most likely meant for another bot.
  if (chat.kind === 'private' || isAddressed || topicTask !== null) return true;
  const { commands, nearCommand } = conversation;
  return commands.some(({ name }) => name === command) || nearCommand(command ?? '') !== null;
}

/** People in a group talk to each other, and they are not asked who they are for that. */
async function concernOf(
  deps: SpeechDeps,
  place: Place,
  wording: Wording,
  { message, speaker }: Spoken,
): Promise<'us' | 'talk' | 'none'> {
  const { chat, topic, topicTask } = place;
  const date = writtenAt(message);
  if (wording.command !== null) return isOurCommand(deps, wording, place) ? 'us' : 'none';
  if (wording.isAddressed || chat.kind === 'private') return 'us';
  const to = repliedTo(deps, message);
  if (to?.isOurs === true) return 'us';
  // In the topic of a task, "done" is said to the task, and so are other words that are nothing but an order.
  if (topicTask !== null && isDoneWord(wording.args)) return 'us';
  if (topicTask !== null && to === null && isOrderFor(topicTask, wording.args, { place, date })) return 'us';
  if ((await deps.store.openDraft(chat.id, actorOf(speaker.id), topic, date)) !== null) return 'us';
  return to === null && message.text !== undefined ? 'talk' : 'none';
}

/** In a topic, a message that answers nothing seems to answer the one with which the topic began. */
function repliedTo({ me }: SpeechDeps, { reply_to_message: to }: Message): Replied | null {
  if (to === undefined || to.forum_topic_created !== undefined) return null;
  const author = authorOf(to);
  return {
    messageId: to.message_id,
    isOurs: to.from?.id === me.id,
    text: to.text ?? to.caption ?? null,
    media: mediaOf(to),
    ...(author === undefined ? {} : { author: { id: author.id, name: nameOf(author) } }),
  };
}

/** Of what was forwarded it is who wrote it, unless they do not want that to be told. */
function authorOf({ from, forward_origin: origin }: Pick<Message, 'from' | 'forward_origin'>): FromUser | undefined {
  const sender = origin?.type === 'user' ? origin.sender_user : undefined;
  const author = origin === undefined ? from : sender;
  return author?.is_bot === true ? undefined : author;
}

/** Owners alone are listened to where the approval has ended since the update came in. */
async function listenerFor(deps: SpeechDeps, chat: Chat, from: FromUser): Promise<Person | 'out' | 'unknown'> {
  const person = await personIn(deps, chat, from);
  const isOwner = typeof person === 'object' && person.isOwner;
  if (person !== 'out' && (isOwner || chat.state === 'approved')) return person;
  deps.log.info('stranger_refused', { user_id: from.id, address: chat.address });
  return 'out';
}

/** People who manage the chat, or have it to themselves, may be as fast as they like. Words that waited for hours were not said at once. */
function paceOf({ flood }: SpeechDeps, chat: Chat, person: Person, said: { updateId: number; at: number }): Pace {
  const isFree = chat.kind === 'private' || person.isAdmin;
  return isFree ? 'fine' : flood({ ...said, chatId: chat.id, userId: person.id });
}

function writtenAt({ date, edit_date: anew }: Pick<Message, 'date' | 'edit_date'>): number {
  return (anew ?? date) * 1000;
}

/** For an edited message: hands on the words with which this person began a draft, and nothing that was done long ago. */
export async function hearAgain(deps: SpeechDeps, ctx: IntakeContext, next: NextFunction): Promise<void> {
  const message = ctx.editedMessage;
  if (message?.from === undefined || speakerOf(message) === 'anonymous') return;
  const { store } = deps;
  const known = await store.findChat(String(message.chat.id));
  const draft =
    known === null ? null : await store.draftOfWords(known.id, actorOf(message.from.id), message.message_id);
  if (draft === null) return;
  Object.assign(ctx, { mends: draft });
  await next();
}

const minuteMs = 60_000;
/** More than this in a minute is typed or pressed by no one who reads the answers. */
const personMax = 30;
/** A group is sent about twenty messages a minute, answers first, so that more words than these would hold up its results. */
const chatMax = 60;
/** People and chats that are remembered; those forgotten past that may say a few more words. */
const rememberedMax = 10_000;

/**
 * How fast people who manage nothing in a group may speak to us there. Hundreds of commands at once would all be answered
 * before the next result has its turn. `fine` is answered; the first word too many of a minute is told so, and the rest is
 * passed over.
 */
type FloodLimit = (spoken: {
  readonly updateId: number;
  readonly chatId: string;
  readonly userId: number;
  readonly at: number;
}) => Pace;
type Pace = 'fine' | 'first' | 'more';

/** The updates of one minute, in the order in which they were taken up; each counts once, however often it is handled. */
interface Minute {
  readonly since: number;
  readonly updates: number[];
}

export function createFloodLimit(): FloodLimit {
  const minutes = createRecent<Minute>(rememberedMax);

  const minuteOf = (key: string, at: number): Minute => {
    const known = minutes.get(key);
    if (known !== undefined && at >= known.since && at - known.since < minuteMs) return known;
    const begun = { since: at, updates: [] };
    minutes.put(key, begun);
    return begun;
  };

  const countIn = ({ updates }: Minute, updateId: number, max: number): Pace => {
    if (!updates.includes(updateId) && updates.length <= max) updates.push(updateId);
    const index = updates.indexOf(updateId);
    if (index < 0) return 'more';
    return index < max ? 'fine' : 'first';
  };

  return ({ updateId, chatId, userId, at }) => {
    const mine = countIn(minuteOf(`${chatId} ${userId}`, at), updateId, personMax);
    return mine === 'fine' ? countIn(minuteOf(chatId, at), updateId, chatMax) : mine;
  };
}
