/** One page of a list, and where the next one begins; null on the last. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}
