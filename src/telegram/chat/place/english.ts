import type { WorkCounts } from '../../../app/ports/tasks.ts';
import type { AlarmCause } from '../../../domain/shown.ts';
import { blocks, bold, code, lines, oneLine, say, type Rich } from '../kit/rich.ts';
import { groupRight, groupTopics, privateTopics } from '../results/english.ts';

const tasks = (count: number): string => `${count} ${count === 1 ? 'task' : 'tasks'}`;

export const topicTexts = {
  how: (): Rich =>
    lines(
      'This deletes the topic of a task with all its messages; the task goes on.',
      say`In the task’s topic: ${code('/topic delete')}`,
      say`Anywhere in the chat: ${code('/topic delete #3')}`,
    ),
  notOurs: 'This topic belongs to no task of mine, so I leave it alone.',
  none: (name: Rich): Rich => say`${name} has no topic. Its next run makes one.`,
  unavailable: (name: Rich): Rich =>
    say`${name} has no topic, and topics are switched off here. /start says how to switch them on.`,
  shared:
    'Its results stand in Reminders, among those of other tasks. To remove the whole topic, delete it in Telegram.',
  beingMade: (name: Rich): Rich => say`The topic of ${name} is being made right now. Try again in a minute.`,
  confirm: (name: Rich, isDeleted: boolean): Rich =>
    blocks(
      say`Delete the topic of ${name}?`,
      isDeleted
        ? 'This deletes the topic with all its messages. The task is deleted already.'
        : 'This deletes the topic with all its messages. The task goes on; its next run makes a new one.',
    ),
  deleteIt: 'Delete the topic',
  keep: 'Keep',
  kept: 'Nothing was deleted.',
  goneBefore: 'That topic is not the task’s any more.',
  deleted: (name: Rich, isDeleted: boolean): Rich =>
    isDeleted
      ? say`I am deleting the topic of ${name}.`
      : say`I am deleting the topic of ${name}. The task goes on; its next run makes a new one.`,
  deletedWord: 'Topic deleted',
} as const;

const topicsText = (count: number): string => `${count} ${count === 1 ? 'topic' : 'topics'}`;

/** Names of topics that are told; more would not be read. */
const namesMax = 10;

export const cleanTexts = {
  none: 'No topics of finished tasks here.',
  confirm: (count: number, max: number): string =>
    `${topicsText(count)} of finished tasks. Closed topics can still be read; deleted ones are gone with all their messages.${count > max ? ` I do ${max} at a time.` : ''}`,
  close: (count: number): string => `Close ${count}`,
  delete: (count: number): string => `Delete ${count}`,
  kept: 'Nothing was changed.',
  changed: 'There are others by now. Look again.',
  begun: (what: 'close' | 'delete', count: number): string =>
    `${what === 'close' ? 'Closing' : 'Deleting'} ${topicsText(count)}, one after the other. I will say when that is done.`,
  done: (deed: 'close' | 'removeTopic', count: number): string =>
    `${deed === 'close' ? 'Closed' : 'Deleted'} ${topicsText(count)}.`,
  failed: (names: readonly string[], error: string | null, isRight: boolean): Rich =>
    blocks(
      lines(
        `Still there: ${topicsText(names.length)}.`,
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
  nobody: (name: string): Rich =>
    say`Nobody called ${oneLine(name, 40)} has tasks here. Name a person, or send their id.`,
  none: 'There are no tasks here, so there is nothing to delete.',
  confirm: (
    { active, paused, completed, liveRuns, openDeliveries }: WorkCounts,
    { all, name, isEverywhere }: Purged,
  ): Rich =>
    blocks(
      bold(
        `${name === null ? 'This chat has' : `${name} has`} ${tasks(all)}${name === null ? '' : isEverywhere ? ' in all chats' : ' here'}: ${active} active, ${paused} paused, ${completed} completed.`,
      ),
      liveRuns + openDeliveries === 0
        ? null
        : `Going on just now: ${liveRuns} ${liveRuns === 1 ? 'run' : 'runs'}; waiting to be shown: ${openDeliveries}. They are dropped with their tasks.`,
      'Within 24 hours each can be brought back: /task #3 of a deleted task has an Undo button.',
    ),
  deleteAll: (all: number): string => `Delete ${all === 1 ? 'the one task' : `all ${all} tasks`}`,
  deleteEverywhere: (all: number): string => `Delete ${all === 1 ? 'the one task' : `all ${all} tasks`} in all chats`,
  changed: 'Tasks were made or deleted meanwhile. Look again.',
  done: (all: number, names: readonly Rich[], more: number): Rich =>
    blocks(
      `Deleted ${tasks(all)}.`,
      lines(...names, more > 0 ? `and ${more} more` : null),
      'Within 24 hours each can be brought back: /task with its number has an Undo button.',
    ),
  doneWord: (all: number): string => `Deleted ${tasks(all)}`,
} as const;

const alarmCauses: Readonly<Record<AlarmCause, string>> = {
  database: 'the database cannot be used',
  disk: 'the disk of the database is full',
  clock: 'the clock was set back',
  downtime: 'nobody was there',
  audit: 'the audit has found something',
  auto_pause: 'tasks failed too often',
  second_opinion: 'two calculations differ',
};

export const serverTexts = {
  chatTitle: (): Rich => bold('This chat'),
  chatTasks: ({ active, paused, completed }: WorkCounts): string =>
    `Tasks: ${active} active, ${paused} paused, ${completed} completed`,
  chatWork: ({ liveRuns, openDeliveries }: WorkCounts): string =>
    `Going on: ${liveRuns} ${liveRuns === 1 ? 'run' : 'runs'}; waiting to be shown: ${openDeliveries}`,
  title: (): Rich => bold('The server'),
  version: (version: string, since: string): string => `Cronogram ${version}, running since ${since}`,
  well: 'Everything turns: database, scheduler, runner, deliverer, Telegram.',
  unwell: (parts: string): string => `Not well: ${parts}`,
  tasks: (all: number, active: number, chats: number): string =>
    `${tasks(all)} in ${chats} ${chats === 1 ? 'chat' : 'chats'}, ${active} active`,
  onTime: 'Nothing is overdue.',
  late: (count: number, since: string): string => `${count} overdue, the oldest since ${since}`,
  tick: (at: string | null, isRunning: boolean): string =>
    `${at === null ? 'Nobody looks for what is due' : `Last look for what is due: ${at}`}; the worker ${isRunning ? 'is running' : 'stands still'}`,
  staleLook: (at: string): string => `Last look for stale results: ${at}`,
  kinds: (kinds: readonly string[]): string => `It can do: ${kinds.join(', ')}`,
  work: (running: number, pending: number): string => `${running} running, ${pending} waiting to be sent`,
  stuck: (blocked: number, unknown: number): string =>
    blocked + unknown === 0
      ? 'Nothing is blocked or in doubt.'
      : `${blocked} blocked until somebody mends the cause, ${unknown} whose arrival is in doubt`,
  audit: (at: string, findings: number): string =>
    `Last audit ${at}: ${findings === 0 ? 'nothing found' : `${findings} ${findings === 1 ? 'finding' : 'findings'}`}`,
  noAudit: 'Last audit: none yet; it comes at night.',
  database: (size: string): string => `Database: ${size}`,
  alarm: (cause: AlarmCause, since: string): Rich => say`${bold(`Alarm: ${alarmCauses[cause]}`)}, since ${since}`,
  unheard: (owners: number): string =>
    `${owners === 1 ? 'One owner hears' : `${owners} owners hear`} of no alarm, for want of a private chat with me. /start there mends that; until then only the log and this tell of trouble.`,
} as const;

export const usageTexts = {
  title: (): Rich => bold('Usage of this chat'),
  stretches: { today: 'Today', week: '7 days', month: '30 days' } as const,
  line: (
    stretch: string,
    told: { readonly runs: string; readonly messages: string; readonly failures: string },
  ): Rich => say`${bold(`${stretch}:`)} runs ${told.runs}, of which failed ${told.failures}; messages ${told.messages}`,
  atLeast: (count: number): string => `at least ${count}`,
  spent: (kind: string, quantity: number): string => `Used in 30 days: ${quantity} ${oneLine(kind, 40)}`,
  quotaChat: (used: number, max: number): string =>
    `Tasks here: ${used} of ${max}, so ${Math.max(0, max - used)} more can be made.`,
  quotaUser: (used: number, max: number): string =>
    `Yours in all chats: ${used} of ${max}, so ${Math.max(0, max - used)} more.`,
  since: (zone: string): string => `Days begin at midnight (${zone}).`,
} as const;

const roles = { owner: 'owner', user: 'person', group: 'group' } as const;

interface Entry {
  readonly title: string;
  readonly role: keyof typeof roles;
  readonly by: string | null;
  readonly since: string | null;
}

export const allowTexts = {
  waiting: (): Rich => bold('Waiting for a yes:'),
  nobody: 'Nobody waits for a yes.',
  listed: (): Rich => bold('Let in:'),
  entry: ({ title, role, by, since }: Entry): string => {
    const told = [roles[role], by === null ? null : `by ${oneLine(by, 40)}`, since === null ? null : `since ${since}`];
    return `${oneLine(title, 80)}: ${told.filter((one) => one !== null).join(', ')}`;
  },
  more: (): Rich => say`and more: ${code('cronogram access list')}`,
  deny: (title: string): string => `Deny ${oneLine(title, 30)}`,
  chat: (title: string, id: string): string => `${oneLine(title, 60)} (${id})`,
  allow: (title: string): string => `Allow ${oneLine(title, 30)}`,
  how: (): Rich =>
    lines(
      say`${code('/allow')} in a group approves the group.`,
      say`${code('/allow 123456789')} approves the person with that id; so does ${code('/allow')} as the reply to a message of theirs, or to one that was forwarded.`,
      say`${code('/allow Ben')} approves somebody whom I know from a group.`,
      say`${code('/allow off 123456789')}, or ${code('/allow off Ben')}, takes it back; ${code('/allow')} in our private chat lists who is let in.`,
    ),
  username: 'I cannot look up usernames. Send the id, or reply with /allow to a message of that person.',
  nobodyCalled: (name: string): Rich =>
    blocks(
      say`I know nobody called ${oneLine(name, 40)}.`,
      'Send the id, or reply with /allow to a message of that person.',
    ),
  several: (name: string): Rich => say`Several people are called ${oneLine(name, 40)}. Whom do you mean?`,
  hidden: 'Telegram does not tell who wrote that. Send the id instead: the person sees it in my answer to them.',
  person: (name: string): string =>
    `Approved. ${oneLine(name, 40)} may use me in a private chat now, and begins there with /start.`,
  revoked: (title: string, paused: number): string =>
    `Taken back: ${oneLine(title, 60)} may not use me any more.${paused === 0 ? '' : ` ${tasks(paused)} there ${paused === 1 ? 'is' : 'are'} paused.`}`,
  notApproved: 'That was taken back already.',
  allowedWord: 'Approved',
  deniedWord: 'Denied',
} as const;

const yes = (line: string): string => `✓ ${line}`;

const no = (line: string): string => `✗ ${line}`;

export const setupTexts = {
  title: (): Rich => bold('Set-up of this chat'),
  topicsOnPrivate: 'Topics: on. Every task gets a topic of its own here.',
  topicsOffPrivate: (bot: string): string =>
    `Topics: off. Only this bot’s owner can switch them on: ${privateTopics(bot)} Until then results wait.`,
  topicsOnGroup: yes('Topics: on.'),
  topicsOffGroup: no(`Topics: off. ${groupTopics} Until then results wait.`),
  rightOk: yes('Manage topics: allowed.'),
  rightMissing: no(`Manage topics: not allowed. ${groupRight} Until then results wait.`),
  pinOk: yes('Pin messages: allowed.'),
  pinMissing: no('Pin messages: not allowed. It works without; cards are just not pinned.'),
  privacyOn: yes('Privacy mode: on. I see commands and replies to me, and that is all I need.'),
  privacyOff: yes('Privacy mode: off. I see every message here, and answer only what is meant for me.'),
  approved: yes('Approved: members of this chat may use me.'),
  notApproved: no('Approved: not yet. An owner of this bot sends /allow here.'),
  zoneOk: (zone: string, clock: string): string => yes(`Time zone: ${zone}, where it is ${clock} now.`),
  zoneOpen: (zone: string, clock: string): Rich =>
    say`✗ Time zone: ${zone}, and nobody has confirmed it. ${bold(`Is it ${clock} for you now?`)} An admin can say so with /tz.`,
  unknown: 'I could not ask Telegram how things stand here. Press Check again in a moment.',
  allSet: 'All set.',
  sendTest: 'Send a test',
  addToGroup: 'Add me to a group',
  testTitle: 'Test',
  testText:
    'This is a test: results of tasks land like this, each in a topic of its own. It has run once, so nothing more comes of it.',
  testMade: (number: number): string => `#${number} comes within about a minute`,
  testComes: (number: number, at: string): string =>
    `The test is #${number}. It comes at ${at} into a topic of its own, and stays in the list as completed.`,
} as const;
