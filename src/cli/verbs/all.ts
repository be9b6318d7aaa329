import type { Command } from 'commander';
import { addCompletion } from '../completion.ts';
import type { Part } from '../program.ts';
import { addDoingVerbs, addMessageVerbs } from './doing.ts';
import { addEventVerbs } from './events.ts';
import { addExchangeVerbs } from './exchanging.ts';
import { addGrantVerbs } from './grants.ts';
import { addLookingVerbs } from './looking.ts';
import { addMakingVerbs, addScheduleVerbs } from './making.ts';
import { addOperationVerbs } from './operations.ts';
import { addRunVerb, addRunVerbs } from './running.ts';
import { addSandboxVerbs } from './sandbox.ts';
import { addBulkVerbs } from './switching.ts';
import { addThreadVerbs } from './threads.ts';

function group(program: Command, name: string, summary: string): Command {
  return program
    .command(name)
    .helpCommand(false)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
}

/** Verbs that ask a server, in the order in which help tells of them. */
export const remoteVerbs: readonly Part[] = [
  (program, add) => {
    const task = group(program, 'task', 'make, look at, change and run tasks');
    addMakingVerbs(task, add);
    addLookingVerbs(task, add);
    addRunVerb(task, add);
    addBulkVerbs(task, add);
    addDoingVerbs(task, add);
  },
  (program, add) => addRunVerbs(group(program, 'run', 'look at runs, wait for them, do them again'), add),
  (program, add) => addScheduleVerbs(group(program, 'schedule', 'try schedules out'), add),
  (program, add) => addThreadVerbs(group(program, 'thread', 'do something to all tasks of a thread'), add),
  (program, add) => addMessageVerbs(group(program, 'message', 'put texts into threads'), add),
  (program, add) => addGrantVerbs(group(program, 'grant', 'the rights under which tasks run'), add),
  addOperationVerbs,
  addEventVerbs,
  addExchangeVerbs,
  (program, add) =>
    addSandboxVerbs(group(program, 'sandbox', 'the Telegram that is built in: write, press, jump'), add),
  addCompletion,
];
