import type { Command } from 'commander';
import { completionVerbs } from '../completion.ts';
import type { Group } from '../session.ts';
import { actionVerbs, kindVerbs } from './acting.ts';
import { contextVerbs } from './contexts.ts';
import { doingVerbs, messageVerbs } from './doing.ts';
import { eventVerbs } from './events.ts';
import { exchangeVerbs } from './exchanging.ts';
import { accessVerbs, grantVerbs } from './grants.ts';
import { lookingVerbs } from './looking.ts';
import { makingVerbs, scheduleVerbs } from './making.ts';
import { operationVerbs } from './operations.ts';
import { runVerb, runVerbs } from './running.ts';
import { sandboxVerbs } from './sandbox.ts';
import { secretVerbs } from './secrets.ts';
import { budgetVerbs } from './spending.ts';
import { bulkVerbs, personVerbs, threadVerbs } from './switching.ts';
import { tokenVerbs } from './tokens.ts';

/** Verbs that ask a server, in the order in which help tells of them. */
export const remoteVerbs = (program: Command): readonly Group[] => [
  {
    name: 'task',
    summary: 'make, look at, change and run tasks',
    verbs: [...makingVerbs, ...lookingVerbs, runVerb, ...actionVerbs, ...bulkVerbs, ...personVerbs, ...doingVerbs],
  },
  { name: 'run', summary: 'look at runs, wait for them, do them again', verbs: runVerbs },
  { name: 'schedule', summary: 'try schedules out', verbs: scheduleVerbs },
  { name: 'thread', summary: 'the chats that are known, and all tasks of one', verbs: threadVerbs },
  { name: 'message', summary: 'put texts into threads', verbs: messageVerbs },
  { name: 'grant', summary: 'the rights under which tasks run', verbs: grantVerbs },
  { name: 'secret', summary: 'keys that tasks may use and nobody is shown', verbs: secretVerbs },
  { name: 'budget', summary: 'what may be spent in a day or a month', verbs: budgetVerbs },
  { name: 'kind', summary: 'kinds of actions, and pausing one on the whole server', verbs: kindVerbs },
  { name: 'context', summary: 'what the runs of a task know', verbs: contextVerbs },
  { name: 'access', summary: 'who is let in', verbs: accessVerbs },
  { name: 'token', summary: 'named tokens of the API', verbs: tokenVerbs },
  { verbs: [...operationVerbs, ...eventVerbs, ...exchangeVerbs] },
  { name: 'sandbox', summary: 'the Telegram that is built in: write, press, jump', verbs: sandboxVerbs },
  { verbs: completionVerbs(program) },
];
