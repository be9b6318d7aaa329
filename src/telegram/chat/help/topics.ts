/** Words to write, and what they do, in short. */
export type Example = readonly [words: string, does: string];

/** Up to five ways to use each command. What it does at all is told by the menu. */
export const commandExamples: Readonly<Record<string, readonly Example[]>> = {
  new: [
    ['/new in 20 minutes Take the pizza out', 'once'],
    ['/new every weekday at 9:00 Stand up', 'from Monday to Friday'],
    ['/new last friday of the month at 17:00 Invoices', 'each month; /help times has more'],
    ['/new every day at 8, until done Take the pill', 'comes again until somebody says Done'],
    ['/new', 'asks step by step, with buttons'],
  ],
  tasks: [
    ['/tasks', 'all tasks of this chat, with their numbers'],
    ['/tasks failing', 'those that failed; also active, paused, completed'],
    ['/tasks mine', 'those you made'],
    ['/tasks plants', 'those with this word'],
    ['/tasks for Anna', 'those about Anna; /edit #3 subject Anna says so'],
  ],
  task: [
    ['/task #3', 'shows it, with a button for everything'],
    ['/task plants', 'finds it by a word'],
    ['/task', 'in the topic of a task: that one'],
  ],
  next: [
    ['/next', 'what comes in this chat in the next 24 hours'],
    ['/next week', 'what comes in the next 7 days'],
    ['/next #3', 'the next times of one task'],
  ],
  run: [
    ['/run #3', 'sends it now; its usual times stay'],
    ['/run', 'in the topic of a task: that one'],
  ],
  pause: [
    ['/pause #3', 'until you resume it'],
    ['/pause #3 until friday at 9:00', 'resumes by itself then'],
    ['/pause all for 2 hours', 'all tasks that you can change'],
    ['/pause', 'in the topic of a task: that one'],
    ['/pause for Anna', 'all that are about Anna; also /resume for Anna'],
    ['/pause kind http', 'for owners: nothing of that kind starts in any chat; /resume kind http'],
  ],
  resume: [
    ['/resume #3', 'resumes it; what it missed is not sent'],
    ['/resume all', 'resumes all of them'],
  ],
  snooze: [
    ['/snooze #3 10 min', 'brings it once more, in ten minutes'],
    ['/snooze #3 tomorrow at 9', 'once more, at that time'],
    ['/snooze #3', 'shows buttons to choose from'],
  ],
  skip: [
    ['/skip #3', 'skips the next time'],
    ['/skip #3 2', 'skips the next two'],
    ['/skip', 'in the topic of a task: that one'],
  ],
  edit: [
    ['/edit #3 every day at 10', 'moves it to another time'],
    ['/edit #3 text Water the plants', 'changes what it says; title changes its name'],
    ['/edit #3 confirm on', 'asks for Done from now on'],
    ['/edit #3 quiet 22:00-07:00', 'its own quiet hours'],
    ['/edit #3', 'shows buttons for all of it'],
  ],
  undo: [
    ['/undo', 'undoes your last change in this chat'],
    ['/undo #3', 'undoes the last change of this task'],
  ],
  delete: [
    ['/delete #3', 'deletes it; Undo brings it back for 24 hours'],
    ['/delete', 'in the topic of a task: that one'],
  ],
  cancel: [
    ['/cancel', 'discards the task that you are making'],
    ['/cancel #3', 'stops its run'],
    ['/cancel for Anna', 'stops the runs of all that are about Anna'],
  ],
  history: [
    ['/history #3', 'its last ten runs, with links to the messages'],
    ['/history', 'in the topic of a task: that one'],
  ],
  why: [
    ['/why #3', 'why it came, or did not, the last time'],
    ['/why #3 yesterday', 'on that day'],
    ['/why #3 2027-01-31 09:00', 'at that time'],
  ],
  tz: [
    ['/tz Madrid', 'by the name of a large city'],
    ['/tz America/New_York', 'by the name of the zone'],
    ['/tz 14:05', 'by what your clock shows'],
  ],
  settings: [
    ['/settings', 'shows all of them, with buttons'],
    ['/settings create admins', 'who can create tasks: admins or members'],
    ['/settings quiet 22:30-06:45', 'nothing comes at night; /help quiet has more'],
    ['/settings dates us', 'how dates are written'],
    ['/settings thumbs off', 'confirm with a message instead of 👍'],
  ],
  digest: [
    ['/digest daily 8:00', 'what is coming and what failed, each morning'],
    ['/digest weekly monday 9:00', 'once a week'],
    ['/digest now', 'now'],
    ['/digest off', 'switches it off'],
  ],
  topic: [
    ['/topic delete', 'in the topic of a task: deletes the topic, not the task'],
    ['/topic delete #3', 'from anywhere in this chat'],
    ['/topic clean', 'counts the topics of finished tasks, asks, and closes or deletes them'],
  ],
  secrets: [
    ['/secrets', 'their names, and which tasks use them'],
    ['/secrets set WEATHER_KEY', 'asks you for the value in private'],
    ['/secrets delete WEATHER_KEY', 'tasks that use it are skipped from then on'],
  ],
  purge: [
    ['/purge', 'deletes all tasks of this chat; counts and asks first'],
    ['/purge Ben', 'deletes the tasks of one person'],
  ],
  status: [['/status', 'shows whether I am set up well here, and what is waiting']],
  context: [
    ['/context #3', 'what its runs know and hand on to each other'],
    ['/context #3 set city Oslo', 'sets one field; /context #3 remove city takes it away'],
    ['/context #3 reset', 'empties it'],
  ],
  grants: [
    ['/grants', 'what the tasks here may do, until when, and for whom'],
    ['/grants #3', 'one of them, with Renew and Revoke'],
    ['/grants #3 allow host:api.example.com', 'lets it do more'],
    ['/edit #3 grant until 1 march', 'gives its right an end'],
  ],
  usage: [
    ['/usage', 'shows what runs here and what it uses, the budgets, and how many tasks fit'],
    ['/usage #3', 'shows what one task uses'],
  ],
  allow: [
    ['/allow', 'in a group: approves its members; in our private chat: lists who can use me'],
    ['/allow 123456789', 'approves the person with this id'],
    ['/allow off 123456789', 'takes it back'],
  ],
  start: [['/start', 'checks whether I am set up well here']],
  help: [
    ['/help', 'the everyday things'],
    ['/help all', 'every command'],
    ['/help snooze', 'more about one word'],
  ],
};

export interface WordHelp {
  /** Other words for the same. */
  readonly also: readonly string[];
  readonly does: string;
  readonly examples: readonly Example[];
}

/** Subjects that people ask about and that are no commands. */
export const wordExamples: Readonly<Record<string, WordHelp>> = {
  times: {
    also: ['time', 'when', 'date', 'schedule'],
    does: 'How to say when',
    examples: [
      ['/new tomorrow 8am Call the plumber', 'once; also 2027-01-31 09:00'],
      ['/new every monday and thursday 18:30 Bins out', 'on certain days'],
      ['/new every 2 weeks on monday 10:00 Review', 'every other week'],
      ['/new every month on the 1st at 9 Rent', 'by the day of the month'],
      ['/new every 2h from 8 to 18 Drink water', 'several times a day'],
    ],
  },
  confirm: {
    also: ['ack', 'nag', 'until'],
    does: 'I ask again and again until somebody says Done',
    examples: [
      ['/new every day at 8, until done Take the pill', 'asks from the first day on'],
      ['/edit #3 confirm on', 'asks from now on'],
      ['/edit #3 confirm every 15 minutes 5 times', 'how often'],
      ['/edit #3 confirm off', 'stops asking'],
    ],
  },
  done: {
    also: ['taken', 'finished'],
    does: 'Shows everybody who did it and when, and I stop asking',
    examples: [
      ['Done', 'the button below the message'],
      ['done', 'in reply to the message; taken or ✅ works too'],
      ['/done #3', 'from anywhere in this chat'],
      ['/history #3', 'who did it, each time'],
    ],
  },
  remind: {
    also: ['reminder', 'reminders', 'remindme'],
    does: 'A reminder, once or again and again',
    examples: [
      ['/new tomorrow at 9 Call mum', 'once'],
      ['/new every day at 8, until done Take the pill', 'until somebody says Done'],
      ['/snooze #3 1 hour', 'once more, later'],
      ['in 1 hour', 'in reply to my message: once more, later'],
    ],
  },
  quiet: {
    also: ['silent', 'night', 'urgent', 'sleep'],
    does: 'Quiet hours: messages wait until they end, or come without a sound',
    examples: [
      ['/settings quiet 22:00-07:00 hold', 'in this chat they wait until 7'],
      ['/settings quiet 22:00-07:00 silent', 'they come at once, without a sound'],
      ['/settings quiet off', 'no quiet hours'],
      ['/edit #3 quiet 22:00-07:00', 'for one task alone'],
      ['/edit #3 urgent on', 'this task comes at night too'],
    ],
  },
  files: {
    also: ['file', 'photo', 'photos', 'picture', 'pictures', 'media', 'video', 'voice', 'album', 'albums'],
    does: 'I can send photos, albums, videos, voice messages and other files on time too',
    examples: [
      ['/new tomorrow at 9', 'as the caption of a photo or an album that you send'],
      ['/new every friday at 17:00 The menu', 'in reply to a photo: with your own words'],
      ['/edit #3 media remove', 'only the words from now on'],
    ],
  },
  reply: {
    also: ['replies', 'answer', 'answers', 'later', 'again'],
    does: 'A reply to a message of mine needs no number',
    examples: [
      ['done', 'it is done'],
      ['later', 'choose when it should come again'],
      ['in 1 hour', 'it comes again then; any time works'],
      ['skip', 'skips the next time'],
      ['why?', 'why it came'],
    ],
  },
  this: {
    also: ['forward', 'repeat'],
    does: 'Reply to any message or file, and I send it again when you say',
    examples: [
      ['/new tomorrow at 9', 'as the reply: I send that message then'],
      ['schedule this tomorrow at 9', 'the same; in a group start with my name'],
    ],
  },
  approval: {
    also: ['approve'],
    does: 'Somebody checks the message before I send it',
    examples: [
      ['/edit #3 approval on', 'I ask first, with the buttons Deliver and Discard'],
      ['/edit #3 approval off', 'I stop asking'],
    ],
  },
  fallback: {
    also: ['without topic', 'topics off'],
    does: 'If a result has no topic, it waits for one or comes where its task was made',
    examples: [
      ['/edit #3 fallback creator', 'it comes where the task was made, with the reason'],
      ['/edit #3 fallback none', 'it waits for its topic'],
    ],
  },
  keep: {
    also: ['retention', 'records', 'how long', 'privacy'],
    does: 'How much of the history is kept; messages in the chat stay',
    examples: [
      ['/settings keep 30 days', 'for the tasks of this chat'],
      ['/edit #3 keep 10 runs', 'for one task'],
      ['/settings keep all', 'as much as the server keeps'],
    ],
  },
  unchanged: {
    also: ['same', 'again and again', 'repeated', 'changes'],
    does: 'I can keep quiet about a result that has not changed',
    examples: [
      ['/edit #3 unchanged skip', 'I show only what is new'],
      ['/edit #3 unchanged silent', 'the same result comes without a sound'],
      ['/edit #3 unchanged show', 'I show everything again'],
    ],
  },
  zone: {
    also: ['zones', 'timezone', 'clock'],
    does: 'Which time zone I use',
    examples: [
      ['/tz Madrid', 'for this chat'],
      ['/edit #3 zone Europe/Madrid', 'for one task'],
      ['/new every day at 9 in Europe/Madrid Call the office', 'for a new one'],
    ],
  },
  number: {
    also: ['numbers', '#3', '3', 'topics', 'thread'],
    does: 'Each task has a number and a topic: a thread for its messages',
    examples: [
      ['/tasks', 'lists all tasks with their numbers'],
      ['/task #3', 'the task with the number 3'],
      ['/pause', 'in the topic of a task you need no number'],
    ],
  },
};
