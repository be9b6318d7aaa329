import type { CallFault, Timer, World } from '../../app/ports/outside.ts';
import { backoffMs } from '../../domain/limits.ts';
import type { TelegramApi } from '../api.ts';
import { troubleOf, type Trouble } from '../errors.ts';

/**
 * How long to wait after each kind of trouble: the first wait, doubling up to the cap. A second poller is terminated by
 * Telegram again and again, so it is asked less often; a wrong token does not mend itself.
 */
const waits: Record<Trouble, { readonly firstMs: number; readonly capMs: number }> = {
  away: { firstMs: 500, capMs: 15_000 },
  busy: { firstMs: 1000, capMs: 15_000 },
  webhook: { firstMs: 1000, capMs: 15_000 },
  conflict: { firstMs: 3000, capMs: 30_000 },
  token: { firstMs: 5000, capMs: 60_000 },
  refused: { firstMs: 5000, capMs: 60_000 },
};

/** Words for the operator, told once while the trouble lasts. */
const explanations: Record<Trouble, string> = {
  away: 'Telegram does not answer, or not as it should. Tasks go on; messages of people wait there.',
  busy: 'Telegram asks to wait. Tasks go on.',
  webhook: 'A webhook is set for this bot; it is removed, because this process polls.',
  conflict:
    'Another process polls Telegram with the same bot token. Stop it, or give this one a token of its own. Tasks go on; messages of people reach the other process.',
  token: 'Telegram does not know this bot token. Ask @BotFather for the right one. Tasks go on; nothing is sent.',
  refused: 'Telegram refuses the question.',
};

interface BackoffDeps extends Pick<World, 'log' | 'stopwatch'> {
  /** The task that was tried, as a fact in the log. */
  readonly task: string;
}

export type Backoff = ReturnType<typeof createBackoff>;

export function createBackoff({ log, stopwatch, task }: BackoffDeps) {
  let since: number | null = null;
  let failures = 0;
  let now: Trouble | null = null;
  const told = new Set<Trouble>();

  return {
    /** Notes the failure, logs the first one of its kind, and answers how long to wait. */
    failed: (fault: CallFault): number => {
      const trouble = troubleOf(fault);
      failures = now === trouble ? failures + 1 : 1;
      since ??= stopwatch.elapsed();
      now = trouble;
      const { firstMs, capMs } = waits[trouble];
      if (!told.has(trouble)) {
        told.add(trouble);
        log.warn('telegram_trouble', { task, kind: trouble, explanation: explanations[trouble], error: fault.error });
      }
      return fault.is === 'wait' ? fault.ms : backoffMs(failures, firstMs, capMs);
    },
    succeeded: () => {
      if (since === null) return;
      log.info('telegram_answers_again', { task, after_ms: Math.round(stopwatch.elapsed() - since) });
      since = null;
      failures = 0;
      now = null;
      told.clear();
    },
    trouble: () => now,
    /** The trouble of now, in words for the operator. */
    error: () => (now === null ? null : explanations[now]),
  };
}

export interface AskDeps {
  readonly api: Pick<TelegramApi, 'ask'>;
  readonly backoff: Backoff;
  readonly pauses: Pauses;
}

/** Asks until there is an answer; null when everything stops before that. */
export async function untilAnswered<T>(
  { api, backoff, pauses }: AskDeps,
  call: Parameters<typeof api.ask<T>>[0],
): Promise<{ readonly value: T } | null> {
  while (!pauses.ended()) {
    const answer = await api.ask(call);
    if (answer.is === 'ok') {
      backoff.succeeded();
      return answer;
    }
    await pauses.pause(backoff.failed(answer));
  }
  return null;
}

/** Tries until it is done; null when everything stops before that. `failed` tells of a failure, and how long to wait. */
export async function retrying<T>(
  pauses: Pauses,
  work: () => Promise<T>,
  failed: (error: unknown, failures: number) => number,
): Promise<{ readonly value: T } | null> {
  for (let failures = 1; !pauses.ended(); failures += 1) {
    try {
      return { value: await work() };
    } catch (error) {
      await pauses.pause(failed(error, failures));
    }
  }
  return null;
}

/** Pauses that all end at once when everything stops. */
export interface Pauses {
  pause(ms: number): Promise<void>;
  end(): void;
  readonly ended: () => boolean;
}

export function createPauses(timer: Timer): Pauses {
  const waiting = new Set<() => void>();
  let ended = false;
  return {
    pause: (ms) =>
      new Promise((resolve) => {
        if (ended) {
          resolve();
          return;
        }
        const wake = () => {
          callOff();
          waiting.delete(wake);
          resolve();
        };
        const callOff = timer.after(ms, wake);
        waiting.add(wake);
      }),
    end: () => {
      ended = true;
      for (const wake of waiting) wake();
    },
    ended: () => ended,
  };
}
