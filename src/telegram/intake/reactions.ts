import { perSecond } from '../../app/operations/recent.ts';
import { AppError } from '../../domain/errors.ts';
import type { Reaction } from '../chat/context.ts';
import type { TelegramInDeps } from './deps.ts';

interface ReactionsDeps extends Pick<TelegramInDeps, 'aside' | 'log' | 'stopwatch' | 'timer'> {
  /** Begins what nobody waits for. */
  readonly begin: (work: Promise<void>) => void;
  readonly runs: Pick<TelegramInDeps['chatDeps']['tasks'], 'getRun'>;
}

export interface MessageOf {
  readonly chatId: number;
  readonly messageId: number;
}

/** A fifth of what all chats share: whoever says more words than these a second sees no reaction to the others. */
const reactionsPerSecond = 6;

/** The first look at a run finds most of them over; later ones come ever more seldom, for an hour at most. */
const firstLookMs = 1000;
const lookMaxMs = 30_000;
const followedForMs = 3_600_000;
/** Runs that are followed at a time; the others keep their 👀. */
const followedMax = 200;

const ends: Readonly<Record<string, Reaction>> = { succeeded: '👍', failed: '💔', cancelled: '💔' };

/**
 * Reactions to the words of people, each made once, whatever becomes of it: a chat may allow none, and the message may be
 * gone. They have a budget of their own, so that no result ever waits for one.
 */
export function createReactions({ aside, log, stopwatch, timer, begin, runs }: ReactionsDeps) {
  const looks = new Set<() => void>();
  const isInBudget = perSecond(stopwatch, reactionsPerSecond);

  const set = async ({ chatId: chat_id, messageId: message_id }: MessageOf, emoji: Reaction): Promise<void> => {
    if (!isInBudget()) return;
    const answer = await aside.ask((raw, signal) =>
      raw.setMessageReaction({ chat_id, message_id, reaction: [{ type: 'emoji', emoji }] }, signal),
    );
    if (answer.is !== 'ok') log.debug('reaction_not_set', { kind: answer.is, error: answer.error });
  };

  const look = async (to: MessageOf, runId: string, waitMs: number, until: number): Promise<void> => {
    try {
      const emoji = ends[(await runs.getRun(runId)).status];
      if (emoji !== undefined) return await set(to, emoji);
    } catch (error) {
      // A store that is away may be back at the next look; a run that is gone ends nowhere.
      if (!(error instanceof AppError) || error.code !== 'store_unavailable') {
        return log.debug('run_not_followed', { run_id: runId });
      }
    }
    if (stopwatch.elapsed() < until) later(to, runId, Math.min(waitMs * 2, lookMaxMs), until);
  };

  const later = (to: MessageOf, runId: string, waitMs: number, until: number) => {
    const cancel = timer.after(waitMs, () => {
      looks.delete(cancel);
      begin(look(to, runId, waitMs, until));
    });
    looks.add(cancel);
  };

  return {
    set,
    /** Tells the end of the run by another reaction to the same message. */
    follow: (to: MessageOf, runId: string) => {
      if (looks.size < followedMax) later(to, runId, firstLookMs, stopwatch.elapsed() + followedForMs);
    },
    stop: () => {
      for (const cancel of looks) cancel();
      looks.clear();
    },
  };
}
