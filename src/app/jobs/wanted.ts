/** Something that jobs have named, until it was looked for. */
interface Named {
  readonly kind: string;
  /** The job that has named it. */
  readonly job: string | null;
  /** Looked for; or left, because there is no place for it here. */
  readonly settle: (isLeft: boolean) => void;
}

interface Looked {
  readonly left: (id: string) => boolean;
}

/** Ids that jobs have named, until this process has looked for them. When it stops they are refused, and go to another one. */
export function createWanted() {
  const waiting = createWaiting();
  const refusals = new Set<(error: Error) => void>();
  let isRefused = false;
  const stopping = () => new Error('the process is stopping');

  return {
    /** Resolves when each of them was looked for, with those for which there is no place. */
    want: async (ids: readonly string[], kind = '', job: string | null = null): Promise<readonly string[]> => {
      if (isRefused) throw stopping();
      let refuse: (error: Error) => void = () => {};
      const refused = new Promise<never>((_resolve, reject) => (refuse = reject));
      refusals.add(refuse);
      const settled = ids.map(
        (id) =>
          new Promise<string[]>((resolve) => {
            waiting.put(id, { kind, job, settle: (isLeft) => resolve(isLeft ? [id] : []) });
          }),
      );
      try {
        return (await Promise.race([Promise.all(settled), refused])).flat();
      } finally {
        refusals.delete(refuse);
      }
    },
    isAny: (): boolean => waiting.size() > 0,
    /** Leaves to others what has no place here. */
    leave: (isFull: (kind: string) => boolean): void => {
      for (const { settle } of waiting.take(Infinity, isFull).values()) settle(true);
    },
    /** Looks for the oldest. What is named meanwhile waits for the look after this one, which knows more. */
    lookFor: async <T extends Looked>(
      limit: number,
      look: (which: { readonly only: readonly string[]; readonly jobOf: (id: string) => string | null }) => Promise<T>,
    ): Promise<T> => {
      const some = waiting.take(limit, () => true);
      let looked: T | null = null;
      try {
        looked = await look({ only: [...some.keys()], jobOf: (id) => some.get(id)?.job ?? null });
        return looked;
      } finally {
        // Rows whose look has failed wait for the next one.
        for (const [id, named] of some) {
          if (looked === null) waiting.put(id, named);
          else named.settle(looked.left(id));
        }
      }
    },
    counts: waiting.counts,
    size: waiting.size,
    /** Nothing more is looked for. */
    refuse: (): void => {
      isRefused = true;
      waiting.clear();
      for (const refuse of refusals) refuse(stopping());
    },
  };
}

/** Rows that jobs have named, the oldest first. A row that is named again settles both jobs. */
function createWaiting() {
  const waiting = new Map<string, Named>();
  return {
    put: (id: string, { kind, job, settle }: Named): void => {
      const other = waiting.get(id);
      waiting.set(id, {
        kind,
        job,
        settle: (isLeft) => {
          other?.settle(isLeft);
          settle(isLeft);
        },
      });
    },
    take: (limit: number, fits: (kind: string) => boolean): ReadonlyMap<string, Named> => {
      const some = [...waiting].filter(([, { kind }]) => fits(kind)).slice(0, limit);
      for (const [id] of some) waiting.delete(id);
      return new Map(some);
    },
    /** How many of each kind wait. */
    counts: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>();
      for (const { kind } of waiting.values()) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts;
    },
    size: (): number => waiting.size,
    clear: (): void => waiting.clear(),
  };
}
