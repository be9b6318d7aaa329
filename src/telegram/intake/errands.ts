import type { Log } from '../../app/ports/outside.ts';
import type { TelegramApi } from '../api.ts';
import type { Reaction } from '../chat/context.ts';

/** A callback that is as old as this has ended its waiting on the screen anyway. */
const pressOldMs = 15_000;
/** Refusals on their way; a crowd of strangers costs no more than that. */
const refusalsUnderWayMax = 10;
/** Refused callbacks on their way, each of which has somebody waiting. */
const refusedCallbacksMax = 100;

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
export function createErrands(api: TelegramApi, log: Log) {
  const underWay = new Set<Promise<void>>();
  let refusals = 0;
  let refusedCallbacks = 0;
  const run = (work: Promise<void>) => {
    const task = work.finally(() => underWay.delete(task));
    underWay.add(task);
  };

  const answerCallback = async (press: { id: string; ageMs: number }, toast: Toast | null) => {
    const words = toast === null ? {} : { text: toast.text.slice(0, toastLengthMax), show_alert: toast.isAlert };
    const answer = await api.ask((raw, signal) =>
      raw.answerCallbackQuery({ callback_query_id: press.id, ...words }, signal),
    );
    if (answer.is === 'ok') return;
    const facts = { kind: answer.is, error: answer.error, age_ms: press.ageMs };
    if (press.ageMs >= pressOldMs) log.debug('press_answer_late', facts);
    else log.warn('press_answer_failed', facts);
  };

  const refuse = async ({ chatId, topic }: { chatId: number; topic: number | null }, text: string) => {
    refusals += 1;
    try {
      const thread = topic === null ? {} : { message_thread_id: topic };
      const answer = await api.ask((raw, signal) => raw.sendMessage({ chat_id: chatId, text, ...thread }, signal));
      if (answer.is !== 'ok') log.debug('refusal_not_sent', { kind: answer.is, error: answer.error });
    } finally {
      refusals -= 1;
    }
  };

  /** Not every chat allows reactions, and the message may be gone. */
  const react = async (to: { chatId: number; messageId: number }, emoji: Reaction) => {
    const at = { chat_id: to.chatId, message_id: to.messageId };
    const answer = await api.ask((raw, signal) =>
      raw.setMessageReaction({ ...at, reaction: [{ type: 'emoji', emoji }] }, signal),
    );
    if (answer.is !== 'ok') log.debug('reaction_not_set', { kind: answer.is, error: answer.error });
  };

  return {
    /** Reacts to the message of a person, where the chat allows that. */
    react: (...asked: Parameters<typeof react>) => run(react(...asked)),
    answerCallback: (...asked: Parameters<typeof answerCallback>) => run(answerCallback(...asked)),
    /** A callback of a stranger. Nothing is answered when too many are under way. */
    refuseCallback: (id: string, text: string) => {
      if (refusedCallbacks >= refusedCallbacksMax) return;
      refusedCallbacks += 1;
      const answered = answerCallback({ id, ageMs: 0 }, { text, isAlert: false });
      run(answered.finally(() => (refusedCallbacks -= 1)));
    },
    /** The word to a stranger. Nothing is sent when too many are under way. */
    refuse: (...asked: Parameters<typeof refuse>) => {
      if (refusals < refusalsUnderWayMax) run(refuse(...asked));
    },
    size: () => underWay.size,
    /** Resolves when none is under way. */
    done: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
