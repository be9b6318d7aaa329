import type { Chat } from '../../app/ports/chats.ts';
import type { Drawn } from '../../domain/shown.ts';
import { markFor } from '../chat/kit/cards.ts';
import { checklistDrawn, keepList, lastList, type LastList } from '../chat/place/checklist.ts';
import type { Place } from '../chat/conversation.ts';
import { handledBy, telegramThread, type Handled } from './handled.ts';
import type { Me } from './identity.ts';
import type { TelegramInNeeds } from './needs.ts';
import type { SetUps } from './setup.ts';

/** The list of what is to be set up in a group: the first one, and how the last one is kept up to date by itself. */
export interface Checklists {
  /** The first word in a group that was just approved. */
  hello(chat: Chat, heard: Heard): Promise<Handled>;
  /** Something came from there: when topics were switched, or rights were changed, the last list is drawn anew. */
  catchUp(address: string, heard: Heard): Promise<void>;
}

interface Heard {
  readonly updateId: number;
  readonly isForum: boolean;
  /** The platform told of the bot's own rights. */
  readonly isHint: boolean;
}

interface Needs extends Pick<TelegramInNeeds, 'store' | 'clock' | 'ids' | 'bell' | 'rooms'> {
  readonly setUps: Pick<SetUps, 'of'>;
  readonly me: () => Me;
}

/** Chats that are remembered; past that all are forgotten, which costs one look each. */
const seenMax = 10_000;

export function createChecklists(needs: Needs): Checklists {
  const { store, clock, ids } = needs;
  const seen = new Map<string, boolean>();

  const isNews = (address: string, { isForum, isHint }: Heard): boolean => {
    if (seen.get(address) === isForum && !isHint) return false;
    if (seen.size >= seenMax) seen.clear();
    seen.set(address, isForum);
    return true;
  };

  return {
    hello: async (chat, heard) => {
      const id = ids.next();
      const place = placeOf(needs, chat, heard.isForum);
      const shown = await drawnNow(needs, place, { ...heard, isHello: true });
      await keepList(needs, place, { delivery: id, by: heard.updateId });
      const writing = { ids, now: clock.now(), thread: telegramThread(chat.address, null) };
      return handledBy(writing, { replies: [{ is: 'message', shown, id }] });
    },
    catchUp: async (address, heard) => {
      if (!isNews(address, heard)) return;
      const chat = await store.findChat(address);
      const last = chat === null ? null : await lastList(needs, chat);
      if (chat === null || last === null || last.by === heard.updateId) return;
      if (last.isForum === heard.isForum && !heard.isHint) return;
      const place = placeOf(needs, chat, heard.isForum);
      const messageId = await messageOf(needs, last);
      if (messageId !== null) await redraw(needs, place, { ...heard, messageId });
    },
  };
}

function placeOf({ rooms }: Needs, chat: Chat, isForum: boolean): Place {
  const timezone = chat.timezone ?? rooms.defaultTimezone;
  return { chat, topic: null, topicTask: null, timezone, isZoneConfirmed: chat.timezone !== null, isForum };
}

interface Drawing extends Heard {
  readonly isHello: boolean;
}

async function drawnNow({ setUps, clock, me }: Needs, place: Place, drawing: Drawing): Promise<Drawn> {
  const setUp = await setUps.of(place);
  const facts = { ...place, setUp, now: clock.now(), mark: markFor(drawing), bot: me().username };
  return checklistDrawn(facts, drawing.isHello);
}

/** What has not arrived yet is drawn from an older state, and mended by the next change or a press. */
async function messageOf({ store }: Needs, last: LastList): Promise<number | null> {
  return 'message' in last ? last.message : ((await store.sentMessage(last.delivery))?.messageId ?? null);
}

async function redraw(needs: Needs, place: Place, { messageId, ...heard }: Heard & { messageId: number }) {
  const { store, clock, ids, bell } = needs;
  const shown = await drawnNow(needs, place, { ...heard, isHello: false });
  const writing = { ids, now: clock.now(), thread: telegramThread(place.chat.address, null) };
  const { messages } = handledBy(writing, { replies: [{ is: 'edit', messageId, shown }] });
  await keepList(needs, place, { message: messageId });
  await store.addMessages(messages, clock.now());
  bell.ring('deliverer');
}
