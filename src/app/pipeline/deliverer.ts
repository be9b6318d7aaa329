import { answersInRowMax } from '../../domain/limits.ts';
import type { Rates } from '../../domain/pacing/pace.ts';
import { createLooks, lookEveryMs } from '../jobs/looks.ts';
import { createWanted } from '../jobs/wanted.ts';
import type { Pacer, Turn } from '../pacing/pacer.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { WorkEngine } from '../ports/hints.ts';
import type { EndedCall, OutboxPart, OutboxStore } from '../ports/outbox.ts';
import type { World } from '../ports/outside.ts';
import type { Batch, Counts } from '../ports/pipeline.ts';
import type { Processes } from '../ports/processes.ts';
import type { HousekeepingStore, StandingStore } from '../ports/upkeep.ts';
import { createCollector } from './collector.ts';
import { codeOf } from './deliverer-ends.ts';
import { type PartDeps, servePart } from './deliverer-parts.ts';
import { createRedraws } from './redraws.ts';
import { createLedAstray, type Ended } from './topics.ts';
import { createLostClaims, tellTraced, waitAtMost } from './workers.ts';

/**
 * Brings results to their threads, as fast as Telegram allows: one call in flight per chat, what people wait for first,
 * parts of a thread in order, chats in turn. A part counts as delivered only when Telegram returned its ids and they
 * are the ones that were asked for.
 */
export interface Deliverer {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
  /** Serves the chats that a job names, as far as they are free. Resolves when each was looked at. */
  take(chatIds: readonly string[]): Promise<readonly string[]>;
  refuse(): void;
  /** Looks at the next step for what no job has named. */
  look(): void;
  idle(): Promise<void>;
  stop(graceMs: number): Promise<void>;
}

interface DelivererDeps extends PartDeps, Pick<World, 'timer' | 'stopwatch' | 'bell'> {
  readonly store: PartDeps['store'] &
    OutboxStore &
    Pick<ChatStore, 'retryBlocked'> &
    Pick<HousekeepingStore, 'letPartsGo'> &
    StandingStore;
  readonly pacer: Pacer;
  readonly workEngine: Pick<WorkEngine, 'name'>;
  readonly rates: Rates;
  readonly batchMax: number;
  readonly processes: Pick<Processes, 'begun' | 'isHeld' | 'isAlone'>;
  /** Chats that may be served at the same time. */
  readonly concurrency: number;
}

const nothing: Counts = { taken: 0, more: false };
const none = () => false;

/** How many answers each chat was sent in a row, and which chats have had so many that a result has its turn. */
function createAnswersInRow() {
  const inRow = new Map<string, number>();
  const full = new Set<string>();
  return {
    full,
    note: ({ chatId, kind }: OutboxPart): void => {
      const count = (inRow.get(chatId) ?? 0) + 1;
      // A chat that had the turn of a result, and had none, begins anew.
      const isOver = full.delete(chatId) || kind !== 'answer';
      if (isOver) inRow.delete(chatId);
      else inRow.set(chatId, count);
      if (!isOver && count === answersInRowMax) full.add(chatId);
    },
  };
}

interface Looking {
  readonly wanted: ReturnType<typeof createWanted>;
  readonly looks: ReturnType<typeof createLooks>;
  readonly inHand: ReturnType<typeof createPartsInHand>;
}

/** Claims parts and has them served: of all chats, or of those that somebody has named. */
function createClaims(deps: DelivererDeps, { wanted, looks, inHand }: Looking) {
  const { store, pacer, concurrency } = deps;
  const claims = createLostClaims(deps, 'deliverer', () => store.letPartsGo(deps.bootId, inHand.partIds()));
  const answers = createAnswersInRow();
  const redraws = createRedraws({ ...deps, group: deps.rates.group });
  let after = '';

  const serve = async (which: Batch & { readonly only?: readonly string[] }) => {
    const busy = new Set(inHand.chats());
    const claimed = await claims.claim(() => pacer.claim({ ...which, after, resultsFirst: answers.full, busy }));
    for (const { part, turn } of claimed?.parts ?? []) {
      answers.note(part);
      inHand.serve(part, turn);
    }
    return claimed;
  };

  return {
    letGo: claims.letGo,
    redrawAt: redraws.nextAt,
    /** All chats in turn, and what is to be drawn anew when none has anything. */
    ofAll: async (now: number, most: number): Promise<Counts> => {
      const claimed = await serve({ now, limit: most });
      // The pace says when there is room again, and then all chats are looked at.
      if (claimed === null) return nothing;
      const { room, parts } = claimed;
      after = parts.length === room ? (parts.at(-1)?.part.chatId ?? '') : '';
      if (parts.length === 0) {
        const drawn = await redraws.look(now);
        return { taken: drawn, more: drawn > 0 };
      }
      const isMore = parts.length === room && inHand.size() < concurrency;
      if (isMore) looks.again();
      return { taken: parts.length, more: isMore || wanted.isAny() };
    },
    ofNamed: async (now: number, most: number): Promise<Counts> => {
      const { claimed } = await wanted.lookFor(most, async ({ only }) => ({
        claimed: await serve({ now, limit: most, only }),
        left: none,
      }));
      if (claimed === null) return nothing;
      return { taken: claimed.parts.length, more: wanted.isAny() && inHand.size() < concurrency };
    },
  };
}

export function createDeliverer(deps: DelivererDeps): Deliverer {
  const { store, pacer, concurrency } = deps;
  const wanted = createWanted();
  const hasJobs = deps.workEngine.name !== 'embedded';
  const looks = createLooks(hasJobs, lookEveryMs(deps.processes));
  const inHand = createPartsInHand(deps, (chats) => {
    looks.later();
    // Parts that waited behind the one that has ended are named by no job.
    if (hasJobs) void wanted.want([...chats]).catch(() => undefined);
  });
  const claims = createClaims(deps, { wanted, looks, inHand });
  let [opened, stopping] = [false, false];

  const nextAt = async (now: number) => {
    const isFull = inHand.size() >= concurrency;
    const [nextPartAt, redrawAt] = isFull ? [null, null] : [await store.nextPartAt(now), await claims.redrawAt(now)];
    const partAt = soonest(nextPartAt, redrawAt);
    const freeMs = [isFull ? null : pacer.freeInMs(), pacer.turnInMs()].filter((ms) => ms !== null);
    if (freeMs.length === 0) return partAt;
    // A part that is ready by now and was not taken waits for its chat.
    const freeAt = now + Math.max(Math.ceil(Math.min(...freeMs)), 1);
    return partAt === null || partAt <= now ? freeAt : Math.min(partAt, freeAt);
  };

  return {
    step: async (now, limit) => {
      if (stopping) return nothing;
      await claims.letGo();
      if (!deps.processes.isHeld()) return nothing;
      if (!opened) await pacer.open();
      opened = true;
      const isAnyNamed = wanted.isAny();
      const most = Math.min(limit, concurrency - inHand.size());
      if (most <= 0 || !looks.isDue(now, isAnyNamed)) return nothing;
      return looks.begin(now, isAnyNamed) ? claims.ofAll(now, most) : claims.ofNamed(now, most);
    },
    nextAt: (now) => looks.nextAt(now, () => nextAt(now)),
    take: (chatIds) => {
      const taken = wanted.want(chatIds);
      deps.bell.ring('deliverer');
      return taken;
    },
    refuse: () => wanted.refuse(),
    look: () => looks.now(),
    idle: () => inHand.idle(),
    stop: async (graceMs) => {
      stopping = true;
      // A call that hangs, or a store that is away, is not waited for: the next process looks for evidence.
      await waitAtMost(deps.timer, graceMs, inHand.done());
    },
  };
}

function soonest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function createSignal() {
  let give = () => {};
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

/** Parts on their way, one for each chat, until what became of them is written. */
function createPartsInHand(deps: DelivererDeps, freed: (chatIds: ReadonlySet<string>) => void) {
  const { store, bell, pacer, clock, log, bootId, rates } = deps;
  const busy = new Map<string, { readonly partId: string; readonly done: Promise<void> }>();

  const ledAstray = createLedAstray(deps);
  const ends = createCollector<EndedInHand>(deps, deps.batchMax, {
    write: async (ended) => {
      const batch = await ledAstray(ended);
      const calls = ended.flatMap(({ call }) => call ?? []);
      await store.endParts(
        batch.map(({ end }) => end),
        clock.now(),
        calls.length === 0 ? null : { calls, bootId, rates },
      );
      // The chat is free only now: its next part must find this one ended.
      for (const { chatId } of batch) busy.delete(chatId);
      freed(new Set(batch.map(({ chatId }) => chatId)));
      bell.ring('deliverer');
    },
    instead: ({ chatId, end, call }, error) => ({ chatId, end: unwritable(end, error), call }),
  });

  /** Chats whose part waits for its next call, and the signal that there is one more. */
  const waiting = new Set<string>();
  let paused = createSignal();
  const takeFor = (chatId: string) => async (address: string, messages?: number) => {
    waiting.add(chatId);
    paused.give();
    paused = createSignal();
    const isTaken = await pacer.take(address, messages);
    waiting.delete(chatId);
    return isTaken;
  };
  const underWay = () => [...busy].filter(([chatId]) => !waiting.has(chatId)).map(([, { done }]) => done);
  const allDone = () => Promise.all([...busy.values()].map(({ done }) => done));

  return {
    serve: (part: OutboxPart, turn: Turn) => {
      const { chatId } = part;
      const paced = { ...pacer, take: takeFor(chatId) };
      const done = servePart({ ...deps, pacer: paced, part, turn }).then((end) => {
        const call = turn.end();
        tellPart(log, part, end);
        ends.add({ chatId, end, call });
      });
      busy.set(chatId, { partId: part.id, done });
    },
    size: () => busy.size,
    chats: () => busy.keys(),
    partIds: () => [...busy.values()].map(({ partId }) => partId),
    /** Resolves when nothing is in hand any more but what waits for the pace of its chat, which takes time to pass. */
    idle: async () => {
      for (let parts = underWay(); parts.length > 0; parts = underWay()) {
        await Promise.race([Promise.all(parts), paused.given]);
        await ends.idle();
      }
    },
    /** Resolves when what is in hand now has ended and is written. */
    done: async () => {
      await allDone();
      await ends.idle();
    },
  };
}

/** A part as it has ended, and its call, where that is written as well. */
interface EndedInHand extends Ended {
  readonly call: EndedCall | null;
}

/** Answers to people, cards and their like have no run; the log of calls is the place for them. */
function tellPart(log: PartDeps['log'], { id, runId, traceId, kind }: OutboxPart, end: Ended['end']): void {
  const { status } = end;
  const code = codeOf(end);
  // A part that is put off is told of when it comes to something.
  if (runId !== null && status !== 'pending')
    tellTraced(log, 'delivery_status', {
      runId,
      traceId,
      delivery_id: id,
      kind,
      status,
      ...(code === null ? {} : { error_code: code }),
    });
}

function unwritable({ id, fence, taskId = null }: Ended['end'], reason: string): Ended['end'] {
  const error = `what became of it could not be written: ${reason}`;
  return { id, fence, taskId, status: 'failed', error, evidence: null };
}
