import type { Stopwatch } from '../ports/outside.ts';

/** One answer for all who ask while it is made, and for whoever asks so long after that began. A failure is not kept. */
export function memo<T>(stopwatch: Stopwatch, keptMs: number, ask: () => Promise<T>): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T> } | null = null;
  let isAsking = false;
  return () => {
    const at = stopwatch.elapsed();
    if (last !== null && (isAsking || at - last.at < keptMs)) return last.answer;
    isAsking = true;
    const answer = ask()
      .catch((error: unknown) => {
        last = null;
        throw error;
      })
      .finally(() => {
        isAsking = false;
      });
    last = { at, answer };
    return answer;
  };
}
