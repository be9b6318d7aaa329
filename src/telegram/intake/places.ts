import type { Chat as FromChat, ChatMemberUpdated, Message, User as FromUser } from 'grammy/types';
import type { Chat, Member, User } from '../../app/ports/chats.ts';
import { membershipFreshMs, membershipHeldMs } from '../../domain/limits.ts';
import type { Person } from '../chat/context.ts';
import type { Checklists, SetUps } from './checklists.ts';
import type { TelegramInDeps } from './deps.ts';
import { actorOf } from './owners.ts';
import { nameOf, memberStatusOf, rightsOf, titleOf } from './payload.ts';
import { nothingToSay, type Handled } from './update.ts';

/** Chats and the people in them: they come and go, move, and get what the bot was waiting for. */

export interface PlacesDeps extends TelegramInDeps {
  readonly lists: Checklists;
  readonly setUps: Pick<SetUps, 'heard'>;
}

export async function memberChanged(
  deps: TelegramInDeps,
  { chat: from, new_chat_member: member }: ChatMemberUpdated,
): Promise<void> {
  if (!member.user.is_bot) await heardOf(deps, await noteChat(deps, from), member.user, memberStatusOf(member));
}

export function noteChat({ store, ids, clock }: TelegramInDeps, chat: FromChat): Promise<Chat> {
  const { id, type: kind } = chat;
  return store.noteChat({ newId: ids.next(), address: String(id), title: titleOf(chat), kind, at: clock.now() });
}

/** The bot was let in, thrown out, or given other rights. */
export async function botChanged(deps: PlacesDeps, change: ChatMemberUpdated, updateId: number): Promise<Handled> {
  const chat = await noteChat(deps, change.chat);
  deps.setUps.heard(chat.address, change.new_chat_member);
  if (memberStatusOf(change.new_chat_member) === 'out') {
    await deps.people.gone(chat.id, chat.kind === 'private' ? 'the bot was blocked' : 'the bot was removed');
    return nothingToSay;
  }
  if (chat.state === 'gone') await deps.people.back(chat.id);
  const { canPin } = rightsOf(change.new_chat_member);
  if (canPin && (await deps.store.pinAgain(chat.id, deps.clock.now()))) deps.bell.ring('deliverer');
  return letInBy(deps, change, updateId);
}

/** An owner who adds the bot to a group approves the group by that. */
async function letInBy(deps: PlacesDeps, change: ChatMemberUpdated, updateId: number): Promise<Handled> {
  const { store } = deps;
  const { chat: from, from: by } = change;
  const actor = actorOf(by.id);
  const chat = await store.findChat(String(from.id));
  if (chat === null || chat.state === 'approved' || from.type === 'private') return nothingToSay;
  if ((await store.readUser(actor))?.role !== 'owner') return nothingToSay;
  const { chat: approved } = await deps.access.allow({ address: chat.address, by: actor });
  const heard = { updateId, isForum: from.is_forum === true, isHint: true };
  return deps.lists.hello(approved, heard);
}

/** A group became a supergroup: both sides tell of it, and whichever comes first does it. */
export async function moved({ store, clock, log }: TelegramInDeps, message: Message): Promise<void> {
  const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message;
  if (to === undefined && from === undefined) return;
  const [old, now] = [String(from ?? chat.id), String(to ?? chat.id)];
  await store.moveChat(old, now, clock.now());
  log.info('chat_moved', { from: old, to: now });
}

/** Told in every group, while changes of members come only where the bot is an admin. */
export async function cameAndWent(deps: TelegramInDeps, message: Message): Promise<void> {
  const came = (message.new_chat_members ?? []).filter(({ is_bot: isBot }) => !isBot);
  const left = message.left_chat_member;
  if (came.length === 0 && left === undefined) return;
  const chat = await noteChat(deps, message.chat);
  for (const user of came) await heardOf(deps, chat, user, 'member');
  if (left !== undefined && !left.is_bot) await heardOf(deps, chat, left, 'out');
}

/**
 * The standing of somebody in a chat: `unknown` when Telegram does not say and nothing was known for a day. Rights come from live
 * membership: what Telegram said last is believed for ten minutes, and then it is asked again. While it cannot be reached,
 * the last answer holds for a day.
 */
export async function personIn(deps: TelegramInDeps, chat: Chat, from: FromUser): Promise<Person | 'out' | 'unknown'> {
  const user = await noteUser(deps, from);
  const person = { id: from.id, actor: user.id, name: nameOf(from) };
  if (user.role === 'owner') return { ...person, isOwner: true, isAdmin: true };
  // In a private chat it is the chat of the one who speaks.
  if (chat.kind === 'private') return { ...person, isOwner: false, isAdmin: true };
  // A person who was denied is out of the groups as well, where Telegram says otherwise.
  if ((await deps.store.findChat(String(from.id)))?.state === 'refused') return 'out';
  const status = await statusIn(deps, chat, user);
  if (status === 'out' || status === 'unknown') return status;
  return { ...person, isOwner: false, isAdmin: status === 'admin' };
}

/** Telegram told by itself. */
async function heardOf(deps: TelegramInDeps, chat: Chat, from: FromUser, status: Member['status']): Promise<void> {
  const { id: userId } = await noteUser(deps, from);
  await noteMember(deps, { chatId: chat.id, userId, status, checkedAt: deps.clock.now() });
}

/** Tasks that waited for somebody who is back go on at once. */
async function noteMember({ store, bell }: TelegramInDeps, member: Member): Promise<void> {
  if (await store.noteMember(member)) bell.ring('scheduler');
}

function noteUser({ store, clock }: TelegramInDeps, from: FromUser): Promise<User> {
  return store.noteUser({ id: actorOf(from.id), name: nameOf(from) }, clock.now());
}

async function statusIn(deps: TelegramInDeps, chat: Chat, { id: userId }: User): Promise<Member['status'] | 'unknown'> {
  const { store, platform, clock } = deps;
  const last = await store.readMember(chat.id, userId);
  if (last !== null && isYoungerThan(last, clock.now(), membershipFreshMs)) return last.status;
  const answer = await platform.member(chat.address, userId);
  const now = clock.now();
  if (answer.is === 'known') {
    await noteMember(deps, { chatId: chat.id, userId, status: answer.status, checkedAt: now });
    return answer.status;
  }
  return last !== null && isYoungerThan(last, now, membershipHeldMs) ? last.status : 'unknown';
}

/** An answer from the future was written down before the clock was set back, and its age cannot be told. */
function isYoungerThan({ checkedAt }: Member, now: number, ms: number): boolean {
  return checkedAt <= now && now - checkedAt < ms;
}
