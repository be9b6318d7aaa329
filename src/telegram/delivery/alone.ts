import { createRecent } from '../../app/operations/recent.ts';
import type { OnlyFor } from '../../app/ports/chats.ts';
import type { CallFault, Clock, Outgoing, Sent, Stopwatch } from '../../app/ports/outside.ts';
import type { Drawn } from '../../domain/shown.ts';
import type { TelegramApi } from '../api.ts';
import { isTokenRefused } from '../errors.ts';
import { type Call, sendCall, contentOf, idsOfAll, whereOf } from './calls.ts';
import { isPrivate, meaningOf, unchanged } from './refusals.ts';

interface AloneDeps {
  readonly api: TelegramApi;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
}

/** A chat that refuses is asked again after this: the bot may have been made an admin. */
const refusalKeptMs = 60 * 60_000;
const chatsMax = 1000;

/** Refusals that tell of the one word or person, and nothing of whether the chat can do it. */
const passing = /too old|query ID is invalid|PARTICIPANT|USER_ID_INVALID|message not found|MESSAGE_ID_INVALID|entit/i;

/** Messages that one person alone sees. */
export function createAlone({ api, clock, stopwatch }: AloneDeps) {
  const refused = createRecent<true>(chatsMax, { ms: refusalKeptMs, stopwatch });
  const reachOf = ({ onlyFor, route, edits }: Outgoing): 'alone' | 'late' | 'all' => {
    if (onlyFor === null || edits !== null || isPrivate(route.address)) return 'all';
    if (refused.has(route.address)) return 'all';
    return onlyFor.ephemeralId !== undefined || clock.now() < onlyFor.until ? 'alone' : 'late';
  };
  const toAll = ({ route }: Outgoing, answer: CallFault) => {
    if (!passing.test(answer.error)) refused.put(route.address, true);
    return null;
  };
  return {
    /** The one who is to see it, as far as that is known before a call is spent on it; `late`: all, as the time to tell one alone is over. */
    reachOf,
    /** Null when everybody must see it: it is for all, or Telegram does not do that here, or not any more. */
    send: async (part: Outgoing, drawn: Drawn): Promise<Sent | null> => {
      const { onlyFor, route } = part;
      if (onlyFor === null || reachOf(part) !== 'alone') return null;
      const ephemeralId = onlyFor.ephemeralId;
      const ask =
        ephemeralId === undefined ? posted(part, drawn, onlyFor) : changed(part, drawn, onlyFor.userId, ephemeralId);
      const answer = await api.ask(ask);
      if (answer.is === 'ok') return { is: 'sent', ids: answer.value };
      if (answer.is !== 'refused' || isTokenRefused(answer))
        return meaningOf(answer, { verb: 'send', address: route.address, topic: route.topic });
      if (ephemeralId !== undefined && unchanged.test(answer.error))
        return { is: 'sent', ids: idsFor(part, ephemeralId) };
      return toAll(part, answer);
    },
  };
}

type Ids = Extract<Sent, { is: 'sent' }>['ids'];

function idsFor({ route }: Outgoing, ephemeralId: number): Ids {
  return { chatId: route.address, threadId: route.topic, messageId: 0, ephemeralId };
}

/** Such a message cannot answer one that everybody sees. */
function posted(part: Outgoing, drawn: Drawn, { userId, callbackId }: OnlyFor): Call<Ids> {
  const where = {
    ...whereOf(part),
    ephemeral_message_parameters: {
      receiver_user_id: userId,
      ...(callbackId === undefined ? {} : { callback_query_id: callbackId }),
    },
  };
  const send = sendCall(where, drawn);
  return async (raw, signal) => idsOfAll(await send(raw, signal));
}

function changed(part: Outgoing, drawn: Drawn, userId: number, ephemeralId: number): Call<Ids> {
  const at = {
    chat_id: part.route.address,
    receiver_user_id: userId,
    ephemeral_message_id: ephemeralId,
  };
  return async (raw, signal) => {
    await raw.editEphemeralMessageText({ ...at, ...contentOf(drawn) }, signal);
    return idsFor(part, ephemeralId);
  };
}
