import type { TaskPatch } from '../../../app/tasks/edit.ts';
import { withHours } from '../../../domain/schedule/hours.ts';
import { iso } from '../../../domain/schedule/time/calendar.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, Buttons, ChatContext } from '../context.ts';
import { redrawn, Refused } from '../kit/answers.ts';
import { taskName, factsOf, nextSentence } from '../kit/card.ts';
import { onTask } from '../kit/guards.ts';
import { arg, button, dataOf, shortId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { likelyZones } from '../kit/zones.ts';
import { texts } from '../texts.ts';
import { agreed, change, wayPressed, worstAsked } from './editing.ts';
import { choicePatch } from './field-words.ts';
import { isRepeating, onWeekday } from './retiming.ts';
import { rhythmMenu, withoutItem } from './rhythms.ts';
import { isSetting, moreMenu, settingMenu, zoneMenu } from './view.ts';

/** The menus of what can be changed: each takes the place of the one before, in the same message. */

async function fieldPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const name = arg(ctx, 1);
  const now = ctx.clock.now();
  if (name === 'days' && isRepeating(task)) return redrawn(ctx, rhythmMenu(task, now));
  if (name === 'more') return redrawn(ctx, moreMenu(task, await factsOf(task, ctx)));
  if (name === 'zone') return redrawn(ctx, zoneMenu(task, likelyZones(ctx.place.timezone, now)));
  if (!isSetting(name)) throw new Refused(texts.chat.oldButton);
  return redrawn(ctx, settingMenu(task, name, now));
}

/** One value of one setting. The message says what is different now, and how to take it back. */
async function fieldSetPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const [, name = '', ...said] = ctx.press?.args ?? [];
  const isAgreed = name === 'missed' && said.at(-1) === agreed;
  const value = (isAgreed ? said.slice(0, -1) : said).join(':');
  const patch = name === 'days' ? withoutItem(task, value, ctx.date) : choicePatch(task, name, value, ctx.date);
  if (patch === null) throw new Refused(texts.chat.oldButton);
  const asked = isAgreed ? null : worstAsked(ctx, task, patch);
  if (asked !== null) return redrawn(ctx, drawn(asked.words, asked.rows));
  const { words, rows } = await change(ctx, task, patch);
  const back = button(texts.button.back, dataOf('edit', shortId(task.id)));
  return redrawn(ctx, drawn(words, [[...rows.flat(), back]]));
}

/** The moment that the button carries. */
function onceAt(ctx: ChatContext, { schedule: { timezone } }: Task): TaskPatch {
  const seconds = /^[0-9a-z]{1,8}$/.test(arg(ctx, 1)) ? Number.parseInt(arg(ctx, 1), 36) : Number.NaN;
  const at = seconds * 1000;
  if (Number.isNaN(at)) throw new Refused(texts.chat.oldButton);
  if (at <= ctx.clock.now()) throw new Refused(texts.deed.tonightIsOver);
  return { schedule: { kind: 'once', once_at: iso(at), timezone } };
}

/** The hours that the button carries. */
function atHours(ctx: ChatContext, task: Task): TaskPatch {
  const times = arg(ctx, 1).split('.').map(minutesIn);
  const isRead = times.every((time) => time !== null) && isRepeating(task);
  const schedule = isRead ? withHours(task.schedule, times) : null;
  if (schedule === null) throw new Refused(texts.chat.oldButton);
  return { schedule };
}

function minutesIn(digits: string): number | null {
  const [, hour, minute] = /^([01]\d|2[0-3])([0-5]\d)$/.exec(digits) ?? [];
  return hour === undefined || minute === undefined ? null : Number(hour) * 60 + Number(minute);
}

/** The day that the button carries. */
function onDay(ctx: ChatContext, task: Task): TaskPatch {
  const patch = /^[0-6]$/.test(arg(ctx, 1)) ? onWeekday(ctx, task, Number(arg(ctx, 1))) : null;
  if (patch === null) throw new Refused(texts.chat.oldButton);
  return patch;
}

async function changed(ctx: ChatContext, task: Task, patch: TaskPatch): Promise<Answer> {
  const { words, rows } = await change(ctx, task, patch);
  return redrawn(ctx, drawn(words, rows));
}

async function keptPressed(ctx: ChatContext, task: Task): Promise<Answer> {
  const words = texts.retime.kept(taskName(task), await nextSentence(task, ctx));
  return redrawn(ctx, drawn(words), texts.retime.keptWord);
}

export const editButtons = {
  field: onTask('change', fieldPressed),
  fieldset: onTask('change', fieldSetPressed),
  // The answers to what is asked about a new time: once, at other hours, on another day, or as it was.
  makeonce: onTask('change', (ctx, task) => changed(ctx, task, onceAt(ctx, task))),
  hours: onTask('change', (ctx, task) => changed(ctx, task, atHours(ctx, task))),
  weekly: onTask('change', (ctx, task) => changed(ctx, task, onDay(ctx, task))),
  editway: wayPressed,
  kept: onTask('read', keptPressed),
} satisfies Buttons;
