import type { Budget, CallFault, Log, Outgoing, Sent, SentIds } from '../../app/ports/outside.ts';
import type { TelegramApi } from '../api.ts';
import { type Answered, isTokenRefused } from '../errors.ts';
import type { Call } from './calls.ts';
import { meaningOf, messageAway, topicGone, unchanged, type Verb } from './refusals.ts';

interface Room {
  readonly api: TelegramApi;
  readonly budget: Budget;
  readonly log: Log;
  readonly heed: Heed;
}

/** A message in the wrong place is worth asking twice more. */
const removalsMax = 3;

/** What is done to a message, or to a topic by the id of the message that opens it, and answered by yes or no. */
interface Deed {
  readonly verb: Verb;
  readonly id: number;
  readonly call: Call<unknown>;
  /** What the platform says when everything is already as it was asked for; that it was changed, without one. */
  readonly already?: RegExp;
}

export async function doneTo(
  { api, heed }: Pick<Room, 'api' | 'heed'>,
  part: Outgoing,
  { verb, id, call, already }: Deed,
): Promise<Sent> {
  const answer = await api.ask(call);
  const asked = askedIds(part, id);
  return sentBy(heed, answer, { part, verb, ids: () => asked, ...(already === undefined ? {} : { asked, already }) });
}

/** What is gone already is as good as removed. */
export async function removeMessage(room: Room, part: Outgoing): Promise<Sent> {
  const { edits: id, route } = part;
  if (id === null) return { is: 'refused', error: 'no message is named that could be removed' };
  const call: Call<true> = (raw, signal) => raw.deleteMessage({ chat_id: route.address, message_id: id }, signal);
  return doneTo(room, part, { verb: 'remove', id, call, already: messageAway });
}

export async function removeTopic(room: Room, part: Outgoing): Promise<Sent> {
  const { address, topic: id } = part.route;
  if (id === null) return { is: 'refused', error: 'no topic is named that could be removed' };
  const call: Call<true> = (raw, signal) => raw.deleteForumTopic({ chat_id: address, message_thread_id: id }, signal);
  return doneTo(room, part, { verb: 'remove', id, call, already: topicGone });
}

/** Nobody waits for it, but what stays stands in the wrong place: the log says so. */
export async function takeBack({ api, budget, log }: Room, { chatId, messageId }: SentIds): Promise<void> {
  let error = 'the chat must be left alone';
  for (let tries = 0; tries < removalsMax && (await budget.take(chatId)); tries += 1) {
    const answer = await api.ask((raw, signal) =>
      raw.deleteMessage({ chat_id: chatId, message_id: messageId }, signal),
    );
    if (answer.is === 'ok') return;
    error = answer.error;
    if (answer.is === 'wait') await budget.hold(chatId, answer.ms);
    if (answer.is === 'refused' || answer.is === 'moved') break;
  }
  log.warn('message_not_removed', { chat_id: chatId, message_id: messageId, error });
}

/** Says once, until it is answered otherwise, that the token is not taken. */
export type Heed = (answer: Answered<unknown>) => void;

export function tokenWatch(log: Log): Heed {
  let isTold = false;
  return (answer) => {
    const isRefused = answer.is !== 'ok' && isTokenRefused(answer);
    if (isRefused && !isTold) log.error('telegram_token_refused', { error: answer.error });
    if (isRefused || answer.is === 'ok') isTold = isRefused;
  };
}

interface Reading<T> {
  readonly part: Outgoing;
  readonly verb: Verb;
  readonly ids: (value: T) => SentIds;
  /** What is told when everything is already as it was asked for. */
  readonly asked?: SentIds;
  /** What the platform says then; that nothing was changed, unless told otherwise. */
  readonly already?: RegExp;
}

/** What an answer means for the part. */
export function sentBy<T>(heed: Heed, answer: Answered<T>, reading: Reading<T>): Sent {
  const { part, verb, ids, asked, already = unchanged } = reading;
  heed(answer);
  if (answer.is === 'ok') return { is: 'sent', ids: ids(answer.value) };
  if (asked !== undefined && isSaid(answer, already)) return { is: 'sent', ids: asked };
  const { address, topic } = part.route;
  return meaningOf(answer, { verb, address, topic });
}

function isSaid(answer: CallFault, words: RegExp): boolean {
  return answer.is === 'refused' && words.test(answer.error);
}

export function askedIds({ route }: Outgoing, messageId: number): SentIds {
  return { chatId: route.address, threadId: route.topic, messageId };
}
