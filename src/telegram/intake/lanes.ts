/** Work that is done one after the other in each lane, and side by side across lanes. */
export interface Lanes {
  /** Does nothing for a number that is in hand, or was done since `forgetDone`. The work must not throw. */
  add(piece: Piece): void;
  room(): Promise<number>;
  readonly size: () => number;
  /** Resolves when nothing is in hand. */
  done(): Promise<void>;
  forgetDone(): void;
}

interface Piece {
  readonly id: number;
  readonly lane: string;
  readonly work: () => Promise<void>;
}

/** Updates in hand at the same time; the others wait in the store. */
const inHandMax = 200;

export function createLanes(): Lanes {
  const ends = new Map<string, Promise<void>>();
  const inHand = new Map<number, Promise<void>>();
  // A page that was read before a piece ended still names it.
  const done = new Set<number>();
  let waiting: (() => void)[] = [];

  const settle = ({ id, lane }: Piece, end: Promise<void>) => {
    if (ends.get(lane) === end) ends.delete(lane);
    inHand.delete(id);
    done.add(id);
    for (const wake of waiting) wake();
    waiting = [];
  };

  return {
    add: (piece) => {
      if (inHand.has(piece.id) || done.has(piece.id)) return;
      const before = ends.get(piece.lane) ?? Promise.resolve();
      const end: Promise<void> = before.then(piece.work).finally(() => settle(piece, end));
      ends.set(piece.lane, end);
      inHand.set(piece.id, end);
    },
    room: async () => {
      while (inHand.size >= inHandMax) await new Promise<void>((resolve) => waiting.push(resolve));
      return inHandMax - inHand.size;
    },
    size: () => inHand.size,
    done: async () => {
      while (inHand.size > 0) await Promise.all(inHand.values());
    },
    forgetDone: () => done.clear(),
  };
}
