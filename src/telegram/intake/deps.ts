import type { Composer } from 'grammy';
import type { ChatFacts } from '../../app/ports/chat-facts.ts';
import type { Chat, ChatStore } from '../../app/ports/chats.ts';
import type { Hints } from '../../app/ports/hints.ts';
import type { Clock, Platform, World } from '../../app/ports/outside.ts';
import type { Processes } from '../../app/ports/processes.ts';
import type { LeaseStore, UpkeepStore } from '../../app/ports/upkeep.ts';
import type { Access } from '../../app/use-cases/membership.ts';
import type { Chats } from '../../app/use-cases/reachable-chats.ts';
import type { SecretQuestions } from '../../app/use-cases/secret-questions.ts';
import { isZoneConfirmed } from '../../domain/chat-settings.ts';
import type { AsideApi, TelegramApi } from '../api.ts';
import type { BotContext, ChatDeps, Command, Place } from '../chat/context.ts';
import type { LocaleOf } from '../chat/texts.ts';

/** The chat as intake sees it: its commands, and what answers words and buttons. */
export interface Conversation {
  readonly commands: readonly Command[];
  /** The command that somebody probably meant by an unknown word; null when none is near. */
  readonly nearCommand: (word: string) => string | null;
  /** Answers what was said or pressed. */
  readonly chat: Composer<BotContext>;
}

export interface InSettings {
  readonly owners: readonly number[];
  /** Addresses of chats that are approved in advance. */
  readonly chats: readonly string[];
  /** Null for long polling. */
  readonly webhook: { readonly url: string; readonly secret: string } | null;
}

export type InStore = ChatStore &
  Pick<ChatFacts, 'sentMessage'> &
  Pick<UpkeepStore, 'readNote' | 'writeNote'> &
  LeaseStore;

/** Processes that take updates in beside this one. */
export interface Others {
  readonly hints: Hints;
  readonly processes: Pick<Processes, 'onRenewal'>;
  /** The clock on the wall of this computer. */
  readonly wall: Clock;
}

export interface TelegramInDeps extends World {
  /** Words from other processes that take updates in as well; null where this one does so alone. */
  readonly others: Others | null;
  /** This process, among those that may take updates in. */
  readonly bootId: string;
  readonly api: TelegramApi;
  /** For everything but polling and what sets the bot up. */
  readonly aside: AsideApi;
  readonly platform: Platform;
  readonly store: InStore;
  /** At least 128 bits that nobody can guess, in letters that a link may hold. */
  readonly secret: () => string;
  /** Shows the claim code to whoever started the server, and to nobody else: never through the log. */
  readonly printClaim: (code: string) => void;
  readonly people: Chats;
  readonly access: Access;
  readonly secretQuestions: Pick<SecretQuestions, 'sealed' | 'expect' | 'begin'>;
  /** Use cases, and all else that handlers may use. */
  readonly chatDeps: Omit<ChatDeps, 'bot' | 'setUp'>;
  readonly conversation: Conversation;
  readonly settings: InSettings;
  readonly localeOf?: LocaleOf;
}

/** The place of a word or a press, with the zone in which the chat speaks of time. */
export function placeOf(
  { chatDeps }: Pick<TelegramInDeps, 'chatDeps'>,
  chat: Chat,
  where: Pick<Place, 'topic' | 'topicTask' | 'isForum'>,
): Place {
  return {
    chat,
    ...where,
    timezone: chat.timezone ?? chatDeps.defaultTimezone,
    isZoneConfirmed: isZoneConfirmed(chat),
  };
}
