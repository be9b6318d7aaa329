import type { Sent } from '../../app/ports/outside.ts';
import type { TelegramApi } from '../api.ts';
import { isPrivate } from './refusals.ts';
import { createRing } from './ring.ts';

/**
 * Chats whose topics are switched off. The platform takes a message for a topic there, and shows it outside of every topic.
 * The topics are still there when they are switched on again, so none of them is to blame, and none must be made anew.
 */
export interface Forums {
  /** Asks the platform; without an answer nothing is known to be off. */
  areOff(address: string): Promise<boolean>;
  /** The same for a chat in which they were off when it was last asked; nothing is asked about any other. */
  areStillOff(address: string): Promise<boolean>;
}

export const topicsOff: Sent = {
  is: 'blocked',
  cause: 'topics_off',
  error: 'topics are switched off: the message could only stand outside of its topic',
};

const keptMax = 1000;

export function createForums(api: TelegramApi): Forums {
  const known = createRing<true>(keptMax);
  const areOff = async (address: string) => {
    const isOff = isPrivate(address) ? await isOffForAll(api) : await isOffIn(api, address);
    if (isOff) known.put(address, true);
    else known.drop(address);
    return isOff;
  };
  return {
    areOff,
    areStillOff: async (address) => known.get(address) === true && (await areOff(address)),
  };
}

/** For private chats whoever made the bot has the switch, for all of them together. */
async function isOffForAll(api: TelegramApi): Promise<boolean> {
  const answer = await api.ask((raw, signal) => raw.getMe(signal));
  return answer.is === 'ok' && answer.value.has_topics_enabled === false;
}

async function isOffIn(api: TelegramApi, address: string): Promise<boolean> {
  const answer = await api.ask((raw, signal) => raw.getChat({ chat_id: address }, signal));
  return answer.is === 'ok' && answer.value.is_forum !== true;
}
