/** Something that jobs have named, until it was looked for. */
interface Named {
  readonly kind: string;
  settle: () => void;
}

/**
 * Ids that jobs have named and that wait for a place in this process. A job waits for all of its own; when the process stops
 * it is refused, and goes to another one.
 */
export function createWanted() {
  const waiting = new Map<string, Named>();
  const refusals = new Set<(error: Error) => void>();
  let isRefused = false;
  const stopping = () => new Error('the process is stopping');

  return {
    /** Resolves when each of them was looked for. */
    want: async (ids: readonly string[], kind = ''): Promise<void> => {
      if (isRefused) throw stopping();
      let refuse: (error: Error) => void = () => {};
      const refused = new Promise<never>((_resolve, reject) => (refuse = reject));
      refusals.add(refuse);
      const settled = ids.map(
        (id) =>
          new Promise<void>((resolve) => {
            const before = waiting.get(id);
            const settle = () => {
              before?.settle();
              resolve();
            };
            waiting.set(id, { kind, settle });
          }),
      );
      try {
        await Promise.race([Promise.all(settled), refused]);
      } finally {
        refusals.delete(refuse);
      }
    },
    /** Those to look for next, the oldest first. */
    next: (limit: number, isFull: (kind: string) => boolean = () => false): string[] => {
      const ids: string[] = [];
      for (const [id, { kind }] of waiting) {
        if (ids.length >= limit) break;
        if (!isFull(kind)) ids.push(id);
      }
      return ids;
    },
    settle: (ids: Iterable<string>): void => {
      for (const id of ids) {
        waiting.get(id)?.settle();
        waiting.delete(id);
      }
    },
    /** How many of each kind wait. */
    counts: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>();
      for (const { kind } of waiting.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts;
    },
    size: () => waiting.size,
    /** Nothing more is looked for. */
    refuse: (): void => {
      isRefused = true;
      waiting.clear();
      for (const refuse of refusals) refuse(stopping());
    },
  };
}
