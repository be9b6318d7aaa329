import { answersInRowMax } from '../../domain/limits.ts';
import type { OutboxPart, OutboxStore } from '../ports/outbox.ts';
import type { Stopwatch, Timer } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { HousekeepingStore } from '../ports/upkeep.ts';
import { within } from './collector.ts';
import { createPartsInHand, type HandDeps } from './deliverer-hand.ts';
import { createLostClaims } from './lost-claims.ts';
import type { Pacer } from './pacer.ts';

/**
 * Brings results to their threads, as fast as the platform allows: one call in flight per chat, what people wait for first,
 * parts of a thread in order, chats in turn. A part counts as delivered only when the platform returned its ids and they
 * are the ones that were asked for.
 */
export interface Deliverer {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
  idle(): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

export interface DelivererDeps extends HandDeps {
  readonly store: HandDeps['store'] & OutboxStore & Pick<HousekeepingStore, 'letPartsGo'>;
  readonly pacer: Pacer;
  readonly timer: Timer;
  readonly stopwatch: Stopwatch;
  /** Chats that may be served at the same time. */
  readonly concurrency: number;
}

const nothing: Counts = { taken: 0, more: false };

/** How many answers each chat was sent in a row, and which chats have had so many that a result has its turn. */
function createAnswersInRow() {
  const inRow = new Map<string, number>();
  const full = new Set<string>();
  return {
    full,
    note: ({ chatId, kind }: OutboxPart): void => {
      const count = (inRow.get(chatId) ?? 0) + 1;
      // Whoever had the turn of a result, and there was none, begins anew.
      const isOver = full.delete(chatId) || kind !== 'answer';
      if (isOver) inRow.delete(chatId);
      else inRow.set(chatId, count);
      if (!isOver && count === answersInRowMax) full.add(chatId);
    },
  };
}

export function createDeliverer(deps: DelivererDeps): Deliverer {
  const { store, pacer, concurrency } = deps;
  const inHand = createPartsInHand(deps);
  const claims = createLostClaims(deps, 'deliverer', () => store.letPartsGo(deps.bootId, inHand.partIds()));
  const answers = createAnswersInRow();
  let after = '';
  let [opened, stopping] = [false, false];

  const claim = async (now: number, free: number) => {
    let started = 0;
    try {
      const away = new Set([...inHand.chats(), ...pacer.heldChats()]);
      const at = { now, limit: free, after, resultsFirst: answers.full };
      const parts = await claims.claim(() => store.claimParts(at, deps.bootId, away));
      started = parts.length;
      for (const part of parts) {
        answers.note(part);
        inHand.serve(part);
      }
      return parts;
    } finally {
      pacer.release(free - started);
    }
  };

  return {
    step: async (now, limit) => {
      if (stopping) return nothing;
      await claims.settle();
      if (!opened) await pacer.open();
      opened = true;
      const free = pacer.book(Math.min(limit, concurrency - inHand.size()));
      if (free === 0) return nothing;
      const claimed = await claim(now, free);
      after = claimed.length === free ? (claimed.at(-1)?.chatId ?? '') : '';
      return { taken: claimed.length, more: claimed.length === free && inHand.size() < concurrency };
    },
    nextAt: async (now) => {
      if (inHand.size() >= concurrency) return null;
      const [partAt, freeInMs] = [await store.nextPartAt(now), pacer.freeInMs()];
      if (freeInMs === null) return partAt;
      // What is ready by now and was not taken waits for its chat.
      const freeAt = now + Math.max(Math.ceil(freeInMs), 1);
      return partAt === null || partAt <= now ? freeAt : Math.min(partAt, freeAt);
    },
    idle: () => inHand.idle(),
    stop: async (graceMs) => {
      stopping = true;
      // A call that hangs, or a store that is away, is not waited for: the next process looks for evidence.
      await within(deps.timer, graceMs, inHand.done());
    },
  };
}
