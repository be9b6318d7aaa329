import type { Script } from './engine.ts';

/** A list that is read in pages, downwards along a key that an index holds. */
export interface Look<R, K> {
  readonly limit: number;
  /** Rows that one look passes at most, however few of them are wanted. */
  readonly lookMax: number;
  /** The key of the row that lies so many rows further on; what lies behind it is for the next look. */
  readonly edgeAt: (offset: number) => Script<K | undefined>;
  /** What is wanted, from the beginning of the look to its edge. */
  readonly found: (edge: K | undefined, limit: number) => Script<R[]>;
  readonly keyOf: (row: R) => K;
}

/**
 * A page may be short, or empty, and have a next one all the same: what no index answers is looked for among so many rows
 * at a time, and the next look goes on behind them.
 */
export function* page<R, K>({
  limit,
  lookMax,
  edgeAt,
  found,
  keyOf,
}: Look<R, K>): Script<{
  readonly rows: readonly R[];
  readonly next: K | null;
}> {
  const edge = yield* edgeAt(lookMax - 1);
  const rows = yield* found(edge, limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? (edge ?? null) : keyOf(last) };
}
