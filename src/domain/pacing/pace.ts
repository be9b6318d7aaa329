/**
 * The budget that Telegram grants: so many calls may start within so much time. A call counts from its start until a
 * window has passed since its end was known, so that no jitter on the wire can bring two windows of calls together.
 */
export interface Rate {
  readonly calls: number;
  readonly withinMs: number;
}

export interface Rates {
  /** All chats together. */
  readonly overall: Rate;
  /** One chat, with all its topics. */
  readonly chat: Rate;
  /** One group, on top of that. */
  readonly group: Rate;
}

/** The rate as it is for a call that becomes several messages: they go out together, so all of them must have room. */
export function forMessages({ calls, withinMs }: Rate, messages: number): Rate {
  return { calls: Math.max(calls - messages + 1, 1), withinMs };
}

/** Calls that a rate counts. */
export interface Spent {
  /** On their way. */
  readonly open: number;
  /** Ends of the others, oldest first. */
  readonly ends: readonly number[];
}

export function ratesOf(given: {
  readonly overallPerSecond: number;
  readonly chatPerSecond: number;
  readonly groupPerMinute: number;
}): Rates {
  return {
    overall: { calls: given.overallPerSecond, withinMs: 1000 },
    chat: { calls: given.chatPerSecond, withinMs: 1000 },
    group: { calls: given.groupPerMinute, withinMs: 60_000 },
  };
}

/** The clocks of two processes tell the time of their database this much apart at most. */
const clocksApartMs = 5;

/** The rates for one of several processes: a call that another one has made may have ended a little later than it says. */
export function ratesOfSeveral({ overall, chat, group }: Rates): Rates {
  const longer = ({ calls, withinMs }: Rate): Rate => ({ calls, withinMs: withinMs + clocksApartMs });
  return { overall: longer(overall), chat: longer(chat), group: longer(group) };
}

/** Calls that may start at an instant. */
export function roomAt({ open, ends }: Spent, { calls, withinMs }: Rate, at: number): number {
  const firstCounted = ends.findIndex((end) => end + withinMs > at);
  const counted = firstCounted < 0 ? 0 : ends.length - firstCounted;
  return Math.max(calls - open - counted, 0);
}

/** The instant from which one more call may start: -Infinity if it may at any time, Infinity while that hangs on those on their way. */
export function freeFrom({ open, ends }: Spent, { calls, withinMs }: Rate): number {
  const room = calls - open;
  if (room <= 0) return Infinity;
  // So many ends may still count, so the one before them must have left the window.
  const leaves = ends[ends.length - room];
  return leaves === undefined ? -Infinity : leaves + withinMs;
}

export function longestMs({ overall, chat, group }: Rates): number {
  return Math.max(overall.withinMs, chat.withinMs, group.withinMs);
}

/** Then nothing is counted. */
export function isUnlimited({ overall, chat, group }: Rates): boolean {
  return overall.calls === Infinity && chat.calls === Infinity && group.calls === Infinity;
}

/** Calls that one rate counts, and until when Telegram wants none of them. */
export interface Purse {
  open: number;
  readonly ends: number[];
  heldUntil: number;
}

/** Infinity while that hangs on the end of another call. */
export function whenFree(purse: Purse, rate: Rate): number {
  return Math.max(purse.heldUntil, freeFrom(purse, rate));
}

/** Without a limit there is nothing to count. */
export function note(ends: number[], { calls, withinMs }: Rate, at: number): void {
  if (calls === Infinity) return;
  while (ends[0] !== undefined && ends[0] + withinMs <= at) ends.shift();
  ends.push(at);
  // Several processes tell of their calls, and not always in the order in which those ended.
  const before = ends.at(-2);
  if (before !== undefined && before > at) ends.sort((one, other) => one - other);
}

/** Telegram numbers private chats from 1 up, and everything that several people are in from -1 down. */
export function isGroup(address: string): boolean {
  return address.startsWith('-');
}

/** A chat, which has one call at a time. */
export interface Gate {
  readonly address: string;
  /** Messages that its call becomes which is set aside or on its way; 0 when there is none. */
  open: number;
  readonly ends: number[];
  heldUntil: number;
}

/** The instant at which the chat may make a call of so many messages; Infinity while that hangs on the call on its way. */
export function gateFreeAt({ address, open, ends, heldUntil }: Gate, { chat, group }: Rates, messages: number): number {
  const spent = { open, ends };
  const free = Math.max(heldUntil, freeFrom(spent, forMessages(chat, messages)));
  return isGroup(address) ? Math.max(free, freeFrom(spent, forMessages(group, messages))) : free;
}

/**
 * The call of a chat has ended, and is none that is open any more. The messages of an album count in their chat as if they had
 * followed each other at its pace.
 */
export function closeGate(gate: Gate, all: Pick<Purse, 'ends'>, rates: Rates, at: number): void {
  const calls = Math.min(rates.chat.calls, rates.group.calls);
  const apartMs = rates.chat.withinMs / rates.chat.calls;
  for (let message = 0; message < gate.open; message += 1) {
    note(all.ends, rates.overall, at);
    note(gate.ends, { calls, withinMs: keptMs(rates, gate.address) }, at + message * apartMs);
  }
  gate.open = 0;
}

/** How long the end of a call is of use in its chat. */
export function keptMs({ chat, group }: Rates, address: string): number {
  return isGroup(address) ? Math.max(chat.withinMs, group.withinMs) : chat.withinMs;
}

/** The share of the budget that calls beside the outbox may have at most. */
export function shareOfAsides(overall: Rate): Rate {
  return { ...overall, calls: Math.max(Math.floor(overall.calls / 2), 1) };
}

/** A chat was told to wait. */
export interface Held {
  readonly chatId: string;
  readonly at: number;
  readonly ms: number;
}

/** So many chats that are told to wait within a second are a sign that the limit is on the whole bot. */
const chatsHeldAtOnce = 3;
export const heldAtOnceMs = 1000;

/** All chats wait, when several are told to at once, for the shortest of these times, which is what they share. */
export function commonHold(held: readonly Held[], now: number): number | null {
  const latest = new Map<string, Held>();
  for (const one of held) if (one.at + heldAtOnceMs > now) latest.set(one.chatId, one);
  if (latest.size < chatsHeldAtOnce) return null;
  return Math.min(...[...latest.values()].map(({ ms }) => ms));
}
