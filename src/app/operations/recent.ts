/** Notes of late. They forget the oldest beyond a number, and those older than their time, so that no life of the process fills the memory. */
export interface Recent<T> {
  get(key: string): T | undefined;
  has(key: string): boolean;
  put(key: string, value: T): void;
  drop(key: string): void;
}

export interface Kept {
  readonly ms: number;
  readonly now: () => number;
}

export function createRecent<T>(max: number, kept?: Kept): Recent<T> {
  const noted = new Map<string, { readonly value: T; readonly at: number }>();
  const get = (key: string): T | undefined => {
    const found = noted.get(key);
    if (found === undefined || kept === undefined) return found?.value;
    const ageMs = kept.now() - found.at;
    // A note from the future was made by a clock that has been set back since, so its age is not known.
    if (ageMs >= 0 && ageMs < kept.ms) return found.value;
    noted.delete(key);
    return undefined;
  };
  return {
    get,
    has: (key) => get(key) !== undefined,
    put: (key, value) => {
      noted.delete(key);
      noted.set(key, { value, at: kept?.now() ?? 0 });
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
