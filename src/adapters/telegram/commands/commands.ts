import type { Command, SaidHandler } from '../conversation.ts';
import { texts } from '../views/texts.ts';
import { answer } from './answers.ts';
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
import { goOn, newTask, quickly } from './making.ts';
import { misspeltOf, nearest } from './nearest.ts';
import { allowCommand, helpCommand, startCommand, zoneCommand } from './places.ts';
import { said } from './refusals.ts';

const { menu } = texts.help;

function command(name: keyof typeof menu, handle: SaidHandler, shownTo: Command['menu'] = 'everybody'): Command {
  return { name, description: menu[name], menu: shownTo, handle: said(handle) };
}

/** Every command that there is, in the order of the menu. */
export const commands: readonly Command[] = [
  command('new', newTask),
  command('tasks', listCommand),
  command('task', cardCommand),
  command('run', runCommand),
  command('pause', pauseCommand),
  command('resume', resumeCommand),
  command('snooze', snoozeCommand),
  command('skip', skipCommand),
  command('edit', editCommand),
  command('history', historyCommand),
  command('why', whyCommand),
  command('next', nextCommand),
  command('delete', deleteCommand),
  command('cancel', cancelCommand),
  command('tz', zoneCommand),
  command('help', helpCommand),
  command('start', startCommand, 'nobody'),
  command('allow', allowCommand, 'owners'),
];

/** Text without a command: what a draft waits for, or in a private chat a task in one line. */
export const plainText: SaidHandler = said(async (one, rooms) => {
  const draft = await draftHere(one, rooms);
  if (draft === null || draft.step.step === 'preview') return quickly(one, rooms);
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
