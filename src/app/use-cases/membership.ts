import { userIdOf, type Actor } from '../../domain/access.ts';
import { invalid } from '../../domain/errors.ts';
import {
  membershipAheadMs,
  membershipEveryMs,
  membershipFreshMs,
  membershipHeldMs,
  membershipLookupsMax,
  membershipPageMax,
} from '../../domain/limits.ts';
import type { Chore } from '../housekeeping/chore.ts';
import { createRecent } from '../operations/recent.ts';
import type { AccessChange, AccessStore, ThreadQuery } from '../ports/chat-facts.ts';
import type { ChatStore, StaleMember } from '../ports/chats.ts';
import type { Platform, World } from '../ports/outside.ts';
import type { PageQuery } from '../ports/runs.ts';

type MembershipDeps = Pick<World, 'stopwatch' | 'log' | 'bell'> & {
  readonly store: Pick<ChatStore, 'staleMembers' | 'readMember' | 'noteMember'>;
  readonly platform: Pick<Platform, 'member'>;
};

function keyOf({ chatId, userId }: StaleMember): string {
  return `${chatId} ${userId}`;
}

/** Questions of one step are a second apart from those of the next. */
const paceMs = 1000;

/**
 * Asks Telegram ahead of due slots whether the owners of tasks are still members of the chats, so that a right is gone
 * when its slot comes, and no slot waits for Telegram. Who is out loses the grants of the tasks there, which wait from
 * their next slot on, and who comes back gets them back. Without an answer the last one holds for a day; what is older than that is told by the log, and the
 * tasks run on, because a Telegram that is away cannot be the reason why nothing happens.
 */
export function createMembership(deps: MembershipDeps): Chore {
  const { store } = deps;
  // People about whom there was no answer lately are asked about again soon enough for the same slot.
  const unanswered = createRecent<true>(restingMax, { ms: membershipFreshMs / 2, stopwatch: deps.stopwatch });
  return {
    name: 'membership',
    when: { every: membershipEveryMs },
    step: async (now) => {
      const stale = await store.staleMembers(now + membershipAheadMs, now - membershipFreshMs, membershipPageMax);
      const open = stale.filter((doubt) => !unanswered.has(keyOf(doubt)));
      const asked = open.slice(0, membershipLookupsMax);
      for (const doubt of asked) {
        if (await ask(deps, doubt, now)) unanswered.drop(keyOf(doubt));
        else unanswered.put(keyOf(doubt), true);
      }
      return { taken: asked.length, more: false, ...(open.length > asked.length ? { afterMs: paceMs } : {}) };
    },
  };
}

/** False when Telegram gave no answer. */
async function ask({ store, platform, log, bell }: MembershipDeps, doubt: StaleMember, now: number): Promise<boolean> {
  const { chatId, address, userId } = doubt;
  const answer = await platform.member(address, userId);
  if (answer.is === 'known') {
    if (await store.noteMember({ chatId, userId, status: answer.status, checkedAt: now })) bell.ring('scheduler');
    if (answer.status === 'out') log.info('member_is_out', { chat_id: chatId, user_id: userId });
    return true;
  }
  const last = await store.readMember(chatId, userId);
  if (last !== null && now - last.checkedAt < membershipHeldMs) return false;
  log.warn('membership_unknown', { chat_id: chatId, user_id: userId, last_known_at: last?.checkedAt ?? null });
  return false;
}

/** More people than this are forgotten and asked about again, which costs a question each. */
const restingMax = 10_000;

/* ---- who is let in ---- */

/**
 * The list of those who are let in: people, by their private chat, and groups. All ways in lead here: the environment, the
 * claim of the first owner, whoever adds the bot to a group, /allow, the API. It is read anew for each word, so a change
 * holds from the next one on.
 */
export type Access = ReturnType<typeof createAccess>;

export interface Allowing extends By {
  /** The number of a person, or of a group, which is negative. */
  readonly address: string;
  /** Absent where it stays as it is; somebody new is a user. */
  readonly role?: 'owner' | 'user' | undefined;
  /** How they are called, where somebody knows it. */
  readonly title?: string | null;
}

export interface Denying extends By {
  readonly address: string;
}

interface By {
  readonly by: Actor;
  readonly traceId?: string | null;
}

type AccessDeps = Pick<World, 'clock' | 'ids' | 'bell' | 'log'> & { readonly store: AccessStore };

export function createAccess({ store, clock, ids, bell, log }: AccessDeps) {
  const told = <T extends AccessChange>(
    what: 'access_allowed' | 'access_denied',
    { address, by }: Denying,
    made: T,
  ): T => {
    if (made.entryId === null) return made;
    log.info(what, { chat_id: made.chat.id, address, by });
    bell.ring('deliverer');
    bell.ring('scheduler');
    return made;
  };
  const anew = () => ({ newId: ids.next(), at: clock.now() });
  return {
    list: (page: PageQuery) => store.listAccess(page),
    threads: (query: ThreadQuery) => store.listThreads(query),
    /** Telling it again changes nothing. */
    allow: async ({ role, title = null, ...asked }: Allowing) => {
      if (role === 'owner' && isGroup(asked.address)) throw invalid('role', 'role: only a person can own the bot.');
      return told('access_allowed', asked, await store.letIn({ ...asked, ...anew(), title, role: role ?? null }));
    },
    /**
     * Ends it until somebody allows it anew: a person is refused in their private chat and in every group, and what they own
     * is left out from the next slot on; of a group all tasks are paused. The last owner cannot be denied.
     */
    deny: async (asked: Denying) =>
      told('access_denied', asked, await store.shutOut({ ...asked, ...anew(), to: 'refused' })),
    /** The environment names this owner no more: they are like somebody who was never let in. */
    forget: async (asked: Denying) =>
      told('access_denied', asked, await store.shutOut({ ...asked, ...anew(), to: 'new' })),
  };
}

/** Groups have negative numbers. */
export function isGroup(address: string): boolean {
  return address.startsWith('-');
}

const addressForm = /^-?[1-9]\d{0,15}$/;

/** The number that somebody has written, as it is or in a key; null where it is none. */
export function addressIn(text: string): string | null {
  const bare = text.replace(/^telegram:(?:user|chat):/, '');
  return addressForm.test(bare) ? bare : null;
}

/** The address of somebody's private chat is their own number. */
export function actorAt(address: string): Actor {
  return `telegram:user:${Number(address)}`;
}

/** The other way round; empty for those who are no people. */
export function addressOf(actor: Actor): string {
  return String(userIdOf(actor) ?? '');
}
