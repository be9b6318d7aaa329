import type { Chat, Member, User } from '../../app/ports/chats.ts';
import { membershipFreshMs, membershipHeldMs } from '../../domain/limits.ts';
import type { Person } from '../chat/conversation.ts';
import type { TelegramInNeeds } from './needs.ts';
import { actorOf } from './owners.ts';
import { nameOf, type FromUser } from './payload.ts';

/** Who somebody is in a chat: `unknown` when the platform does not say and nobody has known it for a day. */
export interface Standing {
  personIn(chat: Chat, from: FromUser): Promise<Person | 'out' | 'unknown'>;
  /** The platform told by itself. */
  heard(chat: Chat, from: FromUser, status: Member['status']): Promise<void>;
}

type StandingNeeds = Pick<TelegramInNeeds, 'store' | 'platform' | 'clock'>;

/**
 * Rights come from live membership: what the platform said last is believed for ten minutes, and then it is asked again.
 * While it cannot be reached, the last answer holds for a day.
 */
export function createStanding(needs: StandingNeeds): Standing {
  const { store, clock } = needs;
  return {
    personIn: async (chat, from) => {
      const user = await noteUser(needs, from);
      const person = { id: from.id, actor: user.id, name: nameOf(from) };
      if (user.role === 'owner') return { ...person, isOwner: true, isAdmin: true };
      // Whoever speaks in a private chat is the one whose chat it is.
      if (chat.kind === 'private') return { ...person, isOwner: false, isAdmin: true };
      const status = await statusIn(needs, chat, user);
      if (status === 'out' || status === 'unknown') return status;
      return { ...person, isOwner: false, isAdmin: status === 'admin' };
    },
    heard: async (chat, from, status) => {
      const { id: userId } = await noteUser(needs, from);
      await store.noteMember({ chatId: chat.id, userId, status, checkedAt: clock.now() });
    },
  };
}

function noteUser({ store, clock }: StandingNeeds, from: FromUser): Promise<User> {
  return store.noteUser({ id: actorOf(from.id), name: nameOf(from) }, clock.now());
}

async function statusIn(needs: StandingNeeds, chat: Chat, { id: userId }: User): Promise<Member['status'] | 'unknown'> {
  const { store, platform, clock } = needs;
  const last = await store.readMember(chat.id, userId);
  if (last !== null && isYoungerThan(last, clock.now(), membershipFreshMs)) return last.status;
  const answer = await platform.member(chat.address, userId);
  const now = clock.now();
  if (answer.is === 'known') {
    await store.noteMember({ chatId: chat.id, userId, status: answer.status, checkedAt: now });
    return answer.status;
  }
  return last !== null && isYoungerThan(last, now, membershipHeldMs) ? last.status : 'unknown';
}

/** An answer from the future was written down before the clock was set back, and its age cannot be told. */
function isYoungerThan({ checkedAt }: Member, now: number, ms: number): boolean {
  return checkedAt <= now && now - checkedAt < ms;
}
