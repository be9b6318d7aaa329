import { type ActionForm, variantText } from '../../../app/actions/form.ts';
import type { Answer, ChatContext } from '../context.ts';
import { wordsOfKind } from '../kit/action.ts';
import { answer } from '../kit/answers.ts';
import type { Rich } from '../kit/rich.ts';
import { addLink } from '../place/checklist.ts';
import { texts } from '../texts.ts';

/** `/help` alone is about everyday things; with the name of a command, or a word, it shows how to use that. */
export async function helpCommand({ person, args, place, bot, kinds }: ChatContext): Promise<Answer> {
  const { help } = texts;
  const word = wordIn(args);
  const isPrivate = place.chat.kind === 'private';
  if (word !== '') return answer(helpOn(word, person.isOwner, kinds.forms));
  const words = help.help({ isPrivate, bot: `@${bot}`, actions: ways(kinds.forms) });
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

function helpOn(word: string, isOwner: boolean, forms: readonly ActionForm[]): Rich {
  const { help } = texts;
  if (word === 'all') return help.all(isOwner, ways(forms));
  const action = forms.find(
    ({ kind, command }) => [kind, command?.name].includes(word) || command?.also.includes(word),
  );
  if (action !== undefined && !Object.hasOwn(help.menu, word)) return aboutAction(action);
  const names = Object.keys(help.menu).filter((name) => name !== 'allow' || isOwner);
  const command = names.find((name) => name === word);
  if (command !== undefined) return help.about(command, menuWords(command));
  const known = help.wordFor(word);
  const ofActions = forms.flatMap(({ command }) => command?.name ?? []);
  return known === null ? help.unknown(word, [...names, ...ofActions]) : help.aboutWord(known);
}

function aboutAction(form: ActionForm): Rich {
  const { name, menu, examples, notes } = wordsOfKind(form);
  const heading = form.command === undefined ? name : `/${form.command.name}`;
  // Settings that are one of several kinds, with the parts of each.
  const kinds = form.fields.flatMap(({ name: setting, kinds: all = [] }) =>
    all.map((one) => [`/edit #3 ${setting} ${variantText(one)}`, one.does] as const),
  );
  return texts.help.aboutAction(heading, withoutExample(menu), { examples: [...examples, ...kinds], notes });
}

/** The shortest whole example of each command that an action brings. */
function ways(forms: readonly ActionForm[]) {
  return forms.flatMap((form) => {
    const whole = wordsOfKind(form).examples.filter(([words]) => words.startsWith(`/${form.command?.name} `));
    return whole.toSorted(([one], [other]) => one.length - other.length).slice(0, 1);
  });
}

/** The words of the menu, without the example at their end. */
function menuWords(name: string): string {
  const found = Object.entries(texts.help.menu).find(([known]) => known === name);
  return withoutExample(found?.[1] ?? '');
}

function withoutExample(menu: string): string {
  return menu.replace(/: \/.*$/, '');
}
