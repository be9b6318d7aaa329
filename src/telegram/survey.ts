import { z } from 'zod';
import type { CallFault, Clock, Timer } from '../app/ports/outside.ts';
import { createTelegramApi, type CallSignal, type TelegramApi } from './api.ts';
import { type Answered, troubleOf, type Trouble } from './errors.ts';
import { memberStatusOf, rightsOf } from './intake/payload.ts';

/**
 * Questions about a bot that change nothing at the other end: what waits for the bot still waits afterwards, because no
 * update is confirmed and the kinds of updates stay as they were asked for last.
 */
export type Surveyed<T> =
  | { readonly is: 'ok'; readonly value: T }
  /** With the words of Telegram, or of the network. */
  | { readonly is: Trouble; readonly text: string };

export interface SurveyedBot {
  readonly id: number;
  readonly name: string;
  readonly username: string;
  readonly hasTopics: boolean;
  readonly readsEverything: boolean;
}

export interface SurveyedText {
  readonly updateId: number;
  readonly userId: number;
  readonly name: string;
  readonly text: string;
}

export interface Survey {
  me(): Promise<Surveyed<SurveyedBot>>;
  webhook(): Promise<Surveyed<WebhookFacts>>;
  /**
   * Texts that people wrote to the bot in private, and that are not fetched yet; not `isAll` when more waits behind it. While nothing
   * waits the answer may take so long, in which another program that fetches too would come into its way.
   */
  texts(waitSeconds: number): Promise<Surveyed<Waiting>>;
  standing(address: string, botId: number): Promise<Surveyed<ChatStanding>>;
  close(): void;
}

export interface Waiting {
  readonly texts: readonly SurveyedText[];
  readonly isAll: boolean;
}

export interface WebhookFacts {
  readonly url: string;
  readonly pending: number;
  readonly lastError: string | null;
  readonly lastErrorAt: number | null;
}

export interface ChatStanding {
  readonly isForum: boolean;
  readonly isMember: boolean;
  readonly isAdmin: boolean;
  readonly canManageTopics: boolean;
  readonly canPin: boolean;
}

/** The asker sits at a terminal. */
const askedWaitMs = 8000;
const updatesMax = 100;

export function openSurvey(bot: { readonly token: string; readonly apiRoot: string; readonly timer: Timer }): Survey {
  const api = createTelegramApi(bot);
  return {
    close: () => api.close(),
    me: async () => {
      const answer = await api.ask((raw, signal) => raw.getMe(signal), askedWaitMs);
      return surveyed(answer, ({ id, first_name: name, username, ...more }) => ({
        id,
        name,
        username,
        // A server of an older version does not tell.
        hasTopics: more.has_topics_enabled === true,
        readsEverything: more.can_read_all_group_messages,
      }));
    },
    webhook: async () => {
      const answer = await api.ask((raw, signal) => raw.getWebhookInfo(signal), askedWaitMs);
      return surveyed(answer, ({ url = '', pending_update_count: pending, ...last }) => ({
        url,
        pending,
        lastError: last.last_error_message ?? null,
        lastErrorAt: last.last_error_date === undefined ? null : last.last_error_date * 1000,
      }));
    },
    texts: async (waitSeconds) => {
      const asked = { limit: updatesMax, timeout: waitSeconds };
      const ask = (raw: TelegramApi['raw'], signal: CallSignal) => raw.getUpdates(asked, signal);
      const answer = await api.ask(ask, askedWaitMs + waitSeconds * 1000);
      return surveyed(answer, (updates) => ({
        texts: updates.flatMap((update) => textOf(update)),
        isAll: updates.length < updatesMax,
      }));
    },
    standing: (address, botId) => standing(api, address, botId),
  };
}

function surveyed<T, S>(answer: Answered<T>, read: (value: T) => S): Surveyed<S> {
  return answer.is === 'ok' ? { is: 'ok', value: read(answer.value) } : unanswered(answer);
}

function unanswered(fault: CallFault) {
  return { is: troubleOf(fault), text: fault.error };
}

const privateText = z.object({
  update_id: z.int(),
  message: z.object({
    text: z.string(),
    chat: z.object({ type: z.literal('private') }),
    from: z.object({ id: z.int(), first_name: z.string(), is_bot: z.literal(false) }),
  }),
});

function textOf(update: unknown): SurveyedText[] {
  const read = privateText.safeParse(update);
  if (!read.success) return [];
  const { update_id: updateId, message } = read.data;
  return [{ updateId, userId: message.from.id, name: message.from.first_name, text: message.text }];
}

async function standing(api: TelegramApi, address: string, botId: number) {
  const [chat, member] = await Promise.all([
    api.ask((raw, signal) => raw.getChat({ chat_id: address }, signal), askedWaitMs),
    api.ask((raw, signal) => raw.getChatMember({ chat_id: address, user_id: botId }, signal), askedWaitMs),
  ]);
  if (chat.is !== 'ok') return unanswered(chat);
  return surveyed(member, (bot) => ({
    isForum: 'is_forum' in chat.value && chat.value.is_forum === true,
    isMember: bot.status !== 'left' && bot.status !== 'kicked',
    isAdmin: memberStatusOf(bot) === 'admin',
    ...rightsOf(bot),
  }));
}

export interface PlatformTime {
  /** The beginning of the second that the other end named. */
  readonly theirs: number;
  /** Our own clock before and after. */
  readonly from: number;
  readonly to: number;
}

const timeWaitMs = 5000;

/** The time at the other end; asked without the token, which it takes no part in. */
export async function platformTime(apiRoot: string, clock: Clock): Promise<Surveyed<PlatformTime>> {
  try {
    const from = clock.now();
    const answer = await fetch(apiRoot, { redirect: 'manual', signal: AbortSignal.timeout(timeWaitMs) });
    const to = clock.now();
    await answer.body?.cancel();
    const theirs = Date.parse(answer.headers.get('date') ?? '');
    if (Number.isFinite(theirs)) return { is: 'ok', value: { theirs, from, to } };
    return { is: 'away', text: 'it does not tell the time' };
  } catch (error) {
    return { is: 'away', text: reasonOf(error) };
  }
}

/** The fetching library hides why behind a general phrase. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause : error;
  const { code } = cause as { code?: unknown };
  return typeof code === 'string' ? code : cause.message;
}
