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
import type { ChatStore, StaleMember } from '../ports/chats.ts';
import type { Platform, World } from '../ports/outside.ts';

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
  const unanswered = createRecent<true>(restingMax, { ms: membershipFreshMs / 2, now: () => deps.stopwatch.elapsed() });
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
