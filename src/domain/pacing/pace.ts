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
}

/** Telegram numbers private chats from 1 up, and everything that several people are in from -1 down. */
export function isGroup(address: string): boolean {
  return address.startsWith('-');
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
