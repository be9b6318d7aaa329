import type { TelegramApi } from '../api.ts';
import type { Patience, Pauses } from './patience.ts';
import { troubleOf } from './trouble.ts';

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
