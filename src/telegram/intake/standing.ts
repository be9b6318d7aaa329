import type { User as FromUser } from 'grammy/types';
import type { Chat, Member, User } from '../../app/ports/chats.ts';
import { membershipFreshMs, membershipHeldMs } from '../../domain/limits.ts';
import type { Person } from '../chat/conversation.ts';
import type { TelegramInDeps } from './deps.ts';
import { actorOf } from './owners.ts';
import { nameOf } from './payload.ts';

type StandingDeps = Pick<TelegramInDeps, 'store' | 'platform' | 'clock'>;

/**
 * Who somebody is in a chat: `unknown` when Telegram does not say and nothing was known for a day. Rights come from live
 * membership: what Telegram said last is believed for ten minutes, and then it is asked again. While it cannot be reached,
 * the last answer holds for a day.
 */
export async function personIn(deps: StandingDeps, chat: Chat, from: FromUser): Promise<Person | 'out' | 'unknown'> {
  const user = await noteUser(deps, from);
  const person = { id: from.id, actor: user.id, name: nameOf(from) };
  if (user.role === 'owner') return { ...person, isOwner: true, isAdmin: true };
  // In a private chat it is the chat of the one who speaks.
  if (chat.kind === 'private') return { ...person, isOwner: false, isAdmin: true };
  const status = await statusIn(deps, chat, user);
  if (status === 'out' || status === 'unknown') return status;
  return { ...person, isOwner: false, isAdmin: status === 'admin' };
}

/** Telegram told by itself. */
export async function heardOf(deps: StandingDeps, chat: Chat, from: FromUser, status: Member['status']): Promise<void> {
  const { id: userId } = await noteUser(deps, from);
  await deps.store.noteMember({ chatId: chat.id, userId, status, checkedAt: deps.clock.now() });
}

function noteUser({ store, clock }: StandingDeps, from: FromUser): Promise<User> {
  return store.noteUser({ id: actorOf(from.id), name: nameOf(from) }, clock.now());
}

async function statusIn(deps: StandingDeps, chat: Chat, { id: userId }: User): Promise<Member['status'] | 'unknown'> {
  const { store, platform, clock } = deps;
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
