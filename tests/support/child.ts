import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { sourceFlags } from './sources.ts';

export interface StoreChild {
  readonly process: ChildProcess;
  /** The next line that the child writes. */
  line(): Promise<string>;
}

/** Starts a child of `store-child.ts`; it does not outlive its test. */
export function storeChild(verb: 'hold' | 'claim' | 'freeze' | 'queue', place: string): StoreChild {
  const script = fileURLToPath(new URL('store-child.ts', import.meta.url));
  const child = spawn(process.execPath, [...sourceFlags, script, verb, place], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    process: child,
    line: async () => {
      const next = await lines.next();
      if (next.done === true) throw new Error('the child ended before it said anything');
      return next.value;
    },
  };
}

/** Ends it as nothing can prepare for. */
export async function killHard({ process: child }: StoreChild): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
