import { patienceMs } from '../support/patience.ts';

/** What a fuzz has found, with the seed and the case that find it again. */
export interface Outcome {
  readonly faults: readonly string[];
  /** How often each status, or exit code, was the end of a case. */
  readonly counts: ReadonlyMap<number, number>;
}

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

/** What is refused at the first look proves little: every kind of answer has to be among those that come. */
export const kinds = {
  http: [200, 201, 202, 400, 401, 404, 405, 409, 415],
  /** Among a hundred thousand cases only. */
  seldomHttp: [413, 422],
  cli: [0, 2, 3],
} as const;

/** The kinds that came less than so often. */
export function rare(counts: Outcome['counts'], expected: readonly number[], least: number): number[] {
  return expected.filter((kind) => (counts.get(kind) ?? 0) < least);
}
