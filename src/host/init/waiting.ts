import type { HostPorts, Option } from '../ports.ts';

export type Waited<T, S extends string> =
  | { readonly is: 'found'; readonly value: T }
  | { readonly is: 'chosen'; readonly value: S };

interface Waiting<T, S extends string> {
  readonly question: string;
  readonly options: readonly Option<S>[];
  /** Null while there is nothing yet. */
  readonly look: () => Promise<T | null>;
}

/** Often enough to feel as if it were noticed at once, seldom enough for the platform. */
const lookEveryMs = 2000;

/** Looks again and again, until it is there or until the person chooses something else. */
export async function waitFor<T, S extends string>(
  { asking, timer }: Pick<HostPorts, 'asking' | 'timer'>,
  { question, options, look }: Waiting<T, S>,
): Promise<Waited<T, S>> {
  const over = new AbortController();
  let found: { readonly value: T } | null = null;
  const looking = (async () => {
    while (!over.signal.aborted) {
      const value = await look();
      if (value !== null) {
        found = { value };
        over.abort();
        return;
      }
      if (!over.signal.aborted) await pause(timer, over.signal);
    }
  })();
  const answering = asking.choose(question, options, over.signal).finally(() => over.abort());
  // A look that fails ends the question as well, and is what is told.
  const [looked, answered] = await Promise.allSettled([
    looking.catch((error: unknown) => {
      over.abort();
      throw error;
    }),
    answering,
  ]);
  if (looked.status === 'rejected') throw looked.reason;
  if (found !== null) return { is: 'found', ...(found as { readonly value: T }) };
  if (answered.status === 'rejected') throw answered.reason;
  if (answered.value === null) throw new Error('the question ended without an answer');
  return { is: 'chosen', value: answered.value };
}

function pause(timer: HostPorts['timer'], over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const callOff = timer.after(lookEveryMs, resolve);
    over.addEventListener('abort', () => {
      callOff();
      resolve();
    });
  });
}
