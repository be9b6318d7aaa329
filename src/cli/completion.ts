import type { RootCommand, Command as Described } from '@bomb.sh/tab';
import type { Argument, Command, Option } from 'commander';
import { CliFault, usage } from './faults.ts';
import { flat } from './layout.ts';
import { verb, type Session } from './session.ts';

const shells: readonly string[] = ['bash', 'zsh', 'fish', 'powershell'];

const about = `Shells: ${shells.join(', ')}. Install it with one of these:
  echo 'source <(cronogram completion bash)' >> ~/.bashrc
  cronogram completion zsh > "\${fpath[1]}/_cronogram"
  cronogram completion fish > ~/.config/fish/completions/cronogram.fish
  cronogram completion powershell >> $PROFILE`;

/**
 * The script counts on a function of the package bash-completion, which servers often lack, and declares names as read-only,
 * which a second reading in the same shell would complain about.
 */
const bashPrelude = `declare -F __cronogram_complete > /dev/null && return 0
declare -F _get_comp_words_by_ref > /dev/null || _get_comp_words_by_ref() {
    words=("\${COMP_WORDS[@]}")
    cword=$COMP_CWORD
    cur=\${COMP_WORDS[COMP_CWORD]}
    prev=\${COMP_WORDS[COMP_CWORD - 1]}
}
`;

/** The only file that knows the package. Its scripts ask the program what fits, by a verb that no help shows. */
export const completionVerbs = (program: Command) => [
  verb({
    usage: 'completion <shell>',
    summary: 'print what makes a shell complete verbs and flags',
    about,
    examples: ['source <(cronogram completion bash)'],
    does: async (session, [shell = '']) => {
      if (!shells.includes(shell))
        throw usage(`There is completion for ${shells.join(', ')}; "${shell.slice(0, 40)}" is none of them.`);
      const { script } = await import('@bomb.sh/tab');
      if (shell === 'bash') session.terminal.out(bashPrelude);
      script(shell, program.name(), program.name());
      return null;
    },
  }),
  verb({
    usage: 'complete [words...]',
    summary: 'tell what may stand next',
    examples: ['cronogram complete -- task li'],
    isHidden: true,
    keepsWords: true,
    does: async (session, words) => {
      const { RootCommand: Root } = await import('@bomb.sh/tab');
      const root = new Root();
      for (const option of program.options) describeOption(root, option);
      const tasks = await tasksFor(session, words);
      describeVerbs({ root, tasks }, program, '');
      root.parse([...words]);
      return null;
    },
  }),
];

interface TaskShown {
  readonly id: string;
  readonly title: string;
}

interface Describing {
  readonly root: RootCommand;
  readonly tasks: readonly TaskShown[];
}

function describeVerbs(to: Describing, group: Command, path: string): void {
  for (const verb of group.createHelp().visibleCommands(group)) {
    const words = `${path}${verb.name()}`;
    const described = to.root.command(words, verb.summary() || verb.description());
    for (const option of verb.options) describeOption(described, option);
    for (const argument of verb.registeredArguments) describeArgument(to, described, argument);
    describeVerbs(to, verb, `${words} `);
  }
}

function describeOption(
  command: Described,
  { long, short, description, argChoices, required, optional }: Option,
): void {
  const name = long?.slice(2) ?? '';
  const alias = short?.slice(1);
  if (!required && !optional) {
    if (alias === undefined) command.option(name, description);
    else command.option(name, description, alias);
    return;
  }
  const offer = (complete: (value: string, about: string) => void) => {
    for (const choice of argChoices ?? []) complete(choice, '');
  };
  command.option(name, description, offer, alias);
}

function describeArgument({ tasks }: Describing, command: Described, argument: Argument): void {
  const choices =
    argument.name() === 'shell' ? shells.map((id) => ({ id, title: '' })) : argument.name() === 'task' ? tasks : [];
  const offer = (complete: (value: string, about: string) => void) => {
    for (const { id, title } of choices) complete(id, title);
  };
  command.argument(argument.name(), offer, argument.variadic);
}

const tasksMax = 100;

/** Completion neither waits nor tells of faults: without a server there are simply no tasks to offer. */
async function tasksFor({ client, namedThread }: Session, words: readonly string[]): Promise<readonly TaskShown[]> {
  const isAsked = words[0] === 'task' && words.length > 2 && words.at(-1)?.startsWith('-') !== true;
  if (!isAsked) return [];
  try {
    const query = { limit: String(tasksMax), thread_key: namedThread };
    const { tasks } = await client.call('listTasks', { query });
    return tasks.map(({ task_id: id, title }) => ({ id, title: flat(title) }));
  } catch (error) {
    if (error instanceof CliFault) return [];
    throw error;
  }
}
