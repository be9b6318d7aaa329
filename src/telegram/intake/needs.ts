import type { ChatFacts } from '../../app/ports/chat-facts.ts';
import type { ChatStore } from '../../app/ports/chats.ts';
import type { Bell, Clock, Digest, Ids, Log, Platform, Stopwatch, Timer } from '../../app/ports/outside.ts';
import type { UpkeepStore } from '../../app/ports/upkeep.ts';
import type { Chats } from '../../app/use-cases/reachable-chats.ts';
import type { TelegramApi } from '../api.ts';
import type { Command, ConversationRooms, Press, PressedHandler, SaidHandler } from '../chat/conversation.ts';
import { troubleOf } from '../errors.ts';
import type { Patience, Pauses } from './patience.ts';

/** What people can say and press, and what answers them. */
export interface Conversation {
  readonly commands: readonly Command[];
  readonly plainText: SaidHandler;
  readonly unknownCommand: SaidHandler;
  /** The command that somebody probably meant by an unknown word; null when none is near. */
  readonly nearCommand: (word: string) => string | null;
  readonly buttons: ReadonlyMap<string, PressedHandler>;
  readonly parsePress: (data: string) => Press | null;
  /** For what is of no form, or of no verb, that is known: `press` is null for the first. */
  readonly unknownPress: PressedHandler;
}

export interface InSettings {
  readonly owners: readonly number[];
  /** Addresses of chats that are approved in advance. */
  readonly chats: readonly string[];
  /** Null for long polling. */
  readonly webhook: { readonly url: string; readonly secret: string } | null;
}

export type InStore = ChatStore & Pick<ChatFacts, 'sentMessage'> & Pick<UpkeepStore, 'readNote' | 'writeNote'>;

export interface TelegramInNeeds {
  readonly api: TelegramApi;
  readonly platform: Platform;
  readonly store: InStore;
  readonly clock: Clock;
  readonly stopwatch: Stopwatch;
  readonly timer: Timer;
  readonly ids: Ids;
  readonly digest: Digest;
  readonly log: Log;
  readonly bell: Bell;
  /** At least 128 bits that nobody can guess, in letters that a link may hold. */
  readonly secret: () => string;
  /** Shows the claim code to whoever started the server, and to nobody else: never through the log. */
  readonly printClaim: (code: string) => void;
  readonly people: Chats;
  readonly rooms: Omit<ConversationRooms, 'botUsername' | 'setUp'>;
  readonly conversation: Conversation;
  readonly settings: InSettings;
}

/** Who the bot is, as the platform knows it. */
export interface Me {
  readonly id: number;
  readonly username: string;
  /** Private chats with the bot can have topics. */
  readonly hasTopics: boolean;
  /** Privacy mode is off: it sees every message of a group. */
  readonly readsEverything: boolean;
}

/** Asks until there is an answer. Null when everything stops before that. */
export async function askWhoIAm(api: TelegramApi, patience: Patience, pauses: Pauses): Promise<Me | null> {
  while (!pauses.ended()) {
    const answer = await api.ask((raw, signal) => raw.getMe(signal));
    if (answer.is === 'ok') {
      patience.succeeded();
      const { id, username, has_topics_enabled: hasTopics, can_read_all_group_messages: reads } = answer.value;
      // A server of an older version does not tell.
      return { id, username, hasTopics: hasTopics === true, readsEverything: reads };
    }
    await pauses.pause(patience.failed(troubleOf(answer)));
  }
  return null;
}
