import type { Leased } from '../../app/operations/lease.ts';
import { errorText } from '../../domain/errors.ts';
import { updatesMax } from '../api.ts';
import { troubleOf } from '../errors.ts';
import type { Backoff, Pauses } from './backoff.ts';
import type { TelegramInDeps } from './deps.ts';
import { updateIdOf, updatesWanted } from './payload.ts';

/** Until when it goes on, and what is asked where another process may poll as well. */
interface Polling extends Partial<Omit<Leased, 'signal'>>, Pick<Leased, 'signal'> {}

interface PollDeps extends Pick<TelegramInDeps, 'stopwatch' | 'api' | 'log'> {
  readonly backoff: Backoff;
  readonly pauses: Pauses;
  /** Resolves when there is room for more, with how much. */
  readonly untilFree: () => Promise<number>;
  /** Comes back when they are stored, or when everything stops; calls `tried` at each try. */
  readonly take: (updates: readonly unknown[], tried: () => void) => Promise<unknown>;
}

/** How long Telegram holds the question while there is nothing to tell. */
const pollSeconds = 30;
/** Telegram answers by then, or never. */
const pollWaitMs = 45_000;
const faultPauseMs = 5000;
/** Telegram holds the question until there is news, so an answer at once that brings none is not Telegram's own. */
const noNewsPauseMs = 1000;
/** The process that polled before is answered by Telegram no later than this, and until then each may end the question of the other. */
const succeedMs = 50_000;
const conflictPauseMs = 3000;
/**
 * After a week without updates Telegram counts on from any number, perhaps a lower one, and an offset above it would
 * confirm updates that were never seen. Everything is asked for then: repeats are harmless.
 */
const offsetKeptMs = 6 * 86_400_000;

interface TurnDeps extends PollDeps {
  /** A pause that ends when polling does. */
  readonly rest: (ms: number) => Promise<void>;
  readonly turned: () => void;
}

/** Asks one question after the other, each from where the last answer has ended. */
function createTurns({ api, stopwatch, backoff, untilFree, take, rest, turned }: TurnDeps) {
  let answeredAt: number | null = null;
  // At the start too everything is asked for that was not confirmed; what was stored before is known by its number.
  let last: { readonly id: number; readonly at: number } | null = null;
  let overdue = 0;

  const taken = async (updates: readonly unknown[], beganAt: number) => {
    overdue = 0;
    await take(updates, turned);
    const newest = newestOf(updates);
    // Nothing of it has a number by which it could be confirmed, so the same would come again at once.
    if (newest === null && updates.length > 0)
      return rest(backoff.failed({ is: 'lost', error: 'the updates have no numbers' }));
    backoff.succeeded();
    answeredAt = stopwatch.elapsed();
    if (newest !== null && newest !== last?.id) last = { id: newest, at: stopwatch.elapsed() };
    else if (stopwatch.elapsed() - beganAt < noNewsPauseMs) await rest(noNewsPauseMs);
  };
  const turn = async ({ signal: stop, isHeld, doubt }: Polling, since: number) => {
    const limit = Math.min(await untilFree(), updatesMax);
    turned();
    if (stop.aborted) return;
    if (isHeld?.() === false) {
      // This process stood still, and another one may have begun meanwhile.
      doubt?.();
      return rest(noNewsPauseMs);
    }
    const began = stopwatch.elapsed();
    const offset = last === null || began - last.at > offsetKeptMs ? {} : { offset: last.id + 1 };
    const asked = { ...offset, limit, timeout: secondsHeld(backoff), allowed_updates: updatesWanted };
    const answer = await api.ask((raw, signal) => raw.getUpdates(asked, signal), pollWaitMs, stop);
    if (stop.aborted) return;
    if (answer.is === 'ok') return taken(answer.value, began);
    // Updates that came over the webhook and were not taken stay, and are polled.
    if (troubleOf(answer) === 'webhook') {
      await api.ask((raw, signal) => raw.deleteWebhook({ drop_pending_updates: false }, signal));
    }
    if (troubleOf(answer) === 'conflict' && doubt !== undefined) {
      doubt();
      // Telegram still holds the question of the process that polled before.
      if (began - since < succeedMs) return rest(conflictPauseMs);
    }
    // After a sleep of the machine the first question is an old one, and that is no trouble worth a word.
    overdue = stopwatch.elapsed() - began >= pollWaitMs ? overdue + 1 : 0;
    if (overdue !== 1) await rest(backoff.failed(answer));
  };
  return {
    turn,
    answeredAt: () => answeredAt,
    /** Another process may poll from now on. */
    forget: () => {
      answeredAt = null;
    },
  };
}

/** Long polling: each batch is stored, and handed on, before the next one is asked for. */
export function createPoll(deps: PollDeps) {
  const { stopwatch, log, backoff, pauses } = deps;
  let isPolling = false;
  let stopped = new Promise<void>(() => {});
  const rest = (ms: number) => Promise.race([pauses.pause(ms), stopped]);
  let turnedAt = stopwatch.elapsed();
  const turned = () => {
    turnedAt = stopwatch.elapsed();
  };

  const turns = createTurns({ ...deps, rest, turned });
  const turnSafely = async (given: Polling, since: number) => {
    try {
      await turns.turn(given, since);
    } catch (error) {
      // A fault of ours ends one turn, and not the hearing.
      log.error('poll_failed', { error: errorText(error) });
      await rest(faultPauseMs);
    }
  };
  return {
    /** Polls until it is told to stop, and has stored what it was given. */
    run: async (given: Polling): Promise<void> => {
      const { signal } = given;
      stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      const since = stopwatch.elapsed();
      turned();
      for (isPolling = true; !signal.aborted; turned()) await turnSafely(given, since);
      isPolling = false;
      turns.forget();
      backoff.succeeded();
    },
    /** How long ago Telegram last answered; 0 before its first answer. */
    silentMs: () => {
      const answeredAt = turns.answeredAt();
      return answeredAt === null ? 0 : stopwatch.elapsed() - answeredAt;
    },
    /** How long nothing has moved on: an answer, a failure, or a try to store what came. */
    stillMs: () => (!isPolling ? 0 : stopwatch.elapsed() - turnedAt),
  };
}

/** After an outage the first answer must come at once: until then the product is not ready. */
function secondsHeld(backoff: Backoff): number {
  return backoff.trouble() === 'away' || backoff.trouble() === 'busy' ? 0 : pollSeconds;
}

/** The highest number of them by which they can be confirmed; null where none has one. */
function newestOf(updates: readonly unknown[]): number | null {
  const ids = updates.map(updateIdOf).filter((id) => id !== null);
  return ids.length === 0 ? null : Math.max(...ids);
}
