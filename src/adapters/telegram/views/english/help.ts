import { blocks, bold, code, lines, say, type Rich } from '../rich.ts';

const row = (example: string, does: string): Rich => say`${code(example)} – ${does}`;

export const helpTexts = {
  /** What the menu of the platform says about each command. */
  menu: {
    new: 'Make a task: /new every weekday at 9:00 Stand up',
    tasks: 'All tasks of this chat',
    task: 'One task with its buttons: /task #3',
    run: 'Run a task now: /run #3',
    pause: 'Pause a task, or all: /pause #3 until friday at 9:00',
    resume: 'Let a task go on: /resume #3',
    snooze: 'Once more, later: /snooze #3 1 hour',
    skip: 'Leave out the next run: /skip #3',
    edit: 'Change time, text or title: /edit #3 every day at 10',
    history: 'The last runs: /history #3',
    why: 'What became of each slot: /why #3 2027-01-31',
    next: 'What is coming: /next #3',
    delete: 'Delete a task, with Undo for 24 hours: /delete #3',
    cancel: 'Drop the task being made, or stop a run',
    tz: 'The time zone of this chat: /tz Madrid',
    help: 'How it works, with examples',
    start: 'Greeting and set-up check',
    allow: 'Approve this group, or a person: /allow 123456789',
  },
  help: (isOwner: boolean): Rich =>
    blocks(
      'I say things on time. Tell me when and what; each task posts into a topic of its own.',
      lines(
        bold('Make a task'),
        row('/new every weekday at 9:00 Stand up', 'shows a preview; press Create'),
        row('/new in 20 minutes Take the pizza out', 'once'),
        '/new alone asks you step by step.',
      ),
      lines(
        bold('Times I read'),
        code('tomorrow 8am'),
        code('2027-01-31 09:00'),
        code('every monday and thursday 18:30'),
        code('every 2 weeks on monday 10:00'),
        code('every month on the 1st at 9'),
        code('last friday of the month at 17:00'),
        code('every 15 minutes'),
        code('every 2h from 8 to 18'),
        say`A zone may follow: ${code('every day at 9 in Europe/Madrid')}. Cron, RRULE and ISO durations work too.`,
      ),
      lines(
        bold('Change it'),
        row('/edit #3 every day at 10', 'moves it; also title, text or zone: /edit #3 title Plants'),
        row('/snooze #3 1 hour', 'brings it once more, later'),
        row('/skip #3', 'leaves out the next run; /skip #3 2 the next two'),
        row('/pause #3', 'also /pause #3 until friday at 9:00, /pause all'),
        row('/resume #3', 'lets it go on; also /resume all'),
        row('/run #3', 'runs it now'),
        row('/delete #3', 'with Undo for 24 hours'),
        row('/cancel', 'drops the task you are making, or stops a run: /cancel #3'),
      ),
      lines(
        bold('Look'),
        row('/tasks', 'all of them; also active, paused, failing, completed, mine, or a word'),
        row('/task #3', 'one, with its buttons'),
        row('/next #3', 'what is coming'),
        row('/history #3', 'the last runs'),
        row('/why #3 2027-01-31', 'what became of each slot of a day'),
      ),
      lines(
        bold('This chat'),
        row('/tz Madrid', 'sets the time zone'),
        '/start checks the set-up.',
        isOwner ? row('/allow', 'approves a group, or a person: /allow 123456789') : null,
      ),
      'In the topic of a task you need no number: /pause there means that task. Every card has buttons for the same.',
    ),
} as const;
