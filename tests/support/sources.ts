import { fileURLToPath } from 'node:url';

/** Flags of Node that halve the start of a process. */
export const quickFlags: readonly string[] = ['--import', new URL('quick-imports.ts', import.meta.url).href];

/** A process of its own runs a source as it is: Node reads TypeScript by itself, which costs less than a loader. */
export const sourceFlags: readonly string[] = ['--disable-warning=ExperimentalWarning', ...quickFlags];

/** The environment in which such a process keeps what it compiles, for the next process and the next run. */
export const compiledOnce: Readonly<Record<string, string>> = {
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/cronogram-tests', import.meta.url)),
};
