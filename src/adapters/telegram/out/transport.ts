import type { ChatStore } from '../../../app/chat-store.ts';
import type { Budget, Log, Outgoing, Sent, SentIds, TopicMade, Transport } from '../../../app/ports.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { TelegramApi } from '../api.ts';
import type { Answered, Unanswered } from '../errors.ts';
import { drawnOf, type DrawingNeeds } from './drawing.ts';
import { createEvidence } from './evidence.ts';
import { createForums, topicsOff, type Forums } from './forums.ts';
import { contentOf, idsOf } from './message.ts';
import { type Asked, badEntities, isPrivate, unchanged, unmadeBy, unsentBy, type Verb } from './refusals.ts';
import { createRing } from './ring.ts';

export interface TelegramTransportNeeds extends DrawingNeeds {
  readonly api: TelegramApi;
  readonly store: DrawingNeeds['store'] &
    Pick<ChatStore, 'lastMessageBefore' | 'explainedAfter' | 'unknownParts' | 'orphanTopics'>;
  readonly budget: Budget;
  readonly log: Log;
}

/** Parts whose fate is not known are few; the oldest are forgotten first, and then drawn again. */
const leftMax = 1000;
/** A message in the wrong place is worth asking twice more. */
const removalsMax = 3;

interface Room extends TelegramTransportNeeds {
  /** What left without an answer, as it was drawn then: a view may be drawn otherwise by now. */
  readonly left: { get(deliveryId: string): Drawn | undefined; put(deliveryId: string, drawn: Drawn): void };
  /** Says once, until it is answered otherwise, that the token is not taken. */
  readonly heed: (answer: Answered<unknown>) => void;
  readonly forums: Forums;
}

/** Telegram as the deliverer sees it: one call of the Bot API for each call here, and honest ids for what it answered. */
export function telegramTransport(needs: TelegramTransportNeeds): Transport {
  const left = createRing<Drawn>(leftMax);
  const room: Room = { ...needs, left, heed: tokenWatch(needs.log), forums: createForums(needs.api) };
  const drawn = async (part: Outgoing) => left.get(part.deliveryId) ?? (await drawnOf(needs, part));
  const evidence = createEvidence({ ...needs, drawn });
  return {
    send: (part) => (part.edits === null ? sendNew(room, part) : edit(room, part, part.edits)),
    pin: (part) => pin(room, part),
    setTopic: (part, open) => setTopic(room, part, open),
    settle: (part, look) => evidence.settle(part, look),
    createTopic: ({ address }, name) => createTopic(room, address, name),
    findTopic: async ({ address }, name, askedAt) => {
      const found = await needs.store.orphanTopics(address, name, askedAt);
      // A younger one of the same name may be that of another task, whose answer was lost as well.
      return found[0]?.topicId ?? null;
    },
    remove: (ids) => remove(room, ids),
  };
}

function tokenWatch(log: Log): Room['heed'] {
  let isTold = false;
  return (answer) => {
    if (answer.is === 'token' && !isTold) log.error('telegram_token_refused', { error: answer.error });
    if (answer.is === 'token' || answer.is === 'ok') isTold = answer.is === 'token';
  };
}

async function sendNew(room: Room, part: Outgoing): Promise<Sent> {
  const drawn = await drawnOf(room, part);
  if (drawn === null) return nothingToShow;
  const sent = await post(room, part, drawn);
  const isPlain = drawn.entities === undefined || drawn.entities.length === 0;
  if (sent.is !== 'refused' || isPlain || !badEntities.test(sent.error)) return sent;
  room.log.warn('entities_refused', { delivery_id: part.deliveryId, error: sent.error });
  // The words matter more than how they look; but this call is one that nobody has paid for yet.
  if (!(await room.budget.take(part.route.address))) return { is: 'notSent', error: sent.error, retryAfterMs: null };
  return post(room, part, { ...drawn, entities: [] });
}

const nothingToShow: Sent = { is: 'moot', error: 'there is nothing to show any more' };

async function post(room: Room, part: Outgoing, drawn: Drawn): Promise<Sent> {
  const { address, topic } = part.route;
  if (topic !== null && (await room.forums.areStillOff(address))) return topicsOff;
  const answer = await room.api.ask((raw, signal) =>
    raw.sendMessage(
      {
        chat_id: address,
        ...contentOf(drawn),
        ...(topic === null ? {} : { message_thread_id: topic }),
        ...replyOf(drawn),
      },
      signal,
    ),
  );
  if (answer.is === 'lost') room.left.put(part.deliveryId, drawn);
  const sent = sentBy(room, answer, { part, verb: 'send', ids: idsOf });
  const isOutside = sent.is === 'sent' && topic !== null && sent.ids.threadId === null;
  if (!isOutside || !(await room.forums.areOff(address))) return sent;
  await remove(room, sent.ids);
  return topicsOff;
}

/** Without the message that it answers, an answer is still worth more than none. */
function replyOf({ replyTo }: Drawn) {
  return replyTo === undefined ? {} : { reply_parameters: { message_id: replyTo, allow_sending_without_reply: true } };
}

async function edit(room: Room, part: Outgoing, messageId: number): Promise<Sent> {
  const drawn = await drawnOf(room, part);
  if (drawn === null) return nothingToShow;
  const answer = await room.api.ask((raw, signal) =>
    raw.editMessageText({ chat_id: part.route.address, message_id: messageId, ...contentOf(drawn) }, signal),
  );
  const asked = askedIds(part, messageId);
  return sentBy(room, answer, {
    part,
    verb: 'edit',
    ids: (message) => (message === true ? asked : idsOf(message)),
    asked,
  });
}

async function pin(room: Room, part: Outgoing): Promise<Sent> {
  const { edits: messageId } = part;
  if (messageId === null) return { is: 'refused', error: 'no message is named that could be pinned' };
  const answer = await room.api.ask((raw, signal) =>
    raw.pinChatMessage({ chat_id: part.route.address, message_id: messageId, disable_notification: true }, signal),
  );
  const asked = askedIds(part, messageId);
  return sentBy(room, answer, { part, verb: 'pin', ids: () => asked });
}

/** The message that opens a topic has the topic's id, and stands for it where a message must be named. */
async function setTopic(room: Room, part: Outgoing, open: boolean): Promise<Sent> {
  const { address, topic } = part.route;
  if (topic === null || isPrivate(address)) return { is: 'moot', error: 'there is no topic that could be closed' };
  const place = { chat_id: address, message_thread_id: topic };
  const answer = await room.api.ask<boolean>((raw, signal) =>
    open ? raw.reopenForumTopic(place, signal) : raw.closeForumTopic(place, signal),
  );
  const asked = askedIds(part, topic);
  return sentBy(room, answer, { part, verb: 'setTopic', ids: () => asked, asked });
}

function askedIds({ route }: Outgoing, messageId: number): SentIds {
  return { chatId: route.address, threadId: route.topic, messageId };
}

interface Reading<T> {
  readonly part: Outgoing;
  readonly verb: Verb;
  readonly ids: (value: T) => SentIds;
  /** What is told when everything is already as it was asked for. */
  readonly asked?: SentIds;
}

function sentBy<T>(room: Room, answer: Answered<T>, { part, verb, ids, asked }: Reading<T>): Sent {
  room.heed(answer);
  if (answer.is === 'ok') return { is: 'sent', ids: ids(answer.value) };
  if (asked !== undefined && isUnchanged(answer)) return { is: 'sent', ids: asked };
  const { address, topic } = part.route;
  const place: Asked = { verb, address, topic };
  return unsentBy(answer, place);
}

function isUnchanged(answer: Unanswered): boolean {
  return answer.is === 'refused' && unchanged.test(answer.error);
}

async function createTopic(room: Room, address: string, name: string): Promise<TopicMade> {
  const answer = await room.api.ask((raw, signal) => raw.createForumTopic({ chat_id: address, name }, signal));
  room.heed(answer);
  return answer.is === 'ok' ? { is: 'made', topicId: answer.value.message_thread_id } : unmadeBy(answer, address);
}

/** Nobody waits for it, but what stays stands in the wrong place: the log says so. */
async function remove(room: Room, ids: SentIds): Promise<void> {
  const { chatId, messageId } = ids;
  let error = 'the chat must be left alone';
  for (let tries = 0; tries < removalsMax && (await room.budget.take(chatId)); tries += 1) {
    const answer = await room.api.ask((raw, signal) =>
      raw.deleteMessage({ chat_id: chatId, message_id: messageId }, signal),
    );
    if (answer.is === 'ok') return;
    error = answer.error;
    if (answer.is === 'tooMany') await room.budget.hold(chatId, answer.retryAfterMs);
    if (answer.is === 'refused' || answer.is === 'moved' || answer.is === 'token') break;
  }
  room.log.warn('message_not_removed', { chat_id: chatId, message_id: messageId, error });
}
