import { Composer } from 'grammy';
import type { Message } from 'grammy/types';
import { createSecondLook } from '../../app/pipeline/topics.ts';
import { AppError, errorText } from '../../domain/errors.ts';
import { telegramThread } from '../../domain/thread.ts';
import { silence } from '../chat/kit/answers.ts';
import { english, inLocale, texts } from '../chat/texts.ts';
import { originOf, memberStatusOf } from './payload.ts';
import { botChanged, cameAndWent, memberChanged, moved } from './places.ts';
import { hear, hearAgain, press, type SpeechDeps } from './speech.ts';
import { nothingToSay, saying, withoutService, type Handled, type IntakeContext, type Taken } from './update.ts';

/** One update, from what it is to what it came to. */
export interface Handling {
  /** Throws only when the store is away: then the update is handled again. */
  handle(ctx: IntakeContext): Promise<Handled>;
  /** Looks again at the chat, which no answer waits for: blocked messages may go now, and its checklist is redrawn. */
  after(taken: Taken): Promise<void>;
  /** The update took the process down, or the store with it, again and again. */
  giveUp(taken: Taken): Handled;
  /** An answer that cannot be written down: the person is told that, and nothing else. */
  unwritten(taken: Taken, error: unknown): Handled;
}

/** Without a hint that something was mended, a chat is not looked at more often. */
const lookAgainMs = 60_000;

export function createHandling(deps: SpeechDeps): Handling {
  const { log } = deps;
  const handle = updatesOf(deps).middleware();
  const lookAgain = createSecondLook(deps, lookAgainMs);
  const chatAt = async (address: string) => (await deps.store.findChat(address))?.id ?? null;
  return {
    handle: async (ctx) => {
      // Given anew at each try: all that handlers may use, and no answer yet.
      Object.assign(ctx, deps.chatDeps, { setUp: deps.setUp, bot: deps.me.username });
      Object.assign(ctx, { answer: silence, handled: nothingToSay });
      try {
        await handle(ctx, async () => {});
        return ctx.handled;
      } catch (error) {
        return inLocale(ctx.locale ?? english, () => faulted(deps, ctx.taken, error));
      }
    },
    after: async ({ stored, update }) => {
      if (update === null) return;
      const { chat, from } = originOf(update);
      if (chat === null || from?.id === deps.me.id) return;
      const { my_chat_member: change } = update;
      const isOurs = change !== undefined;
      const address = String(chat.id);
      await lookAgain(address, () => chatAt(address), isOurs || isAboutTopics(update.message));
      // The bot can change nothing in a chat that it is out of.
      const isOut = change !== undefined && memberStatusOf(change.new_chat_member) === 'out';
      if (chat.type === 'private' || isOut) return;
      await deps.lists.catchUp(address, { updateId: stored.id, isForum: chat.is_forum === true, isHint: isOurs });
    },
    giveUp: (taken) => {
      const { errorId, tell } = telling(deps, taken);
      log.error('update_given_up', { update_id: taken.stored.id, error_id: errorId, attempts: taken.stored.attempts });
      return { ...tell(texts.intake.givenUp(errorId)), status: 'failed', error: `Given up (${errorId}).` };
    },
    unwritten: (taken, error) => failed(deps, taken, error),
  };
}

/** Every kind of update that is asked for, and its way. */
function updatesOf(deps: SpeechDeps): Composer<IntakeContext> {
  const updates = new Composer<IntakeContext>();
  // The old group is no more; everything that is said about its move is said in the new one.
  updates.on(['message:migrate_to_chat_id', 'message:migrate_from_chat_id'], (ctx) => moved(deps, ctx.message));
  updates.on(['message:new_chat_members', 'message:left_chat_member'], async (ctx, next) => {
    await cameAndWent(deps, ctx.message);
    await next();
  });
  updates.on('message:pinned_message', async (ctx, next) => {
    if (ctx.from?.id !== deps.me.id) return next();
    const thread = telegramThread(String(ctx.chat.id), originOf(ctx.update).topic);
    ctx.handled = withoutService({ ids: deps.ids, now: deps.clock.now(), thread }, ctx.message.message_id);
  });
  updates.on('my_chat_member', async (ctx) => {
    ctx.handled = await botChanged(deps, ctx.myChatMember, ctx.update.update_id);
  });
  updates.on('chat_member', (ctx) => memberChanged(deps, ctx.chatMember));
  updates.on('edited_message', (ctx, next) => hearAgain(deps, ctx, next));
  updates.on(['message', 'edited_message'], (ctx, next) => hear(deps, ctx, next));
  updates.on('callback_query', (ctx, next) => press(deps, ctx, next));
  updates.use(deps.conversation.chat);
  return updates;
}

function isAboutTopics(message: Message | undefined): boolean {
  if (message === undefined) return false;
  const { forum_topic_created: created, forum_topic_reopened: reopened } = message;
  const { general_forum_topic_unhidden: unhidden } = message;
  return [created, reopened, unhidden].some((part) => part !== undefined);
}

function faulted(deps: SpeechDeps, taken: Taken, error: unknown): Handled {
  if (!(error instanceof AppError) || error.code === 'internal') return failed(deps, taken, error);
  if (error.code === 'store_unavailable') throw error;
  // A refusal is an answer like any other.
  return telling(deps, taken).tell(error.message);
}

function failed(deps: SpeechDeps, taken: Taken, error: unknown): Handled {
  const { errorId, tell } = telling(deps, taken);
  const text = errorText(error);
  deps.log.error('update_failed', { update_id: taken.stored.id, error_id: errorId, error: text });
  return { ...tell(texts.intake.fault(errorId)), status: 'failed', error: `${text} (${errorId})` };
}

interface Telling {
  /** Short enough to be read out; it stands in the log as well. */
  readonly errorId: string;
  /** Says it to the one who sent the update; nothing is said where nobody spoke. */
  readonly tell: (text: string) => Handled;
}

function telling({ ids, clock }: SpeechDeps, { update }: Taken): Telling {
  const errorId = ids.next().replaceAll('-', '').slice(-8);
  const { chat, topic } = update === null ? { chat: null, topic: null } : originOf(update);
  const isPress = update?.callback_query !== undefined;
  return {
    errorId,
    tell: (text) => {
      if (chat === null || !(isPress || isSpokenToUs(update?.message))) return nothingToSay;
      return saying({ ids, now: clock.now(), thread: telegramThread(String(chat.id), topic) }, text, isPress);
    },
  };
}

/** People who talk to others in a group are not bothered with our faults. */
function isSpokenToUs(message: Message | undefined): boolean {
  const text = message?.text ?? message?.caption;
  return text !== undefined && (message?.chat.type === 'private' || text.startsWith('/'));
}
