import type { Stopwatch, Timer } from '../../app/ports/outside.ts';
import { updateKinds, type UpdateRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';
import { type Arguments, Failure } from './request.ts';

/** Answers getUpdates, now or later. */
export type Reply = (result: readonly unknown[] | Failure) => void;

interface Waiting {
  readonly limit: number;
  readonly reply: Reply;
  readonly stop: () => void;
}

const limitMax = 100;
const timeoutMaxSeconds = 50;
const conflictPauseMs = 3000;
/** An offset that lies further ahead than this is no offset at all: the queue is told from its beginning. */
const aheadMax = 10;

/** Kinds that there are, but that never happen here: a bot that asks for them alone hears of nothing. */
const otherKinds = new Set([
  'channel_post',
  'edited_channel_post',
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
  'message_reaction',
  'message_reaction_count',
  'inline_query',
  'chosen_inline_result',
  'shipping_query',
  'pre_checkout_query',
  'purchased_paid_media',
  'poll',
  'poll_answer',
  'chat_join_request',
  'chat_boost',
  'removed_chat_boost',
]);

/** The queue of updates as getUpdates sees it. One poll waits at most; a newer one that has to wait ends it with 409. */
export class Polling {
  readonly #state: State;
  readonly #timer: Timer;
  readonly #stopwatch: Stopwatch;
  #waiting: Waiting | null = null;
  #nextConflictAt = 0;
  readonly #delayed = new Set<() => void>();

  constructor(deps: { readonly state: State; readonly timer: Timer; readonly stopwatch: Stopwatch }) {
    this.#state = deps.state;
    this.#timer = deps.timer;
    this.#stopwatch = deps.stopwatch;
  }

  /** Answers through `reply`; the returned function is for a client that has gone. */
  get(args: Arguments, reply: Reply): () => void {
    if (this.#state.settings.webhook !== null) {
      return this.#conflict(
        "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        reply,
      );
    }
    const limit = Math.min(Math.max(args.integer('limit', limitMax), 1), limitMax);
    const timeout = Math.min(Math.max(args.integer('timeout'), 0), timeoutMaxSeconds);
    const found = this.#state.transact(() => {
      setAllowedUpdates(this.#state, args);
      confirm(this.#state, args.integer('offset'));
      return openUpdates(this.#state).slice(0, limit);
    });
    if (found.length > 0 || timeout === 0) {
      reply(found.map(({ body }) => body));
      return () => {};
    }
    this.#end('terminated by other getUpdates request; make sure that only one bot instance is running');
    return this.#wait({ limit, reply, timeout });
  }

  wake(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const found = openUpdates(this.#state).slice(0, waiting.limit);
    if (found.length === 0) return;
    this.#forget();
    waiting.reply(found.map(({ body }) => body));
  }

  endForWebhook(): void {
    this.#end('terminated by setWebhook request');
  }

  /** Polls that wait are not answered: their connections are about to be closed. */
  close(): void {
    this.#forget();
    for (const stop of this.#delayed) stop();
    this.#delayed.clear();
  }

  #wait({ limit, reply, timeout }: { limit: number; reply: Reply; timeout: number }): () => void {
    const stop = this.#timer.after(timeout * 1000, () => {
      this.#waiting = null;
      reply([]);
    });
    const waiting = { limit, reply, stop };
    this.#waiting = waiting;
    return () => {
      if (this.#waiting === waiting) this.#forget();
    };
  }

  #forget(): void {
    this.#waiting?.stop();
    this.#waiting = null;
  }

  #end(text: string): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    this.#forget();
    this.#conflict(text, waiting.reply);
  }

  /** Repeated conflicts are told late, so that two bots do not spin. */
  #conflict(text: string, reply: Reply): () => void {
    const failure = new Failure(409, `Conflict: ${text}`);
    const now = this.#stopwatch.elapsed();
    if (now >= this.#nextConflictAt) {
      this.#nextConflictAt = now + conflictPauseMs;
      reply(failure);
      return () => {};
    }
    const stop = this.#timer.after(conflictPauseMs, () => {
      this.#delayed.delete(stop);
      reply(failure);
    });
    this.#delayed.add(stop);
    return () => {
      stop();
      this.#delayed.delete(stop);
    };
  }
}

/** Updates that the bot has not confirmed and that are young enough to be of use, in order. */
export function openUpdates(state: State): readonly UpdateRow[] {
  const now = state.seconds();
  return state.updates.all().filter(({ expires }) => expires >= now);
}

function confirm(state: State, offset: number): void {
  const { lastUpdate } = state.settings;
  const all = state.updates.all();
  const now = state.seconds();
  const from = offset > lastUpdate + aheadMax ? 0 : offset;
  const lastKept = from < 0 ? (all.at(from)?.updateId ?? 0) : from;
  for (const { updateId, expires } of all) {
    if (updateId < lastKept || expires < now) state.updates.remove(updateId);
  }
}

/** Kept until it is set again. An empty list is the default, and so is a list of nothing but unknown names. */
export function setAllowedUpdates(state: State, args: Arguments): void {
  const value = args.json('allowed_updates');
  if (!Array.isArray(value)) return;
  const names = value.map((name: unknown) => String(name).toLowerCase());
  const known = updateKinds.filter((kind) => names.includes(kind));
  const isDefault = known.length === 0 && !names.some((name) => otherKinds.has(name));
  state.set({ allowedUpdates: isDefault ? null : known });
}
