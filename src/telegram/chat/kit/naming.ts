import { z } from 'zod';
import type { ChatTasksQuery, Draft } from '../../../app/ports/chats.ts';
import type { Deed } from '../../../domain/access.ts';
import { undoMs } from '../../../domain/limits.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ChatContext, Place } from '../context.ts';
import { texts } from '../texts.ts';
import { answer, answerWith, choiceDrawn, pageSize, Refused } from './answers.ts';
import { taskName } from './card.ts';
import { putRow, saidIn } from './drafts.ts';
import { button, dataOf, shortId } from './press.ts';
import { blocks } from './rich.ts';
import { demand } from './rights.ts';

/** The wish of a command towards a task. */
export interface Wish {
  readonly deed: Deed;
  /** The verb of the buttons in the list that is shown when no task was named. */
  readonly verb: string;
  /** Tasks that the wish fits. */
  readonly fits?: ChatTasksQuery['filter'];
  /** Nothing may follow the task: words that do could name another one, and are not guessed at. */
  readonly isAlone?: boolean;
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
}

/** The subject of a word that names none: of the message that it answers, or of the topic in which it stands. */
export interface Implied {
  readonly task: Task;
  readonly runId: string | null;
  readonly occurrenceId: string | null;
  readonly by: 'reply' | 'topic';
}

const unit = /^(?:s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?|w(?:eeks?)?)$/i;

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
    if (implied === null) return unnamed(ctx, wish);
    const { task, runId } = implied;
    return allowed(ctx, wish, { task, rest: args.trim(), runId }, true);
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

async function allowed(ctx: ChatContext, wish: Wish, named: Named, isImplied: boolean): Promise<Named> {
  await demand(ctx, wish.deed, named.task);
  if (wish.isAlone === true && named.rest !== '') throw new Refused(leftOver(ctx, named, isImplied));
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
  const only = await onlyOne(ctx.place, ctx.store, wish);
  const words = ctx.args.trim();
  if (only !== null) return allowed(ctx, wish, { task: only, rest: words }, true);
  throw new Refused(await which(ctx, wish));
}

async function onlyOne(place: Place, store: ChatContext['store'], wish: Wish): Promise<Task | null> {
  const [task, other] = wish.isAsked === true ? [] : await shortList(place, store, wish.fits ?? 'all');
  return other === undefined ? (task ?? null) : null;
}

async function which(ctx: ChatContext, { verb, fits, isAlone }: Wish): Promise<Answer> {
  const { place, command, args } = ctx;
  const tasks = await shortList(place, ctx.store, fits ?? 'all');
  const [first] = tasks;
  if (first === undefined) return answer(texts.list.noneAtAll);
  const name = command ?? 'task';
  const words = isAlone === true ? '' : args.trim();
  const lead = texts.list.whichOne(`/${name} #${first.number}`, words);
  if (words === '') return answerWith(choiceDrawn(lead, tasks, dataWith(verb)));
  const kept = keptFor(ctx, { command: name, words }, { id: ctx.ids.next(), now: ctx.clock.now() });
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
