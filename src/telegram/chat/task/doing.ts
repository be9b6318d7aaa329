import type { LastChange } from '../../../app/ports/chats.ts';
import type { TaskRun } from '../../../app/ports/runs.ts';
import type { AuditRow } from '../../../app/ports/tasks.ts';
import type { Chosen } from '../../../app/tasks/bulk.ts';
import { type Within, slotsTold } from '../../../app/tasks/skip.ts';
import type { Undone } from '../../../app/tasks/tasks.ts';
import { undoable } from '../../../app/tasks/undo.ts';
import { settingsOf } from '../../../domain/chat-settings.ts';
import type { DeedVerb } from '../../../domain/event.ts';
import { skipMax, undoMs } from '../../../domain/limits.ts';
import { DAY_MS } from '../../../domain/schedule/time/calendar.ts';
import { ownerGonePause, type Task } from '../../../domain/task.ts';
import type { Answer, ChatContext } from '../context.ts';
import { newSecretLines } from '../kit/action.ts';
import { answer, redrawn, Refused, triedTo, reactOr, undoRow } from '../kit/answers.ts';
import { taskName, nextSentence, settingFor, settingHere } from '../kit/card.ts';
import { aboutMoment, settingOf, type Setting, moment, moments, pastMoment } from '../kit/clock.ts';
import { momentIn, pauseEndIn, dayIn, dayRows, isDay, nextMonday, startOf } from '../kit/days.ts';
import { draftHere, isEditing, messageOf, type PlaceAndDate, putDraft, readingFor, readingOf } from '../kit/drafts.ts';
import { onFound, onNamedTask, targetOf, threadOf } from '../kit/guards.ts';
import { aboutSubject, calledAlone, impliedBy, numberIn, type AboutSubject } from '../kit/naming.ts';
import { arg, button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { lines, drawn, type Rich } from '../kit/rich.ts';
import { calledOf, mayManage, nameOf, refusal, standstill } from '../kit/rights.ts';
import {
  heldWith,
  passedWith,
  pausedHere,
  pressedFor,
  snoozeButtons,
  snoozedWords,
  snoozesHeld,
  snoozesPassed,
} from '../results/snoozing.ts';
import { notStarted, startedDrawn } from '../results/view.ts';
import { texts } from '../texts.ts';

export const runCommand = onNamedTask({ deed: 'change', verb: 'run', isAsked: true }, async (ctx, named) => {
  const { task, taskRun } = await ctx.tasks.runNow(targetOf(ctx, named.task));
  const told = notStarted(task, taskRun);
  if (told !== null) return answer(told.words, told.rows);
  const stands = await standstill(ctx, task.action.kind, settingFor(task, ctx));
  if (stands !== null) return answer(lines(texts.deed.startedLater(taskName(task)), stands));
  const isHere = ctx.place.topicTask?.id === task.id;
  if (isHere) return { ...reactOr(ctx, '👀', answer(texts.deed.startedHere(taskName(task)))), ...following(taskRun) };
  const joins = task.schedule.kind === 'once' && settingsOf(ctx.place.chat.settings).oneOffs === 'together';
  const shown = startedDrawn(task, task.isTopicShared || (task.topicState === 'none' && joins));
  // The first run makes the topic; then the answer is given the way to it.
  const isLater = task.topicState === 'none' && ctx.place.chat.kind !== 'private';
  return { replies: [{ is: 'message', shown, ...(isLater ? { stands: { as: 'started', taskId: task.id } } : {}) }] };
});

/** A sign in the place of words becomes the sign of how it ended. */
function following({ runId }: Pick<TaskRun, 'runId'>): Pick<Answer, 'follows'> {
  return runId === null ? {} : { follows: runId };
}

const everything = /^all(?=\s|$)/i;

export async function pauseCommand(ctx: ChatContext): Promise<Answer> {
  const about = await aboutSubject(ctx);
  return about !== null || everything.test(ctx.args) ? pauseAll(ctx, about) : pauseNamed(ctx);
}

const pauseNamed = onNamedTask(
  { deed: 'change', verb: 'pause', fits: 'active', takes: takesUntil },
  async (ctx, named) => {
    const isPaused = named.rest === '' && named.task.state === 'paused';
    // Nothing is said against the end that a pause has already.
    const until = isPaused
      ? named.task.resumeAt
      : untilOf(ctx, named.rest, named.task.schedule.timezone, `#${named.task.number}`);
    const { task, entryId } = await ctx.tasks.pause(targetOf(ctx, named.task), until);
    if (task.state !== 'paused') return answer(texts.deed.notPausable(taskName(task)));
    const setting = settingFor(task, ctx);
    const rows = pausedRows(task, entryId, setting.now);
    if (entryId !== null) return answer(lines(pausedWords(task, setting), await snoozesHeld(task, ctx)), rows);
    const by = task.paused === null ? null : await nameOf(ctx, task.paused.by);
    return answer(pausedBeforeWords(task, by, setting), rows);
  },
);

function takesUntil(words: string, ctx: ChatContext): 'yes' | 'no' {
  return pauseEndIn(words, readingOf(ctx)) === null ? 'no' : 'yes';
}

/** The end of a pause; null where none is named. `which` is the task in an example, or all of them. */
function untilOf(ctx: ChatContext, words: string, timezone: string, which: string): number | null {
  if (words === '') return null;
  const until = pauseEndIn(words, readingOf(ctx, timezone));
  if (until === null) throw new Refused(answer(texts.deed.untilHow(which)));
  return until;
}

export async function resumeCommand(ctx: ChatContext): Promise<Answer> {
  const about = await aboutSubject(ctx);
  return about !== null || everything.test(ctx.args) ? resumeAll(ctx, about) : resumeNamed(ctx);
}

const resumeNamed = onNamedTask({ deed: 'change', verb: 'resume', fits: 'paused' }, async (ctx, named) => {
  const tried = await triedTo(() => resumed(ctx, named.task));
  if ('refusal' in tried) {
    const isOver = tried.refusal.code === 'schedule_exhausted';
    throw new Refused(isOver ? texts.edit.exhausted(named.task.number) : tried.refusal.message);
  }
  const { task, entryId } = tried.made;
  // Handled once more after a crash, it bears the entry of the first time.
  if (entryId === null && task.state === 'active')
    return answer(lines(texts.deed.notPaused(taskName(task)), await nextSentence(task, ctx)));
  return answer(await goingOnWords(task, named.task, ctx), undoRow(task, entryId));
});

/** The next runs, and the snoozes that would have come while it was paused. */
export async function goingOnWords(task: Task, before: Task, ctx: ChatContext): Promise<Rich> {
  return lines(texts.deed.goesOn(taskName(task)), await nextSentence(task, ctx), await snoozesPassed(before, ctx));
}

/** A task that waits for its owner goes on under the right of whoever lets it go on. */
export function resumed(ctx: ChatContext, task: Task) {
  const target = targetOf(ctx, task);
  return task.pausedReason === ownerGonePause ? ctx.tasks.renew(target) : ctx.tasks.resume(target);
}

async function pauseAll(ctx: ChatContext, about: AboutSubject | null): Promise<Answer> {
  const words = about?.rest ?? ctx.args.replace(everything, '').trim();
  const until = untilOf(ctx, words, ctx.place.timezone, 'all');
  const { changed, left } = await ctx.bulk.pause(allTasksFor(ctx, about), byOf(ctx), until);
  const setting = settingHere(ctx);
  const end = until === null ? null : `${aboutMoment(until, setting)} (${setting.timezone})`;
  const last = changed === 0 ? null : await lastOf(ctx, ['pause']);
  const held = last === null ? null : await heldWith(ctx, last);
  return answer(lines(texts.deed.pausedAll(changed, left, end), held), undoAllRow(last));
}

/** Tasks that were paused for their failures, or cannot be read, stay so: somebody has to look at them. */
async function resumeAll(ctx: ChatContext, about: AboutSubject | null): Promise<Answer> {
  const paused = await pausedHere(ctx);
  const { changed, left } = await ctx.bulk.resume(allTasksFor(ctx, about), byOf(ctx));
  const last = changed === 0 ? null : await lastOf(ctx, ['resume']);
  const passed = last === null ? null : await passedWith(ctx, last, paused);
  return answer(lines(texts.deed.resumedAll(changed, left), passed), undoAllRow(last));
}

/** The button carries one of the changes, by which the others are found. */
function undoAllRow(last: LastChange | null): Rows {
  if (last === null) return [];
  return [[button(texts.button.undo, dataOf('undo', shortId(last.taskId), shortId(last.entryId), 'all'))]];
}

/** Admins mean all tasks of the chat; everybody else all of their own. */
function allTasksFor(ctx: ChatContext, about: AboutSubject | null): Chosen {
  const subject = about?.subjects ?? null;
  return { thread: threadOf(ctx.place), ownerId: mayManage(ctx) ? null : ctx.person.actor, subject };
}

function byOf({ person, key }: ChatContext) {
  return { actor: person.actor, idempotencyKey: key };
}

export const deleteCommand = onNamedTask({ deed: 'change', verb: 'delete', isAsked: true }, async (ctx, named) => {
  const { task } = await ctx.tasks.delete(targetOf(ctx, named.task));
  const undo = button(texts.button.undo, dataOf('restore', shortId(task.id)));
  return answer(texts.deed.deleted(taskName(task)), [[undo]]);
});

export const snoozeCommand = onNamedTask(
  { deed: 'change', verb: 'snooze', takes: takesMoment },
  async (ctx, { task, rest, occurrenceId }) => {
    if (rest === '') {
      return answer(texts.deed.snoozeFor(taskName(task)), snoozeButtons(task, null, pressedFor(task, ctx)));
    }
    const until = momentIn(rest, readingFor(task, ctx), 'morning');
    if (until === null) return answer(texts.deed.snoozeHow(task.number));
    const told = await ctx.tasks.snooze(targetOf(ctx, task), until, occurrenceId);
    return answer(await snoozedWords(ctx, told), undoRow(task, told.entryId));
  },
);

function takesMoment(words: string, ctx: ChatContext): 'yes' | 'no' {
  return momentIn(words, readingOf(ctx), 'morning') === null ? 'no' : 'yes';
}

/** The draft of this place is nearer than what runs here; a number always means the run. */
export async function cancelCommand(ctx: ChatContext): Promise<Answer> {
  const implied = await impliedBy(ctx);
  const isNumbered = numberIn({ topicTask: implied?.task ?? null }, ctx.args) !== null;
  const isNamed = isNumbered || (await calledAlone(ctx, ctx.args)) !== null;
  const draft = isNamed ? null : await draftHere(ctx);
  if (draft !== null) {
    const words = isEditing(draft.step) ? texts.making.editDropped : texts.making.dropped;
    const messageId = await messageOf(ctx, draft);
    // A preview that cannot be created any more says so.
    const told = messageId === null ? answer(words) : redrawn({ ...ctx, messageId }, drawn(words));
    return { ...told, draft: putDraft(ctx, draft.row.id, { step: 'dropped' }) };
  }
  if (implied === null && ctx.args.trim() === '') return answer(texts.deed.nothingToCancel);
  const about = isNamed ? null : await aboutSubject(ctx);
  if (about !== null)
    return answer(texts.deed.cancelledAll((await ctx.bulk.cancel(allTasksFor(ctx, about), byOf(ctx))).changed));
  return cancelRun(ctx);
}

const cancelRun = onNamedTask({ deed: 'change', verb: 'task', isAsked: true }, async (ctx, named) => {
  const { task, entryId, replayed } = await ctx.tasks.cancel(targetOf(ctx, named.task));
  const isStopping = entryId !== null || replayed;
  return answer(isStopping ? texts.deed.cancelledRun(taskName(task)) : texts.deed.nothingRuns(taskName(task)));
});

/** The buttons below the answer to a pause. The data names days, because tomorrow is another day when it is pressed tomorrow. */
function pausedRows(task: Task, entryId: string | null, now: number): Rows {
  const { button: words, pick } = texts;
  const id = shortId(task.id);
  const setting = settingOf(task, now);
  const today = dayIn(setting, now);
  const monday = nextMonday(today);
  const goOn = button(words.resume, dataOf('resume', id, 'c'));
  return [
    [goOn, ...undoRow(task, entryId).flat()],
    [
      button(pick.untilTomorrow, dataOf('pauseto', id, today + 1)),
      monday === today + 1 ? null : button(pick.untilMonday, dataOf('pauseto', id, monday)),
      button(pick.pick, dataOf('pauseto', id, 'pick')),
    ],
  ];
}

function pausedWords(task: Task, setting: Setting) {
  const end = task.resumeAt === null ? null : aboutMoment(task.resumeAt, setting);
  return texts.deed.paused(taskName(task), end, setting.timezone);
}

function pausedBeforeWords(task: Task, by: string | null, setting: Setting) {
  return texts.deed.pausedBefore(taskName(task), {
    since: task.paused === null ? null : aboutMoment(task.paused.at, setting),
    by,
    until: task.resumeAt === null ? null : `${aboutMoment(task.resumeAt, setting)} (${setting.timezone})`,
  });
}

export async function pauseToPressed(ctx: ChatContext, { id: taskId, ...before }: Task): Promise<Answer> {
  const setting = settingFor(before, ctx);
  const day = arg(ctx, 1);
  if (day === 'pick') {
    const id = shortId(taskId);
    const rows = dayRows(setting, (each) => dataOf('pauseto', id, each), 1);
    const back = [button(texts.button.back, dataOf('task', id))];
    return redrawn(ctx, drawn(texts.pick.pauseDay(taskName(before)), [...rows, back]));
  }
  const until = /^\d{1,6}$/.test(day) ? Number(day) : Number.NaN;
  // The first instant of today is over.
  if (!isDay(until, { ...setting, now: setting.now + DAY_MS })) throw new Refused(texts.pick.over);
  const { task, entryId } = await ctx.tasks.pause(targetOf(ctx, { id: taskId }), startOf(until, setting));
  if (task.state !== 'paused') throw new Refused(texts.deed.notPausable(taskName(task)));
  const rows = pausedRows(task, entryId, setting.now);
  return redrawn(ctx, drawn(pausedWords(task, setting), rows), texts.deed.pausedWord);
}

/** `/skip [n]`: the next run; `/skip [n] 2`: the next two; `/skip [n] friday`: those of that day. */
export const skipCommand = onNamedTask(
  { deed: 'change', verb: 'skip', fits: 'active', isCounting: true, takes: takesWish },
  async (ctx, named) => {
    const setting = settingFor(named.task, ctx);
    const wish = skipsIn(named.rest, ctx, setting);
    if (wish === null) return answer(texts.deed.skipHow(skipMax, named.task.number));
    if (named.task.state === 'paused') throw new Refused(texts.deed.skipPaused(taskName(named.task)));
    const skip = typeof wish === 'number' ? { count: wish, from: null } : { count: skipMax, from: null, within: wish };
    const { task, entryId, slots } = await ctx.tasks.skip(targetOf(ctx, named.task), skip);
    const words = texts.deed.skipped(taskName(task), skippedWords(slots, setting), setting.timezone);
    return answer(lines(words, await nextSentence(task, ctx)), undoRow(task, entryId));
  },
);

function takesWish(words: string, ctx: ChatContext): 'yes' | 'no' {
  return skipsIn(words, ctx, settingHere(ctx)) === null ? 'no' : 'yes';
}

const span = /^(?:in|for)\b|^\d+\s*[a-z]/i;

/** A number of runs, or a stretch of time; null for what is neither. A day is that of the clocks of the task. */
export function skipsIn(rest: string, here: PlaceAndDate, setting: Setting): number | Within | null {
  const words = rest.replace(/^(?:on|the (?:run|one) on)\s+/i, '').trim();
  if (words === '' || /^(?:next|once|it|this)$/i.test(words)) return 1;
  if (/^\d{1,6}$/.test(words)) return Number(words) >= 1 && Number(words) <= skipMax ? Number(words) : null;
  const now = setting.now;
  if (/^(?:all |the rest of )?(?:this|the) week$/i.test(words)) {
    return { from: now, to: startOf(nextMonday(dayIn(setting, now)), setting) };
  }
  const until = /^until\s+/i.test(words);
  if (span.test(words) && !/^\d{4}-/.test(words)) return null;
  const at = momentIn(words, readingOf(here, setting.timezone), '23:59');
  if (at === null) return null;
  const day = dayIn(setting, at);
  return { from: until ? now : startOf(day, setting), to: startOf(until ? day : day + 1, setting) };
}

const toldMax = 5;

/** Slots that were skipped, as far as anybody reads on. */
export function skippedWords(slots: readonly number[], setting: Setting): string {
  const last = slots.at(-1);
  if (last === undefined || slots.length <= toldMax) return moments(slots, setting);
  return texts.deed.andMore(moments(slots.slice(0, 2), setting), slots.length - 2, moment(last, setting));
}

/** `/undo` takes back the last change of the person here, and with a task named, its last change whoever made it. */
export async function undoCommand(ctx: ChatContext): Promise<Answer> {
  const isBare = ctx.args.trim() === '';
  if (isBare && (await impliedBy(ctx)) === null) return undoLast(ctx);
  return undoNamed(ctx);
}

const undoNamed = onNamedTask({ deed: 'change', verb: 'task', isAsked: true, isForDeleted: true }, (ctx, { task }) =>
  undone(ctx, task, null),
);

const undoLast = onFound('change', lastHere, async (ctx, { task, entryId, verb }) => {
  if (verb === 'create') return answer(texts.undo.made(taskName(task), madeAt(ctx, task)), [deletion(task)]);
  const all = await undoneTogether(ctx, { taskId: task.id, entryId });
  return all === null ? undone(ctx, task, entryId) : answer(all);
});

function lastOf({ store, place, person, clock, key }: ChatContext, verbs: readonly DeedVerb[]) {
  const since = clock.now() - undoMs;
  return store.lastChange({ chatId: place.chat.id, actor: person.actor, verbs, since, key });
}

/** The changes of one word to several tasks are taken back at once; null where it was one task, or nothing is left to take back. */
export async function undoneTogether(ctx: ChatContext, change: LastChange): Promise<Rich | null> {
  const changes = await ctx.store.changesWith(ctx.place.chat.id, change);
  if (changes.length < 2) return null;
  let count = 0;
  for (const { taskId, entryId } of changes) {
    const task = await ctx.store.readTask(taskId);
    if (task === null || (await refusal(ctx, 'change', task)) !== null) continue;
    const tried = await triedTo(() => ctx.tasks.undo(targetOf(ctx, task), entryId));
    if ('made' in tried && tried.made.moot === null) count += 1;
  }
  return count === 0 ? null : texts.undo.together(count, changes.length - count);
}

async function lastHere(ctx: ChatContext) {
  const last = await lastOf(ctx, [...undoable, 'create']);
  const task = last === null ? null : await ctx.store.readTask(last.taskId);
  const isGone = last?.verb === 'create' && task?.state === 'deleted';
  if (last === null || task === null || isGone) throw new Refused(answer(texts.undo.none()));
  return { ...last, task };
}

function madeAt(ctx: ChatContext, { created }: Task): string {
  const setting = settingHere(ctx);
  return `${pastMoment(created.at, setting)} (${setting.timezone})`;
}

function deletion(task: Task): Rows[number] {
  return [button(texts.undo.delete(task.number), dataOf('delete', shortId(task.id)))];
}

/** Without an entry it is the last change of the task. One that nobody has changed since it was made can be deleted. */
async function undone(ctx: ChatContext, task: Task, entryId: string | null): Promise<Answer> {
  const tried = await triedTo(() => ctx.tasks.undo(targetOf(ctx, task), entryId));
  if ('made' in tried) return answer(await undoneWords(tried.made, ctx));
  const isNew = tried.refusal.details?.['reason'] === 'no_change' && ctx.clock.now() - task.created.at <= undoMs;
  if (entryId !== null || !isNew) throw tried.refusal;
  return answer(texts.undo.unchanged(taskName(task), madeAt(ctx, task)), [deletion(task)]);
}

/** The change that was taken back, who had made it and when; and what comes next, as after every change. */
export async function undoneWords({ task, undone: entry, moot }: Undone, ctx: ChatContext): Promise<Rich> {
  const { undo } = texts;
  // A chat, whatever zones its tasks have, is told of what was done there by its own clocks.
  const setting = settingHere(ctx);
  const by = await calledOf(ctx, entry.actor);
  const told = undo.deeds[entry.verb === 'upsert' ? 'edit' : entry.verb] ?? undo.deeds['edit'];
  const at = `${pastMoment(entry.at, setting)} (${setting.timezone})`;
  const what = told?.({ by, name: taskName(task), detail: detailOf(entry, setting), at });
  const secrets = moot === null ? newSecretLines(ctx, entry.after?.['action'], entry.before?.['action']) : [];
  return lines(what === undefined ? null : undo[moot ?? 'undone'](what), ...secrets, await nextSentence(task, ctx));
}

function detailOf({ verb, before, after }: AuditRow, setting: Setting): string {
  const { undo } = texts;
  if (verb === 'skip' || verb === 'unskip') return skippedWords(slotsTold(after), setting);
  const until = after?.['until'];
  if (verb === 'snooze') return typeof until === 'string' ? aboutMoment(Date.parse(until), setting) : '';
  const fields = Object.keys(before ?? {}).flatMap((field) => undo.fields[field] ?? []);
  return fields.length === 0 ? undo.anything : undo.and(fields);
}
