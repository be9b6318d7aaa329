/** What a fuzz has found, with the seed and the case that find it again. */
export interface Outcome {
  readonly faults: readonly string[];
  /** How often each status, or exit code, was the end of a case. */
  readonly counts: ReadonlyMap<number, number>;
}

/** Far longer than anything may take on a busy machine: what is not there by then is not coming. */
const patienceMs = 10_000;

/** Null when nothing comes. */
export async function patience<T>(work: Promise<T>): Promise<T | null> {
  let handle: NodeJS.Timeout | undefined;
  const over = new Promise<null>((resolve) => {
    handle = setTimeout(() => resolve(null), patienceMs);
  });
  const first = await Promise.race([work, over]);
  clearTimeout(handle);
  return first;
}
