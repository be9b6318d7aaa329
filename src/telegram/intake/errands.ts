import type { Reaction } from '../chat/context.ts';
import type { TelegramInDeps } from './deps.ts';

/** A callback that is as old as this has ended its waiting on the screen anyway. */
const pressOldMs = 15_000;
/** Refusals of any second, by words and by toasts: a crowd of strangers costs no more than that of what people wait for. */
const refusalsPerSecond = 5;

export interface Toast {
  readonly text: string;
  readonly isAlert: boolean;
}

/** Telegram shows no more characters in a toast. */
const toastLengthMax = 200;

export type Errands = ReturnType<typeof createErrands>;

/**
 * Small calls that nobody waits for and that are made once, whatever becomes of them: what a callback is answered, and the
 * word to a stranger, for whom no row is kept.
 */
export function createErrands({ aside, log, stopwatch }: Pick<TelegramInDeps, 'aside' | 'log' | 'stopwatch'>) {
  const underWay = new Set<Promise<void>>();
  let refusedAt: readonly number[] = [];
  const run = (work: Promise<void>) => {
    const task = work.finally(() => underWay.delete(task));
    underWay.add(task);
  };

  const mayRefuse = (): boolean => {
    const now = stopwatch.elapsed();
    refusedAt = refusedAt.filter((at) => at > now - 1000);
    if (refusedAt.length >= refusalsPerSecond) return false;
    refusedAt = [...refusedAt, now];
    return true;
  };

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

  /** A reaction may be refused: not every chat allows them, and the message may be gone. */
  const react = async (to: { chatId: number; messageId: number }, emoji: Reaction) => {
    const at = { chat_id: to.chatId, message_id: to.messageId };
    const answer = await aside.ask((raw, signal) =>
      raw.setMessageReaction({ ...at, reaction: [{ type: 'emoji', emoji }] }, signal),
    );
    if (answer.is !== 'ok') log.debug('reaction_not_set', { kind: answer.is, error: answer.error });
  };

  return {
    /** Reacts to the message of a person, where the chat allows that. */
    react: (...asked: Parameters<typeof react>) => run(react(...asked)),
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
    /** Resolves when none is under way. */
    done: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
