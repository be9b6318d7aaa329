import type { Chat, OnlyFor } from '../../app/ports/chats.ts';
import type { Answer, ConversationRooms, Person, Place, Replied, Said } from '../chat/conversation.ts';
import { isDoneWord } from '../chat/results/buttons.ts';
import { handledBy, nothingToSay, saying, telegramThread, type Handled, type Taken, type Writing } from './handled.ts';
import type { TelegramInNeeds, Me } from './needs.ts';
import {
  mediaOf,
  nameOf,
  shownOf,
  topicOf,
  type FromCallback,
  type FromChat,
  type FromMessage,
  type FromUser,
} from './payload.ts';
import type { Places } from './places.ts';
import type { Standing } from './standing.ts';
import * as texts from './texts.ts';
import { readWording, type Wording } from './texts.ts';

/** What people say and press, on its way to whoever answers it. */
export interface Speech {
  said(taken: Taken, message: FromMessage): Promise<Handled>;
  /** An edited message changes the draft that it began, and nothing else. */
  edited(taken: Taken, message: FromMessage): Promise<Handled>;
  pressed(taken: Taken, press: FromCallback): Promise<Handled>;
}

interface Needs extends Pick<TelegramInNeeds, 'store' | 'clock' | 'ids' | 'log' | 'people' | 'rooms' | 'conversation'> {
  readonly places: Places;
  readonly standing: Standing;
  readonly haste: Haste;
  readonly me: () => Me;
  readonly setUp: ConversationRooms['setUp'];
}

export function createSpeech(needs: Needs): Speech {
  return {
    said: (taken, message) => said(needs, taken, message),
    edited: (taken, message) => edited(needs, taken, message),
    pressed: (taken, press) => pressed(needs, taken, press),
  };
}

/** The account behind which the admins of a group hide. */
const anonymousAdmin = 1_087_968_824;

/** Who speaks, as far as the message tells: channels and other bots are not listened to. */
function speakerOf({ from, sender_chat: sender, chat, is_automatic_forward: isForward }: FromMessage) {
  if (from === undefined || isForward === true) return null;
  if (sender?.id === chat.id || from.id === anonymousAdmin) return 'anonymous';
  return sender !== undefined || from.is_bot ? null : from;
}

async function said(needs: Needs, taken: Taken, message: FromMessage): Promise<Handled> {
  const speaker = speakerOf(message);
  if (speaker === null) return nothingToSay;
  const wording = readWording(message, needs.me().username);
  const scene = await sceneOf(needs, message.chat, topicOf(message));
  if (wording === null) return isUnreadable(message) ? saying(scene.writing, texts.textOnly) : nothingToSay;
  if (speaker === 'anonymous') {
    const isForUs = wording.command !== null && isOurCommand(needs, wording, scene.place);
    return isForUs ? saying(scene.writing, texts.postAsYourself) : nothingToSay;
  }
  if (!(await concernsUs(needs, scene, { message, wording, speaker }))) return nothingToSay;
  const person = await personIn(needs, scene.place.chat, speaker);
  if (person === 'out') return nothingToSay;
  if (person === 'unknown') return saying(scene.writing, texts.cannotTellWho);
  const haste = hasteOf(needs, scene.place.chat, { person, updateId: taken.stored.id, at: writtenAt(message) });
  if (haste !== 'fine') return haste === 'first' ? saying(scene.writing, texts.tooFast) : nothingToSay;
  const words = saidBy({ needs, taken, message, wording, place: scene.place, person });
  const asker = { userId: person.id, until: words.date + ephemeralMs };
  return handledBy({ ...scene.writing, ...askerIn(scene.place, asker) }, begunBy(words, await answer(needs, words)));
}

/** The platform takes an answer that one person alone sees only so soon after their word or press. */
const ephemeralMs = 15_000;

/** In a private chat everything is seen by one person alone. */
function askerIn({ chat }: Place, asker: OnlyFor): Pick<Writing, 'asker'> {
  return chat.kind === 'private' ? {} : { asker };
}

interface Pressing {
  readonly place: Place;
  readonly person: Person;
  readonly callback: FromCallback;
  readonly at: number;
}

/** What is pressed on a message that one person alone sees is answered to that person alone. */
function askerOfPress({ place, person, callback, at }: Pressing): Pick<Writing, 'asker'> {
  const ephemeralId = callback.message?.ephemeral_message_id;
  const asker = { userId: person.id, callbackId: callback.id, until: at + ephemeralMs };
  return askerIn(place, ephemeralId === undefined ? asker : { ...asker, ephemeralId });
}

interface Scene {
  readonly place: Place;
  readonly writing: Writing;
}

async function sceneOf(needs: Needs, from: FromChat, topic: number | null): Promise<Scene> {
  const { store, ids, clock, rooms, places } = needs;
  const chat = await reachable(needs, await places.note(from));
  const topicTask = topic === null ? null : await store.taskByTopic(chat.id, topic);
  const isForum = from.type === 'private' ? topic !== null || needs.me().hasTopics : from.is_forum === true;
  const timezone = chat.timezone ?? rooms.defaultTimezone;
  return {
    place: { chat, topic, topicTask, timezone, isZoneConfirmed: chat.timezone !== null, isForum },
    writing: { ids, now: clock.now(), thread: telegramThread(chat.address, topic) },
  };
}

/** Whatever is heard from a chat that was gone shows that it is back. */
async function reachable({ store, people }: Needs, chat: Chat): Promise<Chat> {
  if (chat.state !== 'gone') return chat;
  await people.back(chat.id);
  return (await store.findChat(chat.address)) ?? chat;
}

/** A sticker or a place in a private chat is meant for us; words of the platform about the chat are not. */
function isUnreadable(message: FromMessage): boolean {
  if (message.chat.type !== 'private') return false;
  const { sticker, location, contact, poll, dice, video_note: note } = message;
  const contents = [sticker, location, contact, poll, dice, note];
  return contents.some((content) => content !== undefined);
}

function isOurCommand({ conversation }: Needs, { command, isAddressed }: Wording, { chat, topicTask }: Place): boolean {
  // The topic of a task is ours; elsewhere in a group an unknown command is most likely meant for another bot.
  if (chat.kind === 'private' || isAddressed || topicTask !== null) return true;
  const { commands, nearCommand } = conversation;
  return commands.some(({ name }) => name === command) || nearCommand(command ?? '') !== null;
}

interface Heard {
  readonly message: FromMessage;
  readonly wording: Wording;
  readonly speaker: FromUser;
}

/** People in a group talk to each other, and nobody is asked about who only does that. */
async function concernsUs(needs: Needs, { place }: Scene, { message, wording, speaker }: Heard) {
  const { chat, topic } = place;
  if (wording.command !== null) return isOurCommand(needs, wording, place);
  if (wording.isAddressed) return true;
  // Where a task reminds people, "done" is said to it.
  if (place.topicTask !== null && isDoneWord(wording.args)) return true;
  if (chat.kind === 'private' || repliedTo(needs, message)?.isOurs === true) return true;
  return (await needs.store.openDraft(chat.id, `telegram:user:${speaker.id}`, topic, writtenAt(message))) !== null;
}

/** In a topic, a message that answers nothing seems to answer the one with which the topic began. */
function repliedTo({ me }: Needs, { reply_to_message: to }: FromMessage): Replied | null {
  if (to === undefined || to.forum_topic_created !== undefined) return null;
  const text = to.text ?? to.caption ?? null;
  const author = authorOf(to);
  return {
    messageId: to.message_id,
    isOurs: to.from?.id === me().id,
    text,
    media: mediaOf(to),
    ...(author === undefined ? {} : { author: { id: author.id, name: nameOf(author) } }),
  };
}

/** Of what was forwarded it is who wrote it, unless they do not want that to be told. */
function authorOf({
  from,
  forward_origin: origin,
}: NonNullable<FromMessage['reply_to_message']>): FromUser | undefined {
  const author = origin === undefined ? from : origin.sender_user;
  return author?.is_bot === true ? undefined : author;
}

/** Nobody but an owner is listened to where the approval has ended since the update came in. */
async function personIn({ standing, log }: Needs, chat: Chat, from: FromUser): Promise<Person | 'out' | 'unknown'> {
  const person = await standing.personIn(chat, from);
  const isOwner = typeof person === 'object' && person.isOwner;
  if (person !== 'out' && (isOwner || chat.state === 'approved')) return person;
  log.info('stranger_refused', { user_id: from.id, address: chat.address });
  return 'out';
}

interface Spoken {
  readonly person: Person;
  readonly updateId: number;
  readonly at: number;
}

/** Whoever manages the chat, or has it to themselves, may be as fast as they like. */
function hasteOf({ haste }: Needs, chat: Chat, { person, updateId, at }: Spoken) {
  const isFree = chat.kind === 'private' || person.isAdmin;
  return isFree ? 'fine' : haste.of({ updateId, chatId: chat.id, userId: person.id, at });
}

interface Words {
  readonly needs: Needs;
  readonly taken: Taken;
  readonly message: FromMessage;
  readonly wording: Wording;
  readonly place: Place;
  readonly person: Person;
}

function saidBy({ needs, taken, message, wording, place, person }: Words): Said {
  const { id: updateId } = taken.stored;
  return {
    updateId,
    key: keyOf(updateId),
    place,
    person,
    messageId: message.message_id,
    date: writtenAt(message),
    command: wording.command,
    args: wording.args,
    repliedTo: repliedTo(needs, message),
    media: mediaOf(message),
    isAddressed: wording.isAddressed,
    ...(message.media_group_id === undefined ? {} : { album: message.media_group_id }),
  };
}

function writtenAt({ date, edit_date: anew }: FromMessage): number {
  return (anew ?? date) * 1000;
}

function keyOf(updateId: number): string {
  return `telegram:update:${updateId}`;
}

function answer(needs: Needs, words: Said): Promise<Answer> {
  const { commands, plainText, unknownCommand } = needs.conversation;
  if (words.command === null) return plainText(words, roomsOf(needs));
  const command = commands.find(({ name }) => name === words.command);
  return (command?.handle ?? unknownCommand)(words, roomsOf(needs));
}

function roomsOf({ rooms, me, setUp }: Needs): ConversationRooms {
  return { ...rooms, setUp, botUsername: () => me().username };
}

/** A draft remembers the command that began it, so that it can be mended by editing that. */
function begunBy({ command, messageId }: Said, given: Answer): Answer {
  const { draft } = given;
  // What one person alone sees has no number, by which its edits could be told.
  if (command === null || draft?.is !== 'put' || messageId === 0) return given;
  return {
    ...given,
    draft: { is: 'put', draft: { ...draft.draft, body: { ...draft.draft.body, messageId, command } } },
  };
}

/** Somebody mends the words with which they began a draft; a command that was carried out long ago is not done again. */
async function edited(needs: Needs, taken: Taken, message: FromMessage): Promise<Handled> {
  const { from, chat } = message;
  if (from === undefined || speakerOf(message) === 'anonymous') return nothingToSay;
  const known = await needs.store.findChat(String(chat.id));
  if (known === null) return nothingToSay;
  const { store, clock } = needs;
  const draft = await store.openDraft(known.id, `telegram:user:${from.id}`, topicOf(message), clock.now());
  if (draft?.body['messageId'] !== message.message_id) return nothingToSay;
  // Made into another command, it would do what nobody has sent.
  const command = readWording(message, needs.me().username)?.command ?? null;
  return command === draft.body['command'] ? said(needs, taken, message) : nothingToSay;
}

async function pressed(needs: Needs, taken: Taken, callback: FromCallback): Promise<Handled> {
  const { message, from, data } = callback;
  if (message === undefined) return { ...nothingToSay, toast: { text: texts.oldButton, isAlert: false } };
  const { place, writing } = await sceneOf(needs, message.chat, topicOf(message));
  const person = await personIn(needs, place.chat, from);
  if (person === 'out') return saying(writing, texts.notMember, true);
  if (person === 'unknown') return saying(writing, texts.cannotTellWho, true);
  const { id: updateId, receivedAt: date } = taken.stored;
  if (hasteOf(needs, place.chat, { person, updateId, at: date }) !== 'fine')
    return saying(writing, texts.tooFast, true);
  const { conversation } = needs;
  const press = conversation.parsePress(data ?? '');
  const handler = press === null ? undefined : conversation.buttons.get(press.verb);
  // What a button of an earlier version did may not be known any more; then there is the newest view instead.
  const handle = handler ?? conversation.unknownPress;
  const pressing = {
    updateId,
    key: keyOf(updateId),
    place,
    person,
    date,
    messageId: message.message_id,
    ephemeralId: message.ephemeral_message_id ?? null,
  };
  return handledBy(
    { ...writing, ...askerOfPress({ place, person, callback, at: date }) },
    await handle({ ...pressing, shown: shownOf(message), press }, roomsOf(needs)),
  );
}

const minuteMs = 60_000;
/** Nobody types or presses more than this in a minute and reads the answers. */
const personMax = 30;
/** A group is sent about twenty messages a minute, answers first, so that more words than these would hold up its results. */
const chatMax = 60;
/** People and chats that are remembered; past that all are forgotten, which lets a few more words through. */
const rememberedMax = 10_000;

interface Word {
  readonly updateId: number;
  readonly chatId: string;
  readonly userId: number;
  /** When it was said: what waited for hours was not said at once. */
  readonly at: number;
}

/**
 * How fast people who manage nothing in a group may speak to us there. Whoever sends hundreds of commands would have them
 * all answered before the next result has its turn.
 */
interface Haste {
  /** `fine` is answered; the first word too many of a minute is told so, and the rest is passed over. */
  of(word: Word): 'fine' | 'first' | 'more';
}

/** The updates of one minute, in the order in which they were taken up; each counts once, however often it is handled. */
interface Minute {
  readonly since: number;
  readonly updates: number[];
}

export function createHaste(): Haste {
  const minutes = new Map<string, Minute>();

  const minuteOf = (key: string, at: number): Minute => {
    const known = minutes.get(key);
    if (known !== undefined && at >= known.since && at - known.since < minuteMs) return known;
    if (minutes.size >= rememberedMax) minutes.clear();
    const begun = { since: at, updates: [] };
    minutes.set(key, begun);
    return begun;
  };

  const placeIn = ({ updates }: Minute, updateId: number, max: number): ReturnType<Haste['of']> => {
    if (!updates.includes(updateId) && updates.length <= max) updates.push(updateId);
    const place = updates.indexOf(updateId);
    if (place < 0) return 'more';
    return place < max ? 'fine' : 'first';
  };

  return {
    of: ({ updateId, chatId, userId, at }) => {
      const mine = placeIn(minuteOf(`${chatId} ${userId}`, at), updateId, personMax);
      return mine === 'fine' ? placeIn(minuteOf(chatId, at), updateId, chatMax) : mine;
    },
  };
}
