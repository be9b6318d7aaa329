import { perSecond } from '../../app/operations/recent.ts';
import { refusalsPerSecond } from '../../domain/limits.ts';
import type { Reaction } from '../chat/context.ts';
import type { TelegramInDeps } from './deps.ts';
import { createReactions, type MessageOf } from './reactions.ts';

/** A callback that is as old as this has ended its waiting on the screen anyway. */
const pressOldMs = 15_000;

export interface Toast {
  readonly text: string;
  readonly isAlert: boolean;
}

/** Telegram shows no more characters in a toast. */
const toastLengthMax = 200;

type ErrandsDeps = Pick<TelegramInDeps, 'aside' | 'log' | 'stopwatch' | 'timer' | 'chatDeps'>;

export type Errands = ReturnType<typeof createErrands>;

/**
 * Small calls that nobody waits for and that are made once, whatever becomes of them: what a callback is answered, and the
 * word to a stranger, for whom no row is kept.
 */
export function createErrands(deps: ErrandsDeps) {
  const { aside, log, stopwatch } = deps;
  const underWay = new Set<Promise<void>>();
  const mayRefuse = perSecond(stopwatch, refusalsPerSecond);
  const run = (work: Promise<void>) => {
    const task = work.finally(() => underWay.delete(task));
    underWay.add(task);
  };

  const reactions = createReactions({ ...deps, begin: run, runs: deps.chatDeps.tasks });

  const answerCallback = async (press: { id: string; ageMs: number }, toast: Toast | null) => {
    const words = toast === null ? {} : { text: toast.text.slice(0, toastLengthMax), show_alert: toast.isAlert };
    const answer = await aside.ask((raw, signal) =>
      raw.answerCallbackQuery({ callback_query_id: press.id, ...words }, signal),
    );
    if (answer.is === 'ok') return;
    const facts = { kind: answer.is, error: answer.error, age_ms: press.ageMs };
    if (press.ageMs >= pressOldMs) log.debug('press_answer_late', facts);
    else log.warn('press_answer_failed', facts);
  };

  const say = async ({ chatId, topic }: { chatId: number; topic: number | null }, text: string) => {
    const thread = topic === null ? {} : { message_thread_id: topic };
    const answer = await aside.ask((raw, signal) => raw.sendMessage({ chat_id: chatId, text, ...thread }, signal));
    if (answer.is !== 'ok') log.debug('word_not_sent', { kind: answer.is, error: answer.error });
  };

  return {
    /** Reacts to the message of a person, where the chat allows that, and once more at the end of the run it began. */
    react: (to: MessageOf, emoji: Reaction, follows: string | null) => {
      run(reactions.set(to, emoji));
      if (follows !== null) reactions.follow(to, follows);
    },
    answerCallback: (...asked: Parameters<typeof answerCallback>) => run(answerCallback(...asked)),
    /** A callback of a stranger. */
    refuseCallback: (id: string, text: string) => {
      if (mayRefuse()) run(answerCallback({ id, ageMs: 0 }, { text, isAlert: false }));
    },
    /** The word to a stranger; false when others were refused just now, so that nothing is sent. */
    refuse: (...asked: Parameters<typeof say>): boolean => {
      const may = mayRefuse();
      if (may) run(say(...asked));
      return may;
    },
    /** One word to somebody for whom no row is kept. */
    say: (...asked: Parameters<typeof say>) => run(say(...asked)),
    size: () => underWay.size,
    /** No end of a run is told any more. */
    stop: reactions.stop,
    /** Resolves when none is under way. */
    done: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
