import { setTimeout as pause } from 'node:timers/promises';

/**
 * How long a test waits for what comes by itself. It ends what hangs and measures nothing: on a machine that has much else to
 * do, all that comes by itself takes many times as long. The limit of a test is beyond it, so that the wait says what it missed.
 */
export const patienceMs = 60_000;
export const testMaxMs = 150_000;

const lookMs = 25;

/** Waits until the check holds, and answers what it answers. */
export async function soon<T>(check: () => T | Promise<T>): Promise<T> {
  for (const until = performance.now() + patienceMs; ; await pause(lookMs)) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > until) throw error;
    }
  }
}
