import { asideWaitMaxMs, budgetWaitMaxMs } from '../../domain/limits.ts';
import {
  commonHold,
  freeFrom,
  heldAtOnceMs,
  isGroup,
  roomAt,
  type Held,
  type Rate,
  type Rates,
} from '../../domain/pace.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { Budget, CallFault, World } from '../ports/outside.ts';

/**
 * Spends the budget of calls. It never waits for longer than it must, and never lets more calls out than
 * Telegram allows, over a restart as well. Only chats that were called within the last minute, or must wait, have a gate
 * here, so a backlog of thousands of chats costs nothing.
 */
export interface Pacer extends Budget {
  /** Reads what was sent before this start, and who must wait; nothing may start before that. */
  open(): Promise<void>;
  /** Sets calls aside that are about to start, as many as may at most; answers how many. */
  book(most: number): number;
  /** Gives back as many of them, which do not start after all. */
  release(count: number): void;
  /** Chats in which none may start now. */
  heldChats(): ReadonlySet<string>;
  /**
   * How long until that changes by itself; null when only the end of a call changes it. What was held when calls were last
   * booked and has become free since counts as a change that is due: whoever looked then has left it aside.
   */
  freeInMs(): number | null;
  /** How long until a chat that waits in the course of its turn may make its next call; null when none does. */
  turnInMs(): number | null;
  /** Takes the chat's turn, with one of the calls that were set aside. */
  start(chat: PacedChat): Turn;
  /** In the course of a turn whose call has ended: whether the next one is worth waiting for. */
  isFreeSoon(address: string): boolean;
  /** Telegram has told a chat to wait. */
  holdChat(chat: PacedChat, ms: number): Promise<void>;
}

interface PacedChat {
  readonly chatId: string;
  readonly address: string;
}

export interface Turn {
  /** The reserved call is made; without that it costs nothing. */
  spend(): void;
  /** The turn is over, and the end of its last call is known. */
  end(): void;
}

interface PacerDeps extends Pick<World, 'clock' | 'stopwatch' | 'timer' | 'log'> {
  readonly store: Pick<ChatStore, 'readHolds' | 'writeHold' | 'sentSince'>;
}

/** One chat. It has one call at a time: reserved, on its way, or none. */
interface Gate {
  readonly chatId: string;
  address: string;
  inTurn: boolean;
  call: 'none' | 'reserved' | 'out';
  readonly ends: number[];
  heldUntil: number;
}

interface State {
  readonly deps: PacerDeps;
  readonly rates: Rates;
  readonly gates: Map<string, Gate>;
  /** By the address, for whoever knows nothing else of a chat. */
  readonly chatAt: Map<string, string>;
  readonly all: { open: number; readonly ends: number[]; heldUntil: number };
  /** Chats in which somebody waits for the next call of a turn. */
  readonly waiting: Set<Gate>;
  held: readonly Held[];
  readonly asides: { open: number; waiting: number; readonly ends: number[]; heldUntil: number };
  /** When calls were last booked, and whether none could be. */
  looked: { readonly at: number; readonly inVain: boolean };
}

/** A chat that waits for the end of another call is looked at again after this. */
const lookAgainMs = 100;

/** The pace of one chat asks for a second between two calls. */
const soonMs = 1500;

export function createPacer(deps: PacerDeps, rates: Rates): Pacer {
  const all = { open: 0, ends: [], heldUntil: -Infinity };
  const asides = { open: 0, waiting: 0, ends: [], heldUntil: -Infinity };
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
    book: (most) => {
      const count = Math.max(Math.min(most, roomOf(state)), 0);
      all.open += count;
      state.looked = { at: deps.stopwatch.elapsed(), inVain: count === 0 };
      return count;
    },
    release: (count) => {
      all.open -= count;
    },
    heldChats: () => heldChats(state),
    freeInMs: () => freeInMs(state),
    turnInMs: () => turnInMs(state),
    start: (chat) => startTurn(state, gateOf(state, chat)),
    holdChat: (chat, ms) => hold(state, gateOf(state, chat), ms),
    take: (address) => take(state, known(address)),
    isFreeSoon: (address) => isFreeSoon(state, known(address)),
    hold: (address, ms) => hold(state, known(address), ms),
    aside: (call) => aside(state, call),
  };
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
  for (const { chatId, address, at } of sent.toSorted((a, b) => a.at - b.at)) {
    // A clock that was set back may have left it in the future.
    addEnd(state, gateOf(state, { chatId, address }), now - Math.max(wall - at - arrivalMs, 0));
  }
}

function gateOf({ gates, chatAt }: State, { chatId, address }: PacedChat): Gate {
  const known = gates.get(chatId);
  const gate = known ?? { chatId, address, inTurn: false, call: 'none', ends: [], heldUntil: -Infinity };
  gates.set(chatId, gate);
  // A chat may get another address, and a hold that was read at the start knows none.
  if (address !== '' && (known === undefined || known.address !== address)) {
    if (chatAt.get(gate.address) === chatId) chatAt.delete(gate.address);
    gate.address = address;
    chatAt.set(address, chatId);
  }
  return gate;
}

function startTurn(state: State, gate: Gate): Turn {
  closeCall(state, gate);
  gate.inTurn = true;
  gate.call = 'reserved';
  return {
    spend: () => {
      if (gate.call === 'reserved') gate.call = 'out';
    },
    end: () => {
      closeCall(state, gate);
      gate.inTurn = false;
    },
  };
}

function closeCall(state: State, gate: Gate): void {
  if (gate.call === 'none') return;
  state.all.open -= 1;
  if (gate.call === 'out') addEnd(state, gate, state.deps.stopwatch.elapsed());
  gate.call = 'none';
}

function addEnd({ all, rates }: State, gate: Gate, at: number): void {
  note(all.ends, rates.overall, at);
  const calls = Math.min(rates.chat.calls, rates.group.calls);
  note(gate.ends, { calls, withinMs: keptMs(rates, gate.address) }, at);
}

/** Without a limit there is nothing to count. */
function note(ends: number[], { calls, withinMs }: Rate, at: number): void {
  if (calls === Infinity) return;
  while (ends[0] !== undefined && ends[0] + withinMs <= at) ends.shift();
  ends.push(at);
}

function keptMs({ chat, group }: Rates, address: string): number {
  return isGroup(address) ? Math.max(chat.withinMs, group.withinMs) : chat.withinMs;
}

function longestMs({ overall, chat, group }: Rates): number {
  return Math.max(overall.withinMs, chat.withinMs, group.withinMs);
}

function freeAt({ rates }: State, gate: Gate): number {
  const spent = { open: gate.call === 'none' ? 0 : 1, ends: gate.ends };
  const free = Math.max(gate.heldUntil, freeFrom(spent, rates.chat));
  return isGroup(gate.address) ? Math.max(free, freeFrom(spent, rates.group)) : free;
}

function allFreeAt({ all, rates }: State): number {
  return Math.max(all.heldUntil, freeFrom(all, rates.overall));
}

/** Chats that wait in the course of a turn come first: otherwise a great backlog would keep its chat waiting for ever. */
function roomOf(state: State): number {
  const now = state.deps.stopwatch.elapsed();
  if (state.all.heldUntil > now) return 0;
  const first = [...state.waiting].filter((gate) => freeAt(state, gate) <= now).length + asidesDue(state, now);
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

function forgetIdle({ gates, chatAt, rates, waiting }: State, gate: Gate, now: number): void {
  if (gate.inTurn || waiting.has(gate) || (gate.ends.at(-1) ?? -Infinity) + keptMs(rates, gate.address) > now) return;
  gates.delete(gate.chatId);
  if (chatAt.get(gate.address) === gate.chatId) chatAt.delete(gate.address);
}

function freeInMs(state: State): number | null {
  const now = state.deps.stopwatch.elapsed();
  const whenAll = allFreeAt(state);
  // The end of an aside is told to nobody.
  if (whenAll === Infinity) return state.asides.open > 0 ? lookAgainMs : null;
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
  const waitMs = Math.max(first, allFreeAt(state)) - state.deps.stopwatch.elapsed();
  return waitMs === Infinity ? lookAgainMs : Math.max(waitMs, 0);
}

function isFreeSoon(state: State, gate: Gate): boolean {
  if (gate.call === 'reserved') return true;
  closeCall(state, gate);
  return Math.max(freeAt(state, gate), allFreeAt(state)) <= state.deps.stopwatch.elapsed() + soonMs;
}

async function take(state: State, gate: Gate): Promise<boolean> {
  if (gate.call === 'reserved') {
    gate.call = 'out';
    return true;
  }
  closeCall(state, gate);
  if (!(await waitFor(state, gate))) return false;
  gate.call = 'out';
  state.all.open += 1;
  // The end of a call that belongs to no turn will not be told.
  if (!gate.inTurn) closeCall(state, gate);
  return true;
}

async function aside<T>(state: State, call: () => Promise<T | CallFault>): Promise<T | CallFault> {
  const { deps, all, asides, rates } = state;
  if (!beginAside(state) && !(await waitAside(state))) {
    return { is: 'unreached', error: 'Telegram must be left alone for now' };
  }
  try {
    const answer = await call();
    if (isWait(answer)) asides.heldUntil = Math.max(asides.heldUntil, deps.stopwatch.elapsed() + answer.ms);
    return answer;
  } finally {
    const now = deps.stopwatch.elapsed();
    for (const spent of [all, asides]) {
      spent.open -= 1;
      note(spent.ends, rates.overall, now);
    }
  }
}

function isWait(answer: unknown): answer is Extract<CallFault, { is: 'wait' }> {
  return typeof answer === 'object' && answer !== null && 'is' in answer && answer.is === 'wait';
}

/** Counts one as begun if it may begin now. */
function beginAside(state: State): boolean {
  if (asideFreeAt(state) > state.deps.stopwatch.elapsed()) return false;
  for (const spent of [state.all, state.asides]) spent.open += 1;
  return true;
}

function asideFreeAt(state: State): number {
  const { asides, rates } = state;
  return Math.max(asides.heldUntil, freeFrom(asides, asideShare(rates)), allFreeAt(state));
}

function asideShare({ overall }: Rates): Rate {
  return { ...overall, calls: Math.max(Math.floor(overall.calls / 2), 1) };
}

/** Asides that wait, as far as they may begin now: they come before results. */
function asidesDue({ asides, rates }: State, now: number): number {
  return asides.heldUntil > now ? 0 : Math.min(asides.waiting, roomAt(asides, asideShare(rates), now));
}

/** False when it would take so long that nobody looks any more. */
async function waitAside(state: State): Promise<boolean> {
  const { asides, deps } = state;
  const until = deps.stopwatch.elapsed() + asideWaitMaxMs;
  asides.waiting += 1;
  try {
    while (!beginAside(state)) {
      const [now, at] = [deps.stopwatch.elapsed(), asideFreeAt(state)];
      if ((at === Infinity ? now : at) > until || now >= until) return false;
      const waitMs = at === Infinity ? lookAgainMs : Math.ceil(at - now);
      await new Promise<void>((resolve) => deps.timer.after(waitMs, resolve));
    }
    return true;
  } finally {
    asides.waiting -= 1;
  }
}

async function waitFor(state: State, gate: Gate): Promise<boolean> {
  const { stopwatch, timer } = state.deps;
  state.waiting.add(gate);
  try {
    for (;;) {
      const now = stopwatch.elapsed();
      const waitMs = Math.max(freeAt(state, gate), allFreeAt(state)) - now;
      if (waitMs <= 0) return true;
      if (Math.max(gate.heldUntil, state.all.heldUntil) - now > budgetWaitMaxMs) return false;
      await new Promise<void>((resolve) => timer.after(waitMs === Infinity ? lookAgainMs : Math.ceil(waitMs), resolve));
    }
  } finally {
    state.waiting.delete(gate);
  }
}

async function hold(state: State, gate: Gate, ms: number): Promise<void> {
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
