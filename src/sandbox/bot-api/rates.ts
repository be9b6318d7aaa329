import type { Stopwatch } from '../../app/ports/outside.ts';
import type { ChatRow } from '../world/rows.ts';
import { tooManyRequests } from './request.ts';

export interface SandboxLimits {
  readonly globalPerSecond: number | null;
  readonly chatPerSecond: number | null;
  readonly groupPerMinute: number | null;
}

const secondMs = 1000;
const minuteMs = 60_000;

/** Sliding windows over what was let through: a refused call costs nothing, and there is no burst. */
export class Rates {
  readonly #limits: SandboxLimits;
  readonly #stopwatch: Stopwatch;
  readonly #global: number[] = [];
  readonly #chats = new Map<number, number[]>();

  constructor(limits: SandboxLimits, stopwatch: Stopwatch) {
    this.#limits = limits;
    this.#stopwatch = stopwatch;
  }

  /** Takes one send out of every window that it falls into, or throws 429. */
  spend({ id, kind }: ChatRow): void {
    const now = this.#stopwatch.elapsed();
    const chat = this.#chats.get(id) ?? [];
    forget(this.#global, now - secondMs);
    forget(chat, now - minuteMs);
    const { globalPerSecond, chatPerSecond, groupPerMinute } = this.#limits;
    const waitMs = Math.max(
      waitFor(this.#global, globalPerSecond, now - secondMs),
      waitFor(chat, chatPerSecond, now - secondMs),
      kind === 'private' ? 0 : waitFor(chat, groupPerMinute, now - minuteMs),
    );
    if (waitMs > 0) throw tooManyRequests(Math.ceil(waitMs / secondMs));
    this.#global.push(now);
    chat.push(now);
    this.#chats.set(id, chat);
  }

  forgetAll(): void {
    this.#global.length = 0;
    this.#chats.clear();
  }
}

function forget(times: number[], until: number): void {
  while (times[0] !== undefined && times[0] <= until) times.shift();
}

/** The wait until fewer than `most` of the times lie after `since`; 0 when it is so already. */
function waitFor(times: readonly number[], most: number | null, since: number): number {
  if (most === null) return 0;
  const blocking = times.at(-most);
  return blocking === undefined || blocking <= since ? 0 : blocking - since;
}
