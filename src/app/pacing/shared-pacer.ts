import { budgetWaitMaxMs } from '../../domain/limits.ts';
import { isUnlimited, type Rates } from '../../domain/pacing/pace.ts';
import type { CallAnswer, EndedCall, PacedChat, PaceStore, PartsAsked } from '../ports/outbox.ts';
import type { World } from '../ports/outside.ts';
import { lookAgainMs } from './asides.ts';
import { chatOf, type Claimed, type Pacer, type Turn } from './pacer.ts';
import { createSharedAsides } from './shared-asides.ts';

interface SharedPacerDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer' | 'log'> {
  readonly store: PaceStore;
  readonly bootId: string;
}

/** A chat whose turn this process has. */
interface ChatTurn extends PacedChat {
  call: 'none' | 'reserved' | 'out';
  /** The end of the last call, until it is written. */
  before: EndedCall | null;
  /** The instant at which the call may leave for which it waits; null while it waits for none. */
  nextAt: number | null;
}

interface State {
  readonly deps: SharedPacerDeps;
  readonly rates: Rates;
  /** By the address. */
  readonly turns: Map<string, ChatTurn>;
  /** Holds that could not be written bind this process all the same. */
  readonly unwritten: Map<string, number>;
  held: readonly string[];
  freeAt: number | null;
}

const soonMs = 1500;

/** The pace of one of several processes: what is on its way, and who must wait, stands in the database. */
export function createSharedPacer(deps: SharedPacerDeps, rates: Rates): Pacer {
  const state: State = { deps, rates, turns: new Map(), unwritten: new Map(), held: [], freeAt: null };
  const { store, clock, bootId } = deps;
  const paced = { bootId, rates };
  return {
    open: () => store.openPace(paced, clock.now()),
    claim: (asked) => claim(state, asked),
    heldChats: () => new Set(state.held),
    freeInMs: () => (state.freeAt === null ? null : Math.max(state.freeAt - clock.now(), 0)),
    turnInMs: () => turnInMs(state),
    isFreeSoon: async (address) => isFreeSoon(state, turnAt(state, address)),
    holdChat: (chat, ms) => hold(state, chat, ms),
    take: (address, messages = 1) => take(state, turnAt(state, address), messages),
    hold: (address, ms) => hold(state, turnAt(state, address), ms),
    aside: createSharedAsides({ ...deps, paced }),
  };
}

async function claim(state: State, { busy, ...asked }: PartsAsked): Promise<Claimed | null> {
  const { store, clock, bootId } = state.deps;
  const { unwritten } = state;
  for (const [chatId, until] of unwritten) if (until <= clock.now()) unwritten.delete(chatId);
  const away = new Set([...busy, ...unwritten.keys()]);
  const { room, parts, held, freeAt } = await store.claimPaced(
    { ...asked, busy: away },
    { bootId, rates: state.rates },
  );
  state.held = held;
  state.freeAt = freeAt;
  if (room === 0) return null;
  return { room, parts: parts.map((part) => ({ part, turn: startTurn(state, chatOf(part)) })) };
}

function startTurn({ turns, deps }: State, chat: PacedChat): Turn {
  const turn: ChatTurn = { ...chat, call: 'reserved', before: null, nextAt: null };
  turns.set(chat.address, turn);
  return {
    spend: () => {
      if (turn.call === 'reserved') turn.call = 'out';
    },
    end: () => {
      closeCall(turn, deps.clock.now());
      if (turns.get(chat.address) === turn) turns.delete(chat.address);
      // The row of its chat is let go also where nothing was called.
      return turn.before ?? { ...chat, endedAt: null };
    },
  };
}

/** A chat that is known by its address alone is none of the store. */
function turnAt({ turns }: State, address: string): ChatTurn {
  return turns.get(address) ?? { chatId: address, address, call: 'none', before: null, nextAt: null };
}

function closeCall(turn: ChatTurn, now: number): void {
  const { chatId, address } = turn;
  if (turn.call === 'out') turn.before = { chatId, address, endedAt: now };
  else if (turn.call === 'reserved') turn.before = { chatId, address, endedAt: null };
  turn.call = 'none';
}

/** False where the database is away: then nobody knows whether the call may be made. */
async function ask(state: State, turn: ChatTurn, messages: number, isMeant: boolean): Promise<CallAnswer | null> {
  const { store, clock, bootId, log } = state.deps;
  const { chatId, address, before } = turn;
  const wanted = { chatId, address, now: clock.now(), messages, before, isMeant };
  try {
    const answer = await store.askCall(wanted, { bootId, rates: state.rates });
    turn.before = null;
    return answer;
  } catch (error) {
    log.warn('pace_not_asked', { error: String(error) });
    return null;
  }
}

async function isFreeSoon(state: State, turn: ChatTurn): Promise<boolean> {
  if (turn.call === 'reserved' || isUnlimited(state.rates)) return true;
  const now = state.deps.clock.now();
  closeCall(turn, now);
  const answer = await ask(state, turn, 1, false);
  return answer !== null && answer.freeAt !== null && answer.freeAt <= now + soonMs;
}

async function take(state: State, turn: ChatTurn, messages: number): Promise<boolean> {
  const { clock, timer } = state.deps;
  const isReserved = turn.call === 'reserved' && messages === 1;
  if (!isReserved) closeCall(turn, clock.now());
  if (!isReserved && !isUnlimited(state.rates) && !(await taken())) return false;
  turn.call = 'out';
  return true;

  async function taken(): Promise<boolean> {
    for (;;) {
      const answer = await ask(state, turn, messages, true);
      turn.nextAt = null;
      if (answer === null || answer.isTaken) return answer !== null;
      const now = clock.now();
      if (answer.heldUntil - now > budgetWaitMaxMs) {
        await giveUp(state, turn);
        return false;
      }
      turn.nextAt = answer.freeAt ?? now + lookAgainMs;
      const waitMs = Math.max(turn.nextAt - now, 1);
      await new Promise<void>((resolve) => timer.after(waitMs, resolve));
    }
  }
}

/** Others leave room for it no more. Where that cannot be written they do so until the turn is over. */
async function giveUp({ deps }: State, { chatId }: ChatTurn): Promise<void> {
  await deps.store.giveUpCall(chatId).catch((error: unknown) => {
    deps.log.warn('pace_not_asked', { error: String(error) });
  });
}

function turnInMs({ turns, deps }: State): number | null {
  const waiting = [...turns.values()].flatMap(({ nextAt }) => nextAt ?? []);
  return waiting.length === 0 ? null : Math.max(Math.min(...waiting) - deps.clock.now(), 0);
}

async function hold({ deps, unwritten }: State, { chatId, address }: PacedChat, ms: number): Promise<void> {
  const now = deps.clock.now();
  try {
    const common = await deps.store.holdPace({ chatId, address }, ms, now);
    if (common !== null) deps.log.warn('all_chats_held', { ms: common });
  } catch (error) {
    unwritten.set(chatId, now + ms);
    deps.log.warn('hold_not_written', { error: String(error) });
  }
}
