import { budgetWaitMaxMs } from '../../domain/limits.ts';
import {
  closeGate,
  commonHold,
  forMessages,
  gateFreeAt,
  heldAtOnceMs,
  keptMs,
  longestMs,
  roomAt,
  whenFree,
  type Gate,
  type Held,
  type Purse,
  type Rates,
} from '../../domain/pacing/pace.ts';
import type { EndedCall, OutboxPart, OutboxStore, PacedChat, PartsAsked, PaceStore } from '../ports/outbox.ts';
import type { Budget, World } from '../ports/outside.ts';
import { begun, createAsides, lookAgainMs } from './asides.ts';

/**
 * Spends the budget of calls. It never waits for longer than it must, and never lets more calls out than
 * Telegram allows, over a restart as well.
 */
export interface Pacer extends Budget {
  /** Reads what was sent before this start, and who must wait; nothing may start before that. */
  open(): Promise<void>;
  /** Claims parts whose calls may start now, and takes the turns of their chats; null where none may start in any chat. */
  claim(asked: PartsAsked): Promise<Claimed | null>;
  /** Chats in which none may start now, as far as that is known here. */
  heldChats(): ReadonlySet<string>;
  /**
   * How long until that changes by itself; null when only the end of a call changes it. What was held when parts were last
   * claimed and has become free since counts as a change that is due: whoever looked then has left it aside.
   */
  freeInMs(): number | null;
  /** How long until a chat that waits in the course of its turn may make its next call; null when none does. */
  turnInMs(): number | null;
  /** In the course of a turn whose call has ended: whether the next one is worth waiting for. */
  isFreeSoon(address: string): boolean | Promise<boolean>;
  /** Telegram has told a chat to wait. */
  holdChat(chat: PacedChat, ms: number): Promise<void>;
}

export interface Claimed {
  /** Parts that could have been claimed. */
  readonly room: number;
  readonly parts: readonly { readonly part: OutboxPart; readonly turn: Turn }[];
}

export interface Turn {
  /** The reserved call is made; without that it costs nothing. */
  spend(): void;
  /** The turn is over, and the end of its last call is known. What is to be written of it with the end of its part; null where nothing is. */
  end(): EndedCall | null;
}

/** The pace of a process that makes all calls. Turns can be taken by hand as well. */
export interface OwnPacer extends Pacer {
  /** Sets calls aside that are about to start, as many as may at most; answers how many. */
  book(most: number): number;
  /** Gives back as many of them, which do not start after all. */
  release(count: number): void;
  /** Takes the chat's turn, with one of the calls that were set aside. */
  start(chat: PacedChat): Turn;
  isFreeSoon(address: string): boolean;
}

interface PacerDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer' | 'log'> {
  readonly store: Pick<PaceStore, 'readHolds' | 'writeHold' | 'sentSince'> & Pick<OutboxStore, 'claimParts'>;
  readonly bootId: string;
}

/** A chat with its call: reserved, on its way, or none. */
interface ChatGate extends Gate {
  readonly chatId: string;
  address: string;
  inTurn: boolean;
  call: 'none' | 'reserved' | 'out';
  /** Messages that the call will become for which it waits: an album counts as all of them. */
  wanted: number;
}

interface State {
  readonly deps: PacerDeps;
  readonly rates: Rates;
  /** Only chats that were called within the last minute, or must wait, so a backlog of thousands of chats costs nothing. */
  readonly gates: Map<string, ChatGate>;
  /** By the address, for whoever knows nothing else of a chat. */
  readonly chatAt: Map<string, string>;
  readonly all: Purse;
  /** Chats in which somebody waits for the next call of a turn. */
  readonly waiting: Set<ChatGate>;
  held: readonly Held[];
  readonly asides: ReturnType<typeof createAsides>;
  /** When calls were last booked, and whether none could be. */
  looked: { readonly at: number; readonly inVain: boolean };
}

/** The pace of one chat asks for a second between two calls. */
const soonMs = 1500;

/** The pace of a process that makes all calls: nothing of it is written but what Telegram has told. */
export function createPacer(deps: PacerDeps, rates: Rates): OwnPacer {
  const all: Purse = { open: 0, ends: [], heldUntil: -Infinity };
  const asides = createAsides(deps, rates.overall, all);
  const looked = { at: Infinity, inVain: false };
  const state: State = {
    deps,
    rates,
    gates: new Map(),
    chatAt: new Map(),
    all,
    waiting: new Set(),
    held: [],
    asides,
    looked,
  };
  const known = (address: string) => gateOf(state, { chatId: state.chatAt.get(address) ?? address, address });
  return {
    open: () => remember(state),
    claim: (asked) => claim(state, asked),
    book: (most) => book(state, most),
    release: (count) => {
      all.open -= count;
    },
    heldChats: () => heldChats(state),
    freeInMs: () => freeInMs(state),
    turnInMs: () => turnInMs(state),
    start: (chat) => startTurn(state, gateOf(state, chat)),
    holdChat: (chat, ms) => hold(state, gateOf(state, chat), ms),
    take: (address, messages = 1) => take(state, known(address), messages),
    isFreeSoon: (address) => isFreeSoon(state, known(address)),
    hold: (address, ms) => hold(state, known(address), ms),
    aside: asides.make,
  };
}

function book(state: State, most: number): number {
  const count = Math.max(Math.min(most, roomOf(state)), 0);
  state.all.open += count;
  state.looked = { at: state.deps.stopwatch.elapsed(), inVain: count === 0 };
  return count;
}

async function claim(state: State, { busy, ...asked }: PartsAsked): Promise<Claimed | null> {
  const { store, bootId } = state.deps;
  const room = book(state, asked.limit);
  if (room === 0) return null;
  let started = 0;
  try {
    const away = new Set([...busy, ...heldChats(state)]);
    const parts = await store.claimParts({ ...asked, limit: room }, bootId, away);
    started = parts.length;
    return { room, parts: parts.map((part) => ({ part, turn: startTurn(state, gateOf(state, chatOf(part))) })) };
  } finally {
    state.all.open -= room - started;
  }
}

export function chatOf({ chatId, route }: OutboxPart): PacedChat {
  return { chatId, address: route.address };
}

/** A send is written down before it leaves; this much later it has arrived, or its process has died over it. */
const arrivalMs = 2000;

/** The wall clock tells how long ago something was, and the monotonic one carries on from there. */
async function remember(state: State): Promise<void> {
  const { store, clock, stopwatch } = state.deps;
  const wall = clock.now();
  const holds = await store.readHolds(wall);
  const sent = await store.sentSince(wall - longestMs(state.rates) - arrivalMs);
  const now = stopwatch.elapsed();
  for (const { chatId, until } of holds) {
    const held = chatId === null ? state.all : gateOf(state, { chatId, address: '' });
    held.heldUntil = Math.max(held.heldUntil, now + until - wall);
  }
  for (const { chatId, address, at, messages } of sent.toSorted((a, b) => a.at - b.at)) {
    const gate = gateOf(state, { chatId, address });
    gate.open = messages;
    // A clock that was set back may have left it in the future.
    closeGate(gate, state.all, state.rates, now - Math.max(wall - at - arrivalMs, 0));
  }
}

function gateOf({ gates, chatAt }: State, { chatId, address }: PacedChat): ChatGate {
  const known = gates.get(chatId);
  const gate = known ?? freshGate(chatId, address);
  gates.set(chatId, gate);
  // A chat may get another address, and a hold that was read at the start knows none.
  if (address !== '' && (known === undefined || known.address !== address)) {
    if (chatAt.get(gate.address) === chatId) chatAt.delete(gate.address);
    gate.address = address;
    chatAt.set(address, chatId);
  }
  return gate;
}

function freshGate(chatId: string, address: string): ChatGate {
  return { chatId, address, inTurn: false, call: 'none', wanted: 1, open: 0, ends: [], heldUntil: -Infinity };
}

function startTurn(state: State, gate: ChatGate): Turn {
  closeCall(state, gate);
  gate.inTurn = true;
  gate.call = 'reserved';
  gate.open = 1;
  return {
    spend: () => {
      if (gate.call === 'reserved') gate.call = 'out';
    },
    end: () => {
      closeCall(state, gate);
      gate.inTurn = false;
      return null;
    },
  };
}

function closeCall(state: State, gate: ChatGate): void {
  if (gate.call === 'none') return;
  state.all.open -= gate.open;
  if (gate.call === 'out') closeGate(gate, state.all, state.rates, state.deps.stopwatch.elapsed());
  gate.open = 0;
  gate.call = 'none';
  gate.wanted = 1;
}

function freeAt({ rates }: State, gate: ChatGate): number {
  return gateFreeAt(gate, rates, gate.wanted);
}

/** Chats that wait in the course of a turn come first: otherwise a great backlog would keep its chat waiting for ever. */
function roomOf(state: State): number {
  const now = state.deps.stopwatch.elapsed();
  if (state.all.heldUntil > now) return 0;
  const first = [...state.waiting].filter((gate) => freeAt(state, gate) <= now).length + state.asides.due(now);
  return Math.max(roomAt(state.all, state.rates.overall, now) - first, 0);
}

function heldChats(state: State): ReadonlySet<string> {
  const now = state.deps.stopwatch.elapsed();
  const held = new Set<string>();
  for (const gate of state.gates.values()) {
    if (freeAt(state, gate) > now) held.add(gate.chatId);
    else forgetIdle(state, gate, now);
  }
  return held;
}

function forgetIdle({ gates, chatAt, rates, waiting }: State, gate: ChatGate, now: number): void {
  if (gate.inTurn || waiting.has(gate) || (gate.ends.at(-1) ?? -Infinity) + keptMs(rates, gate.address) > now) return;
  gates.delete(gate.chatId);
  if (chatAt.get(gate.address) === gate.chatId) chatAt.delete(gate.address);
}

function freeInMs(state: State): number | null {
  const now = state.deps.stopwatch.elapsed();
  const whenAll = whenFree(state.all, state.rates.overall);
  // The end of an aside is told to nobody.
  if (whenAll === Infinity) return state.asides.areOpen() ? lookAgainMs : null;
  if (whenAll > now) return whenAll - now;
  if (roomOf(state) === 0) return lookAgainMs;
  if (state.looked.inVain) return 0;
  let next = Infinity;
  for (const gate of state.gates.values()) {
    const at = freeAt(state, gate);
    if (at > Math.min(state.looked.at, now) && at < next) next = at;
  }
  return next === Infinity ? null : Math.max(next - now, 0);
}

function turnInMs(state: State): number | null {
  if (state.waiting.size === 0) return null;
  const first = Math.min(...[...state.waiting].map((gate) => freeAt(state, gate)));
  const waitMs = Math.max(first, whenFree(state.all, state.rates.overall)) - state.deps.stopwatch.elapsed();
  return waitMs === Infinity ? lookAgainMs : Math.max(waitMs, 0);
}

function nextAt(state: State, gate: ChatGate): number {
  return Math.max(freeAt(state, gate), whenFree(state.all, forMessages(state.rates.overall, gate.wanted)));
}

function isFreeSoon(state: State, gate: ChatGate): boolean {
  if (gate.call === 'reserved') return true;
  closeCall(state, gate);
  return nextAt(state, gate) <= state.deps.stopwatch.elapsed() + soonMs;
}

async function take(state: State, gate: ChatGate, messages: number): Promise<boolean> {
  if (gate.call === 'reserved' && messages === 1) {
    gate.call = 'out';
    return true;
  }
  closeCall(state, gate);
  gate.wanted = messages;
  if (!(await waitFor(state, gate))) return false;
  // The end of a call that belongs to no turn will not be told.
  if (!gate.inTurn) closeCall(state, gate);
  return true;
}

async function waitFor(state: State, gate: ChatGate): Promise<boolean> {
  const { all, waiting, deps } = state;
  waiting.add(gate);
  try {
    return await begun(deps, {
      freeAt: () => nextAt(state, gate),
      isInVain: (now) => Math.max(gate.heldUntil, all.heldUntil) - now > budgetWaitMaxMs,
      begin: () => {
        if (nextAt(state, gate) > deps.stopwatch.elapsed()) return false;
        gate.call = 'out';
        gate.open = gate.wanted;
        all.open += gate.open;
        return true;
      },
    });
  } finally {
    waiting.delete(gate);
    if (gate.call === 'none') gate.wanted = 1;
  }
}

async function hold(state: State, gate: ChatGate, ms: number): Promise<void> {
  const now = state.deps.stopwatch.elapsed();
  gate.heldUntil = Math.max(gate.heldUntil, now + ms);
  state.held = [...state.held.filter(({ at }) => at + heldAtOnceMs > now), { chatId: gate.chatId, at: now, ms }];
  // A chat that is known by its address alone is none of the store.
  if (gate.chatId !== gate.address) await writeHold(state, gate.chatId, ms);
  const common = commonHold(state.held, now);
  if (common === null || now + common <= state.all.heldUntil) return;
  state.all.heldUntil = now + common;
  state.deps.log.warn('all_chats_held', { ms: common });
  await writeHold(state, null, common);
}

/** A hold that cannot be written binds this process all the same; what was told to wait has its own time in its row. */
async function writeHold({ deps }: State, chatId: string | null, ms: number): Promise<void> {
  const now = deps.clock.now();
  try {
    await deps.store.writeHold(chatId, now + ms, now);
  } catch (error) {
    deps.log.warn('hold_not_written', { error: String(error) });
  }
}
