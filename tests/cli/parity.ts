/** The ways in to the product. */
export type Way = 'command' | 'button' | 'operation' | 'cli';

/** One thing that somebody can do: by which names on each way, and why there is none where there is none. */
export interface Row {
  readonly verb: string;
  readonly command?: readonly string[];
  readonly button?: readonly string[];
  readonly operation?: readonly string[];
  readonly cli?: readonly string[];
  readonly without?: Readonly<Partial<Record<Way, string>>>;
}

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
    command: ['new'],
    button: ['create', 'make', 'makeonce', 'plain'],
    operation: ['createTask'],
    cli: ['task create'],
  },
  {
    verb: 'change a task',
    command: ['edit'],
    button: ['edit', 'editwhat', 'field', 'fieldset', 'retime', 'hours', 'kept'],
    operation: ['updateTask'],
    cli: ['task update'],
  },
  {
    verb: 'switch a task on or off',
    operation: ['updateTask'],
    cli: ['task enable', 'task disable'],
    without: { command: '/pause and /resume say it in the chat', button: 'Pause and Resume say it in the chat' },
  },
  {
    verb: 'list tasks',
    command: ['tasks'],
    button: ['list', 'which'],
    operation: ['listTasks', 'listThreadTasks'],
    cli: ['task list'],
  },
  { verb: 'look at a task', command: ['task'], button: ['task'], operation: ['getTask'], cli: ['task get'] },
  {
    verb: 'tell what a task was told to do',
    operation: ['listTaskVersions'],
    cli: ['task versions'],
    without: { command: 'in the chat /undo takes the latest change back', button: oneTask },
  },
  { verb: 'run a task now', command: ['run'], button: ['run'], operation: ['runTaskNow'], cli: ['task run'] },
  {
    verb: 'call off what runs',
    command: ['cancel'],
    operation: ['cancelTask', 'cancelRun'],
    cli: ['task cancel', 'run cancel'],
    without: { button: commandIsEnough },
  },
  {
    verb: 'pause a task',
    command: ['pause'],
    button: ['pause', 'pauseto'],
    operation: ['pauseTask'],
    cli: ['task pause'],
  },
  { verb: 'resume a task', command: ['resume'], button: ['resume'], operation: ['resumeTask'], cli: ['task resume'] },
  {
    verb: 'pause all of a tag or a subject',
    operation: ['pauseTasks', 'resumeTasks', 'cancelTasks'],
    cli: ['task pause', 'task resume', 'task cancel'],
    without: { command: noBulk, button: noBulk },
  },
  {
    verb: 'pause all of a thread',
    command: ['pause', 'resume', 'cancel'],
    operation: ['pauseThread', 'resumeThread', 'cancelThread'],
    cli: ['thread pause', 'thread resume', 'thread cancel'],
    without: { button: commandIsEnough },
  },
  {
    verb: 'remove all of a thread',
    command: ['purge'],
    button: ['purge'],
    operation: ['purgeThread'],
    cli: ['thread purge'],
  },
  { verb: 'skip the next run', command: ['skip'], button: ['skip'], operation: ['skipTask'], cli: ['task skip'] },
  {
    verb: 'take a skip back',
    command: ['skip', 'undo'],
    button: ['undo'],
    operation: ['unskipTask'],
    cli: ['task unskip'],
  },
  {
    verb: 'run once more later',
    command: ['snooze'],
    button: ['snooze', 'later', 'pick'],
    operation: ['snoozeTask'],
    cli: ['task snooze'],
  },
  { verb: 'undo a change', command: ['undo'], button: ['undo'], operation: ['undoTask'], cli: ['task undo'] },
  { verb: 'delete a task', command: ['delete'], button: ['delete'], operation: ['deleteTask'], cli: ['task delete'] },
  {
    verb: 'restore a task',
    command: ['undo'],
    button: ['restore'],
    operation: ['restoreTask'],
    cli: ['task restore'],
  },
  {
    verb: 'answer for missed slots',
    button: ['missed'],
    operation: ['answerTask'],
    cli: ['task answer'],
    without: { command: 'the question has buttons' },
  },
  {
    verb: 'tell what has run',
    command: ['history'],
    button: ['history', 'result', 'error', 'lasterror'],
    operation: ['listTaskRuns'],
    cli: ['task history'],
  },
  {
    verb: 'tell why',
    command: ['why'],
    button: ['why'],
    operation: ['whyTask'],
    cli: ['task why'],
  },
  {
    verb: 'tell what is coming',
    command: ['next'],
    button: ['agenda'],
    operation: ['listNextRuns'],
    cli: ['task next'],
  },
  {
    verb: 'give a task a chat',
    operation: ['attachTask'],
    cli: ['task attach'],
    without: { command: 'a task that was made in a chat has one', button: 'a task that was made in a chat has one' },
  },
  {
    verb: 'do a run again',
    button: ['retry'],
    operation: ['retryRun', 'replayRun'],
    cli: ['run retry', 'run replay'],
    without: { command: 'the message about the run has the button' },
  },
  {
    verb: 'look at runs',
    operation: ['listRuns', 'getRun', 'getRunResult'],
    cli: ['run list', 'run get', 'run result'],
    without: { command: forPrograms, button: forPrograms },
  },
  {
    verb: 'wait for a run',
    operation: ['getRun'],
    cli: ['run wait', 'task run'],
    without: { command: forPrograms, button: forPrograms },
  },
  {
    verb: 'try a schedule out',
    command: ['new'],
    button: ['wizard'],
    operation: ['previewSchedule'],
    cli: ['schedule preview', 'task create'],
  },
  {
    verb: 'put a text into a thread',
    operation: ['postMessage'],
    cli: ['message send'],
    without: { command: 'whoever is in the chat writes there', button: 'whoever is in the chat writes there' },
  },
  {
    verb: 'look at grants and change them',
    operation: ['listGrants', 'createGrant', 'revokeGrant'],
    cli: ['grant list', 'grant create', 'grant revoke'],
    without: {
      command: 'tasks in a chat get theirs from the membership',
      button: 'tasks in a chat get theirs from the membership',
    },
  },
  {
    verb: 'tell how the server stands',
    command: ['status'],
    operation: ['getStatus'],
    cli: ['status'],
    without: { button: commandIsEnough },
  },
  {
    verb: 'tell what was used',
    command: ['usage'],
    operation: ['getUsage'],
    cli: ['usage'],
    without: { button: commandIsEnough },
  },
  {
    verb: 'tell who did what, and look for what must never be',
    operation: ['listAudit', 'runAudit', 'reconcile', 'listDowntimes'],
    cli: ['audit', 'reconcile', 'downtimes'],
    without: { command: 'it is for the operator; /status tells owners of findings', button: 'it is for the operator' },
  },
  {
    verb: 'tell what happens',
    operation: ['listEvents'],
    cli: ['events'],
    without: { command: forPrograms, button: forPrograms },
  },
  {
    verb: 'take up what is due',
    operation: ['tick'],
    cli: ['tick'],
    without: { command: 'the server does it by itself', button: 'the server does it by itself' },
  },
  {
    verb: 'tell whether the server is well',
    command: ['status'],
    operation: ['isLive', 'isHealthy', 'isReady', 'getVersion', 'getDescription'],
    cli: ['health', 'version'],
    without: { button: commandIsEnough },
  },
  {
    verb: 'carry tasks to a file and back',
    operation: ['listTasks', 'createTask', 'updateTask'],
    cli: ['export', 'import'],
    without: { command: 'a file of all tasks is for the operator', button: 'a file of all tasks is for the operator' },
  },
  {
    verb: 'play in the sandbox',
    cli: ['sandbox say', 'sandbox press', 'sandbox jump'],
    without: {
      command: 'it plays the people who say them',
      button: 'it plays the people who press them',
      operation: 'the sandbox has an API of its own, which no real server has',
    },
  },
  {
    verb: 'get help',
    command: ['help', 'start'],
    operation: ['getDescription'],
    cli: ['help', 'completion', 'complete'],
    without: { button: commandIsEnough },
  },
  {
    verb: 'look after this computer',
    cli: ['start', 'init', 'doctor', 'backup', 'restore', 'service install', 'service status', 'service uninstall'],
    without: { command: ofHost, button: ofHost, operation: ofHost },
  },
  {
    verb: 'say that something is done',
    button: ['done', 'notdone', 'seen'],
    without: {
      command: 'the message has the button',
      operation: 'only whoever got it can say so',
      cli: 'only whoever got it can say so',
    },
  },
  {
    verb: 'decide about what waits in a chat',
    button: ['deliver', 'discard', 'unblock', 'arrived', 'resend'],
    without: {
      command: 'the question has the buttons',
      operation: 'only whoever sees the chat knows the answer',
      cli: 'only whoever sees the chat knows the answer',
    },
  },
  {
    verb: 'set a chat up',
    command: ['settings', 'tz', 'digest', 'topic', 'allow'],
    button: ['setup', 'set', 'test', 'zone', 'zones', 'zoneyes', 'digest', 'topicdelete', 'keep', 'allow'],
    without: { operation: ofChat, cli: ofChat },
  },
  {
    verb: 'leave a dialogue',
    command: ['cancel'],
    button: ['cancel'],
    without: { operation: dialogue, cli: dialogue },
  },
];
