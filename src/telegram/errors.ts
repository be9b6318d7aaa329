import { GrammyError, HttpError } from 'grammy';

/**
 * What became of a call, from the side of whoever asked. The cases differ in what is known about the effect:
 * `tooMany`, `refused`, `moved`, `token` and `troubled` are answers of the platform, so nothing was done; `unreached` never
 * left, because there was no connection; `lost` left, and what came of it is not known. Texts never hold the token.
 */
export type Answered<T> = { readonly is: 'ok'; readonly value: T } | Unanswered;

export type Unanswered =
  | { readonly is: 'tooMany'; readonly error: string; readonly retryAfterMs: number }
  | { readonly is: 'refused'; readonly error: string; readonly code: number }
  /** The group became a supergroup, which has another address. */
  | { readonly is: 'moved'; readonly error: string; readonly address: string }
  /** The platform does not know the bot's token, or no more. */
  | { readonly is: 'token'; readonly error: string }
  /** A fault of the platform's own, told by itself. */
  | { readonly is: 'troubled'; readonly error: string }
  | { readonly is: 'unreached'; readonly error: string }
  | { readonly is: 'lost'; readonly error: string };

/** The code that a socket's error is given while it is not connected: nothing of the call can have left. */
export const notConnected = 'NOT_CONNECTED';

/** The platform says how long to wait; a proxy in between that answers 429 by itself may not. */
const waitUnsaidMs = 5000;

export function unansweredBy(thrown: unknown, token: string): Unanswered {
  const unanswered = unscrubbed(thrown);
  return { ...unanswered, error: withoutToken(unanswered.error, token) };
}

function unscrubbed(thrown: unknown): Unanswered {
  if (thrown instanceof GrammyError && isAnswer(thrown)) return byPlatform(thrown);
  if (thrown instanceof HttpError) return byNetwork(thrown.error);
  // Whatever else went wrong went wrong after the call was made, so that it may have left.
  return { is: 'lost', error: textOf(thrown) };
}

/** A page of a proxy that happens to be JSON becomes an error of the client library too, but without a code. */
function isAnswer({ error_code: code, description }: { error_code: unknown; description: unknown }): boolean {
  return typeof code === 'number' && typeof description === 'string';
}

function byPlatform({ error_code: code, description: error, parameters }: GrammyError): Unanswered {
  const { retry_after: retryAfter, migrate_to_chat_id: movedTo } = parameters;
  if (code === 429)
    return { is: 'tooMany', error, retryAfterMs: retryAfter === undefined ? waitUnsaidMs : retryAfter * 1000 };
  if (movedTo !== undefined) return { is: 'moved', error, address: String(movedTo) };
  // An unknown token is 401; one of the wrong shape makes a path that the platform does not know.
  if (code === 401 || (code === 404 && error === 'Not Found')) return { is: 'token', error };
  return code >= 500 ? { is: 'troubled', error } : { is: 'refused', error, code };
}

function byNetwork(cause: unknown): Unanswered {
  const code = codeOf(cause);
  return { is: code === notConnected ? 'unreached' : 'lost', error: textOf(cause) };
}

function codeOf(thrown: unknown): string | null {
  const code = typeof thrown === 'object' && thrown !== null && 'code' in thrown ? thrown.code : null;
  return typeof code === 'string' ? code : null;
}

/** The fetching library names the whole address, of which the token is a part; only its reason says something anyway. */
function textOf(thrown: unknown): string {
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  const reason = /reason: ([\s\S]*)$/.exec(text)?.[1] ?? text;
  return reason === '' ? (codeOf(thrown) ?? 'no answer') : reason;
}

/** What looks like a token of the platform, also where `:` was made `%3A`. */
const anyToken = /\d{5,}(?::|%3a)[\w-]{20,}/gi;

function withoutToken(text: string, token: string): string {
  return text.replaceAll(token, '[token]').replace(anyToken, '[token]');
}

/** Why a question was not answered, by what helps against it. `refused` gets the same answer again. */
export interface Trouble {
  readonly is: 'conflict' | 'webhook' | 'token' | 'busy' | 'refused' | 'away';
  readonly retryAfterMs: number | null;
  /** For the log: the words of the platform, or of the network. */
  readonly text: string;
}

export function troubleOf(unanswered: Unanswered): Trouble {
  const { is, error: text } = unanswered;
  switch (is) {
    case 'tooMany':
      return { is: 'busy', retryAfterMs: unanswered.retryAfterMs, text };
    case 'token':
      return { is: 'token', retryAfterMs: null, text };
    case 'refused':
      return { is: refusalOf(unanswered.code, text), retryAfterMs: null, text };
    case 'moved':
      return { is: 'refused', retryAfterMs: null, text };
    case 'troubled':
    case 'unreached':
    case 'lost':
      return { is: 'away', retryAfterMs: null, text };
  }
}

function refusalOf(code: number, text: string): Trouble['is'] {
  if (code !== 409) return 'refused';
  return text.includes('webhook is active') ? 'webhook' : 'conflict';
}
