import type { Answer, ChatContext } from '../context.ts';
import { answer } from '../kit/answers.ts';
import type { Rich } from '../kit/rich.ts';
import { addLink } from '../place/checklist.ts';
import { texts } from '../texts.ts';

/** `/help` alone is about everyday things; with the name of a command, or a word, it shows how to use that. */
export async function helpCommand({ person, args, place, bot }: ChatContext): Promise<Answer> {
  const { help } = texts;
  const word = wordIn(args);
  const isPrivate = place.chat.kind === 'private';
  if (word !== '') return answer(helpOn(word, person.isOwner));
  const words = help.help({ isPrivate, bot: `@${bot}` });
  if (!isPrivate) return answer(words);
  return answer(words, [[{ text: texts.setup.addToGroup, url: addLink(bot) }]]);
}

/** "How do I snooze" is no word, but `/snooze`, `Snooze` and `quiet hours` are. */
function wordIn(args: string): string {
  return args
    .trim()
    .replace(/^\//, '')
    .replace(/^quiet hours$/i, 'quiet')
    .replace(/^time zones?$/i, 'zone')
    .toLowerCase();
}

function helpOn(word: string, isOwner: boolean): Rich {
  const { help } = texts;
  if (word === 'all') return help.all(isOwner);
  const names = Object.keys(help.menu).filter((name) => name !== 'allow' || isOwner);
  const command = names.find((name) => name === word);
  if (command !== undefined) return help.about(command, menuWords(command));
  const known = help.wordFor(word);
  return known === null ? help.unknown(word, names) : help.aboutWord(known);
}

/** The words of the menu, without the example at their end. */
function menuWords(name: string): string {
  const found = Object.entries(texts.help.menu).find(([known]) => known === name);
  return (found?.[1] ?? '').replace(/: \/.*$/, '');
}
