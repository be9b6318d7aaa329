import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Api, Bot, type Context, type RawApi, type Transformer } from 'grammy';
import type { UserFromGetMe } from 'grammy/types';
import { z } from 'zod';
import { createSecrets } from '../app/operations/secrets.ts';
import type { Meter } from '../app/ports/metering.ts';
import type { Budget, Stopwatch, Timer } from '../app/ports/outside.ts';
import { answerBytesMax, topicIdMax } from '../domain/limits.ts';
import { type Answered, faultIn, notConnected, noTopicHere, topicGone } from './errors.ts';

/** The signal of a package that the client library declares; it stands for the signal of Node, which is typed apart. */
export type CallSignal = NonNullable<Parameters<RawApi['getMe']>[0]>;

export interface TelegramApi {
  /** For whoever bounds the time of a call and reads its errors by himself: those may hold the token. */
  readonly raw: RawApi;
  /** Makes one call. Nothing throws for what Telegram or the network does; nothing is repeated. */
  ask<T>(
    call: (raw: RawApi, signal: CallSignal) => Promise<T>,
    timeoutMs?: number,
    stop?: AbortSignal,
  ): Promise<Answered<T>>;
  /** The usual wait for an answer. */
  readonly timeoutMs: number;
  /** A bot that is never started: stored updates are handed to it. It calls over the same connections. */
  bot<C extends Context>(me: UserFromGetMe): Bot<C>;
  /** Closes idle connections, and ends what is under way. */
  close(): void;
}

/** For calls that have no turn of their own in the pipeline. */
export type AsideApi = Pick<TelegramApi, 'ask'>;

export function asideApi(api: AsideApi, budget: Pick<Budget, 'aside'>): AsideApi {
  return { ask: (...asked) => budget.aside(() => api.ask(...asked)) };
}

/** Calls of a process that others may have taken over from do not leave it. */
export function whileHeld(api: TelegramApi, isHeld: () => boolean): TelegramApi {
  const error = 'this process was away, and another may have taken over';
  return { ...api, ask: async (...asked) => (isHeld() ? api.ask(...asked) : { is: 'unreached', error }) };
}

interface TelegramApiDeps {
  readonly token: string;
  readonly apiRoot: string;
  readonly timer: Timer;
  /** Counts every call; absent where nobody measures. */
  readonly measure?: { readonly meter: Meter; readonly stopwatch: Stopwatch };
  /** How long an answer is waited for. */
  readonly timeoutMs?: number;
}

/** Long enough for a slow line and a busy Telegram; after that people wonder more about silence than about a repetition. */
const answerWaitMs = 15_000;
/** Shorter than the wait for an answer, so that a server that cannot be reached is known as that: nothing has left. */
const connectWaitMs = 8000;
/** An idle connection shows so often that the other end still knows it; one that was forgotten would swallow the next send. */
const probeIdleMs = 10_000;
/** An idle connection is kept so long, unless the other end names a shorter time or closes it. */
const keepIdleMs = 300_000;

/**
 * The client library over connections that stay open, so that a send in the steady state costs one round trip. Its own
 * retries are not used: the outbox repeats what must be repeated, also after a restart.
 */
export function createTelegramApi(deps: TelegramApiDeps): TelegramApi {
  const { token, timer, timeoutMs = answerWaitMs } = deps;
  const apiRoot = deps.apiRoot.replace(/\/+$/, '');
  const secrets = createSecrets([token]);
  const agent = agentFor(apiRoot, timer);
  const client = { apiRoot, baseFetchConfig: { compress: true, agent, size: answerBytesMax } };
  const api = new Api(token, client);
  api.config.use(checked);
  if (deps.measure !== undefined) api.config.use(measured(deps.measure));
  const { raw } = api;
  return {
    raw,
    timeoutMs,
    bot: <C extends Context>(me: UserFromGetMe) => {
      const bot = new Bot<C>(token, { client, botInfo: me });
      bot.api.config.use(...api.config.installedTransformers());
      return bot;
    },
    ask: async (call, ms = timeoutMs, stop) => {
      const controller = new AbortController();
      const signal = stop === undefined ? controller.signal : AbortSignal.any([controller.signal, stop]);
      let callOff = () => {};
      // Resolved as well as aborted, for a connection that does not heed the signal.
      const overdue = new Promise<never>((_resolve, reject) => {
        callOff = timer.after(ms, () => {
          controller.abort();
          reject(new Error('overdue'));
        });
      });
      try {
        return { is: 'ok', value: await Promise.race([call(raw, signal as unknown as CallSignal), overdue]) };
      } catch (error) {
        if (controller.signal.aborted) return { is: 'lost', error: `no answer within ${ms / 1000} s` };
        const fault = faultIn(error, token);
        return { ...fault, error: secrets.hide(fault.error) };
      } finally {
        callOff();
      }
    },
    close: () => agent.destroy(),
  };
}

function agentFor(apiRoot: string, timer: Timer): HttpAgent {
  const options = { keepAlive: true, keepAliveMsecs: probeIdleMs, timeout: keepIdleMs };
  const agent = apiRoot.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
  const connected = apiRoot.startsWith('https:') ? 'secureConnect' : 'connect';
  const connect: HttpAgent['createConnection'] = agent.createConnection.bind(agent);
  agent.createConnection = (to, callback) => {
    const socket = connect(to, callback);
    if (socket !== null && socket !== undefined) watchConnecting(socket, connected, timer);
    return socket;
  };
  return agent;
}

type Socket = NonNullable<ReturnType<HttpAgent['createConnection']>>;

/** Gives up a connection that does not come about, and marks every error until then, so that it is known what it means. */
function watchConnecting(socket: Socket, connected: string, timer: Timer): void {
  const callOff = timer.after(connectWaitMs, () =>
    socket.destroy(new Error(`no connection within ${connectWaitMs / 1000} s`)),
  );
  const mark = (error: NodeJS.ErrnoException) => {
    error.message ||= String(error.code ?? error.name);
    error.code = notConnected;
  };
  const leave = () => {
    callOff();
    socket.off('error', mark);
  };
  socket.prependListener('error', mark);
  socket.once(connected, leave);
  socket.once('close', leave);
}

const sends = [
  'sendMessage',
  'sendPhoto',
  'sendVideo',
  'sendVoice',
  'sendAudio',
  'sendDocument',
  'sendAnimation',
] as const;
const edits = ['editMessageText', 'editMessageCaption', 'editMessageReplyMarkup'] as const;
const number = z.int();
/** A message without a number is one that one person alone sees, and has a number of that kind. */
const sent = z
  .object({
    message_id: number.nonnegative(),
    chat: z.object({ id: number }),
    message_thread_id: number.optional(),
    ephemeral_message_id: number.positive().optional(),
  })
  .refine(({ message_id: id, ephemeral_message_id: alone }) => id > 0 || alone !== undefined);
const edited = z.union([z.literal(true), sent]);

/** Updates that may be asked for at once; a list of more is no answer. */
export const updatesMax = 100;

/** As far as results are read; the updates of a list are looked at one by one where they are taken in. */
const results: Readonly<Partial<Record<keyof RawApi, z.ZodType>>> = {
  getMe: z.object({ id: number, username: z.string() }),
  getUpdates: z.array(z.unknown()).max(updatesMax),
  getChat: z.object({ id: number }),
  getChatMember: z.object({ status: z.string(), user: z.object({ id: number }) }),
  // The first is the base thread of every forum.
  createForumTopic: z.object({ message_thread_id: number.min(2) }),
  ...Object.fromEntries(sends.map((method) => [method, sent])),
  sendMediaGroup: z.array(sent).min(1),
  ...Object.fromEntries(edits.map((method) => [method, edited])),
};

/** A proxy in between may answer with any JSON. */
const told = z.union([
  z.object({ ok: z.literal(true) }),
  z.object({ ok: z.literal(false), error_code: z.number(), description: z.string() }),
]);

/** An answer that is none to the question counts as no answer: what was asked may have been done. */
const checked: Transformer = async (prev, ...call) => {
  const answer = await prev(...call);
  const isTold = told.safeParse(answer).success;
  const fits = isTold && (!answer.ok || (results[call[0]]?.safeParse(answer.result).success ?? true));
  if (!fits) throw new Error(`Telegram answered ${call[0]} with something else than its result`);
  return answer;
};

/** Counts every call by what became of it. Methods are named by our own code alone, so there are only so many. */
function measured({ meter, stopwatch }: NonNullable<TelegramApiDeps['measure']>): Transformer {
  return async (prev, ...call) => {
    const [method] = call;
    const from = stopwatch.elapsed();
    const count = (result: string) => {
      meter.count('telegram_calls_total', { method, result });
      if (method !== 'getUpdates') meter.took('telegram_call_duration_seconds', { method }, stopwatch.elapsed() - from);
    };
    try {
      const answer = await prev(...call);
      count(answer.ok ? 'ok' : resultOf(answer.error_code));
      return answer;
    } catch (error) {
      count('none');
      throw error;
    }
  };
}

function resultOf(code: number): string {
  if (code === 429) return 'rate_limited';
  return code >= 500 ? 'troubled' : 'refused';
}

/**
 * Whether a private chat has topics; null without an answer. No field tells of one chat, and the bot's own word is about all of
 * them. So a topic that cannot be there is asked for: the refusal tells whether that is missing, or topics are.
 */
export async function hasPrivateTopics(aside: AsideApi, address: string): Promise<boolean | null> {
  const nowhere = { chat_id: address, message_thread_id: topicIdMax };
  const probe = await aside.ask((raw, signal) => raw.editForumTopic(nowhere, signal));
  if (probe.is === 'refused' && noTopicHere.test(probe.error)) return false;
  if (probe.is === 'refused' && topicGone.test(probe.error)) return true;
  const me = await aside.ask((raw, signal) => raw.getMe(signal));
  return me.is === 'ok' ? me.value.has_topics_enabled === true : null;
}
