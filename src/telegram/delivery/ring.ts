/** A map that forgets its oldest entries, so that no life of the process fills the memory. */
export interface Ring<T> {
  get(key: string): T | undefined;
  put(key: string, value: T): void;
  drop(key: string): void;
  entries(): readonly (readonly [string, T])[];
}

export function createRing<T>(max: number): Ring<T> {
  const kept = new Map<string, T>();
  return {
    get: (key) => kept.get(key),
    put: (key, value) => {
      kept.delete(key);
      kept.set(key, value);
      for (const [oldest] of kept) {
        if (kept.size <= max) break;
        kept.delete(oldest);
      }
    },
    drop: (key) => {
      kept.delete(key);
    },
    entries: () => [...kept],
  };
}
