import type { Stopwatch } from '../../app/ports/outside.ts';
import type { TelegramApi } from '../api.ts';
import type { ConversationRooms, SetUp } from '../chat/conversation.ts';
import type { Me } from './identity.ts';
import type { FromMember } from './payload.ts';

/** How the bot stands in chats: whether topics are on, and what it may do there. */
export interface SetUps {
  /** Asks the platform, unless it has answered a moment ago. */
  readonly of: ConversationRooms['setUp'];
  /** The platform told by itself. */
  heard(address: string, member: FromMember): void;
}

interface Needs {
  readonly api: TelegramApi;
  readonly stopwatch: Stopwatch;
  readonly me: () => Me;
}

type Rights = Pick<SetUp, 'canManageTopics' | 'canPin'>;
type Known = Rights | Pick<SetUp, 'topicsEnabled'>;

/** What was answered holds so long: `/start`, a press and a task that is made ask within seconds of each other. */
const keptMs = 60_000;
/** Chats that are remembered for that; past that all are forgotten, which costs one call each. */
const rememberedMax = 10_000;

export function createSetUps(needs: Needs): SetUps {
  const { stopwatch, me } = needs;
  const known = new Map<string, { readonly at: number; readonly facts: Known }>();
  const keep = (address: string, facts: Known) => {
    if (known.size >= rememberedMax) known.clear();
    known.set(address, { at: stopwatch.elapsed(), facts });
  };
  const factsOf = async (address: string, isPrivate: boolean): Promise<Known | null> => {
    const last = known.get(address);
    if (last !== undefined && stopwatch.elapsed() - last.at < keptMs) return last.facts;
    const facts = isPrivate ? await askMe(needs) : await askMember(needs, address);
    if (facts !== null) keep(address, facts);
    return facts;
  };
  return {
    of: async ({ chat, isForum }, look) => {
      const isPrivate = chat.kind === 'private';
      if (look === 'anew') known.delete(chat.address);
      const facts = (await factsOf(chat.address, isPrivate)) ?? {};
      const { readsEverything } = me();
      return { ...unknown, isPrivate, isForum, readsEverything: isPrivate ? null : readsEverything, ...facts };
    },
    heard: (address, member) => {
      // What the bot may do in a private chat nobody has to grant.
      if (address.startsWith('-')) keep(address, rightsOf(member));
    },
  };
}

const unknown = { topicsEnabled: null, canManageTopics: null, canPin: null };

async function askMe({ api }: Needs): Promise<Known | null> {
  const answer = await api.ask((raw, signal) => raw.getMe(signal));
  return answer.is === 'ok' ? { topicsEnabled: answer.value.has_topics_enabled === true } : null;
}

async function askMember({ api, me }: Needs, address: string): Promise<Known | null> {
  const asked = { chat_id: address, user_id: me().id };
  const answer = await api.ask((raw, signal) => raw.getChatMember(asked, signal));
  return answer.is === 'ok' ? rightsOf(answer.value) : null;
}

interface Member {
  readonly status: string;
  readonly can_manage_topics?: boolean | undefined;
  readonly can_pin_messages?: boolean | undefined;
}

function rightsOf({ status, can_manage_topics: topics, can_pin_messages: pin }: Member): Rights {
  const isAdmin = status === 'administrator' || status === 'creator';
  return { canManageTopics: isAdmin && topics === true, canPin: isAdmin && pin === true };
}
