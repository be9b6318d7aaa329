import { questionOf } from '../../../app/why/questions.ts';
import { AppError } from '../../../domain/errors.ts';
import { DAY_MS } from '../../../domain/schedule/time/calendar.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import { readAnywhere, readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext, Handler, Place } from '../context.ts';
import { editCommand } from '../edit/editing.ts';
import { isField } from '../edit/field-words.ts';
import { answer, forAsker } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { momentIn, pauseEndIn } from '../kit/days.ts';
import { type PlaceAndDate, readingFor, readingOf } from '../kit/drafts.ts';
import { onNamedTask } from '../kit/guards.ts';
import { impliedBy, type Implied } from '../kit/naming.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import {
  pauseCommand,
  resumeCommand,
  runCommand,
  skipCommand,
  skipsIn,
  snoozeCommand,
  undoCommand,
} from '../task/doing.ts';
import { cardCommand, historyCommand, nextCommand, whyCommand } from '../task/looking.ts';
import { texts } from '../texts.ts';
import { doneSaid, isDoneWord, notDoneSaid, thanked } from './done.ts';

/** Words are read where they were said, of the task that they are said of. */
interface Saying {
  readonly here: PlaceAndDate;
  readonly task: Task;
}

interface Wording {
  /** The whole of what was said; `rest` is what the command is given of it. */
  readonly pattern: RegExp;
  readonly command: string;
  readonly handle: Handler;
  /** Says of the rest whether it can be read; absent where there is none, or where the command itself says what is wrong. */
  readonly reads?: (rest: string, saying: Saying) => boolean;
}

const readsMoment = (rest: string, { here, task }: Saying) =>
  momentIn(rest, readingFor(task, here), 'morning') !== null;
const readsUntil = (rest: string, { here, task }: Saying) => pauseEndIn(rest, readingFor(task, here)) !== null;
const readsQuestion = (rest: string, { here, task }: Saying) => questionOf(rest, readingFor(task, here)) !== null;
const readsSkips = (rest: string, { here, task }: Saying) => skipsIn(rest, here, readingFor(task, here)) !== null;

const hushed =
  (handle: Handler): Handler =>
  async (ctx) =>
    forAsker(await handle(ctx));

/** The deeds that take something away are asked about first, with what else could be meant. */
const stopAsked = onNamedTask({ deed: 'change', verb: 'task' }, async (_ctx, { task }) => endAsked(task, true));
const deleteAsked = onNamedTask({ deed: 'change', verb: 'task' }, async (_ctx, { task }) => endAsked(task, false));

/** A pause is offered where it could have been meant and is possible. */
function endAsked(task: Task, isOpen: boolean): Answer {
  const data = (verb: string) => dataOf(verb, shortId(task.id));
  const { button: words, topic, reply } = texts;
  const offersPause = isOpen && task.state === 'active';
  return answer((offersPause ? reply.stop : reply.delete)(taskName(task)), [
    [
      offersPause ? button(words.pause, data('pause')) : null,
      button(words.delete, data('delete')),
      button(topic.keep, dataOf('keep')),
    ],
  ]);
}

/**
 * Plain words about a task do what the command of that name would do there. Each must be the whole of what was said, because
 * people talk to each other under a result as well.
 */
const wordings: readonly Wording[] = [
  {
    pattern:
      /^(?:snooze|later|not now|not today|(?:some |an)other (?:day|time)|next (?:week|month)|postpone|remind (?:me|us)(?: (?:again|later|again later))?)$/i,
    command: 'snooze',
    handle: snoozeCommand,
  },
  {
    pattern:
      /^(?:snooze|postpone|delay|put (?:it|this) off|(?:please )?remind (?:me|us)(?: again)?)(?: (?:it|this))?(?: by)? (?<rest>.+)$/i,
    command: 'snooze',
    handle: snoozeCommand,
    reads: readsMoment,
  },
  { pattern: /^(?:skip|pass)(?: (?:it|this|next|the next(?: one)?))?$/i, command: 'skip', handle: skipCommand },
  { pattern: /^skip (?<rest>.+)$/i, command: 'skip', handle: skipCommand, reads: readsSkips },
  { pattern: /^(?:pause|hold|mute)(?: (?:it|this))?$/i, command: 'pause', handle: pauseCommand },
  { pattern: /^(?:pause|hold|mute)(?: it)? (?<rest>.+)$/i, command: 'pause', handle: pauseCommand, reads: readsUntil },
  {
    pattern: /^(?:resume|unpause|continue|go on|restart)(?: (?:it|this))?$/i,
    command: 'resume',
    handle: resumeCommand,
  },
  {
    pattern: /^(?:stop|cancel|quit|enough|end)(?: (?:it|this|that|reminding me))?$/i,
    command: 'delete',
    handle: stopAsked,
  },
  { pattern: /^(?:delete|remove)(?: (?:it|this|that))?$/i, command: 'delete', handle: deleteAsked },
  { pattern: /^(?:why|why (?:is that|this|now)|what happened)$/i, command: 'why', handle: hushed(whyCommand) },
  { pattern: /^why (?<rest>.+)$/i, command: 'why', handle: hushed(whyCommand), reads: readsQuestion },
  {
    pattern: /^(?:(?:run )?(?:it )?again|once more|run(?: (?:it|this|now|it now))?|retry)$/i,
    command: 'run',
    handle: runCommand,
  },
  { pattern: /^history$/i, command: 'history', handle: hushed(historyCommand) },
  {
    pattern: /^(?:next|when|when (?:is (?:the )?)?next|what(?:'s| is) next)$/i,
    command: 'next',
    handle: hushed(nextCommand),
  },
  { pattern: /^(?:task|card|info|status|show)$/i, command: 'task', handle: hushed(cardCommand) },
  { pattern: /^undo(?: (?:it|this|that))?$/i, command: 'undo', handle: undoCommand },
  { pattern: /^edit$/i, command: 'edit', handle: editCommand },
  { pattern: /^(?:edit|change)(?: (?:it|this))?(?: to)? (?<rest>.+)$/i, command: 'edit', handle: editCommand },
  { pattern: /^(?:make|move|set) (?:it|this|that)(?: to)? (?<rest>.+)$/i, command: 'edit', handle: editCommand },
];

const notDoneWords =
  /^(?:no|nope|not (?:yet|done|done yet|finished|finished yet)|undone|(?:i )?(?:have not|haven['’]t|did not|didn['’]t)(?: (?:done|do) (?:it|that))?(?: yet)?)$/i;
const thanksWords =
  /^(?:(?:many |ok(?:ay)?,? )?(?:thanks|thank you|thank u|thx|ty|cheers)(?: a lot| so much| very much)?|🙏|❤️?)$/iu;

/**
 * Answers words about a task: a reply to a message about it, and what is said to us in its topic. Null when they are
 * neither, or ask for a new task.
 */
export async function replied(ctx: ChatContext): Promise<Answer | null> {
  const implied = ctx.isOfAnother === true ? null : await impliedBy(ctx);
  if (implied === null || !isSaidToUs(ctx, implied)) return null;
  const words = bareWords(ctx.args);
  if (words === '' && ctx.media !== null) return null;
  if (isDoneWord(words)) return doneSaid(ctx, implied);
  if (notDoneWords.test(words)) return notDoneSaid(ctx, implied);
  if (thanksWords.test(words)) return thanked(ctx, implied);
  const saying = { here: ctx, task: implied.task };
  const ordered = orderIn(words, saying);
  if (ordered !== null) return ordered.handle({ ...ctx, command: ordered.command, args: ordered.rest });
  if (readsMoment(words, saying)) return snoozeCommand({ ...ctx, command: 'snooze', args: words });
  const asked = askedIn(ctx);
  if (asked === 'rhythm') return forAsker(answer(texts.reply.retimeHow(taskName(implied.task), ctx.args)));
  // In a group it is for the one alone who said it, because it may have been meant for the others.
  return asked === 'task' && isDirect(ctx) ? null : forAsker(answer(texts.reply.hint(taskName(implied.task))));
}

/**
 * In a private chat everything is said to us; in a group what answers us, or calls us by our name, and in the topic of a task
 * what is nothing but an order about it.
 */
function isSaidToUs(ctx: ChatContext, { by, task }: Implied): boolean {
  if (by === 'reply' || ctx.repliedTo?.isOurs === true || isDirect(ctx)) return true;
  return ctx.repliedTo === null && isOrderFor(task, ctx.args, ctx);
}

/**
 * Words that are from first to last a time or a verb for the task in whose topic they are said. A question is one only where
 * it is about the task.
 */
export function isOrderFor(task: Task, said: string, here: PlaceAndDate): boolean {
  const words = bareWords(said);
  // "No" is said to people.
  if (isDoneWord(words) || (notDoneWords.test(words) && !/^no(?:pe)?$/i.test(words))) return true;
  const saying = { here, task };
  const isQuestion = /\?\s*$/.test(said);
  const ordered = orderIn(words, saying);
  if (ordered === null) return !isQuestion && (readsMoment(words, saying) || readsRhythm(words, saying));
  if (isQuestion) return questions.has(ordered.command);
  // "Change the filter" is said to a person.
  return ordered.command !== 'edit' || ordered.rest === '' || isEditFor(ordered.rest, saying);
}

const questions: ReadonlySet<string> = new Set(['why', 'next', 'history', 'task']);

function bareWords(said: string): string {
  return said.trim().replace(/[.!?\s]+$/u, '');
}

function isEditFor(rest: string, saying: Saying): boolean {
  return isField(rest) || readsMoment(rest, saying) || readsRhythm(rest, saying);
}

function readsRhythm(words: string, { here, task }: Saying): boolean {
  return timeOr(() => readTime(words, readingFor(task, here)))?.text === '';
}

function isDirect({ place, isAddressed }: ChatContext): boolean {
  return place.chat.kind === 'private' || isAddressed === true;
}

function orderIn(words: string, saying: Saying) {
  const bare = words.replace(/^please[, ]+/i, '').replace(/,? please$/i, '');
  for (const { pattern, reads, ...wording } of wordings) {
    const match = pattern.exec(bare);
    const rest = match?.groups?.['rest'] ?? '';
    if (match !== null && (reads === undefined || reads(rest, saying))) return { ...wording, rest };
  }
  return null;
}

/** Words that ask for another task, whose preview can do no harm, or name a rhythm alone; null where they are neither. */
function askedIn(ctx: ChatContext): 'task' | 'rhythm' | null {
  try {
    const { text, schedule } = readAnywhere(ctx.args, readingOf(ctx));
    if (text !== '') return 'task';
    return schedule.kind === 'once' ? null : 'rhythm';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code === 'ambiguous_schedule' ? 'task' : null;
  }
}

/**
 * Words for people who talk to each other in a group's topic of a task: once a day they read what can be said there. Null where
 * that was said within a day, or the topic is no task's.
 */
export async function talkWords(
  store: Pick<ChatContext['store'], 'readNote' | 'writeNote'>,
  { chat, topicTask }: Place,
  now: number,
): Promise<Drawn | null> {
  if (topicTask === null || chat.state !== 'approved') return null;
  const key = `talk:${chat.id}`;
  const lately = Object.entries(saidIn(await store.readNote(key))).filter(([, at]) => at <= now && now - at < DAY_MS);
  if (lately.some(([number]) => number === String(topicTask.number))) return null;
  await store.writeNote(key, JSON.stringify({ ...Object.fromEntries(lately), [topicTask.number]: now }), now);
  return drawn(texts.reply.talk(taskName(topicTask)));
}

/** Numbers of tasks, and when it was said in the topic of each. */
function saidIn(note: string | null): Readonly<Record<string, number>> {
  return note === null ? {} : (JSON.parse(note) as Record<string, number>);
}
