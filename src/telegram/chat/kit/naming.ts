import { z } from 'zod';
import type { ChatTasksQuery, Draft, Titled } from '../../../app/ports/chats.ts';
import { type Found, isWholeTitle, tasksNamed } from '../../../app/tasks/named.ts';
import type { Deed } from '../../../domain/access.ts';
import { titlesReadMax, undoMs } from '../../../domain/limits.ts';
import { subjectKey, type Task } from '../../../domain/task.ts';
import type { Answer, ChatContext, Place } from '../context.ts';
import { texts } from '../texts.ts';
import { answer, answerWith, choiceDrawn, pageSize, Refused } from './answers.ts';
import { taskName } from './card.ts';
import { pauseEndIn } from './days.ts';
import { putRow, readingOf, saidIn } from './drafts.ts';
import { button, dataOf, shortId } from './press.ts';
import { blocks, type Rich } from './rich.ts';
import { demand } from './rights.ts';

/** The wish of a command towards a task. */
export interface Wish {
  readonly deed: Deed;
  /** The verb of the buttons in the list that is shown when no task was named. */
  readonly verb: string;
  /** Tasks that the wish fits. */
  readonly fits?: ChatTasksQuery['filter'];
  /**
   * Says of words whether they can follow the task: `maybe` where only an answer can tell what is wrong with them. Absent
   * where nothing may follow, so that all words are the name of a task.
   */
  readonly takes?: (words: string, ctx: ChatContext) => 'yes' | 'maybe' | 'no';
  /** The task is asked for even where there is one task alone. */
  readonly isAsked?: boolean;
  /** A number that names no task is a count. */
  readonly isCounting?: boolean;
  /** Deleted tasks are meant as well. */
  readonly isForDeleted?: boolean;
}

/** The task that is meant, and what else was said. */
export interface Named {
  readonly task: Task;
  readonly rest: string;
  /** The run that is meant, where what was said answers a message about one. */
  readonly runId?: string | null;
  readonly occurrenceId?: string | null;
}

/** The subject of a word that names none: of the message that it answers, or of the topic in which it stands. */
export interface Implied {
  readonly task: Task;
  readonly runId: string | null;
  readonly occurrenceId: string | null;
  readonly by: 'reply' | 'topic';
}

const unit = /^(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)$/i;

/** The subject in "for Anna", in each way in which the tasks of the chat spell it; none where none of them is about that. */
export async function subjectsHere(
  { place, store }: { readonly place: Pick<Place, 'chat'>; readonly store: Pick<ChatContext['store'], 'subjectsIn'> },
  words: string,
): Promise<readonly string[]> {
  const [, subject] = /^for\s+(\S[\s\S]*)$/i.exec(words.trim()) ?? [];
  if (subject === undefined) return [];
  // Both engines know capital letters of their own, so they are compared here.
  const asked = subjectKey(subject);
  return (await store.subjectsIn(place.chat.id)).filter((one) => subjectKey(one) === asked);
}

export interface AboutSubject {
  readonly subjects: readonly string[];
  /** Words behind the subject, such as an end. */
  readonly rest: string;
}

/** "For Anna", "for Anna until friday"; a length of time, as in "for 2 hours", is none. */
export async function aboutSubject(ctx: ChatContext): Promise<AboutSubject | null> {
  const words = ctx.args.trim();
  if (!/^for\s/i.test(words) || pauseEndIn(words, readingOf(ctx)) !== null) return null;
  const whole = await subjectsHere(ctx, words);
  if (whole.length > 0) return { subjects: whole, rest: '' };
  const [, before = '', rest = ''] = /^(.*?)\s+(until\s.*)$/i.exec(words) ?? [];
  const subjects = await subjectsHere(ctx, before);
  if (subjects.length === 0) throw new Refused(texts.deed.noSubject(words.replace(/^for\s+/i, '')));
  return { subjects, rest };
}

/** `#3` names a task everywhere; a bare number does so only outside of a task's topic, as the first argument. */
export function numberIn(
  { topicTask }: Pick<Place, 'topicTask'>,
  args: string,
): { number: number; rest: string } | null {
  const pattern = topicTask === null ? /^(?:#\s?)?(\d{1,9})(?:\s+|$)/ : /^#\s?(\d{1,9})(?:\s+|$)/;
  const match = pattern.exec(args);
  // "10 min" is a span.
  if (match === null || (!args.startsWith('#') && unit.test(args.slice(match[0].length)))) return null;
  return { number: Number(match[1]), rest: args.slice(match[0].length).trim() };
}

/** A reply to a message of ours is about the task of that message, wherever it stands. */
export async function impliedBy(ctx: ChatContext): Promise<Implied | null> {
  const { place, repliedTo, store } = ctx;
  const { topicTask } = place;
  const inTopic = topicTask === null ? null : ({ task: topicTask, ...noRun, by: 'topic' } as const);
  if (repliedTo?.isOurs !== true) return inTopic;
  const about = await store.messageAt(place.chat.address, repliedTo.messageId);
  const { taskId, runId, occurrenceId } = about ?? { taskId: null, ...noRun };
  const task = await taskTold(ctx, taskId, repliedTo.text ?? '');
  return task === null || task.chatId !== place.chat.id ? inTopic : { task, runId, occurrenceId, by: 'reply' };
}

/** Messages of a task name it in their row; answers to people, which do not, name it in their words. */
async function taskTold({ place, store }: ChatContext, taskId: string | null, text: string): Promise<Task | null> {
  if (taskId !== null) return store.readTask(taskId);
  const number = numberTold(text);
  return number === null ? null : store.taskByNumber(place.chat.id, number);
}

const noRun = { runId: null, occurrenceId: null };

/** Our answers are about the task with which they begin, or the only one in their first line. */
function numberTold(text: string): number | null {
  const [line = ''] = text.split('\n', 1);
  const first = /^#(\d{1,9}) /.exec(line)?.[1];
  const all = new Set([...line.matchAll(/(?:^|\s)#(\d{1,9})\b/g)].map(([, digits]) => digits));
  const [only] = all;
  const digits = first ?? (all.size === 1 ? only : undefined);
  return digits === undefined ? null : Number(digits);
}

/** Finds the task that somebody means; where it is not clear, the answer is a short list with buttons. Never a guess. */
export async function namedTask(ctx: ChatContext, wish: Wish): Promise<Named> {
  const { place, args } = ctx;
  const implied = await impliedBy(ctx);
  const numbered = numberIn({ topicTask: implied?.task ?? null }, args);
  if (numbered === null) {
    const called = await calledIn(ctx, wish, implied);
    if (called !== null) return calledTask(ctx, wish, called);
    if (implied === null) return unnamed(ctx, wish);
    const { task, runId, occurrenceId } = implied;
    return allowed(ctx, wish, { task, rest: args.trim(), runId, occurrenceId }, true);
  }
  const task = await ctx.store.taskByNumber(place.chat.id, numbered.number);
  if (task === null && wish.isCounting === true && /^\d+$/.test(args.trim())) {
    const only = await onlyOne(place, ctx.store, wish);
    if (only !== null) return allowed(ctx, wish, { task: only, rest: args.trim() }, true);
  }
  if (task === null) throw new Refused(await noSuchNumber(ctx, wish, numbered.number));
  const isImplied = implied?.task.id === task.id;
  return allowed(ctx, wish, { task, rest: numbered.rest }, isImplied);
}

/**
 * The name with which the words begin. Words that can be said of the task that is meant anyway are no name, unless they are
 * a whole title; among several tasks they are one where what follows can be said of it.
 */
async function calledIn(ctx: ChatContext, wish: Wish, implied: Implied | null): Promise<Found<Titled> | null> {
  const words = ctx.args.trim();
  if (words === '') return null;
  const deletedSince = ctx.clock.now() - undoMs;
  const all = await ctx.store.titlesIn({ chatId: ctx.place.chat.id, deletedSince, limit: titlesReadMax });
  const live = all.filter(({ state }) => state !== 'deleted');
  const reads = wish.takes?.(words, ctx) ?? 'no';
  const isMeant = implied === null ? reads === 'yes' && live.length === 1 : wish.takes !== undefined;
  const named = (titles: readonly Titled[]) =>
    tasksNamed(
      words,
      isMeant ? titles.filter((title) => isWholeTitle(words, title)) : titles,
      (rest) => wish.takes?.(rest, ctx) === 'yes',
    );
  const found = named(live) ?? named(all);
  const isName = found?.tasks.some((title) => isWholeTitle(words, title)) === true || reads !== 'yes';
  if (found === null || isName) return found;
  return !found.isGuess && wish.takes?.(found.rest, ctx) === 'yes' ? found : null;
}

/** The task of which the words are the name, where they are that of no other; null where they are none. */
export async function calledAlone({ place, store }: ChatContext, words: string): Promise<Titled | null> {
  const titles = await store.titlesIn({ chatId: place.chat.id, deletedSince: null, limit: titlesReadMax });
  const found = tasksNamed(words, titles);
  const [task, other] = found?.rest === '' ? found.tasks : [];
  return other === undefined ? (task ?? null) : null;
}

/** One that fits the wish is meant rather than another of that name; a slip is asked about before something is lost by it. */
async function calledTask(ctx: ChatContext, wish: Wish, { tasks, rest, isGuess }: Found<Titled>): Promise<Named> {
  const fitting = tasks.filter(({ state }) => state === wish.fits);
  const meant = fitting.length === 0 ? tasks : fitting;
  const found = (await Promise.all(meant.slice(0, pageSize).map(({ id }) => ctx.store.readTask(id)))).filter(
    (task) => task !== null,
  );
  const [task, other] = found;
  const isClear = other === undefined && !(isGuess && wish.isAsked === true);
  if (task === undefined) throw new Refused(texts.chat.noSuchTask);
  if (isClear) return allowed(ctx, wish, { task, rest }, false);
  throw new Refused(
    await choiceOf(ctx, wish, {
      lead: other === undefined ? texts.list.isThisMeant : texts.list.whichOfThese,
      tasks: found,
      words: rest,
    }),
  );
}

async function allowed(ctx: ChatContext, wish: Wish, named: Named, isImplied: boolean): Promise<Named> {
  await demand(ctx, wish.deed, named.task);
  if (wish.takes === undefined && named.rest !== '') throw new Refused(leftOver(ctx, named, isImplied));
  if (named.task.state === 'deleted' && wish.isForDeleted !== true)
    throw new Refused(deletedAnswer(named.task, ctx.clock.now()));
  return named;
}

function leftOver({ command }: ChatContext, { task, rest }: Named, isImplied: boolean): Answer {
  return answer(
    texts.list.leftOver(`/${command ?? 'task'}`, rest, {
      name: isImplied ? taskName(task) : null,
      number: task.number,
    }),
  );
}

/** For a day what was deleted can be brought back; after that it does not exist. */
function deletedAnswer(task: Task, now: number): Answer {
  const isBack = task.deleted !== null && now - task.deleted.at <= undoMs;
  if (!isBack) return answer(texts.list.noSuchNumber(task.number));
  return answer(texts.deed.isDeleted(taskName(task)), [
    [button(texts.button.undo, dataOf('restore', shortId(task.id)))],
  ]);
}

/** A task that is alone is the one; among several it is asked which, and the typed words are kept for the answer. */
async function unnamed(ctx: ChatContext, wish: Wish): Promise<Named> {
  const words = ctx.args.trim();
  const isName = words !== '' && (wish.takes?.(words, ctx) ?? 'no') === 'no';
  const only = isName && wish.takes === undefined ? null : await onlyOne(ctx.place, ctx.store, wish);
  if (only !== null) return allowed(ctx, wish, { task: only, rest: words }, true);
  throw new Refused(await which(ctx, wish, isName));
}

async function onlyOne(place: Place, store: ChatContext['store'], wish: Wish): Promise<Task | null> {
  const [task, other] = wish.isAsked === true ? [] : await shortList(place, store, wish.fits ?? 'all');
  return other === undefined ? (task ?? null) : null;
}

/** Splits words into a name that no task has and what can be said of a task; null where they do not end so. */
function strangerIn(ctx: ChatContext, { takes }: Wish): { readonly name: string; readonly rest: string } | null {
  const words = ctx.args.trim();
  if (takes === undefined || takes(words, ctx) === 'yes') return null;
  const ends = [...words.matchAll(/\s+(?=\S)/g)].map(({ index }) => index);
  const end = ends.find((at) => takes(words.slice(at).trim(), ctx) === 'yes');
  return end === undefined ? null : { name: words.slice(0, end), rest: words.slice(end).trim() };
}

/** Words that nothing is called by are said to be so, and are not kept as what follows the task. */
async function which(ctx: ChatContext, wish: Wish, isName: boolean): Promise<Answer> {
  const { place, command, args } = ctx;
  const { list } = texts;
  const tasks = await shortList(place, ctx.store, wish.fits ?? 'all');
  const [first] = tasks;
  if (first === undefined) return answer(list.noneAtAll);
  const stranger = strangerIn(ctx, wish) ?? (isName ? { name: args.trim(), rest: '' } : null);
  const words = stranger === null ? args.trim() : stranger.rest;
  const asked = list.whichOne(`/${command ?? 'task'} #${first.number}`, words);
  const lead = stranger === null ? asked : blocks(list.noSuchName(stranger.name), asked);
  return choiceOf(ctx, wish, { lead, tasks, words });
}

interface Choice {
  readonly lead: Rich | string;
  readonly tasks: readonly Task[];
  /** Words behind the task, for when it is pressed. */
  readonly words: string;
}

async function choiceOf(ctx: ChatContext, { verb, takes }: Wish, { lead, tasks, words }: Choice): Promise<Answer> {
  if (words === '' || takes === undefined) return answerWith(choiceDrawn(lead, tasks, dataWith(verb)));
  const made = { id: ctx.ids.next(), now: ctx.clock.now() };
  const kept = keptFor(ctx, { command: ctx.command ?? 'task', words }, made);
  return { ...answerWith(choiceDrawn(lead, tasks, kept.dataFor)), draft: kept.draft };
}

function dataWith(verb: string): (task: Task) => string | null {
  return (task) => dataOf(verb, shortId(task.id));
}

async function noSuchNumber({ place, store }: ChatContext, wish: Wish, number: number): Promise<Answer> {
  const { list } = texts;
  const tasks = await shortList(place, store, wish.fits ?? 'all');
  if (tasks.length === 0) return answer(blocks(list.noSuchNumber(number), list.noneAtAll));
  return answerWith(choiceDrawn(blocks(list.noSuchNumber(number), list.existing), tasks, dataWith(wish.verb)));
}

async function shortList(
  { chat }: Place,
  store: ChatContext['store'],
  fits: ChatTasksQuery['filter'],
): Promise<readonly Task[]> {
  const query = { chatId: chat.id, ownerId: null, text: null, offset: 0, limit: pageSize };
  const fitting = await store.chatTasks({ ...query, filter: fits });
  // If none fits, the tasks that are there show it best.
  return fitting.total > 0 || fits === 'all'
    ? fitting.tasks
    : (await store.chatTasks({ ...query, filter: 'all' })).tasks;
}

/**
 * A command that named no task, kept until one is pressed. What is short stands on the buttons themselves; the rest waits in
 * a row of the drafts, which no other step can read.
 */
export interface Unnamed {
  readonly command: string;
  readonly words: string;
}

const keptMs = 30 * 60_000;
const stepName = 'which';
const Body = z.object({ command: z.string(), words: z.string() });

function keptFor(ctx: ChatContext, { command, words }: Unnamed, { id, now }: { id: string; now: number }) {
  const inline = (task: Pick<Task, 'id'>) => dataOf('which', shortId(task.id), command, words);
  // Every id is as long as this one.
  if (inline({ id }) !== null) return { dataFor: inline, draft: null };
  return {
    dataFor: (task: Task) => dataOf('which', shortId(task.id), `@${shortId(id)}`),
    draft: putRow(ctx, {
      id,
      step: stepName,
      body: { command, words },
      messageId: saidIn(ctx)?.message ?? null,
      expiresAt: now + keptMs,
    }),
  };
}

/** Null for what is no such row. */
export function unnamedIn(draft: Draft | null): Unnamed | null {
  const read = draft?.step === stepName ? Body.safeParse(draft.body) : null;
  return read?.success === true ? read.data : null;
}
