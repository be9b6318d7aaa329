/** The ways in to the product. */
export type Way = 'command' | 'button' | 'operation' | 'cli';

/** Names on one way, with commas between them, or the reason why there is none. */
export type Names = string | { readonly none: string };

/** One thing that a person can do: by which names on each way. */
export type Row = { readonly verb: string } & Readonly<Record<Way, Names>>;

/** Verb, command, button, operation, verb of the CLI. A dash stands before the reason why there is none, and `"` repeats it. */
const table = `
create a task | new | create, make, makeonce, plain | createTask | task create
change a task | edit | edit, editwhat, editway, field, fieldset, retime, weekly, hours, kept | updateTask | task update
switch a task on or off | - /pause and /resume say it in the chat | - Pause and Resume say it in the chat | updateTask | task enable, task disable
list tasks | tasks | list, which | listTasks, listThreadTasks | task list
look at a task | task | task | getTask | task get
tell what a task was told to do | - in the chat /undo takes the latest change back | - in the chat a list is shown, and one task by its card | listTaskVersions | task versions
run a task now | run | run | runTaskNow | task run
call off what runs | cancel | - a word is enough | cancelTask, cancelRun | task cancel, run cancel
pause a task | pause | pause, pauseto | pauseTask | task pause
resume a task | resume | resume | resumeTask | task resume
pause all of a tag or a subject | - a chat has /pause all and /resume all for its own tasks; tags and subjects are for programs | " | pauseTasks, resumeTasks, cancelTasks | task pause, task resume, task cancel
pause all of a thread | pause, resume, cancel | - a word is enough | pauseThread, resumeThread, cancelThread | thread pause, thread resume, thread cancel
tell which chats are known | - a chat knows itself | " | listThreads | thread list
remove all of a thread, or of a person | purge | purge | purgeThread, purgePerson | thread purge, task purge
skip the next run | skip | skip | skipTask | task skip
take a skip back | skip, undo | undo | unskipTask | task unskip
run once more later | snooze | snooze, later, pick | snoozeTask | task snooze
undo a change | undo | undo | undoTask | task undo
delete a task | delete | delete | deleteTask | task delete
restore a task | undo | restore | restoreTask | task restore
answer for missed slots | - the question has buttons | missed | answerTask | task answer
tell what has run | history | history, result, error, lasterror | listTaskRuns | task history
tell why | why | why | whyTask | task why
tell what is coming | next | agenda | listNextRuns | task next
give a task a chat | - a task that was made in a chat has one | " | attachTask | task attach
do a run again | - the message about the run has the button | retry | retryRun, replayRun | run retry, run replay
look at runs | - people see it in the chat as it happens; programs ask for it | " | listRuns, getRun, getRunResult, getRunAttachment | run list, run get, run result, run attachment
wait for a run | - people see it in the chat as it happens; programs ask for it | " | getRun | run wait, task run
try out what a task would do | - the preview of a task has a button for it | trial | listActions, previewAction, testAction | task test, task actions
pause a kind of action on the whole server | pause, resume | - a word is enough | pauseKind, resumeKind, listActions | kind pause, kind resume, kind list
try a schedule out | new | wizard | previewSchedule | schedule preview, task create
put a text into a thread | - whoever is in the chat writes there | " | postMessage | message send
look at grants and take them away | grants | grants, grant, revoke | listGrants, revokeGrant | grant list, grant revoke
give a task a right to run again | resume, grants | renew, renewall, regrant | createGrant | grant renew, grant give
look at what runs hand on, and change it | context | - the command tells it | getContext, changeContext, resetContext | context show, context set, context reset
tell how the server stands | status | - a word is enough | getStatus | status
tell what was used | usage | - a word is enough | getUsage | usage
set and look at budgets | settings, usage, edit | raise | listBudgets, setBudgets | budget list, budget set, budget remove
tell who did what, and look for what must never be | - it is for the operator; /status tells owners of findings | - it is for the operator | listAudit, runAudit, reconcile, listDowntimes | audit, reconcile, downtimes
tell what happens | - people see it in the chat as it happens; programs ask for it | " | listEvents | events
take up what is due | - the server does it by itself | " | tick | tick
tell whether the server is well | status | - a word is enough | isLive, isHealthy, isReady, getVersion, getDescription | health, version
carry tasks to a file and back | - a file of all tasks is for the operator | " | listTasks, createTask, updateTask | export, import
play in the sandbox | - it plays the people who say them | - it plays the people who press them | - the sandbox has an API of its own, which no real server has | sandbox say, sandbox press, sandbox jump
get help | help, start | - a word is enough | getDescription | help, completion, complete
look after this computer | - it works on this computer, without a server | " | " | start, init, doctor, backup, restore, service install, service status, service restart, service uninstall
say that something is done | - the message has the button | done, notdone, seen | - only whoever got it can say so | "
decide about what waits in a chat | - the question has the buttons | deliver, discard, unblock, arrived, resend | - only whoever sees the chat knows the answer | "
look at secrets, set and delete them | secrets | - the value is asked for, and a word is enough for the rest | listSecrets, setSecret, deleteSecret | secret list, secret set, secret delete
seal secrets under a new key | - it is for the operator | - it is for the operator | rotateSecrets | secret rotate
let people and groups in, and shut them out | allow | allow, deny | listAccess, allowAccess, denyAccess | access list, access allow, access deny
make and revoke tokens for programs | - a token is for programs, and is told on one screen alone | " | listTokens, createToken, revokeToken | token list, token create, token revoke
set a chat up | settings, tz, digest, topic | setup, set, test, zone, zones, zoneyes, digest, topicdelete, clean, zonemove, zoneback, keep | - it is about the chat in which it is said | "
leave a dialogue | cancel | cancel | - it belongs to a dialogue in the chat | "
`;

export const rows: readonly Row[] = table.trim().split('\n').map(rowOf);

function rowOf(line: string): Row {
  const [verb = '', ...cells] = line.split(' | ');
  const told: Names[] = [];
  for (const cell of cells)
    told.push(cell === '"' ? (told.at(-1) ?? '') : cell.startsWith('- ') ? { none: cell.slice(2) } : cell);
  const [command = '', button = '', operation = '', cli = ''] = told;
  return { verb, command, button, operation, cli };
}
