import type { Command } from 'commander';
import type { ExitCode } from './faults.ts';
import type { Session } from './session.ts';

/** What a verb has to say: one value for scripts, one text for people. */
export interface Told {
  readonly json: unknown;
  readonly text: string;
  /** For people beside the result: what to do next. It goes where faults go, so that a pipe gets the result alone. */
  readonly note?: string;
  /** 0 when absent. */
  readonly exitCode?: ExitCode;
}

export interface Flag {
  readonly flags: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** May be given several times. */
  readonly isList?: true;
}

export interface Verb<O> {
  /** With its arguments: `pause [task]`. */
  readonly usage: string;
  readonly summary: string;
  /** What a person may type as it stands; the first words are the program's. */
  readonly examples: readonly string[];
  /** More than fits the summary. */
  readonly about?: string;
  readonly flags?: readonly Flag[];
  /** For programs alone. */
  readonly isHidden?: true;
  /** Null when everything has been told meanwhile. */
  readonly does: (session: Session, args: readonly string[], options: O) => Promise<Told | null>;
}

/** Puts a verb into a group of the program. */
export type AddVerb = <O extends object>(group: Command, verb: Verb<O>) => Command;
