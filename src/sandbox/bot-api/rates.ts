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

  /** Takes a send, or the messages of an album, out of every window that they fall into, or throws 429. */
  spend({ id, kind }: ChatRow, messages = 1): void {
    const now = this.#stopwatch.elapsed();
    const chat = this.#chats.get(id) ?? [];
    forget(this.#global, now - secondMs);
    forget(chat, now - minuteMs);
    const { globalPerSecond, chatPerSecond, groupPerMinute } = this.#limits;
    const waitMs = Math.max(
      waitFor(this.#global, globalPerSecond, { since: now - secondMs, messages }),
      waitFor(chat, chatPerSecond, { since: now - secondMs, messages }),
      kind === 'private' ? 0 : waitFor(chat, groupPerMinute, { since: now - minuteMs, messages }),
    );
    if (waitMs > 0) throw tooManyRequests(Math.ceil(waitMs / secondMs));
    for (let message = 0; message < messages; message += 1) {
      this.#global.push(now);
      chat.push(now);
    }
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

interface Wanted {
  readonly since: number;
  readonly messages: number;
}

/** The wait until there is room for so many more after `since`, or none before them; 0 when it is so already. */
function waitFor(times: readonly number[], most: number | null, { since, messages }: Wanted): number {
  if (most === null) return 0;
  const blocking = times.at(-Math.max(most - messages + 1, 1));
  return blocking === undefined || blocking <= since ? 0 : blocking - since;
}
