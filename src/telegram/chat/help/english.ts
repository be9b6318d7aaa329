import { blocks, bold, code, lines, oneLine, say, type Rich } from '../kit/rich.ts';
import { commandExamples, wordExamples, type Example } from './topics.ts';

const row = (example: string, does: string): Rich => say`${code(example)} – ${does}`;

const rows = (examples: readonly Example[]): Rich => lines(...examples.map(([words, does]) => row(words, does)));

const wordList = Object.keys(wordExamples).join(', ');

/** To whom the help speaks, and where. */
export interface Helped {
  readonly isPrivate: boolean;
  /** How the bot is called by its name. */
  readonly bot: string;
  /** One example of each command that an action brings. */
  readonly actions: readonly Example[];
}

interface AboutAction {
  readonly examples: readonly Example[];
  readonly notes: readonly string[];
}

export const helpTexts = {
  /** Lines of the menu that Telegram shows. */
  menu: {
    new: 'Make a task: /new every weekday at 9:00 Stand up',
    tasks: 'All tasks of this chat',
    task: 'One task with its buttons: /task #3',
    run: 'Run a task now: /run #3',
    pause: 'Pause a task, or all: /pause #3 until friday at 9:00',
    resume: 'Resume a task: /resume #3',
    snooze: 'Once more, later: /snooze #3 1 hour',
    skip: 'Skip the next run: /skip #3',
    edit: 'Change time, text or title: /edit #3 every day at 10',
    undo: 'Undo your last change, or that of a task: /undo #3',
    history: 'The last runs: /history #3',
    why: 'Why it came, or did not: /why #3 yesterday',
    next: 'What is coming: /next #3',
    delete: 'Delete a task, with Undo for 24 hours: /delete #3',
    cancel: 'Discard the task you are making, or stop a run: /cancel #3',
    settings: 'Who can create tasks, quiet hours, dates: /settings quiet 22-7',
    digest: 'What is coming and what failed, in one message: /digest daily 8:00',
    topic: 'Tidy up topics: /topic clean, /topic delete #3',
    secrets: 'Keys that tasks may use and nobody is shown',
    purge: 'Delete all tasks of this chat or of a person (asks first)',
    context: 'What the runs of a task know: /context #3',
    grants: 'What tasks may do, and until when: /grants #3',
    status: 'Set-up, tasks and what is waiting',
    usage: 'What this chat uses, its budgets, and room for tasks',
    tz: 'The time zone of this chat: /tz Madrid',
    help: 'How it works: /help all',
    start: 'Hello, and a check of the set-up',
    allow: 'Who can use me, or approve somebody: /allow 123456789',
  },
  /** The everyday things: a phone shows it without much scrolling. */
  help: ({ isPrivate, bot, actions }: Helped): Rich =>
    blocks(
      'I send messages on time. Each task has a number, such as #3, and a topic: a thread for its messages.',
      lines(
        bold(isPrivate ? 'Make a task: just write' : 'Make a task'),
        code(`${isPrivate ? '' : '/new '}every weekday at 9:00 Stand up`),
        code(`${isPrivate ? '' : '/new '}in 20 minutes Take the pizza out`),
        row(`${isPrivate ? '' : '/new '}every day at 8, until done Take the pill`, 'asks until it is done'),
        row('/new', 'step by step, with buttons'),
        ...actions.map(([words, does]) => row(words, does)),
      ),
      lines(
        bold('Change it'),
        row('/edit #3 every day at 10', 'move it'),
        row('/snooze #3 1 hour', 'once more, later'),
        row('/skip #3', 'skip the next time'),
        row('/pause #3', 'and /resume #3'),
        row('/why #3', 'why it came or did not'),
        row('/undo', 'undo your last change'),
      ),
      lines(
        row('/tasks', 'all tasks'),
        row('/next', 'what is coming, and when'),
        say`Reply to me: ${code('done')}, ${code('later')}, ${code('in 1 hour')}`,
        'Reply to any message or file:',
        code(`${isPrivate ? '' : `${bot} `}schedule this tomorrow at 9`),
      ),
      say`More: ${code('/help all')} or ${code('/help snooze')}`,
    ),
  all: (isOwner: boolean, actions: readonly Example[]): Rich =>
    blocks(
      lines(
        bold('Make a task'),
        row('/new every weekday at 9:00 Stand up', 'shows it first; press Create'),
        row('/new', 'step by step, with buttons'),
        ...actions.map(([words, does]) => row(words, does)),
        row('/cancel', 'discards the task you are making, or stops a run: /cancel #3'),
      ),
      lines(
        bold('Look'),
        row('/tasks', 'all of them; also /tasks failing, /tasks mine, or a word'),
        row('/task #3', 'one, with its buttons'),
        row('/next', 'what is coming here; /next week, /next #3'),
        row('/history #3', 'its last runs'),
        row('/why #3', 'why it came or did not; also /why #3 yesterday'),
      ),
      lines(
        bold('Change'),
        row('/edit #3 every day at 10', 'moves it; /edit #3 shows what else'),
        row('/snooze #3 1 hour', 'brings it once more, later'),
        row('/skip #3', 'skips the next time; /skip #3 2 the next two'),
        row('/pause #3', 'also /pause #3 until friday at 9:00, /pause all'),
        row('/resume #3', 'resumes it; also /resume all'),
        row('/run #3', 'sends it now'),
        row('/delete #3', 'with Undo for 24 hours'),
        row('/undo', 'undoes your last change; /undo #3 that of a task'),
      ),
      lines(
        bold('This chat'),
        row('/settings', 'who can create tasks, quiet hours, dates'),
        row('/tz Madrid', 'the time zone'),
        row('/digest daily 8:00', 'one message with what is coming and what failed'),
        row('/status', 'what is waiting; /usage what is used; /start the set-up'),
        row('/context #3', 'what its runs know; also /context #3 reset'),
        row('/secrets', 'keys that tasks may use; /secrets set WEATHER_KEY'),
        row('/grants', 'what tasks may do, and until when; /grants #3 one of them'),
        row('/topic delete #3', 'deletes a topic, not the task; /purge deletes all tasks'),
        isOwner ? row('/allow', 'approves a group or a person: /allow 123456789') : null,
      ),
      'In the topic of a task you need no number: /pause there means that task.',
      say`More about a command or a word: ${code('/help snooze')}. Words: ${wordList}`,
    ),
  /** The line of the menu, without the example at its end. */
  about: (name: string, does: string): Rich =>
    blocks(say`${bold(`/${name}`)} – ${does}`, rows(commandExamples[name] ?? [])),
  aboutAction: (heading: string, does: string, { examples, notes }: AboutAction): Rich =>
    blocks(say`${bold(heading)} – ${does}`, rows(examples), ...notes),
  aboutWord: (name: string): Rich => {
    const { does = '', examples = [] } = wordExamples[name] ?? {};
    return blocks(lines(bold(does)), rows(examples));
  },
  unknown: (word: string, commands: readonly string[]): Rich =>
    blocks(
      say`I have no help on “${oneLine(word, 40)}”.`,
      say`Commands: ${commands.map((name) => `/${name}`).join(' ')}`,
      say`Words: ${wordList}`,
      say`For example ${code('/help snooze')}`,
    ),
  /** The word under which something is explained that people call otherwise; null where nobody explains it. */
  wordFor: (word: string): string | null =>
    Object.entries(wordExamples).find(([name, { also }]) => name === word || also.includes(word))?.[0] ?? null,
} as const;
