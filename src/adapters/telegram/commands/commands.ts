import type { Command, SaidHandler } from '../conversation.ts';
import { texts } from '../views/texts.ts';
import { allowCommand } from './allowing.ts';
import { answer, forAsker } from './answers.ts';
import { digestCommand } from './digest.ts';
import {
  cancelCommand,
  deleteCommand,
  pauseCommand,
  resumeCommand,
  runCommand,
  skipCommand,
  snoozeCommand,
} from './doing.ts';
import { draftHere } from './drafts.ts';
import { editCommand, goOnEditing } from './editing.ts';
import { cardCommand, historyCommand, listCommand, nextCommand, whyCommand } from './looking.ts';
import { goOn, newTask, quickly } from './beginning.ts';
import { misspeltOf, nearest } from './nearest.ts';
import { helpCommand, startCommand, zoneCommand } from './places.ts';
import { purgeCommand } from './purging.ts';
import { said } from './refusals.ts';
import { replied } from './replying.ts';
import { settingsCommand } from './settings.ts';
import { statusCommand, usageCommand } from './status.ts';
import { topicCommand } from './topics.ts';
import { undoCommand } from './undoing.ts';

const { menu } = texts.help;

/** The menu that everybody sees has room for a dozen; who manages a chat is shown more, and `/help` tells of all. */
function command(name: keyof typeof menu, handle: SaidHandler, shownTo: Command['menu'] = 'everybody'): Command {
  return { name, description: menu[name], menu: shownTo, handle: said(handle) };
}

/** Answers that nobody else in a group needs to read. */
function reading(name: keyof typeof menu, handle: SaidHandler, shownTo: Command['menu'] = 'everybody'): Command {
  return { ...command(name, async (one, rooms) => forAsker(await handle(one, rooms)), shownTo), isReading: true };
}

/** Every command that there is, in the order of the menu. */
export const commands: readonly Command[] = [
  command('new', newTask),
  reading('tasks', listCommand),
  reading('next', nextCommand),
  command('run', runCommand),
  command('pause', pauseCommand),
  command('resume', resumeCommand),
  command('snooze', snoozeCommand),
  command('edit', editCommand),
  reading('history', historyCommand),
  reading('why', whyCommand),
  command('settings', settingsCommand),
  reading('help', helpCommand),
  reading('task', cardCommand, 'admins'),
  command('skip', skipCommand, 'admins'),
  command('undo', undoCommand, 'admins'),
  command('delete', deleteCommand, 'admins'),
  command('cancel', cancelCommand, 'admins'),
  command('digest', digestCommand, 'admins'),
  command('tz', zoneCommand, 'admins'),
  command('topic', topicCommand, 'admins'),
  command('purge', purgeCommand, 'admins'),
  reading('status', statusCommand, 'admins'),
  reading('usage', usageCommand, 'admins'),
  command('start', startCommand, 'nobody'),
  command('allow', allowCommand, 'owners'),
];

/** Text without a command: what a draft waits for, a reply to a message about a task, or in a private chat a new one. */
export const plainText: SaidHandler = said(async (one, rooms) => {
  const draft = await draftHere(one, rooms);
  if (draft === null || draft.step.step === 'preview') return (await replied(one, rooms)) ?? quickly(one, rooms);
  const { row, step } = draft;
  return step.step === 'edit' ? goOnEditing(one, rooms, { row, step }) : goOn(one, rooms, draft);
});

/** Owners' commands are not suggested to anybody else. */
function namesFor(isOwner: boolean): readonly string[] {
  return commands.filter(({ menu: shownTo }) => shownTo !== 'owners' || isOwner).map(({ name }) => name);
}

/** In a group a word that is only the beginning of a command may well be the command of another bot. */
export function nearCommand(word: string): string | null {
  return misspeltOf(word.toLowerCase(), namesFor(false));
}

export const unknownCommand: SaidHandler = async ({ command, person }) => {
  const word = command ?? '';
  return answer(texts.chat.unknownCommand(word, nearest(word.toLowerCase(), namesFor(person.isOwner))));
};
