import type { Readable, Writable } from 'node:stream';
import * as clack from '@clack/prompts';
import { CliFault } from '../../cli/faults.ts';

export interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly hint?: string;
}

/** Questions to the person at the terminal. Each throws `cancelled` when that person leaves. */
export interface Asking {
  intro(title: string): void;
  outro(text: string): void;
  say(text: string): void;
  good(text: string): void;
  warn(text: string): void;
  secret(question: string, fault: (text: string) => string | undefined): Promise<string>;
  text(question: string, fault: (text: string) => string | undefined): Promise<string>;
  confirm(question: string, initial: boolean): Promise<boolean>;
  /** Null when `until` was over before there was an answer. */
  choose<T extends string>(question: string, options: readonly Option<T>[], until?: AbortSignal): Promise<T | null>;
}

interface Streams {
  readonly input: Readable;
  readonly output: Writable;
}

/** A terminal that does not know its size says 0, and the prompts would put each letter on a line of its own. */
function sized(output: Writable & { columns?: number; rows?: number }): Writable {
  if (output.columns === 0) output.columns = 80;
  if (output.rows === 0) output.rows = 24;
  return output;
}

/** Questions on a terminal. They are no results, so they go where progress goes. */
export function terminalAsking({ input, output }: Streams = { input: process.stdin, output: process.stderr }): Asking {
  const streams = { input, output: sized(output) };
  return {
    intro: (title) => clack.intro(title, streams),
    outro: (text) => clack.outro(text, streams),
    say: (text) => clack.log.message(text, streams),
    good: (text) => clack.log.success(text, streams),
    warn: (text) => clack.log.warn(text, streams),
    secret: async (message, fault) =>
      answered(await clack.password({ message, validate: (text) => fault(text ?? ''), ...streams })),
    text: async (message, fault) =>
      answered(await clack.text({ message, validate: (text) => fault(text ?? ''), ...streams })),
    confirm: async (message, initialValue) => answered(await clack.confirm({ message, initialValue, ...streams })),
    choose: async (message, options, until) => {
      const chosen = await clack.select<string>({
        message,
        options: options.map((option) => ({ ...option })),
        ...(until === undefined ? {} : { signal: until }),
        ...streams,
      });
      if (clack.isCancel(chosen) && until?.aborted === true) return null;
      const value = answered(chosen);
      return options.find((option) => option.value === value)?.value ?? null;
    },
  };
}

function answered<T>(answer: T | typeof clack.CANCEL_SYMBOL): T {
  if (clack.isCancel(answer)) throw new CliFault('cancelled', 'Cancelled; nothing was changed.');
  return answer;
}
