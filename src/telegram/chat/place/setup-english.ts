import { bold, say, type Rich } from '../kit/rich.ts';
import { groupRight, groupTopics, privateTopics } from '../results/notice-english.ts';

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
