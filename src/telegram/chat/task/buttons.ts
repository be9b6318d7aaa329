import { iso } from '../../../domain/schedule/time/calendar.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, Buttons, ChatContext, Handler } from '../context.ts';
import { editCommand } from '../edit/editing.ts';
import { isRepeating } from '../edit/retiming.ts';
import { editMenu } from '../edit/view.ts';
import { answered, answerWith, redrawn, Refused, toasted, toastOf } from '../kit/answers.ts';
import { card, cardButtons, taskName, cardOf, factsOf, settingFor } from '../kit/card.ts';
import { aboutMoment } from '../kit/clock.ts';
import { putDraft, cancelRow } from '../kit/drafts.ts';
import { onChat, onTask, targetOf } from '../kit/guards.ts';
import { unnamedIn, type Unnamed } from '../kit/naming.ts';
import { arg, button, dataOf, longId, shortId, markFor } from '../kit/press.ts';
import { blocks, drawn } from '../kit/rich.ts';
import { standstill } from '../kit/rights.ts';
import { turned } from '../new-task/steps.ts';
import { notStartedPressed, resultRows, withRows, noticeRows } from '../results/view.ts';
import { texts } from '../texts.ts';
import { trustTyped } from '../trust/grants.ts';
import { agendaOf, isSpan } from './agenda.ts';
import {
  goingOnWords,
  pauseCommand,
  pauseToPressed,
  resumed,
  snoozeCommand,
  skippedWords,
  skipCommand,
  undoneTogether,
  undoneWords,
} from './doing.ts';
import { isFilter } from './list.ts';
import { historyOf, listOf, whyWords, whyCommand } from './looking.ts';

/** Buttons of cards, lists and menus. After each callback the message shows how the task stands now. */
export const taskButtons = {
  task: onTask('read', async (ctx, task) => {
    const isUnfolded = arg(ctx, 1) === 'more';
    return cardTold(ctx, task, card(task, { ...(await factsOf(task, ctx)), isUnfolded }));
  }),
  run: onTask('change', runPressed),
  pause: onTask('change', async (ctx, task) =>
    stateTold(ctx, (await ctx.tasks.pause(targetOf(ctx, task), null)).task, texts.deed.pausedWord),
  ),
  resume: onTask('change', async (ctx, task) =>
    stateTold(ctx, (await resumed(ctx, task)).task, texts.deed.resumedWord, task),
  ),
  pauseto: onTask('change', pauseToPressed),
  skip: onTask('change', skipPressed),
  edit: onTask('change', async (ctx, task) => redrawn(ctx, editMenu(task, await factsOf(task, ctx)))),
  editwhat: onTask('change', editWhatPressed),
  history: onTask('read', async (ctx, task) => redrawn(ctx, await historyOf(task, ctx, arg(ctx, 1) || null)), {
    deleted: 'handled',
  }),
  why: onTask('read', whyPressed, { deleted: 'handled' }),
  delete: onTask('change', deletePressed, { deleted: 'handled' }),
  restore: onTask(
    'change',
    async (ctx, task) => onCard(ctx, (await ctx.tasks.restore(targetOf(ctx, task))).task, texts.deed.restoredWord),
    { deleted: 'handled' },
  ),
  undo: onTask('change', undoPressed, { deleted: 'handled' }),
  list: onChat('read', listPressed),
  // Making a task begins in the place of a list that has none.
  make: onChat('create', (ctx) => turned(ctx, ctx.ids.next(), { step: 'ask', kept: {} })),
  agenda: onChat('read', async (ctx) => {
    const span = arg(ctx, 0);
    return redrawn(ctx, await agendaOf(isSpan(span) ? span : 'day', ctx));
  }),
  which: onTask('read', whichPressed, { deleted: 'handled' }),
} satisfies Buttons;

async function onCard(ctx: ChatContext, task: Task, toast: string | null = null): Promise<Answer> {
  return cardTold(ctx, task, await cardOf(task, ctx), toast);
}

/** A card that somebody presses stays right from then on, unless it is shown to them alone. */
function cardTold(ctx: ChatContext, { id: taskId }: Task, shown: Drawn, toast: string | null = null): Answer {
  const told = redrawn(ctx, shown, toast);
  if (ctx.ephemeralId !== null) return told;
  const { messageId } = ctx;
  return { ...told, replies: [{ is: 'edit', messageId, shown, stands: { as: 'pressed', taskId } }] };
}

/** The mark of the drawing is the key: two presses of the same button start one run. */
async function runPressed(ctx: ChatContext, { id }: Task): Promise<Answer> {
  const [mark, occurrence] = [arg(ctx, 1) || `m${ctx.messageId}`, arg(ctx, 2)];
  const idempotencyKey = `telegram:run:${ctx.place.chat.id}:${mark}:${occurrence}`;
  const { task, taskRun } = await ctx.tasks.runNow({ ...targetOf(ctx, { id }), idempotencyKey });
  const told = notStartedPressed(task, taskRun);
  if (told !== null) return told;
  const stands = await standstill(ctx, task.action.kind, settingFor(task, ctx));
  if (stands !== null) return toasted(stands);
  if (occurrence === '' || ctx.shown === null) {
    const facts = { ...(await factsOf(task, ctx)), startedAt: ctx.clock.now() };
    return cardTold(ctx, task, card(task, facts), texts.deed.startedWord);
  }
  const rows = resultRows(task, longId(occurrence), markFor(ctx));
  return redrawn(ctx, withRows(ctx.shown, rows), texts.deed.startedWord);
}

/** A notice keeps its words, an answer to a command says the new state, everything else is the card. */
async function stateTold(ctx: ChatContext, task: Task, toast: string, before = task): Promise<Answer> {
  const origin = arg(ctx, 1);
  if (origin === 'n' && ctx.shown !== null) {
    const run = arg(ctx, 2);
    return redrawn(ctx, withRows(ctx.shown, noticeRows(task, run === '' ? null : longId(run))), toast);
  }
  if (origin !== 'c' || task.state !== 'active') return onCard(ctx, task, toast);
  return redrawn(ctx, drawn(await goingOnWords(task, before, ctx)), toast);
}

/** The button names the run that it skips, so that a second press skips no other. */
async function skipPressed(ctx: ChatContext, { id }: Task): Promise<Answer> {
  const from = arg(ctx, 1) === '' ? null : Number.parseInt(arg(ctx, 1), 36);
  const target = targetOf(ctx, { id });
  const own = from === null ? { idempotencyKey: `telegram:skip:${ctx.place.chat.id}:${ctx.messageId}` } : {};
  const { task, entryId, slots } = await ctx.tasks.skip(
    { ...target, ...own },
    { count: 1, from: Number.isFinite(from) ? from : null },
  );
  const setting = settingFor(task, ctx);
  const words = skippedWords(slots, setting);
  if (entryId !== null) return onCard(ctx, task, texts.deed.skippedWord(words));
  // The card was older than the run that it named.
  const isOver = from !== null && from <= ctx.clock.now();
  return onCard(ctx, task, isOver ? texts.deed.skipTooLate(aboutMoment(from, setting)) : texts.deed.skippedBefore);
}

/** The next plain message of this person here is the new time, text or title. */
async function editWhatPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const what = arg(ctx, 1);
  const isKnown = what === 'time' || what === 'text' || what === 'title';
  if (!isKnown) return onCard(ctx, task);
  const id = ctx.ids.next();
  const { edit, making, retime } = texts;
  const name = taskName(task);
  const words = {
    time: edit.askTime(name, isRepeating(task) ? retime.tries : making.timeTries),
    text: edit.askText(name),
    title: edit.askTitle(name),
  };
  // Telegram may keep plain messages of a group from the bot, but not the replies to it.
  const how = ctx.place.chat.kind === 'private' ? null : texts.field.byReply;
  return {
    ...redrawn(ctx, drawn(blocks(words[what], how), cancelRow(id))),
    draft: putDraft(ctx, id, { step: 'edit', taskId: task.id, what, misses: 0, offers: [] }),
  };
}

async function whyPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const back = [[button(texts.button.back, dataOf('task', shortId(task.id)))]];
  const slot = /^[0-9a-z]{1,9}$/.test(arg(ctx, 1)) ? Number.parseInt(arg(ctx, 1), 36) : null;
  const when = slot === null ? '' : iso(slot);
  return redrawn(ctx, drawn(await whyWords(task, when, ctx), back));
}

async function deletePressed(ctx: ChatContext, task: Task): Promise<Answer> {
  // The second press of two finds the work done.
  if (task.state !== 'deleted') await ctx.tasks.delete(targetOf(ctx, task));
  const rows = cardButtons({ ...task, state: 'deleted' }, { next: [], mark: '' });
  return redrawn(ctx, drawn(texts.deed.deleted(taskName(task)), rows), texts.deed.deletedWord);
}

async function undoPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const entryId = longId(arg(ctx, 1));
  if (entryId === '') throw new Refused(texts.chat.oldButton);
  const all = arg(ctx, 2) === 'all' ? await undoneTogether(ctx, { taskId: task.id, entryId }) : null;
  if (all !== null) return redrawn(ctx, drawn(all), texts.deed.undoneWord);
  const back = await ctx.tasks.undo(targetOf(ctx, task), entryId);
  const { beforeWord, overWord } = texts.undo;
  const toast = { before: beforeWord, over: overWord, undone: texts.deed.undoneWord }[back.moot ?? 'undone'];
  return redrawn(ctx, drawn(await undoneWords(back, ctx)), toast);
}

async function listPressed(ctx: ChatContext): Promise<Answer> {
  const [filter = '', page = '', ...words] = ctx.press?.args ?? [];
  const text = words.join(':');
  const listing = {
    filter: isFilter(filter) ? filter : 'all',
    page: /^\d{1,4}$/.test(page) ? Number(page) : 0,
    text: text === '' ? null : text,
  } as const;
  return redrawn(ctx, await listOf(listing, ctx));
}

/**
 * A button that nobody knows any more, or never knew: what there is to see here now, below it. The message itself may be a
 * result, whose words are not ours to take away.
 */
export const unknownButton = onChat('read', async (ctx) => {
  const { topicTask } = ctx.place;
  const shown =
    topicTask === null ? await listOf({ filter: 'all', text: null, page: 0 }, ctx) : await cardOf(topicTask, ctx);
  return { ...answerWith(shown), ...toastOf(texts.chat.oldButton) };
});

/** Commands whose words are more than the name of a task. */
const typed: ReadonlyMap<string, Handler> = new Map([
  ['edit', editCommand],
  ['snooze', snoozeCommand],
  ['skip', skipCommand],
  ['pause', pauseCommand],
  ['why', whyCommand],
  ...trustTyped,
]);

/** The task is named now, so what was typed is done, in the place of the question. */
async function whichPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const { command, words } = await typedBefore(ctx);
  const handle = typed.get(command);
  if (handle === undefined) throw new Refused(texts.chat.oldButton);
  const told = await answered(handle, { ...ctx, command, args: `#${task.number} ${words}` });
  const { messageId } = ctx;
  const replies = told.replies.map((reply) =>
    reply.is === 'message' ? ({ is: 'edit', messageId, shown: reply.shown } as const) : reply,
  );
  return { ...told, replies };
}

async function typedBefore(ctx: ChatContext): Promise<Unnamed> {
  const [, command = '', ...words] = ctx.press?.args ?? [];
  if (!command.startsWith('@')) return { command, words: words.join(':') };
  const draft = await ctx.store.readDraft(longId(command.slice(1)));
  const unnamed = unnamedIn(draft);
  if (draft === null || unnamed === null || draft.expiresAt <= ctx.date) throw new Refused(texts.list.whichOver);
  if (draft.userId !== ctx.person.actor) throw new Refused(texts.list.whichTheirs);
  return unnamed;
}
