import type { Chat } from '../../app/ports/chats.ts';
import type { Checklists, SetUps } from './checklists.ts';
import { nothingToSay, type Handled } from './handled.ts';
import type { TelegramInNeeds } from './needs.ts';
import { actorOf, approve } from './owners.ts';
import { standingOf, titleOf, type FromChat, type FromMemberChange, type FromMessage } from './payload.ts';
import type { Standing } from './standing.ts';
import { botBlocked, botRemoved } from './texts.ts';

/** What becomes of chats: they come and go, move, and get what the bot was waiting for. */
export interface Places {
  note(chat: FromChat): Promise<Chat>;
  /** The bot was let in, thrown out, or given other rights. */
  botChanged(change: FromMemberChange, updateId: number): Promise<Handled>;
  memberChanged(change: FromMemberChange): Promise<Handled>;
  /** Words of the platform about a group: who came, who left, where it moved. */
  serviced(message: FromMessage): Promise<void>;
  /** Something came from there, so what waits for somebody to mend it may go now. */
  lookAgain(address: string, isHint: boolean): Promise<void>;
}

interface Needs extends Pick<
  TelegramInNeeds,
  'store' | 'clock' | 'stopwatch' | 'ids' | 'bell' | 'log' | 'settings' | 'people'
> {
  readonly standing: Standing;
  readonly lists: Checklists;
  readonly setUps: Pick<SetUps, 'heard'>;
}

/** Without a hint that something was mended, a chat is not looked at more often. */
const lookAgainMs = 60_000;
/** Chats that are remembered for that; past that all are forgotten, which costs one look each. */
const lookedAtMax = 10_000;

export function createPlaces(needs: Needs): Places {
  const { store, clock, stopwatch, bell, standing } = needs;
  const lookedAt = new Map<string, number>();
  const note = (chat: FromChat) => noteChat(needs, chat);

  const lookAgain = async (address: string, isHint: boolean) => {
    const now = stopwatch.elapsed();
    const last = lookedAt.get(address);
    if (!isHint && last !== undefined && now - last < lookAgainMs) return;
    if (lookedAt.size >= lookedAtMax) lookedAt.clear();
    lookedAt.set(address, now);
    const chat = await store.findChat(address);
    if (chat === null) return;
    const waiting = await store.retryBlocked({ chatId: chat.id, taskId: null, inDoubt: false }, clock.now());
    if (waiting > 0) bell.ring('deliverer');
  };

  return {
    note,
    lookAgain,
    botChanged: (change, updateId) => botChanged(needs, change, updateId),
    memberChanged: async ({ chat: from, new_chat_member: member }) => {
      if (!member.user.is_bot) await standing.heard(await note(from), member.user, standingOf(member));
      return nothingToSay;
    },
    serviced: async (message) => {
      await moved(needs, message);
      await cameAndWent(needs, message);
    },
  };
}

function noteChat({ store, ids, clock }: Needs, chat: FromChat): Promise<Chat> {
  const { id, type: kind } = chat;
  return store.noteChat({ newId: ids.next(), address: String(id), title: titleOf(chat), kind, at: clock.now() });
}

async function botChanged(needs: Needs, change: FromMemberChange, updateId: number): Promise<Handled> {
  const chat = await noteChat(needs, change.chat);
  needs.setUps.heard(chat.address, change.new_chat_member);
  if (standingOf(change.new_chat_member) === 'out') {
    await needs.people.gone(chat.id, chat.kind === 'private' ? botBlocked : botRemoved);
    return nothingToSay;
  }
  if (chat.state === 'gone') await needs.people.back(chat.id);
  return letInBy(needs, change, updateId);
}

/** An owner who adds the bot to a group approves the group by that. */
async function letInBy(needs: Needs, change: FromMemberChange, updateId: number): Promise<Handled> {
  const { store } = needs;
  const { chat: from, from: by } = change;
  const actor = actorOf(by.id);
  const chat = await store.findChat(String(from.id));
  if (chat === null || chat.state === 'approved' || from.type === 'private') return nothingToSay;
  if ((await store.readUser(actor))?.role !== 'owner') return nothingToSay;
  await approve(needs, chat, actor);
  const heard = { updateId, isForum: from.is_forum === true, isHint: true };
  return needs.lists.hello({ ...chat, state: 'approved' }, heard);
}

/** Both sides tell of it, and whichever comes first does it. */
async function moved({ store, clock, log }: Needs, message: FromMessage): Promise<void> {
  const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message;
  if (to === undefined && from === undefined) return;
  const [old, now] = [String(from ?? chat.id), String(to ?? chat.id)];
  await store.moveChat(old, now, clock.now());
  log.info('chat_moved', { from: old, to: now });
}

/** Told in every group, while changes of members come only where the bot is an admin. */
async function cameAndWent(needs: Needs, message: FromMessage): Promise<void> {
  const came = (message.new_chat_members ?? []).filter(({ is_bot: isBot }) => !isBot);
  const left = message.left_chat_member;
  if (came.length === 0 && left === undefined) return;
  const chat = await noteChat(needs, message.chat);
  for (const user of came) await needs.standing.heard(chat, user, 'member');
  if (left !== undefined && !left.is_bot) await needs.standing.heard(chat, left, 'out');
}
