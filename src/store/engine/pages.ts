import type { Script } from './engine.ts';

/** A list that is read in pages, downwards along a key that an index holds. */
export interface Look<R, K> {
  readonly limit: number;
  /**
   * The key of the row with which this look ends, however few rows it has found by then; absent where every row is wanted,
   * so that the page itself is the end of the look.
   */
  readonly edge?: K | undefined;
  /** What is wanted, newest first. */
  readonly found: (limit: number) => Script<R[]>;
  readonly keyOf: (row: R) => K;
}

/**
 * A page may be short, or empty, and have a next one all the same: what no index answers is looked for among some rows at a
 * time, and the next look goes on behind them.
 */
export function* page<R, K>({
  limit,
  edge,
  found,
  keyOf,
}: Look<R, K>): Script<{
  readonly rows: readonly R[];
  readonly next: K | null;
}> {
  const rows = yield* found(limit + 1);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next: last === undefined ? (edge ?? null) : keyOf(last) };
}
