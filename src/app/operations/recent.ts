import type { Stopwatch } from '../ports/outside.ts';

/** Notes of late. They forget the oldest beyond a number, and those older than their time, so that no life of the process fills the memory. */
export interface Recent<T> {
  get(key: string): T | undefined;
  has(key: string): boolean;
  put(key: string, value: T): void;
  drop(key: string): void;
}

export interface Kept {
  readonly ms: number;
  readonly stopwatch: Stopwatch;
}

export function createRecent<T>(max: number, kept?: Kept): Recent<T> {
  const noted = new Map<string, { readonly value: T; readonly at: number }>();
  const get = (key: string): T | undefined => {
    const found = noted.get(key);
    if (found === undefined || kept === undefined) return found?.value;
    if (kept.stopwatch.elapsed() - found.at < kept.ms) return found.value;
    noted.delete(key);
    return undefined;
  };
  return {
    get,
    has: (key) => get(key) !== undefined,
    put: (key, value) => {
      noted.delete(key);
      noted.set(key, { value, at: kept?.stopwatch.elapsed() ?? 0 });
      for (const oldest of noted.keys()) {
        if (noted.size <= max) break;
        noted.delete(oldest);
      }
    },
    drop: (key) => {
      noted.delete(key);
    },
  };
}

/** Says yes to so many in any second. */
export function perSecond(stopwatch: Stopwatch, most: number): () => boolean {
  let said: readonly number[] = [];
  return () => {
    const now = stopwatch.elapsed();
    said = said.filter((at) => at > now - 1000);
    if (said.length >= most) return false;
    said = [...said, now];
    return true;
  };
}

/** One answer for all who ask while it is made, and for whoever asks so long after that began. A failure is not kept. */
export function memo<T>(stopwatch: Stopwatch, keptMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | null = null;
  let isAsking = false;
  return () => {
    const at = stopwatch.elapsed();
    if (last !== null && (isAsking || at - last.at < keptMs)) return last.answer;
    isAsking = true;
    const answer = ask()
      .catch((error: unknown) => {
        last = null;
        throw error;
      })
      .finally(() => {
        isAsking = false;
      });
    last = { at, answer };
    return answer;
  };
}
