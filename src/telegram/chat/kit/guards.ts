import type { RunView } from '../../../app/ports/runs.ts';
import type { Target } from '../../../app/tasks/tasks.ts';
import type { Deed } from '../../../domain/access.ts';
import type { Task } from '../../../domain/task.ts';
import { telegramThread, type Thread } from '../../../domain/thread.ts';
import type { Answer, ChatContext, Handler, Place } from '../context.ts';
import { texts } from '../texts.ts';
import { redrawn, Refused } from './answers.ts';
import { cardOf } from './card.ts';
import { namedTask, type Named, type Wish } from './naming.ts';
import { arg, longId } from './press.ts';
import { demand } from './rights.ts';

/**
 * Guards of handlers, declared where a handler is listed: they find what it is about, check the right to it, and throw the
 * refusal. Handlers below them may change what they are given.
 */

/** More that a handler is told, by the one that leads to it. */
type Beside = readonly unknown[];
type HandlerWith<More extends Beside> = (ctx: ChatContext, ...more: More) => Promise<Answer>;

/** For commands and buttons about the chat as a whole. */
export function onChat<More extends Beside = []>(deed: Deed, handle: HandlerWith<More>): HandlerWith<More> {
  return async (ctx, ...more) => {
    await demand(ctx, deed);
    return handle(ctx, ...more);
  };
}

/** For what is about a task that is found in its own way; `find` throws the refusal where there is none. */
export function onFound<Found extends { readonly task: Task }, More extends Beside = []>(
  deed: Deed,
  find: (ctx: ChatContext, ...more: More) => Promise<Found>,
  handle: (ctx: ChatContext, found: Found) => Promise<Answer>,
): HandlerWith<More> {
  return async (ctx, ...more) => {
    const found = await find(ctx, ...more);
    await demand(ctx, deed, found.task);
    return handle(ctx, found);
  };
}

/** For commands about the task that is named or implied. */
export function onNamedTask(wish: Wish, handle: (ctx: ChatContext, named: Named) => Promise<Answer>): Handler {
  return async (ctx) => handle(ctx, await namedTask(ctx, wish));
}

/** A button about a task that was deleted shows its card, says that it is gone, or is handled like every other. */
interface Guarding {
  readonly deleted: 'card' | 'gone' | 'handled';
}

/** For buttons that carry a task. */
export function onTask(
  deed: Deed,
  handle: (ctx: ChatContext, task: Task) => Promise<Answer>,
  { deleted }: Guarding = { deleted: 'card' },
): Handler {
  return async (ctx) => {
    const task = await permitted(ctx, deed, longId(arg(ctx, 0)));
    if (task.state !== 'deleted' || deleted === 'handled') return handle(ctx, task);
    if (deleted === 'gone') throw new Refused(texts.chat.gone);
    return redrawn(ctx, await cardOf(task, ctx));
  };
}

export interface RunOfTask {
  readonly run: RunView;
  readonly task: Task;
}

/** For buttons that carry a run. */
export function onRun(
  deed: (ctx: ChatContext) => Deed,
  handle: (ctx: ChatContext, about: RunOfTask) => Promise<Answer>,
): Handler {
  return async (ctx) => {
    const run = await ctx.tasks.getRun(longId(arg(ctx, 0)));
    if (run.taskId === null) throw new Refused(texts.chat.noSuchTask);
    return handle(ctx, { run, task: await permitted(ctx, deed(ctx), run.taskId) });
  };
}

/** The deed that a button takes which is about a task, or about the chat where it is about none. */
interface Deeds {
  readonly task: Deed;
  readonly chat: Deed;
}

async function permittedAbout(ctx: ChatContext, deeds: Deeds, taskId: string | null): Promise<void> {
  await (taskId === null ? demand(ctx, deeds.chat) : permitted(ctx, deeds.task, taskId));
}

/** For buttons that carry a task, or none. */
export function onAnyTask(deeds: Deeds, handle: (ctx: ChatContext, taskId: string | null) => Promise<Answer>): Handler {
  return async (ctx) => {
    const taskId = longId(arg(ctx, 0)) || null;
    await permittedAbout(ctx, deeds, taskId);
    return handle(ctx, taskId);
  };
}

/** For buttons that carry a part of this chat whose arrival is in doubt. */
export function onDoubt(deeds: Deeds, handle: (ctx: ChatContext, deliveryId: string) => Promise<Answer>): Handler {
  return async (ctx) => {
    const deliveryId = longId(arg(ctx, 0));
    const part = (await ctx.store.unknownParts(ctx.place.chat.address, '')).find(
      (one) => one.deliveryId === deliveryId,
    );
    if (part === undefined) throw new Refused(texts.deed.settledBefore);
    await permittedAbout(ctx, deeds, part.taskId);
    return handle(ctx, deliveryId);
  };
}

/**
 * The task, if this person may do that with it. What a button carries can be made up by a client of one's own, so it is
 * checked like any other input.
 */
export async function permitted(ctx: ChatContext, deed: Deed, taskId: string): Promise<Task> {
  const task = await ctx.store.readTask(taskId);
  // A task that never was and one of another chat look alike.
  if (task === null) throw new Refused(texts.chat.noSuchTask);
  await demand(ctx, deed, task);
  return task;
}

/** The thread of a whole chat, with all its topics. */
export function threadOf({ chat }: Pick<Place, 'chat'>): Thread {
  return telegramThread(chat.address);
}

export function targetOf({ person, key }: Pick<ChatContext, 'person' | 'key'>, task: Pick<Task, 'id'>): Target {
  return { taskId: task.id, actor: person.actor, idempotencyKey: key, words: texts.advice };
}
