/** The ways in to the product. */
export type Way = 'command' | 'button' | 'operation' | 'cli';

/** Names on one way, with commas between them, or the reason why there is none. */
export type Names = string | { readonly none: string };

/** One thing that a person can do: by which names on each way. */
export type Row = { readonly verb: string } & Readonly<Record<Way, Names>>;

const oneTask = 'in the chat a list is shown, and one task by its card';
const forPrograms = 'people see it in the chat as it happens; programs ask for it';
const ofChat = 'it is about the chat in which it is said';
const dialogue = 'it belongs to a dialogue in the chat';
const ofHost = 'it works on this computer, without a server';
const commandIsEnough = 'a word is enough';
const noBulk = 'a chat has /pause all and /resume all for its own tasks; tags and subjects are for programs';

export const rows: readonly Row[] = [
  {
    verb: 'create a task',
    command: 'new',
    button: 'create, make, makeonce, plain',
    operation: 'createTask',
    cli: 'task create',
  },
  {
    verb: 'change a task',
    command: 'edit',
    button: 'edit, editwhat, field, fieldset, retime, hours, kept',
    operation: 'updateTask',
    cli: 'task update',
  },
  {
    verb: 'switch a task on or off',
    command: { none: '/pause and /resume say it in the chat' },
    button: { none: 'Pause and Resume say it in the chat' },
    operation: 'updateTask',
    cli: 'task enable, task disable',
  },
  {
    verb: 'list tasks',
    command: 'tasks',
    button: 'list, which',
    operation: 'listTasks, listThreadTasks',
    cli: 'task list',
  },
  { verb: 'look at a task', command: 'task', button: 'task', operation: 'getTask', cli: 'task get' },
  {
    verb: 'tell what a task was told to do',
    command: { none: 'in the chat /undo takes the latest change back' },
    button: { none: oneTask },
    operation: 'listTaskVersions',
    cli: 'task versions',
  },
  { verb: 'run a task now', command: 'run', button: 'run', operation: 'runTaskNow', cli: 'task run' },
  {
    verb: 'call off what runs',
    command: 'cancel',
    button: { none: commandIsEnough },
    operation: 'cancelTask, cancelRun',
    cli: 'task cancel, run cancel',
  },
  { verb: 'pause a task', command: 'pause', button: 'pause, pauseto', operation: 'pauseTask', cli: 'task pause' },
  { verb: 'resume a task', command: 'resume', button: 'resume', operation: 'resumeTask', cli: 'task resume' },
  {
    verb: 'pause all of a tag or a subject',
    command: { none: noBulk },
    button: { none: noBulk },
    operation: 'pauseTasks, resumeTasks, cancelTasks',
    cli: 'task pause, task resume, task cancel',
  },
  {
    verb: 'pause all of a thread',
    command: 'pause, resume, cancel',
    button: { none: commandIsEnough },
    operation: 'pauseThread, resumeThread, cancelThread',
    cli: 'thread pause, thread resume, thread cancel',
  },
  { verb: 'remove all of a thread', command: 'purge', button: 'purge', operation: 'purgeThread', cli: 'thread purge' },
  { verb: 'skip the next run', command: 'skip', button: 'skip', operation: 'skipTask', cli: 'task skip' },
  { verb: 'take a skip back', command: 'skip, undo', button: 'undo', operation: 'unskipTask', cli: 'task unskip' },
  {
    verb: 'run once more later',
    command: 'snooze',
    button: 'snooze, later, pick',
    operation: 'snoozeTask',
    cli: 'task snooze',
  },
  { verb: 'undo a change', command: 'undo', button: 'undo', operation: 'undoTask', cli: 'task undo' },
  { verb: 'delete a task', command: 'delete', button: 'delete', operation: 'deleteTask', cli: 'task delete' },
  { verb: 'restore a task', command: 'undo', button: 'restore', operation: 'restoreTask', cli: 'task restore' },
  {
    verb: 'answer for missed slots',
    command: { none: 'the question has buttons' },
    button: 'missed',
    operation: 'answerTask',
    cli: 'task answer',
  },
  {
    verb: 'tell what has run',
    command: 'history',
    button: 'history, result, error, lasterror',
    operation: 'listTaskRuns',
    cli: 'task history',
  },
  { verb: 'tell why', command: 'why', button: 'why', operation: 'whyTask', cli: 'task why' },
  { verb: 'tell what is coming', command: 'next', button: 'agenda', operation: 'listNextRuns', cli: 'task next' },
  {
    verb: 'give a task a chat',
    command: { none: 'a task that was made in a chat has one' },
    button: { none: 'a task that was made in a chat has one' },
    operation: 'attachTask',
    cli: 'task attach',
  },
  {
    verb: 'do a run again',
    command: { none: 'the message about the run has the button' },
    button: 'retry',
    operation: 'retryRun, replayRun',
    cli: 'run retry, run replay',
  },
  {
    verb: 'look at runs',
    command: { none: forPrograms },
    button: { none: forPrograms },
    operation: 'listRuns, getRun, getRunResult',
    cli: 'run list, run get, run result',
  },
  {
    verb: 'wait for a run',
    command: { none: forPrograms },
    button: { none: forPrograms },
    operation: 'getRun',
    cli: 'run wait, task run',
  },
  {
    verb: 'try a schedule out',
    command: 'new',
    button: 'wizard',
    operation: 'previewSchedule',
    cli: 'schedule preview, task create',
  },
  {
    verb: 'put a text into a thread',
    command: { none: 'whoever is in the chat writes there' },
    button: { none: 'whoever is in the chat writes there' },
    operation: 'postMessage',
    cli: 'message send',
  },
  {
    verb: 'look at grants and change them',
    command: { none: 'tasks in a chat get theirs from the membership' },
    button: { none: 'tasks in a chat get theirs from the membership' },
    operation: 'listGrants, createGrant, revokeGrant',
    cli: 'grant list, grant create, grant revoke',
  },
  {
    verb: 'tell how the server stands',
    command: 'status',
    button: { none: commandIsEnough },
    operation: 'getStatus',
    cli: 'status',
  },
  {
    verb: 'tell what was used',
    command: 'usage',
    button: { none: commandIsEnough },
    operation: 'getUsage',
    cli: 'usage',
  },
  {
    verb: 'tell who did what, and look for what must never be',
    command: { none: 'it is for the operator; /status tells owners of findings' },
    button: { none: 'it is for the operator' },
    operation: 'listAudit, runAudit, reconcile, listDowntimes',
    cli: 'audit, reconcile, downtimes',
  },
  {
    verb: 'tell what happens',
    command: { none: forPrograms },
    button: { none: forPrograms },
    operation: 'listEvents',
    cli: 'events',
  },
  {
    verb: 'take up what is due',
    command: { none: 'the server does it by itself' },
    button: { none: 'the server does it by itself' },
    operation: 'tick',
    cli: 'tick',
  },
  {
    verb: 'tell whether the server is well',
    command: 'status',
    button: { none: commandIsEnough },
    operation: 'isLive, isHealthy, isReady, getVersion, getDescription',
    cli: 'health, version',
  },
  {
    verb: 'carry tasks to a file and back',
    command: { none: 'a file of all tasks is for the operator' },
    button: { none: 'a file of all tasks is for the operator' },
    operation: 'listTasks, createTask, updateTask',
    cli: 'export, import',
  },
  {
    verb: 'play in the sandbox',
    command: { none: 'it plays the people who say them' },
    button: { none: 'it plays the people who press them' },
    operation: { none: 'the sandbox has an API of its own, which no real server has' },
    cli: 'sandbox say, sandbox press, sandbox jump',
  },
  {
    verb: 'get help',
    command: 'help, start',
    button: { none: commandIsEnough },
    operation: 'getDescription',
    cli: 'help, completion, complete',
  },
  {
    verb: 'look after this computer',
    command: { none: ofHost },
    button: { none: ofHost },
    operation: { none: ofHost },
    cli: 'start, init, doctor, backup, restore, service install, service status, service restart, service uninstall',
  },
  {
    verb: 'say that something is done',
    command: { none: 'the message has the button' },
    button: 'done, notdone, seen',
    operation: { none: 'only whoever got it can say so' },
    cli: { none: 'only whoever got it can say so' },
  },
  {
    verb: 'decide about what waits in a chat',
    command: { none: 'the question has the buttons' },
    button: 'deliver, discard, unblock, arrived, resend',
    operation: { none: 'only whoever sees the chat knows the answer' },
    cli: { none: 'only whoever sees the chat knows the answer' },
  },
  {
    verb: 'set a chat up',
    command: 'settings, tz, digest, topic, allow',
    button: 'setup, set, test, zone, zones, zoneyes, digest, topicdelete, keep, allow',
    operation: { none: ofChat },
    cli: { none: ofChat },
  },
  {
    verb: 'leave a dialogue',
    command: 'cancel',
    button: 'cancel',
    operation: { none: dialogue },
    cli: { none: dialogue },
  },
];
