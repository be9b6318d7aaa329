import type { Command } from 'commander';
import { addHostVerbs as add } from '../host/program.ts';
import type { Screen } from '../host/screen.ts';

export interface HostVerbsNeeds {
  readonly version: string;
  readonly terminal: Screen;
  /** A verb has told its result and ends with this code all the same. */
  readonly end: (exitCode: number) => void;
}

/** Adds the verbs of this computer to the program. What they need is loaded when one of them is asked for. */
export function addHostVerbs(program: Command, { version, terminal, end }: HostVerbsNeeds): void {
  add(program, {
    screen: terminal,
    end,
    start: async () => {
      const { runServer } = await import('./server-process.ts');
      return runServer();
    },
    load: async () => {
      const { hostPorts } = await import('./host-ports.ts');
      return hostPorts({ version });
    },
  });
}
