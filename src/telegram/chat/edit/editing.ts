import type { DraftChange } from '../../../app/ports/chats.ts';
import type { TaskPatch, Changes } from '../../../app/tasks/edit.ts';
import type { Edited } from '../../../app/tasks/tasks.ts';
import type { Schedule } from '../../../domain/schedule/schedule.ts';
import { isBlank, titleFrom, type Task } from '../../../domain/task.ts';
import { readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext } from '../context.ts';
import { filesOf, newSecretLines, worstLines } from '../kit/action.ts';
import { answer, answerWith, Refused, silence, turnedDown, undoRow } from '../kit/answers.ts';
import { comingWords, taskName, factsOf, nextSentence, settingFor } from '../kit/card.ts';
import { scheduleText, type Setting } from '../kit/clock.ts';
import { endMoment } from '../kit/days.ts';
import { draftOf, putDraft, type DraftAt, cancelRow, readingOf } from '../kit/drafts.ts';
import { onNamedTask, permitted, targetOf } from '../kit/guards.ts';
import { policyName, policyWords } from '../kit/policy.ts';
import { arg, button, dataOf, shortId } from '../kit/press.ts';
import { blocks, lines, type Rich } from '../kit/rich.ts';
import { refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { isSetting, settingChanges, settingIn } from './action-words.ts';
import { fieldIn, isField, nearField } from './field-words.ts';
import { type Guessed, retimed, type Retimed } from './retiming.ts';
import { pieced, staying } from './rhythms.ts';
import { amongRhythms } from './several.ts';
import { editMenu } from './view.ts';

/** `/edit [n] <new when>`, and `/edit [n] <field> <value>`; alone it shows the menu. */
export const editCommand = onNamedTask(
  { deed: 'change', verb: 'edit', takes: takesEdit },
  async (ctx, { task, rest }) => {
    if (rest === '') return answerWith(editMenu(task, await factsOf(task, ctx)));
    if (isBareNumber(ctx, rest)) return answer(texts.retime.bareNumber(task.number, rest));
    const field =
      settingIn(rest, task, ctx.kinds.formOf(task.action.kind)) ??
      fieldIn(rest, { task, now: ctx.date, currency: ctx.spending.currency });
    if (field === null) return editTime(ctx, task, rest);
    if (field.is === 'patch') {
      const asked = worstAsked(ctx, task, field.patch);
      return asked === null ? edited(ctx, task, field.patch) : answer(asked.words, asked.rows);
    }
    if (field.field === 'zone' && field.word !== '') return answer(texts.edit.unknownZone(field.word));
    return answer(texts.field.how(field.field, task.number, field.example));
  },
);

function takesEdit(words: string, ctx: ChatContext): 'yes' | 'maybe' {
  const isNamed = isField(words) || isSetting(words, ctx.kinds.forms);
  return isNamed || timeOr(() => readTime(words, readingOf(ctx)))?.text === '' ? 'yes' : 'maybe';
}

async function editTime(ctx: ChatContext, task: Task, words: string): Promise<Answer> {
  const read = await newTime(ctx, task, words);
  if ('patch' in read) return edited(ctx, task, read.patch, read);
  if ('asks' in read) return read.asks;
  const near = nearField(words);
  if (near?.is === 'unknown') {
    return answer(texts.field.nearest(near.word, near.field, `#${task.number} ${near.example}`));
  }
  const [word = ''] = /^\p{L}+(?=\s)/u.exec(words) ?? [];
  if (read.isTimeless === true && word !== '' && !ofTime.test(word))
    return answer(texts.field.unknown(word, task.number));
  const tries = [...read.tries.slice(0, 2), ...texts.retime.fields];
  return answer(texts.retime.how(read.sentence, tries, task.number));
}

/** One rhythm or exception more, another time for one rhythm of several, or for the whole task. */
async function newTime(ctx: ChatContext, task: Task, words: string): Promise<Retimed> {
  return (await pieced(task, words, ctx)) ?? (await amongRhythms(ctx, task, words)) ?? retimed(ctx, task, words);
}
/** Words with which times begin: those are hardly the name of a field. */
const ofTime = /^(?:every|each|at|on|in|from|until|till|next|this|the|last|first|after|before|once|to|not?)$/i;

/** "/edit 2" in the topic of another task may mean the task as well as the hour. */
function isBareNumber({ args }: ChatContext, rest: string): boolean {
  return args.trim() === rest && /^\d{1,9}$/.test(rest);
}

/** Changes the task and shows what is different now, with the way back. */
async function edited(ctx: ChatContext, task: Task, patch: TaskPatch, read: Guessed = {}): Promise<Answer> {
  const { words, rows } = await change(ctx, task, withTitle(task, patch));
  const { assumed = [], ways = [] } = read;
  const told = assumed.length === 0 ? words : blocks(words, texts.making.assumed(assumed.join(', ')));
  return answer(told, [ways, ...rows]);
}

/** A title that was taken from the text goes along with it; one that somebody chose stays. */
function withTitle(task: Task, patch: TaskPatch): TaskPatch {
  const { instructions, title } = patch;
  if (instructions === undefined || title !== undefined || isBlank(instructions)) return patch;
  const isDerived = !isBlank(task.instructions) && titleFrom(task.instructions) === task.title;
  return isDerived ? { ...patch, title: titleFrom(instructions) } : patch;
}

/** The differences, the next slots before and after, and the button that takes the change back. */
export async function change(ctx: ChatContext, task: Task, patch: TaskPatch) {
  const before = await comingWords(task, ctx);
  const done = await ctx.tasks.edit(targetOf(ctx, task), patch);
  return { words: await editedWords(done, ctx, before), rows: undoRow(done.task, done.entryId) };
}

async function editedWords(
  { task, changes, entryId, warnings }: Edited,
  ctx: ChatContext,
  before: string | null,
): Promise<Rich> {
  const { edit, making, field } = texts;
  if (entryId === null) return edit.nothing(taskName(task));
  const told = diffs(changes, settingFor(task, ctx));
  const after = await comingWords(task, ctx);
  return blocks(
    edit.changed(taskName(task)),
    // Handled once more after a crash, it is changed already.
    told.length === 0 ? null : lines(...told, stays(changes, ctx.clock.now())),
    lines(
      ...newSecretLines(ctx, changes['action']?.before, changes['action']?.after),
      isRetimed(changes) && before !== null && before !== after ? field.nextBefore(before) : null,
      await nextSentence(task, ctx),
      ...warnings.map(({ message }) => making.note(message)),
    ),
  );
}

/** The question before slots are made up of a task whose runs cost something: how much that can be at once. Null where none is needed. */
export function worstAsked({ kinds, clock }: ChatContext, task: Task, { policies = {} }: TaskPatch) {
  const { missed } = policies;
  if (missed !== 'all' && missed !== 'ask') return null;
  const outlookWith = (more: object) =>
    kinds.outlook(task.action, { schedule: task.schedule, policies: { ...task.policies, ...more }, now: clock.now() });
  const worst = worstLines(outlookWith({ missed }));
  // Who was asked once is not asked again.
  if (worst.length === 0 || worstLines(outlookWith({})).length > 0) return null;
  const id = shortId(task.id);
  const { edit } = texts;
  return {
    words: edit.worst(taskName(task), worst),
    rows: [
      [
        button(edit.worstYes, dataOf('fieldset', id, 'missed', missed, agreed)),
        button(texts.retime.button.keep, dataOf('kept', id)),
      ],
    ],
  };
}

/** The end of a press by which somebody has agreed. */
export const agreed = 'yes';

/** Rhythms and exceptions that the change has left alone. */
function stays({ schedule }: Changes, now: number): string | null {
  if (schedule === undefined) return null;
  const pieces = staying(schedule.before as Schedule, schedule.after as Schedule, now);
  return pieces.length === 0 ? null : texts.retime.stays(pieces);
}

const timing: readonly string[] = ['until', 'start_at', 'max_runs'];

function isRetimed(changes: Changes): boolean {
  return changes['schedule'] !== undefined || policyChanges(changes).some(({ field }) => timing.includes(field));
}

function diffs(changes: Changes, setting: Setting): readonly Rich[] {
  const { edit, field: words } = texts;
  const told = Object.entries(changes).flatMap(([field, { before, after }]) => {
    if (field === 'policies') return [];
    if (field === 'action') return actionDiffs(before, after);
    const text = (value: unknown) => valueText(field, value, setting);
    const [was, is] = fromDifference(text(before), text(after));
    return [edit.diff(edit.fields[field] ?? words.names[field] ?? field, was, is)];
  });
  const policies = policyChanges(changes).map(({ field, before, after }) =>
    edit.diff(policyName(field), policyWords(field, before, setting), policyWords(field, after, setting)),
  );
  return [...told, ...policies];
}

/** Long texts begin a little before the place where they differ: further on they are cut. */
function fromDifference(before: string, after: string): readonly [string, string] {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same += 1;
  const begin = before.lastIndexOf(' ', same - sameShownMax) + 1;
  if (same < sameMax || begin === 0) return [before, after];
  return [`…${before.slice(begin)}`, `…${after.slice(begin)}`];
}

/** As many characters in common are shown whole, and so many before the difference otherwise. */
const sameMax = 120;
const sameShownMax = 40;

/** Each setting of the action by its name, and its attachment. */
function actionDiffs(before: unknown, after: unknown): readonly Rich[] {
  const settings = settingChanges(before, after).map(([name, was, is]) => {
    const [shownBefore, shownAfter] = fromDifference(was, is);
    return texts.edit.diff(name, shownBefore, shownAfter);
  });
  return [...settings, ...mediaDiff(before, after)];
}

function mediaDiff(before: unknown, after: unknown): readonly Rich[] {
  const { edit, field } = texts;
  const [had, has] = [mediaText(before), mediaText(after)];
  return had === has ? [] : [edit.diff(field.names['media'] ?? '', had, has)];
}

function mediaText(action: unknown): string {
  const kinds = filesOf(factsIn(action));
  return kinds.length === 0 ? texts.field.noMedia : texts.field.media(kinds);
}

function policyChanges({ policies }: Changes) {
  if (policies === undefined) return [];
  const [before, after] = [factsIn(policies.before), factsIn(policies.after)];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names]
    .map((field) => ({ field, before: before[field], after: after[field] }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after));
}

function factsIn(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function valueText(field: string, value: unknown, setting: Setting): string {
  const { now, dates } = setting;
  if (field === 'schedule') return timeText(value as Schedule, now, dates);
  if (field === 'tags' && Array.isArray(value)) return value.length === 0 ? texts.field.noTags : value.join(', ');
  if (field === 'grant_expires_at')
    return typeof value === 'string' ? endMoment(Date.parse(value), setting) : texts.grants.endless;
  if (value === null) return texts.field.noValue;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function timeText(schedule: Schedule, now: number, dates: Setting['dates']): string {
  return `${scheduleText(schedule, now, dates)} (${schedule.timezone})`;
}

/** In a group people talk to each other as well: after this many words that were none, only a reply to us is told so. */
const missesAloud = 2;

/** The next plain message of somebody who pressed Edit. */
export async function goOnEditing(ctx: ChatContext, { row, step }: DraftAt<'edit'>): Promise<Answer> {
  const drop = { is: 'drop', draftId: row.id } as const;
  const task = await ctx.store.readTask(step.taskId);
  if (task === null || task.state === 'deleted') return { ...answer(texts.chat.gone), draft: drop };
  const refused = await refusal(ctx, 'change', task);
  if (refused !== null) return { ...turnedDown(refused), draft: drop };
  const words = ctx.args.trim();
  if (step.what !== 'time') {
    const patch = step.what === 'title' ? { title: words } : { instructions: words };
    return { ...(await edited(ctx, task, patch)), draft: drop };
  }
  const read = await newTime(ctx, task, words);
  if ('patch' in read) return { ...(await edited(ctx, task, read.patch, read)), draft: drop };
  if ('asks' in read) return { ...read.asks, draft: inPlaceOf(row.id, read.asks.draft) };
  const isTalk = step.misses >= missesAloud && ctx.place.chat.kind !== 'private' && ctx.repliedTo?.isOurs !== true;
  if (isTalk) return silence;
  const id = ctx.ids.next();
  return {
    ...answer(texts.retime.how(read.sentence, read.tries, null), cancelRow(id)),
    draft: putDraft(ctx, id, { ...step, misses: step.misses + 1 }, row.id),
  };
}

/** A question that follows takes the place of the one that was answered. */
function inPlaceOf(draftId: string, change: Answer['draft'] = null): DraftChange {
  return change?.is === 'put' ? { ...change, drops: draftId } : { is: 'drop', draftId };
}

/** An answer to what was asked about the new time: it is read like words. */
export async function wayPressed(ctx: ChatContext): Promise<Answer> {
  const found = await draftOf(ctx, arg(ctx, 0));
  if (found.is === 'foreign') throw new Refused(texts.making.onlyTheirs);
  const step = found.is === 'open' ? found.draft.step : null;
  const way = step?.step === 'edit' && /^\d$/.test(arg(ctx, 1)) ? step.offers[Number(arg(ctx, 1))] : undefined;
  if (found.is !== 'open' || step?.step !== 'edit' || way === undefined) throw new Refused(texts.making.over);
  const task = await permitted(ctx, 'change', step.taskId);
  const read = await newTime(ctx, task, way.when);
  if ('sentence' in read) throw new Refused(read.sentence);
  const told = 'asks' in read ? read.asks : await edited(ctx, task, read.patch, read);
  const replies = told.replies.map((reply) =>
    reply.is === 'message' ? ({ is: 'edit', messageId: ctx.messageId, shown: reply.shown } as const) : reply,
  );
  return { ...told, replies, draft: inPlaceOf(found.draft.row.id, told.draft) };
}
