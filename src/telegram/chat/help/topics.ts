/** Words to write, and what they do, in short. */
export type Example = readonly [words: string, does: string];

/** Up to five ways to use each command. What it does at all is told by the menu. */
export const commandExamples: Readonly<Record<string, readonly Example[]>> = {
  new: [
    ['/new in 20 minutes Take the pizza out', 'once'],
    ['/new every weekday at 9:00 Stand up', 'from Monday to Friday'],
    ['/new last friday of the month at 17:00 Invoices', 'each month; /help times has more'],
    ['/new every day at 8, until done Take the pill', 'comes again until somebody says that it is done'],
    ['/new', 'asks step by step, with buttons'],
  ],
  tasks: [
    ['/tasks', 'all tasks of this chat, with their numbers'],
    ['/tasks failing', 'those that went wrong; also active, paused, completed'],
    ['/tasks mine', 'those that you have made'],
    ['/tasks plants', 'those with this word'],
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
    ['/pause #3 until friday at 9:00', 'goes on by itself then'],
    ['/pause all for 2 hours', 'all tasks that you may change'],
    ['/pause', 'in the topic of a task: that one'],
  ],
  resume: [
    ['/resume #3', 'lets it go on; what it missed meanwhile is not sent'],
    ['/resume all', 'lets all of them go on'],
  ],
  snooze: [
    ['/snooze #3 10 min', 'brings it once more, in ten minutes'],
    ['/snooze #3 tomorrow at 9', 'or at a time that you name'],
    ['/snooze #3', 'shows buttons to choose from'],
  ],
  skip: [
    ['/skip #3', 'leaves out the next time'],
    ['/skip #3 2', 'leaves out the next two'],
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
    ['/undo', 'takes back your last change in this chat'],
    ['/undo #3', 'takes back the last change of this task'],
  ],
  delete: [
    ['/delete #3', 'deletes it; Undo brings it back for 24 hours'],
    ['/delete', 'in the topic of a task: that one'],
  ],
  cancel: [
    ['/cancel', 'drops the task that you are just making'],
    ['/cancel #3', 'stops what it is doing right now'],
  ],
  history: [
    ['/history #3', 'its last ten runs, with links to the messages'],
    ['/history', 'in the topic of a task: that one'],
  ],
  why: [
    ['/why #3', 'why it came, or did not, when it was last due'],
    ['/why #3 yesterday', 'on a certain day'],
    ['/why #3 2027-01-31 09:00', 'at a certain time'],
  ],
  tz: [
    ['/tz Madrid', 'by the name of a large city'],
    ['/tz America/New_York', 'by the name of the zone'],
    ['/tz 14:05', 'by what your clock shows'],
  ],
  settings: [
    ['/settings', 'shows all of them, with buttons'],
    ['/settings create admins', 'who may make tasks; members is the other choice'],
    ['/settings quiet 22:30-06:45', 'at night nothing comes; /help quiet has more'],
    ['/settings dates us', 'how dates are written'],
    ['/settings thumbs off', 'a message instead of a thumbs up'],
  ],
  digest: [
    ['/digest daily 8:00', 'what is coming and what went wrong, each morning'],
    ['/digest weekly monday 9:00', 'the same once a week'],
    ['/digest now', 'the same right now'],
    ['/digest off', 'no more of it'],
  ],
  topic: [
    ['/topic delete', 'in the topic of a task: deletes the topic, not the task'],
    ['/topic delete #3', 'the same from anywhere in this chat'],
    ['/topic clean', 'counts the topics of finished tasks, asks, and closes or deletes them'],
  ],
  purge: [
    ['/purge', 'counts the tasks of this chat, asks, and deletes them'],
    ['/purge Ben', 'the same for the tasks of one person'],
  ],
  status: [['/status', 'whether I am set up well here, and what waits']],
  usage: [['/usage', 'how many messages were sent, and how many tasks fit in']],
  allow: [
    ['/allow', 'in a group: its members may use me there; in our private chat: the list of who may use me'],
    ['/allow 123456789', 'the person with this id may write to me'],
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
    does: 'How to say when something shall come',
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
    does: 'I ask again and again until somebody says that it is done',
    examples: [
      ['/new every day at 8, until done Take the pill', 'asks from the first day on'],
      ['/edit #3 confirm on', 'a task that is there asks from now on'],
      ['/edit #3 confirm every 15 minutes 5 times', 'how often'],
      ['/edit #3 confirm off', 'asks no more'],
    ],
  },
  done: {
    also: ['taken', 'finished'],
    does: 'Tells everybody who did it and when; I stop asking',
    examples: [
      ['Done', 'the button below the message'],
      ['done', 'as a reply to the message; taken or ✅ will do as well'],
      ['/done #3', 'the same from anywhere in this chat'],
      ['/history #3', 'who did it, each time'],
    ],
  },
  remind: {
    also: ['reminder', 'reminders', 'remindme'],
    does: 'Brings something to mind, once or again and again',
    examples: [
      ['/new tomorrow at 9 Call mum', 'once'],
      ['/new every day at 8, until done Take the pill', 'until somebody says that it is done'],
      ['/snooze #3 1 hour', 'once more, later'],
      ['in 1 hour', 'the same as a reply to my message'],
    ],
  },
  quiet: {
    also: ['silent', 'night', 'urgent', 'sleep'],
    does: 'Quiet hours: messages wait until they end, or come without a sound',
    examples: [
      ['/settings quiet 22:00-07:00 hold', 'in this chat they wait until 7'],
      ['/settings quiet 22:00-07:00 silent', 'they come at once, without a sound'],
      ['/settings quiet 23-8', 'other hours; hold or silent stays as it was, and is hold at first'],
      ['/settings quiet off', 'no quiet hours'],
      ['/edit #3 quiet 22:00-07:00', 'for one task alone'],
      ['/edit #3 urgent on', 'this task comes at night as well'],
    ],
  },
  files: {
    also: ['file', 'photo', 'photos', 'picture', 'pictures', 'media', 'video', 'voice'],
    does: 'Photos, videos, voice messages and other files can be sent on time as well',
    examples: [
      ['/new tomorrow at 9', 'as the words below a photo that you send'],
      ['/new every friday at 17:00 The menu', 'as a reply to a photo: with words of your own'],
      ['/edit #3 media remove', 'the words alone from now on'],
    ],
  },
  reply: {
    also: ['replies', 'answer', 'answers', 'later', 'again'],
    does: 'A reply to a message of mine needs no number',
    examples: [
      ['done', 'it is done'],
      ['later', 'choose when it comes again'],
      ['in 1 hour', 'or any other time: it comes again then'],
      ['skip', 'leaves out the next time'],
      ['why?', 'why it came'],
    ],
  },
  this: {
    also: ['forward', 'repeat'],
    does: 'Any message or file can be sent once more on time: reply to it',
    examples: [
      ['/new tomorrow at 9', 'as the reply: that message comes then'],
      ['schedule this tomorrow at 9', 'the same; in a group call me by my name first'],
    ],
  },
  approval: {
    also: ['approve'],
    does: 'Somebody looks at the message before it is sent',
    examples: [
      ['/edit #3 approval on', 'I ask first, with the buttons Deliver and Discard'],
      ['/edit #3 approval off', 'I ask no more'],
    ],
  },
  fallback: {
    also: ['without topic', 'topics off'],
    does: 'A result whose topic cannot be had waits for it, or comes where its task was made',
    examples: [
      ['/edit #3 fallback creator', 'it comes where the task was made, under a line that says why'],
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
    does: 'A result that is the same as the last one need not be shown',
    examples: [
      ['/edit #3 unchanged skip', 'only what is new is shown'],
      ['/edit #3 unchanged silent', 'what is not new comes without a sound'],
      ['/edit #3 unchanged show', 'everything is shown again'],
    ],
  },
  zone: {
    also: ['zones', 'timezone', 'clock'],
    does: 'In which time zone times are meant',
    examples: [
      ['/tz Madrid', 'for this chat'],
      ['/edit #3 zone Europe/Madrid', 'for one task'],
      ['/new every day at 9 in Europe/Madrid Call the office', 'for a new one'],
    ],
  },
  number: {
    also: ['numbers', '#3', '3', 'topics', 'thread'],
    does: 'Each task has a number and, from its first message on, a topic: a thread of its own',
    examples: [
      ['/tasks', 'shows the numbers'],
      ['/task #3', 'the task with the number 3'],
      ['/pause', 'in the topic of a task no number is needed'],
    ],
  },
};
