import type { ChatMember, UserFromGetMe } from 'grammy/types';
import { createRecent } from '../../app/operations/recent.ts';
import type { Chat } from '../../app/ports/chats.ts';
import type { Drawn } from '../../domain/shown.ts';
import { telegramThread } from '../../domain/thread.ts';
import { hasPrivateTopics } from '../api.ts';
import type { Place, SetUp } from '../chat/context.ts';
import { markFor } from '../chat/kit/press.ts';
import { checklistDrawn, keepList, lastList, listMessage } from '../chat/place/checklist.ts';
import { placeOf, type TelegramInDeps } from './deps.ts';
import { rightsOf } from './payload.ts';
import { handledBy, type Handled } from './update.ts';

/** The list of what is to be set up in a group, and how the last one is kept up to date by itself. */
export type Checklists = ReturnType<typeof createChecklists>;

interface Heard {
  readonly updateId: number;
  readonly isForum: boolean;
  /** Telegram told of the bot's own rights. */
  readonly isHint: boolean;
}

interface ChecklistDeps extends Pick<TelegramInDeps, 'store' | 'clock' | 'ids' | 'bell' | 'chatDeps'> {
  readonly setUps: Pick<SetUps, 'of'>;
  readonly me: UserFromGetMe;
}

/** Chats that are remembered; one that is forgotten costs another look, or another call. */
const rememberedMax = 10_000;

export function createChecklists(deps: ChecklistDeps) {
  const { store, clock, ids } = deps;
  const seen = createRecent<boolean>(rememberedMax);

  const isNews = (address: string, { isForum, isHint }: Heard): boolean => {
    if (seen.get(address) === isForum && !isHint) return false;
    seen.put(address, isForum);
    return true;
  };

  return {
    /** The first word in a group that was just approved. */
    hello: async (chat: Chat, heard: Heard): Promise<Handled> => {
      const id = ids.next();
      const place = placeOf(deps, chat, { ...inBase, isForum: heard.isForum });
      const shown = await drawnNow(deps, place, heard, true);
      await keepList(deps, place, { delivery: id, by: heard.updateId });
      const writing = { ids, now: clock.now(), thread: telegramThread(chat.address, null) };
      return handledBy(writing, { replies: [{ is: 'message', shown, id }] });
    },
    /** Something came from there: when topics were switched, or rights were changed, the last list is drawn anew. */
    catchUp: async (address: string, heard: Heard): Promise<void> => {
      if (!isNews(address, heard)) return;
      const chat = await store.findChat(address);
      const last = chat === null ? null : await lastList(deps, chat);
      if (chat === null || last === null || last.by === heard.updateId) return;
      if (last.isForum === heard.isForum && !heard.isHint) return;
      const place = placeOf(deps, chat, { ...inBase, isForum: heard.isForum });
      const messageId = await listMessage(store, chat, last);
      if (messageId !== null) await redraw(deps, place, { ...heard, messageId });
    },
  };
}

const inBase = { topic: null, topicTask: null };

async function drawnNow(
  { setUps, clock, me }: ChecklistDeps,
  place: Place,
  heard: Heard,
  isHello: boolean,
): Promise<Drawn> {
  const setUp = await setUps.of(place);
  const facts = { ...place, setUp, now: clock.now(), mark: markFor(heard), bot: me.username };
  return checklistDrawn(facts, isHello);
}

async function redraw(deps: ChecklistDeps, place: Place, { messageId, ...heard }: Heard & { messageId: number }) {
  const { store, clock, ids, bell } = deps;
  const shown = await drawnNow(deps, place, heard, false);
  const writing = { ids, now: clock.now(), thread: telegramThread(place.chat.address, null) };
  const { messages } = handledBy(writing, { replies: [{ is: 'edit', messageId, shown }] });
  await keepList(deps, place, { message: messageId });
  await store.addMessages(messages, clock.now());
  bell.ring('deliverer');
}

export type SetUps = ReturnType<typeof createSetUps>;

type SetUpDeps = Pick<TelegramInDeps, 'aside' | 'stopwatch'> & { readonly me: UserFromGetMe };

type Known = Pick<SetUp, 'canManageTopics' | 'canPin'> | Pick<SetUp, 'topicsEnabled'>;

/** Answers hold so long: `/start`, a callback and a task that is made ask within seconds of each other. */
const keptMs = 60_000;

/** How the bot stands in chats: whether topics are on, and what it may do there. */
export function createSetUps(deps: SetUpDeps) {
  const { stopwatch, me } = deps;
  const known = createRecent<Known>(rememberedMax, { ms: keptMs, stopwatch });
  const factsOf = async (address: string, isPrivate: boolean): Promise<Known | null> => {
    const last = known.get(address);
    if (last !== undefined) return last;
    const facts = isPrivate ? await askTopics(deps, address) : await askMember(deps, address);
    if (facts !== null) known.put(address, facts);
    return facts;
  };
  return {
    /** Asks Telegram, unless it has answered a moment ago. */
    of: async ({ chat, isForum }: Place, look?: 'anew'): Promise<SetUp> => {
      const isPrivate = chat.kind === 'private';
      if (look === 'anew') known.drop(chat.address);
      const facts = (await factsOf(chat.address, isPrivate)) ?? {};
      const readsEverything = me.can_read_all_group_messages;
      return { ...unknown, isPrivate, isForum, readsEverything: isPrivate ? null : readsEverything, ...facts };
    },
    /** Telegram told by itself. */
    heard: (address: string, member: ChatMember) => {
      // In a private chat the bot needs no rights.
      if (address.startsWith('-')) known.put(address, rightsOf(member));
    },
  };
}

const unknown = { topicsEnabled: null, canManageTopics: null, canPin: null };

async function askTopics({ aside }: SetUpDeps, address: string): Promise<Known | null> {
  const topicsEnabled = await hasPrivateTopics(aside, address);
  return topicsEnabled === null ? null : { topicsEnabled };
}

async function askMember({ aside, me }: SetUpDeps, address: string): Promise<Known | null> {
  const asked = { chat_id: address, user_id: me.id };
  const answer = await aside.ask((raw, signal) => raw.getChatMember(asked, signal));
  return answer.is === 'ok' ? rightsOf(answer.value) : null;
}
