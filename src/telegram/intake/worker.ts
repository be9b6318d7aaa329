import type { StoredUpdate } from '../../app/ports/chats.ts';
import { AppError } from '../../domain/errors.ts';
import { stepBackoffMaxMs, stepBackoffMs } from '../../domain/limits.ts';
import type { Errands } from './errands.ts';
import { nothingToSay, type Handled, type Taken } from './handled.ts';
import type { Handling } from './handling.ts';
import type { TelegramInNeeds } from './needs.ts';
import type { Pauses } from './patience.ts';
import { originOf, readUpdate } from './payload.ts';
import { storeAway } from './texts.ts';

/**
 * Takes stored updates one after the other for each chat and thread, and side by side otherwise. The store is the only
 * truth about what is left to do: whatever stands there and is not done is taken up, at the start too.
 */
export interface Worker {
  /** Looks for what is not done, from that update on. It returns at once. */
  look(from: number): void;
  /** Resolves when there is room for more, with how much. */
  room(): Promise<number>;
  readonly size: () => number;
  /** Resolves when every stored update is done. */
  idle(): Promise<void>;
  /** No other update is begun; resolves when those in hand are done. */
  stop(): Promise<void>;
}

interface WorkerNeeds extends Pick<TelegramInNeeds, 'store' | 'clock' | 'log' | 'bell'> {
  readonly handling: Handling;
  readonly errands: Errands;
  readonly pauses: Pauses;
}

/** An update that took the process down this often is not tried again. */
const attemptsMax = 3;
const pageSize = 100;

export function createWorker(needs: WorkerNeeds): Worker {
  const { log, pauses } = needs;
  const lanes = createLanes();
  let wanted: number | null = null;
  let looking: Promise<void> | null = null;

  const lookAround = async () => {
    for (let failures = 0; wanted !== null && !pauses.ended();) {
      const from: number = wanted;
      wanted = null;
      try {
        await takeUpAll(needs, lanes, from);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1)
          log.error('inbox_unread', { error: error instanceof Error ? error.message : String(error) });
        wanted = Math.min(wanted ?? from, from);
        await pauses.pause(backoff(failures));
      }
    }
    looking = null;
  };

  const stop = async () => {
    await looking;
    await lanes.done();
  };

  return {
    look: (from) => {
      wanted = Math.min(wanted ?? from, from);
      looking ??= lookAround();
    },
    room: () => lanes.room(),
    size: () => lanes.size(),
    idle: async () => {
      while (looking !== null || lanes.size() > 0 || needs.errands.size() > 0) {
        await looking;
        await lanes.done();
        await needs.errands.done();
      }
    },
    stop,
  };
}

async function takeUpAll(needs: WorkerNeeds, lanes: Lanes, from: number): Promise<void> {
  const { store, pauses } = needs;
  lanes.forgetDone();
  for (let after = from - 1; !pauses.ended();) {
    const page = await store.openUpdates(after, pageSize);
    for (const stored of page) {
      await lanes.room();
      if (pauses.ended()) return;
      const taken = { stored, read: readUpdate(stored.payload) };
      lanes.add({ id: stored.id, lane: laneOf(taken), work: () => serve(needs, taken) });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.id;
  }
}

/** What nobody said anywhere stands for itself. */
function laneOf({ stored, read }: Taken): string {
  const { chat, topic } = read === null ? { chat: null, topic: null } : originOf(read);
  return chat === null ? `update ${stored.id}` : `${chat.id} ${topic ?? 'base'}`;
}

/** Goes on until it is written down: what follows in the same thread waits, so that the order holds. */
async function serve(needs: WorkerNeeds, taken: Taken): Promise<void> {
  const { log, pauses } = needs;
  const first = { answer: answerOnce(needs, taken), begin: beginOnce(needs, taken) };
  for (let failures = 1; !pauses.ended(); failures += 1) {
    try {
      await attempt(needs, taken, first);
      return;
    } catch (error) {
      // Nobody looks at a button that long.
      first.answer({ text: storeAway, isAlert: false });
      const text = error instanceof Error ? error.message : String(error);
      if (failures === 1) log.warn('update_put_off', { update_id: taken.stored.id, error: text });
      await pauses.pause(backoff(failures));
    }
  }
}

function backoff(failures: number): number {
  return Math.min(stepBackoffMs * 2 ** Math.min(failures - 1, 10), stepBackoffMaxMs);
}

/** Each press is answered once, whatever becomes of it and however often it is tried. */
function answerOnce({ errands, clock }: WorkerNeeds, { stored, read }: Taken): (toast: Handled['toast']) => void {
  const press = read?.callback_query;
  let isAnswered = press === undefined;
  return (toast) => {
    if (isAnswered || press === undefined) return;
    isAnswered = true;
    errands.answerPress({ id: press.id, ageMs: clock.now() - stored.receivedAt }, toast);
  };
}

/** Counted once for each process: what is tried again because the store was away has taken nothing down. */
function beginOnce({ store }: WorkerNeeds, { stored }: Taken): () => Promise<number> {
  let attempts: number | null = null;
  return async () => (attempts ??= await store.beginUpdate(stored.id));
}

interface First {
  readonly answer: (toast: Handled['toast']) => void;
  readonly begin: () => Promise<number>;
}

async function attempt(needs: WorkerNeeds, taken: Taken, { answer, begin }: First): Promise<void> {
  const { handling, log } = needs;
  const { stored } = taken;
  const attempts = await begin();
  if (attempts === 0) return;
  const begun = { ...taken, stored: { ...stored, attempts } };
  const handled = attempts > attemptsMax ? handling.giveUp(begun) : await handling.handle(begun);
  answer(handled.toast);
  try {
    await end(needs, stored, handled);
  } catch (error) {
    if (isAway(error)) throw error;
    log.error('answer_unwritten', { update_id: stored.id, messages: handled.messages.length });
    await endWithApology(needs, begun, error);
    return;
  }
  sign(needs, taken, handled);
  await lookAfter(needs, begun);
}

/** It is lost without harm; nobody is shown one for what was not written down. */
function sign({ errands }: WorkerNeeds, { read }: Taken, { reaction }: Handled): void {
  const message = read?.message;
  // A word that only one person saw has no number that a sign could be put to.
  if (reaction !== null && message !== undefined && message.message_id > 0) {
    errands.react({ chatId: message.chat.id, messageId: message.message_id }, reaction);
  }
}

/** The answer is on its way by now. A look that fails is made again soon enough by whoever keeps the place in order. */
async function lookAfter({ handling, log }: WorkerNeeds, taken: Taken): Promise<void> {
  try {
    await handling.after(taken);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    log.warn('look_after_failed', { update_id: taken.stored.id, error: text });
  }
}

async function endWithApology(needs: WorkerNeeds, taken: Taken, error: unknown): Promise<void> {
  const apology = needs.handling.unwritten(taken, error);
  try {
    await end(needs, taken.stored, apology);
  } catch (again) {
    if (isAway(again)) throw again;
    await end(needs, taken.stored, { ...nothingToSay, status: 'failed', error: apology.error });
  }
}

async function end(
  { store, clock, bell }: WorkerNeeds,
  { id }: Pick<StoredUpdate, 'id'>,
  { status, error, messages, draft, toast }: Handled,
): Promise<void> {
  const isWritten = await store.endUpdate({ id, status, error, messages, draft, at: clock.now() });
  // A press can let something go that waits, and say no word about it in the chat.
  if (isWritten && (messages.length > 0 || toast !== null)) bell.ring('deliverer');
}

function isAway(error: unknown): boolean {
  return error instanceof AppError && error.code === 'store_unavailable';
}

/** Work that is done one after the other in each lane, and side by side across lanes. */
interface Lanes {
  /** Does nothing for a number that is in hand, or was done since `forgetDone`. The work must not throw. */
  add(piece: Piece): void;
  room(): Promise<number>;
  readonly size: () => number;
  /** Resolves when nothing is in hand. */
  done(): Promise<void>;
  forgetDone(): void;
}

interface Piece {
  readonly id: number;
  readonly lane: string;
  readonly work: () => Promise<void>;
}

/** Updates in hand at the same time; the others wait in the store. */
const inHandMax = 200;

function createLanes(): Lanes {
  const ends = new Map<string, Promise<void>>();
  const inHand = new Map<number, Promise<void>>();
  // A page that was read before a piece ended still names it.
  const done = new Set<number>();
  let waiting: (() => void)[] = [];

  const settle = ({ id, lane }: Piece, end: Promise<void>) => {
    if (ends.get(lane) === end) ends.delete(lane);
    inHand.delete(id);
    done.add(id);
    for (const wake of waiting) wake();
    waiting = [];
  };

  return {
    add: (piece) => {
      if (inHand.has(piece.id) || done.has(piece.id)) return;
      const before = ends.get(piece.lane) ?? Promise.resolve();
      const end: Promise<void> = before.then(piece.work).finally(() => settle(piece, end));
      ends.set(piece.lane, end);
      inHand.set(piece.id, end);
    },
    room: async () => {
      while (inHand.size >= inHandMax) await new Promise<void>((resolve) => waiting.push(resolve));
      return inHandMax - inHand.size;
    },
    size: () => inHand.size,
    done: async () => {
      while (inHand.size > 0) await Promise.all(inHand.values());
    },
    forgetDone: () => done.clear(),
  };
}
