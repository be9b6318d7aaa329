import { sequentialize } from '@grammyjs/runner';
import type { Update, UserFromGetMe } from 'grammy/types';
import type { StoredUpdate } from '../../app/ports/chats.ts';
import { errorText, isAway } from '../../domain/errors.ts';
import { backoffMs } from '../../domain/limits.ts';
import { texts } from '../chat/texts.ts';
import { retrying, type Pauses } from './backoff.ts';
import type { TelegramInDeps } from './deps.ts';
import type { Errands } from './errands.ts';
import type { Handling } from './handling.ts';
import { laneOf, originOf, readUpdate } from './payload.ts';
import { nothingToSay, takenOf, type Handled, type IntakeContext, type Taken } from './update.ts';

/**
 * Takes stored updates one after the other for each chat and thread, and side by side otherwise. They are handed over as
 * they were stored; the table is read at the start, and after more came than there are hands.
 */
export interface Worker {
  /** Begins what was just stored. It returns at once. */
  take(taken: readonly Taken[]): void;
  /** Takes up what a process before this one has left. It returns at once. */
  begin(): void;
  /** Resolves when there is room for more, with how much. */
  untilFree(): Promise<number>;
  /** Resolves when every stored update is done. */
  idle(): Promise<void>;
  /** No other update is begun; resolves when those in hand are done. */
  stop(): Promise<void>;
}

interface WorkerDeps extends Pick<TelegramInDeps, 'api' | 'store' | 'clock' | 'log' | 'bell' | 'bootId'> {
  readonly me: UserFromGetMe;
  readonly handling: Handling;
  readonly errands: Errands;
  readonly pauses: Pauses;
}

/** An update that took the process down this often is not tried again. */
const attemptsMax = 3;
const pageSize = 100;
/** Updates without a number of Telegram's are kept under one below zero. */
const belowAll = -(2 ** 49);
/** Updates in hand at the same time; the others wait in the store. */
const inHandMax = 200;

export function createWorker(deps: WorkerDeps): Worker {
  const { log, pauses, errands } = deps;
  const hands = createHands();
  const begin = beginning(deps, hands);
  let unread: number | null = null;
  let reading: Promise<void> | null = null;

  const readOn = async () => {
    while (unread !== null && !pauses.ended()) {
      const from: number = unread;
      unread = null;
      await retrying(
        pauses,
        () => beginFrom(deps, from, hands, begin),
        (error, failures) => {
          if (failures === 1) log.error('inbox_unread', { error: errorText(error) });
          return backoffMs(failures);
        },
      );
    }
    reading = null;
  };
  const read = (from: number) => {
    unread = Math.min(unread ?? from, from);
    reading ??= readOn();
  };
  const stop = async () => {
    await reading;
    await hands.done();
  };

  return {
    take: (updates) => {
      for (const taken of updates) {
        // Updates that are read from the table are older, and come first.
        if (reading === null && hands.free() > 0) begin(taken);
        else read(taken.stored.id);
      }
    },
    begin: () => read(belowAll),
    untilFree: () => hands.untilFree(),
    idle: async () => {
      while (reading !== null || hands.free() < inHandMax || errands.size() > 0) {
        await stop();
        await errands.done();
      }
    },
    stop,
  };
}

type Begin = (taken: Taken) => void;

interface Serving extends WorkerDeps {
  readonly hands: Hands;
}

/** Begins each update once, in a lane for each thread of a chat; an update without a chat waits for nothing. */
function beginning(own: WorkerDeps, hands: Hands): Begin {
  const deps: Serving = { ...own, hands };
  const takenBy = new WeakMap<Update, Taken>();
  const bot = deps.api.bot<IntakeContext>(deps.me);
  const lanes = sequentialize<IntakeContext>(({ update }) => laneOf(originOf(update)) ?? undefined);
  bot.use(lanes, async (ctx) => {
    const taken = takenBy.get(ctx.update);
    if (taken === undefined) throw new Error('An update was handed over that was not stored.');
    await serve(deps, taken, () => deps.handling.handle(Object.assign(ctx, { taken })));
  });
  return (taken) => {
    const { stored, update } = taken;
    // A repeat of what is in hand.
    if (hands.hold(stored.id)) return;
    if (update !== null) takenBy.set(update, taken);
    hands.add(taken, update === null ? serve(deps, taken, () => unreadable(deps, stored)) : bot.handleUpdate(update));
  };
}

/** Begins what the table has from that update on. */
async function beginFrom(deps: WorkerDeps, from: number, hands: Hands, begin: Begin): Promise<void> {
  const { store, pauses, me } = deps;
  for (let after = from - 1; !pauses.ended();) {
    const page = await store.openUpdates(after, pageSize);
    for (const stored of page) {
      await hands.untilFree();
      if (pauses.ended()) return;
      begin(takenOf(stored, readUpdate(stored.payload), me.username));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < pageSize) return;
    after = last.id;
  }
}

/** Updates in hand. */
type Hands = ReturnType<typeof createHands>;

function createHands() {
  const inHand = new Map<number, { readonly lane: string | null; readonly work: Promise<void> }>();
  let waiting: (() => void)[] = [];
  const free = () => Math.max(0, inHandMax - inHand.size);
  const settle = (id: number) => {
    inHand.delete(id);
    for (const wake of waiting) wake();
    waiting = [];
  };
  return {
    hold: (id: number) => inHand.has(id),
    add: ({ stored: { id }, update }: Taken, work: Promise<void>) => {
      const lane = update === null ? null : laneOf(originOf(update));
      inHand.set(id, { lane, work: work.finally(() => settle(id)) });
    },
    /** Whether an earlier one of its thread came after it. */
    holdsBefore: ({ stored: { id }, update }: Taken): boolean => {
      const lane = update === null ? null : laneOf(originOf(update));
      return [...inHand].some(([other, held]) => other < id && held.lane === lane);
    },
    free,
    /** Resolves when there is room for more, with how much. */
    untilFree: async () => {
      while (free() === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      return free();
    },
    /** Resolves when nothing is in hand. */
    done: async () => {
      while (inHand.size > 0) await Promise.all([...inHand.values()].map(({ work }) => work));
    },
  };
}

async function unreadable({ log }: WorkerDeps, { id }: StoredUpdate): Promise<Handled> {
  log.error('update_unreadable', { update_id: id });
  return { ...nothingToSay, status: 'failed', error: 'It is not an update as we know them.' };
}

/** Goes on until it is written down: what follows in the same thread waits, so that the order holds. */
async function serve(deps: Serving, taken: Taken, handle: () => Promise<Handled>): Promise<void> {
  const { handling, log, pauses } = deps;
  const { stored } = taken;
  const isNext = () => deps.hands.holdsBefore(taken);
  const answerCallback = answeringOnce(deps, taken);
  // Counted once for each process: what is tried again because the store was away has taken nothing down.
  let attempts: number | null = null;
  const attempt = async () => {
    attempts ??= await begunInTurn(deps, stored.id, isNext);
    if (attempts === 0) return;
    const begun = { ...taken, stored: { ...stored, attempts } };
    const handled = attempts > attemptsMax ? handling.giveUp(begun) : await handle();
    const isDone = await isWritten(deps, begun, handled);
    // A toast tells what is so by then: where the answer could not be written, the apology stands in the chat.
    answerCallback(isDone ? handled.toast : null);
    if (isDone) await follow(deps, begun, handled);
  };
  await retrying(pauses, attempt, (error, failures) => {
    // A button is not looked at that long.
    answerCallback({ text: texts.intake.storeAway, isAlert: false });
    if (failures === 1) log.warn('update_put_off', { update_id: stored.id, error: errorText(error) });
    return backoffMs(failures);
  });
}

const turnLookMs = 25;
const turnLookMaxMs = 500;

/** The turn of an update comes when what was said before it in its thread is done, maybe by another process. */
async function begunInTurn({ store, pauses, bootId }: WorkerDeps, id: number, isNext: () => boolean): Promise<number> {
  for (let looks = 1; !pauses.ended(); looks += 1) {
    const begun = await store.beginUpdate(id, bootId);
    // Updates before it stand behind it here, so it would wait for itself.
    if (begun === 'waits' && isNext()) return Number(await store.beginUpdate(id, bootId, true));
    if (begun !== 'waits') return begun;
    await pauses.pause(backoffMs(looks, turnLookMs, turnLookMaxMs));
  }
  return 0;
}

/** Each callback is answered once, whatever becomes of it and however often it is tried. */
function answeringOnce({ errands, clock }: WorkerDeps, { stored, update }: Taken): (toast: Handled['toast']) => void {
  let press = update?.callback_query;
  return (toast) => {
    if (press !== undefined) errands.answerCallback({ id: press.id, ageMs: clock.now() - stored.receivedAt }, toast);
    press = undefined;
  };
}

/** False where an apology had to be written in the place of the answer. */
async function isWritten(deps: WorkerDeps, taken: Taken, handled: Handled): Promise<boolean> {
  const { stored } = taken;
  try {
    await end(deps, stored, handled);
    return true;
  } catch (error) {
    if (isAway(error)) throw error;
    deps.log.error('answer_unwritten', { update_id: stored.id, messages: handled.messages.length });
    const apology = deps.handling.unwritten(taken, error);
    try {
      await end(deps, stored, apology);
    } catch (again) {
      if (isAway(again)) throw again;
      await end(deps, stored, { ...nothingToSay, status: 'failed', error: apology.error });
    }
    return false;
  }
}

/** Once the answer is on its way: the reaction, and a look at what waits there. Both are lost without harm. */
async function follow({ handling, errands, log }: WorkerDeps, taken: Taken, handled: Handled): Promise<void> {
  const { reaction, follows } = handled;
  const message = taken.update?.message;
  // A word that only one person saw has no number that a reaction could be put to.
  if (reaction !== null && message !== undefined && message.message_id > 0) {
    errands.react({ chatId: message.chat.id, messageId: message.message_id }, reaction, follows);
  }
  try {
    await handling.after(taken);
  } catch (error) {
    log.warn('look_after_failed', { update_id: taken.stored.id, error: errorText(error) });
  }
}

async function end({ store, clock, bell, bootId }: WorkerDeps, { id }: StoredUpdate, handled: Handled): Promise<void> {
  const { status, error, messages, draft, toast } = handled;
  const isWritten = await store.endUpdate({ id, status, error, messages, draft, at: clock.now(), bootId });
  // A callback can let something go that waits, and say no word about it in the chat.
  if (isWritten && (messages.length > 0 || toast !== null)) bell.ring('deliverer');
}
