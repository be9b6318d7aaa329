import type { WorkCounts } from '../../../app/ports/tasks.ts';
import type { Role } from '../../../domain/processes/process.ts';
import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { AlarmCause } from '../../../domain/shown.ts';
import { blocks, bold, code, lines, oneLine, say, type Rich } from '../kit/rich.ts';
import { groupRight, groupTopics, privateTopics } from '../results/english.ts';

const { and, plural } = englishForms;

const tasks = (count: number): string => plural(count, { one: '{n} task', other: '{n} tasks' });

export const topicTexts = {
  how: (): Rich =>
    lines(
      'This deletes the topic of a task with all its messages. The task stays active.',
      say`In the task’s topic: ${code('/topic delete')}`,
      say`Anywhere in the chat: ${code('/topic delete #3')}`,
    ),
  notOurs: 'This topic belongs to no task of mine, so I will not delete it.',
  none: (name: Rich): Rich => say`${name} has no topic. Its next run will make one.`,
  unavailable: (name: Rich): Rich =>
    say`${name} has no topic, and topics are off here. /start shows how to switch them on.`,
  shared:
    'Its results are in Reminders, together with those of other tasks. To remove that topic, delete it in Telegram.',
  beingMade: (name: Rich): Rich => say`I am making the topic of ${name} right now. Try again in a minute.`,
  confirm: (name: Rich, isDeleted: boolean): Rich =>
    blocks(
      say`Delete the topic of ${name}?`,
      isDeleted
        ? 'This deletes the topic with all its messages. The task is deleted already.'
        : 'This deletes the topic with all its messages. The task stays active, and its next run will make a new topic.',
    ),
  deleteIt: 'Delete the topic',
  keep: 'Keep',
  kept: 'Nothing was deleted.',
  goneBefore: 'That topic no longer belongs to the task.',
  deleted: (name: Rich, isDeleted: boolean): Rich =>
    isDeleted
      ? say`I am deleting the topic of ${name}.`
      : say`I am deleting the topic of ${name}. The task stays active, and its next run will make a new topic.`,
  deletedWord: 'Topic deleted',
} as const;

const topics = (count: number): string => plural(count, { one: '{n} topic', other: '{n} topics' });

/** Names of topics that are told; more would not be read. */
const namesMax = 10;

export const cleanTexts = {
  none: 'There are no topics of finished tasks here.',
  confirm: (count: number, max: number, mayClose: boolean): string =>
    lines(
      plural(count, { one: '{n} finished task has a topic here.', other: '{n} finished tasks have topics here.' }),
      mayClose
        ? 'You can still read closed topics. Deleting removes a topic with all its messages.'
        : 'Deleting removes a topic with all its messages.',
      count > max ? plural(max, { one: 'I do one at a time.', other: 'I do {n} at a time.' }) : null,
    ).text,
  close: (count: number): string => `Close ${count}`,
  delete: (count: number): string => `Delete ${count}`,
  kept: 'Nothing changed.',
  changed: 'The topics have changed meanwhile. Check the numbers again.',
  begun: (what: 'close' | 'delete', count: number): string =>
    what === 'close'
      ? `Closing ${topics(count)}, one by one. I will tell you when it is done.`
      : `Deleting ${topics(count)}, one by one. I will tell you when it is done.`,
  done: (deed: 'close' | 'removeTopic', count: number): string =>
    deed === 'close' ? `Closed ${topics(count)}.` : `Deleted ${topics(count)}.`,
  failed: (names: readonly string[], error: string | null, isRight: boolean): Rich =>
    blocks(
      lines(
        `Left as they were: ${topics(names.length)}.`,
        ...names.slice(0, namesMax).map((name) => oneLine(name, 60)),
        names.length > namesMax ? `and ${names.length - namesMax} more` : null,
      ),
      isRight
        ? 'Open the group’s administrators, choose this bot, and allow “Manage topics” and “Delete messages”.'
        : error === null
          ? null
          : `Telegram says: ${oneLine(error, 120)}`,
    ),
} as const;

interface Purged {
  readonly all: number;
  /** Of the person whose they are; null where they are those of the chat. */
  readonly name: string | null;
  readonly isEverywhere: boolean;
}

export const purgeTexts = {
  nobody: (name: string): Rich => say`Nobody called ${oneLine(name, 40)} has tasks here. Send another name, or an id.`,
  none: 'There are no tasks here, so there is nothing to delete.',
  confirm: (counts: WorkCounts, { all, name, isEverywhere }: Purged): Rich =>
    blocks(
      bold(owned(counts, { all, name, isEverywhere })),
      counts.liveRuns + counts.openDeliveries === 0 ? null : `${now(counts)}. These stop too.`,
      'For 24 hours you can undo each deletion: /task #3 shows a deleted task with an Undo button.',
    ),
  deleteAll: (all: number): string => plural(all, { one: 'Delete the one task', other: 'Delete all {n} tasks' }),
  deleteEverywhere: (all: number): string =>
    plural(all, { one: 'Delete the one task in all chats', other: 'Delete all {n} tasks in all chats' }),
  changed: 'Tasks were added or deleted meanwhile. Check the numbers again.',
  done: (all: number, names: readonly Rich[], more: number): Rich =>
    blocks(
      `Deleted ${tasks(all)}.`,
      lines(...names, more > 0 ? `and ${more} more` : null),
      'For 24 hours you can undo each deletion: /task with its number shows an Undo button.',
    ),
  doneWord: (all: number): string => `Deleted ${tasks(all)}`,
} as const;

function owned({ active, paused, completed }: WorkCounts, { all, name, isEverywhere }: Purged): string {
  const states = `${active} active, ${paused} paused, ${completed} completed`;
  if (name === null) return `This chat has ${tasks(all)}: ${states}.`;
  return isEverywhere
    ? `${name} has ${tasks(all)} in all chats: ${states}.`
    : `${name} has ${tasks(all)} here: ${states}.`;
}

function now({ liveRuns, openDeliveries }: Pick<WorkCounts, 'liveRuns' | 'openDeliveries'>): string {
  return plural(liveRuns, {
    one: `Now: {n} run, ${openDeliveries} waiting to be sent`,
    other: `Now: {n} runs, ${openDeliveries} waiting to be sent`,
  });
}

const alarmCauses: Readonly<Record<AlarmCause, string>> = {
  database: 'the database cannot be used',
  disk: 'the disk of the database is full',
  clock: 'the clock was set back',
  downtime: 'the server was down',
  audit: 'the audit found a fault',
  auto_pause: 'tasks failed too often',
  second_opinion: 'two calculations differ',
};

export const serverTexts = {
  chatTitle: (): Rich => bold('This chat'),
  chatTasks: ({ active, paused, completed }: WorkCounts): string =>
    `Tasks: ${active} active, ${paused} paused, ${completed} completed`,
  chatWork: ({ liveRuns, openDeliveries }: WorkCounts): string => now({ liveRuns, openDeliveries }),
  title: (): Rich => bold('The server'),
  version: (version: string, since: string): string => `Cronogram ${version}, running since ${since}`,
  well: 'All parts are working: database, scheduler, runner, deliverer, Telegram.',
  unwell: (parts: string): string => `Not working: ${parts}`,
  tasks: (all: number, active: number, chats: number): string =>
    `${tasks(all)}, ${active} active. ${plural(chats, { one: '{n} approved chat', other: '{n} approved chats' })}.`,
  onTime: 'Nothing is overdue.',
  late: (count: number, since: string): string => `${count} overdue, the oldest since ${since}`,
  tick: (at: string | null): string =>
    at === null ? 'The scheduler has not looked for due tasks yet.' : `Last look for due tasks: ${at}`,
  standstill: (since: string): string =>
    `Scheduler paused since ${since}: no worker is running. Runs start when one is back.`,
  kindStandstill: (kind: string, since: string, by: string): string =>
    `Kind ${kind} is paused since ${since}, by ${by}. Its runs start when it is resumed.`,
  kindPaused: (kind: string, since: string, by: string): string =>
    `Kind ${kind} is paused since ${since}, by ${by}: its runs wait in all chats. /resume kind ${kind}`,
  kindGoesOn: (kind: string): string => `Kind ${kind} goes on. Everything that waited starts now.`,
  kindNotPaused: (kind: string): string => `Kind ${kind} is not paused.`,
  kindNotTried: 'An owner of this bot has paused actions of this kind, so I cannot try it now.',
  kindUnknown: (kind: string, known: readonly string[]): string =>
    `I know no kind of action called ${kind}. Kinds are: ${and(known)}.`,
  process: (role: Role, where: string, version: string): string => `Process: ${role} on ${where}, version ${version}`,
  worker: (isRunning: boolean): string => (isRunning ? 'The worker is running.' : 'The worker has stopped.'),
  staleLook: (at: string): string => `Last look for stale results: ${at}`,
  kinds: (kinds: readonly string[]): string => `Actions: ${and(kinds)}`,
  work: (running: number, pending: number): string => `${running} running, ${pending} waiting to be sent`,
  stuck: (blocked: number, unknown: number): string =>
    blocked + unknown === 0
      ? 'Nothing is blocked or in doubt.'
      : `${blocked} blocked until somebody fixes the cause, ${unknown} that may not have arrived`,
  audit: (at: string, findings: number): string =>
    findings === 0
      ? `Last audit ${at}: no faults`
      : plural(findings, { one: `Last audit ${at}: {n} fault`, other: `Last audit ${at}: {n} faults` }),
  noAudit: 'Last audit: none yet. It runs at night.',
  database: (size: string): string => `Database: ${size}`,
  alarm: (cause: AlarmCause, since: string): Rich => say`${bold(`Alarm: ${alarmCauses[cause]}`)}, since ${since}`,
  unheard: (owners: number): string =>
    plural(owners, {
      one: 'One owner gets no alarms, because they have no private chat with me. Send me /start there. Until then only the log and /status show trouble.',
      other:
        '{n} owners get no alarms, because they have no private chat with me. Send me /start there. Until then only the log and /status show trouble.',
    }),
  lostKey: (count: number): string =>
    plural(count, {
      one: 'One secret cannot be opened: its key is not there. cronogram doctor says what to do.',
      other: '{n} secrets cannot be opened: their key is not there. cronogram doctor says what to do.',
    }),
  formerKey: (count: number): string =>
    plural(count, {
      one: 'One secret is still under a former key. Run cronogram secret rotate again.',
      other: '{n} secrets are still under a former key. Run cronogram secret rotate again.',
    }),
} as const;

const roles = { owner: 'owner', user: 'person', group: 'group' } as const;

interface Entry {
  readonly title: string;
  readonly role: keyof typeof roles;
  readonly by: string | null;
  readonly since: string | null;
}

export const allowTexts = {
  waiting: (): Rich => bold('Waiting for approval:'),
  nobody: 'Nobody is waiting for approval.',
  listed: (): Rich => bold('Approved:'),
  entry: ({ title, role, by, since }: Entry): string => {
    const told = [roles[role], by === null ? null : `by ${oneLine(by, 40)}`, since === null ? null : `since ${since}`];
    return `${oneLine(title, 80)}: ${told.filter((one) => one !== null).join(', ')}`;
  },
  more: (): Rich => say`There are more: ${code('cronogram access list')}`,
  deny: (title: string): string => `Deny ${oneLine(title, 30)}`,
  chat: (title: string, id: string): string => `${oneLine(title, 60)} (${id})`,
  allow: (title: string): string => `Allow ${oneLine(title, 30)}`,
  how: (): Rich =>
    lines(
      say`${code('/allow')} in a group approves the group.`,
      say`${code('/allow 123456789')} approves the person with that id. So does ${code('/allow')} in reply to a message of theirs, or to a forwarded one.`,
      say`${code('/allow Ben')} approves somebody I know from a group.`,
      say`${code('/allow off 123456789')} or ${code('/allow off Ben')} takes it back. ${code('/allow')} in our private chat lists everybody.`,
    ),
  username: 'I cannot look up usernames. Send the id, or reply with /allow to a message from that person.',
  nobodyCalled: (name: string): Rich =>
    blocks(
      say`I know nobody called ${oneLine(name, 40)}.`,
      'Send the id, or reply with /allow to a message from that person.',
    ),
  several: (name: string): Rich => say`Several people are called ${oneLine(name, 40)}. Who do you mean?`,
  hidden: 'Telegram hides who wrote that. Send the id instead: they see it in my answer when they write to me.',
  person: (name: string): string => `Approved. ${oneLine(name, 40)} can now send me /start in a private chat.`,
  revoked: (title: string, paused: number): string =>
    paused === 0
      ? `Approval taken back: ${oneLine(title, 60)} can no longer use me.`
      : `Approval taken back: ${oneLine(title, 60)} can no longer use me. ${plural(paused, { one: 'I paused {n} task there.', other: 'I paused {n} tasks there.' })}`,
  notApproved: 'That approval was taken back before.',
  allowedWord: 'Approved',
  deniedWord: 'Denied',
} as const;

const yes = (line: string): string => `✓ ${line}`;

const no = (line: string): string => `✗ ${line}`;

export const setupTexts = {
  title: (): Rich => bold('Set-up of this chat'),
  topicsOnPrivate: 'Topics: on. Each task gets its own topic here.',
  topicsShared: 'Topics: on. Each task that repeats gets its own topic here, and one-offs share Reminders.',
  topicsOffPrivate: (bot: string): string =>
    `Topics: off, so results wait. This bot’s owner can switch them on: ${privateTopics(bot)}`,
  topicsOnGroup: yes('Topics: on.'),
  topicsOffGroup: no(`Topics: off, so results wait. ${groupTopics}`),
  rightOk: yes('Manage topics: allowed.'),
  rightMissing: no(`Manage topics: not allowed, so results wait. ${groupRight}`),
  pinOk: yes('Pin messages: allowed.'),
  pinMissing: '○ Pin messages: not allowed. This is optional; without it cards are not pinned.',
  privacyOn: yes('Privacy mode: on. I see only commands and replies to me, which is enough.'),
  privacyOff: yes('Privacy mode: off. I see every message here and answer only those meant for me.'),
  approved: yes('Approved: members of this chat can use me.'),
  notApproved: no('Approved: not yet. An owner of this bot must send /allow here.'),
  zoneOk: (zone: string, clock: string): string => yes(`Time zone: ${zone}, where it is ${clock} now.`),
  zoneOpen: (zone: string, clock: string): Rich =>
    say`✗ Time zone: ${zone}, not confirmed yet. ${bold(`Is it ${clock} for you now?`)} An admin can change it with /tz.`,
  zoneTaken: (zone: string, clock: string): Rich =>
    say`○ Time zone: ${zone}, as for the person who added me. ${bold(`Is it ${clock} for you too?`)}`,
  unknown: 'Telegram did not tell me how this chat is set up. Press Check again in a moment.',
  allSet: 'All set.',
  sendTest: 'Send a test',
  addToGroup: 'Add me to a group',
  testTitle: 'Test',
  testText: 'This is a test. Results of tasks arrive like this, each in its own topic. It runs only once.',
  testMade: (number: number): string => `#${number} comes within a minute`,
  testComes: (number: number, at: string): string =>
    `The test is #${number}. It comes at ${at} in its own topic, and stays in the list as finished.`,
} as const;
