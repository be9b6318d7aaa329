import type { Budget, Log, Outgoing, Sent, SentIds } from '../../app/ports/outside.ts';
import type { TelegramApi } from '../api.ts';
import { askedIds, sentBy, type Heed } from './answers.ts';
import { messageAway, topicGone } from './refusals.ts';

interface Room {
  readonly api: TelegramApi;
  readonly budget: Budget;
  readonly log: Log;
  readonly heed: Heed;
}

/** A message in the wrong place is worth asking twice more. */
const removalsMax = 3;

/** What is gone already is as good as removed. */
export async function removeMessage({ api, heed }: Room, part: Outgoing): Promise<Sent> {
  const { edits: messageId, route } = part;
  if (messageId === null) return { is: 'refused', error: 'no message is named that could be removed' };
  const answer = await api.ask((raw, signal) =>
    raw.deleteMessage({ chat_id: route.address, message_id: messageId }, signal),
  );
  const asked = askedIds(part, messageId);
  return sentBy(heed, answer, { part, verb: 'remove', ids: () => asked, asked, already: messageAway });
}

/** The message that opens a topic has the topic's id, and stands for it where a message must be named. */
export async function removeTopic({ api, heed }: Room, part: Outgoing): Promise<Sent> {
  const { address, topic } = part.route;
  if (topic === null) return { is: 'refused', error: 'no topic is named that could be removed' };
  const answer = await api.ask((raw, signal) =>
    raw.deleteForumTopic({ chat_id: address, message_thread_id: topic }, signal),
  );
  const asked = askedIds(part, topic);
  return sentBy(heed, answer, { part, verb: 'remove', ids: () => asked, asked, already: topicGone });
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
    if (answer.is === 'tooMany') await budget.hold(chatId, answer.retryAfterMs);
    if (answer.is === 'refused' || answer.is === 'moved' || answer.is === 'token') break;
  }
  log.warn('message_not_removed', { chat_id: chatId, message_id: messageId, error });
}
