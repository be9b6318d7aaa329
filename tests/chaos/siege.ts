/** A fault that goes on for a while, whichever process lives and whatever is asked. */
export interface Siege<T> {
  /** Null while nothing goes on. */
  readonly fault: T | null;
  /** How long it still takes. */
  readonly leftMs: number;
  lay(fault: T, ms: number): void;
  lift(): void;
}

export function openSiege<T>(elapsed: () => number): Siege<T> {
  let laid: { readonly fault: T; readonly until: number } | null = null;
  const leftMs = () => Math.max(0, (laid?.until ?? 0) - elapsed());
  return {
    get fault() {
      return leftMs() > 0 ? (laid?.fault ?? null) : null;
    },
    get leftMs() {
      return leftMs();
    },
    lay: (fault, ms) => {
      laid = { fault, until: elapsed() + ms };
    },
    lift: () => {
      laid = null;
    },
  };
}
