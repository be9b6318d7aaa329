/**
 * An id for a row that the store makes by itself: it sorts among the other ids by its time, so that what was made since an
 * instant is found by its ids, and it is the same when a transaction is run again.
 */
export function idAt(now: number, name: string): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7fff:${name}`;
}
