import { AppError } from '../../domain/errors.ts';
import type { Checklists } from './checklists.ts';
import { nothingToSay, saying, telegramThread, type Handled, type Taken, type Writing } from './handled.ts';
import type { TelegramInNeeds } from './needs.ts';
import { originOf, standingOf, type FromMessage, type FromUpdate } from './payload.ts';
import type { Places } from './places.ts';
import type { Speech } from './speech.ts';
import { faultOf, givenUp } from './texts.ts';

/** One update, from what it is to what it came to. */
export interface Handling {
  /** Throws only when the store is away: then the update is handled again. */
  handle(taken: Taken): Promise<Handled>;
  /** What nobody waits for: what was blocked there may go now, and what was switched there is shown. */
  after(taken: Taken): Promise<void>;
  /** It took the process down, or the store with it, again and again. */
  giveUp(taken: Taken): Handled;
  /** What it came to cannot be written down: the person is told that, and nothing else. */
  unwritten(taken: Taken, error: unknown): Handled;
}

interface Needs extends Pick<TelegramInNeeds, 'clock' | 'ids' | 'log'> {
  readonly places: Places;
  readonly lists: Checklists;
  readonly speech: Speech;
  /** The bot itself, whose own service messages show nothing new. */
  readonly botId: () => number;
}

export function createHandling(needs: Needs): Handling {
  const { log } = needs;
  return {
    handle: async (taken) => {
      const { stored, read } = taken;
      if (read === null) {
        log.error('update_unreadable', { update_id: stored.id });
        return { ...nothingToSay, status: 'failed', error: 'It is not an update as we know them.' };
      }
      try {
        return await route(needs, taken, read);
      } catch (error) {
        return faulted(needs, taken, error);
      }
    },
    after: async ({ stored, read }) => {
      if (read !== null) await lookAgain(needs, stored.id, read);
    },
    giveUp: (taken) => {
      const { errorId, tell } = telling(needs, taken);
      log.error('update_given_up', { update_id: taken.stored.id, error_id: errorId, attempts: taken.stored.attempts });
      return { ...tell(givenUp(errorId)), status: 'failed', error: `Given up (${errorId}).` };
    },
    unwritten: (taken, error) => failed(needs, taken, error),
  };
}

async function route({ places, speech }: Needs, taken: Taken, read: FromUpdate): Promise<Handled> {
  if (read.message !== undefined) {
    await places.serviced(read.message);
    // The old group is no more; whatever is said about its move is said in the new one.
    return hasMoved(read.message) ? nothingToSay : speech.said(taken, read.message);
  }
  if (read.edited_message !== undefined) return speech.edited(taken, read.edited_message);
  if (read.callback_query !== undefined) return speech.pressed(taken, read.callback_query);
  if (read.my_chat_member !== undefined) return places.botChanged(read.my_chat_member, taken.stored.id);
  if (read.chat_member !== undefined) return places.memberChanged(read.chat_member);
  return nothingToSay;
}

function hasMoved({ migrate_to_chat_id: to, migrate_from_chat_id: from }: FromMessage): boolean {
  return to !== undefined || from !== undefined;
}

async function lookAgain({ places, lists, botId }: Needs, updateId: number, read: FromUpdate): Promise<void> {
  const { chat, from } = originOf(read);
  if (chat === null || from?.id === botId()) return;
  const { my_chat_member: change } = read;
  const isOurs = change !== undefined;
  const address = String(chat.id);
  await places.lookAgain(address, isOurs || isAboutTopics(read.message));
  // Where the bot is not any more it can change nothing.
  const isOut = change !== undefined && standingOf(change.new_chat_member) === 'out';
  if (chat.type === 'private' || isOut) return;
  await lists.catchUp(address, { updateId, isForum: chat.is_forum === true, isHint: isOurs });
}

function isAboutTopics(message: FromMessage | undefined): boolean {
  if (message === undefined) return false;
  const { forum_topic_created: created, forum_topic_reopened: reopened } = message;
  const { general_forum_topic_unhidden: unhidden } = message;
  return [created, reopened, unhidden].some((part) => part !== undefined);
}

function faulted(needs: Needs, taken: Taken, error: unknown): Handled {
  if (!(error instanceof AppError) || error.code === 'internal') return failed(needs, taken, error);
  if (error.code === 'store_unavailable') throw error;
  // A refusal is an answer like any other.
  return telling(needs, taken).tell(error.message);
}

function failed(needs: Needs, taken: Taken, error: unknown): Handled {
  const { errorId, tell } = telling(needs, taken);
  const text = error instanceof Error ? error.message : String(error);
  needs.log.error('update_failed', { update_id: taken.stored.id, error_id: errorId, error: text });
  return { ...tell(faultOf(errorId)), status: 'failed', error: `${text} (${errorId})` };
}

interface Telling {
  /** Short enough to be read out; it stands in the log as well. */
  readonly errorId: string;
  /** Says it to whoever sent the update; nobody hears it when nobody spoke. */
  readonly tell: (text: string) => Handled;
}

function telling({ ids, clock }: Needs, { read }: Taken): Telling {
  const errorId = ids.next().replaceAll('-', '').slice(-8);
  const origin = read === null ? null : originOf(read);
  const isPress = read?.callback_query !== undefined;
  const isForUs = isPress || isSpokenToUs(read?.message);
  return {
    errorId,
    tell: (text) => {
      if (origin === null || origin.chat === null || !isForUs) return nothingToSay;
      const thread = telegramThread(String(origin.chat.id), origin.topic);
      const writing: Writing = { ids, now: clock.now(), thread };
      return saying(writing, text, isPress);
    },
  };
}

/** Whoever talks to others in a group is not bothered with our faults. */
function isSpokenToUs(message: FromMessage | undefined): boolean {
  const text = message?.text ?? message?.caption;
  return text !== undefined && (message?.chat.type === 'private' || text.startsWith('/'));
}
