import { topicName } from '../../app/pipeline/topics.ts';
import type { Budget, CallFault, Log, Outgoing, Sent, SentIds } from '../../app/ports/outside.ts';
import type { DeliveryDeed } from '../../domain/delivery.ts';
import type { TelegramApi } from '../api.ts';
import { type Answered, isTokenRefused, topicGone } from '../errors.ts';
import type { Call } from './calls.ts';
import { isPrivate, meaningOf, messageAway, unchanged, type Verb } from './refusals.ts';

interface Line {
  readonly api: TelegramApi;
  readonly budget: Budget;
  readonly log: Log;
  readonly heed: Heed;
}

/** A message in the wrong place is worth asking twice more. */
const removalsMax = 3;

interface Doing {
  readonly verb: Verb;
  /** The number of the message, or of the topic. */
  readonly idOf: (part: Outgoing) => number | null;
  readonly call: (chatId: string, id: number, part: Outgoing) => Call<unknown>;
  /** Telegram's words when everything is already as it was asked for: that counts as done. */
  readonly already?: RegExp;
}

const ofMessage = ({ edits }: Outgoing) => edits;
const ofTopic = ({ route }: Outgoing) => route.topic;

const deeds: Readonly<Record<DeliveryDeed, Doing>> = {
  pin: {
    verb: 'pin',
    idOf: ofMessage,
    call: (chat_id, message_id) => (raw, signal) =>
      raw.pinChatMessage({ chat_id, message_id, disable_notification: true }, signal),
  },
  close: {
    verb: 'setTopic',
    idOf: ofTopic,
    call: (chat_id, message_thread_id) => (raw, signal) => raw.closeForumTopic({ chat_id, message_thread_id }, signal),
    already: unchanged,
  },
  open: {
    verb: 'setTopic',
    idOf: ofTopic,
    call: (chat_id, message_thread_id) => (raw, signal) => raw.reopenForumTopic({ chat_id, message_thread_id }, signal),
    already: unchanged,
  },
  rename: {
    verb: 'rename',
    idOf: ofTopic,
    call:
      (chat_id, message_thread_id, { shown }) =>
      (raw, signal) =>
        raw.editForumTopic({ chat_id, message_thread_id, name: topicName('text' in shown ? shown.text : '') }, signal),
    already: unchanged,
  },
  remove: {
    verb: 'remove',
    idOf: ofMessage,
    call: (chat_id, message_id) => (raw, signal) => raw.deleteMessage({ chat_id, message_id }, signal),
    already: messageAway,
  },
  removeTopic: {
    verb: 'remove',
    idOf: ofTopic,
    call: (chat_id, message_thread_id) => (raw, signal) => raw.deleteForumTopic({ chat_id, message_thread_id }, signal),
    already: topicGone,
  },
};

/** Deeds are answered by yes or no, so the ids that were asked for are those of the answer. */
export async function act(
  { api, heed }: Pick<Line, 'api' | 'heed'>,
  part: Outgoing,
  deed: DeliveryDeed,
): Promise<Sent> {
  const { verb, idOf, call, already } = deeds[deed];
  const { address } = part.route;
  const id = idOf(part);
  if (verb === 'setTopic' && (id === null || isPrivate(address)))
    return { is: 'moot', error: 'there is no topic that could be closed' };
  if (id === null) return { is: 'refused', error: 'it names no message and no topic to which this could be done' };
  const asked = askedIds(part, id);
  const answer = await api.ask(call(address, id, part));
  return sentBy(heed, answer, { part, verb, ids: () => asked, ...(already === undefined ? {} : { asked, already }) });
}

export async function takeBack(line: Line, { messageId, more = [], ...ids }: SentIds): Promise<void> {
  for (const each of [messageId, ...more]) await takeBackOne(line, { ...ids, messageId: each });
}

/** A message that cannot be taken back stays in the wrong place, and the log says so. */
async function takeBackOne({ api, budget, log }: Line, { chatId, messageId }: SentIds): Promise<void> {
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
  /** The ids to tell when everything is already as it was asked for. */
  readonly asked?: SentIds;
  /** Telegram's words then; that nothing was changed, unless told otherwise. */
  readonly already?: RegExp;
}

/** The meaning of an answer for the part. */
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
