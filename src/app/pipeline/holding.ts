/** What a room holds of what the store says it has claimed; for whoever looks for claims whose answer was lost. */
export interface Holding {
  /** The room works on it, or has its end and has not written it yet. */
  has(id: string): boolean;
  /** Claims count up; this is the last one that was asked for. */
  asked(): number;
  /** Every claim up to this one has been answered, or has failed: none of its rows can still become held. */
  over(): number;
}

export interface ClaimCount extends Pick<Holding, 'asked' | 'over'> {
  /** Counts a claim; it is over when what came of it is held, or when it has failed. */
  during<T>(claim: () => Promise<T>): Promise<T>;
}

export function createClaimCount(): ClaimCount {
  const open = new Set<number>();
  let last = 0;
  return {
    asked: () => last,
    over: () => (open.size === 0 ? last : Math.min(...open) - 1),
    during: async (claim) => {
      last += 1;
      const mine = last;
      open.add(mine);
      try {
        return await claim();
      } finally {
        open.delete(mine);
      }
    },
  };
}
