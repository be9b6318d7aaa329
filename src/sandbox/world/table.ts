/** One change of one row; `after` is null when it was removed. */
export interface RowChange {
  readonly kind: string;
  readonly key: string;
  readonly after: object | null;
}

/** How rows of one kind are told apart, and how a row of an earlier version, which lacks fields, is completed. */
export interface RowKind<Row> {
  readonly keyOf: (row: Row) => string;
  readonly complete?: (row: Row) => Row;
}

/** Rows of one kind in memory, in the order in which they came. Every change is noted, so that it can be written. */
export class Table<Row extends object> {
  readonly kind: string;
  readonly #keyOf: (row: Row) => string;
  readonly #complete: (row: Row) => Row;
  readonly #note: (change: RowChange) => void;
  readonly #rows = new Map<string, Row>();

  constructor(kind: string, { keyOf, complete = (row) => row }: RowKind<Row>, note: (change: RowChange) => void) {
    this.kind = kind;
    this.#keyOf = keyOf;
    this.#complete = complete;
    this.#note = note;
  }

  get(key: string | number): Row | undefined {
    return this.#rows.get(String(key));
  }

  /** A copy, which stays as it is while rows change. */
  all(): Row[] {
    return [...this.#rows.values()];
  }

  isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  put(row: Row): Row {
    const key = this.#keyOf(row);
    this.#rows.set(key, row);
    this.#note({ kind: this.kind, key, after: row });
    return row;
  }

  remove(key: string | number): void {
    if (this.#rows.delete(String(key))) this.#note({ kind: this.kind, key: String(key), after: null });
  }

  /** The oldest rows give way, so that there are at most `most`. */
  keep(most: number): void {
    for (const key of this.#rows.keys()) {
      if (this.#rows.size <= most) return;
      this.remove(key);
    }
  }

  /** What was read from the file, which this class alone writes, from rows of the same type. */
  load(row: unknown): void {
    const known = this.#complete(row as Row);
    this.#rows.set(this.#keyOf(known), known);
  }

  clear(): void {
    this.#rows.clear();
  }
}
