import { createRunner, createSource } from '@grammyjs/runner';
import type { CallSignal } from '../api.ts';
import { troubleOf, type Trouble } from '../errors.ts';
import type { TelegramInNeeds } from './needs.ts';
import type { Patience, Pauses } from './patience.ts';
import { updateIdOf, updatesWanted } from './payload.ts';

/** Long polling: each batch is stored before it is handed on, and before the next one is asked for. */
export interface Poll {
  start(): void;
  stop(): Promise<void>;
  /** When the platform last answered, on the wall clock. */
  readonly lastOkAt: () => number | null;
}

export interface PollNeeds extends Pick<TelegramInNeeds, 'api' | 'clock' | 'stopwatch'> {
  readonly patience: Patience;
  readonly pauses: Pauses;
  /** Stores them; it comes back only when that is done, or when everything stops. Answers the lowest one that is stored. */
  readonly store: (updates: readonly unknown[]) => Promise<number | null>;
  /** Hands them on; answers how many more there is room for. */
  readonly handOn: (from: number | null) => Promise<number>;
}

/** How long the platform holds the question while there is nothing to tell. */
const pollSeconds = 30;
/** The platform answers by then, or never. */
const pollWaitMs = 45_000;
const batchMax = 100;
/**
 * After a week without updates the platform counts on from any number, perhaps a lower one, and an offset above it would
 * confirm what nobody has seen. Everything is asked for then: repeats are harmless.
 */
const offsetKeptMs = 6 * 86_400_000;

export function createPoll(needs: PollNeeds): Poll {
  const { clock, stopwatch, patience, pauses } = needs;
  let lastOkAt: number | null = null;
  // At the start too everything is asked for that was not confirmed; what was stored before is known by its number.
  let last: { readonly id: number; readonly at: number } | null = null;

  const offset = () => (last === null || stopwatch.elapsed() - last.at > offsetKeptMs ? undefined : last.id + 1);

  const take = async (updates: readonly unknown[]): Promise<Batch[]> => {
    patience.succeeded();
    lastOkAt = clock.now();
    const from = await needs.store(updates);
    const id = updateIdOf(updates.at(-1));
    if (id !== null) last = { id, at: stopwatch.elapsed() };
    return [{ from }];
  };

  const supply = async (room: number, signal: CallSignal): Promise<Batch[]> => {
    for (let overdue = 0; ;) {
      const asked = { offset: offset(), limit: Math.max(1, Math.min(room, batchMax)) };
      const polled = await ask(needs, asked, signal);
      if (signal.aborted) throw new Error('stopped');
      if (polled.is === 'updates') return take(polled.updates);
      // After a sleep of the machine the first question is an old one, and that is no trouble worth a word.
      overdue = polled.isOverdue ? overdue + 1 : 0;
      if (overdue !== 1) await pauses.pause(patience.failed(polled.trouble));
    }
  };

  const source = createSource<Batch>({ supply });
  const runner = createRunner(source, {
    handle: async (batches) => needs.handOn(batches[0]?.from ?? null),
    size: () => 0,
    snapshot: () => [],
  });
  return {
    start: () => runner.start(),
    stop: async () => {
      if (runner.isRunning()) await runner.stop();
    },
    lastOkAt: () => lastOkAt,
  };
}

/** What was stored in one go, by its lowest number. */
interface Batch {
  readonly from: number | null;
}

interface Asked {
  readonly offset: number | undefined;
  readonly limit: number;
}

type Polled =
  | { readonly is: 'updates'; readonly updates: readonly unknown[] }
  /** `isOverdue` when the platform kept silent for longer than it was asked to. */
  | { readonly is: 'trouble'; readonly trouble: Trouble; readonly isOverdue: boolean };

async function ask(needs: PollNeeds, asked: Asked, stopped: CallSignal): Promise<Polled> {
  let isOverdue = false;
  const answer = await needs.api.ask(async (raw, inTime) => {
    const controller = new AbortController();
    const abort = () => controller.abort();
    const giveUp = () => {
      isOverdue = true;
      abort();
    };
    inTime.addEventListener('abort', giveUp);
    stopped.addEventListener('abort', abort);
    if (stopped.aborted) abort();
    try {
      // The signal of the platform does what the one of the library's own package does, but is typed apart.
      return await raw.getUpdates(questionOf(asked), controller.signal as unknown as CallSignal);
    } finally {
      stopped.removeEventListener('abort', abort);
    }
  }, pollWaitMs);
  if (answer.is === 'ok') return { is: 'updates', updates: answer.value };
  const trouble = troubleOf(answer);
  if (trouble.is === 'webhook') await removeWebhook(needs);
  return { is: 'trouble', trouble, isOverdue };
}

function questionOf({ offset, limit }: Asked) {
  return { ...(offset === undefined ? {} : { offset }), limit, timeout: pollSeconds, allowed_updates: updatesWanted };
}

/** What came in over the webhook and was not taken stays, and is polled. */
async function removeWebhook({ api }: PollNeeds): Promise<void> {
  await api.ask((raw, signal) => raw.deleteWebhook({ drop_pending_updates: false }, signal));
}
