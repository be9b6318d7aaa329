import { GrammyError, HttpError } from 'grammy';
import { z } from 'zod';
import type { CallFault } from '../app/ports/outside.ts';
import { errorText, faultCodeOf } from '../domain/errors.ts';

/** The outcome of a call, before the words of a refusal are read. Texts never hold the token. */
export type Answered<T> = { readonly is: 'ok'; readonly value: T } | CallFault;

/** The code that a socket's error is given while it is not connected: nothing of the call can have left. */
export const notConnected = 'NOT_CONNECTED';

/** Telegram says how long to wait; a proxy in between that answers 429 by itself may not. */
const waitUnsaidMs = 5000;
/** Telegram has told bots to wait for hours; a longer time than a day is a fault of somebody in between. */
const retryAfterMaxSeconds = 86_400;

export function faultIn(thrown: unknown, token: string): CallFault {
  const fault = unscrubbed(thrown);
  return { ...fault, error: withoutToken(fault.error, token) };
}

function unscrubbed(thrown: unknown): CallFault {
  if (thrown instanceof GrammyError) return byTelegram(thrown);
  if (thrown instanceof HttpError) return byNetwork(thrown.error);
  // All other errors come after the call was made, so that it may have left.
  return { is: 'lost', error: textOf(thrown) };
}

/** A proxy in between may write anything there; what makes no sense was not said. Telegram asks for whole seconds, at least one. */
const told = z
  .object({
    retry_after: z.number().min(1).max(retryAfterMaxSeconds).optional().catch(undefined),
    migrate_to_chat_id: z.int().negative().optional().catch(undefined),
  })
  .catch({});

function byTelegram({ error_code: code, description: error, parameters }: GrammyError): CallFault {
  const { retry_after: seconds, migrate_to_chat_id: movedTo } = told.parse(parameters);
  if (code === 429) return { is: 'wait', error, ms: seconds === undefined ? waitUnsaidMs : seconds * 1000 };
  if (movedTo !== undefined) return { is: 'moved', error, address: String(movedTo) };
  return code >= 500 ? { is: 'unreached', error } : { is: 'refused', error, code };
}

/** Telegram does not know the bot's token, or no more. One of the wrong shape makes a path that it does not know. */
export function isTokenRefused(fault: CallFault): boolean {
  return fault.is === 'refused' && (fault.code === 401 || (fault.code === 404 && fault.error === 'Not Found'));
}

function byNetwork(cause: unknown): CallFault {
  return { is: faultCodeOf(cause) === notConnected ? 'unreached' : 'lost', error: textOf(cause) };
}

/** The fetching library names the whole address, of which the token is a part; only its reason says something anyway. */
function textOf(thrown: unknown): string {
  const text = errorText(thrown);
  const reason = /reason: ([\s\S]*)$/.exec(text)?.[1] ?? text;
  return reason || faultCodeOf(thrown) || 'no answer';
}

/** Text that looks like a token of Telegram, also where `:` was made `%3A`. */
const anyToken = /\d{5,}(?::|%3a)[\w-]{20,}/gi;

function withoutToken(text: string, token: string): string {
  return text.replaceAll(token, '[token]').replace(anyToken, '[token]');
}

/** Why a question was not answered, by what helps against it. `refused` gets the same answer again. */
export type Trouble = 'conflict' | 'webhook' | 'token' | 'busy' | 'refused' | 'away';

export function troubleOf(fault: CallFault): Trouble {
  if (fault.is === 'wait') return 'busy';
  if (fault.is === 'lost' || fault.is === 'unreached') return 'away';
  if (isTokenRefused(fault)) return 'token';
  if (fault.is !== 'refused' || fault.code !== 409) return 'refused';
  return fault.error.includes('webhook is active') ? 'webhook' : 'conflict';
}

/** A chat has no topics, or not this one. */
export const noTopicHere = /the chat is not a (?:supergroup )?forum/i;
export const topicGone = /message thread not found|TOPIC_DELETED|TOPIC_ID_INVALID/i;
