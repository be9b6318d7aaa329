import { isUnreadable } from '../../../app/tasks/verbs.ts';
import { pageMax } from '../../../domain/limits.ts';
import { inZone } from '../../../domain/schedule/schedule.ts';
import { isSameZone, zoneName } from '../../../domain/schedule/time/zone-name.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ChatContext } from '../context.ts';
import { redrawn, Refused, toasted, triedTo } from '../kit/answers.ts';
import { settingHere, taskName } from '../kit/card.ts';
import { aboutMoment, clockIn } from '../kit/clock.ts';
import { onChat, targetOf, threadOf } from '../kit/guards.ts';
import { arg, button, dataOf } from '../kit/press.ts';
import { blocks, drawn, lines } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** Tasks follow their chat into another zone, if somebody says so: at the same time on the wall there. */

/** Tasks that live in another zone than their chat. */
async function tasksElsewhere(ctx: ChatContext): Promise<readonly Task[]> {
  const query = { thread: threadOf(ctx.place), ownerId: null, subject: null, text: null, tag: null, limit: pageMax };
  const isHere = isIn(ctx.place.timezone);
  const found: Task[] = [];
  // Only what may still run: of that a chat has no more than its quota.
  for (const state of ['active', 'paused'] as const) {
    for (let cursor: string | null = null; ;) {
      const page = await ctx.tasks.list({ ...query, state, cursor });
      found.push(...page.items.filter((task) => !isUnreadable(task) && !isHere(task)));
      cursor = page.next;
      if (cursor === null) break;
    }
  }
  return found.toSorted((a, b) => a.number - b.number);
}

function isIn(zone: string) {
  return ({ schedule }: Task) => isSameZone(schedule.timezone, zone);
}

/** Tasks that were not moved with a change before this one are offered as well: those of the zone that most of them have. */
function zoneLeft(tasks: readonly Task[], before: string): string {
  if (tasks.some(isIn(before))) return before;
  const zones = [...new Set(tasks.map(({ schedule }) => schedule.timezone))];
  const count = (zone: string) => tasks.filter(isIn(zone)).length;
  return zones.toSorted((a, b) => count(b) - count(a))[0] ?? before;
}

/** The tasks that could follow, and the buttons below the word that the chat has another zone. */
export async function moveOffered(ctx: ChatContext, before: string) {
  const { chat, button: words } = texts;
  const change = button(words.noChange, dataOf('zones'));
  const tasks = await tasksElsewhere(ctx);
  const from = zoneLeft(tasks, before);
  const count = tasks.filter(isIn(from)).length;
  if (count === 0) return { left: null, rows: [[change]] };
  return {
    left: chat.zoneLeft(count, from),
    rows: [
      [
        button(chat.zoneMove(count), dataOf('zonemove', from, count)),
        button(chat.zoneKeep, dataOf('zonemove', from, 0)),
        change,
      ],
    ],
  };
}

/** Changes that one Undo takes back, as a note keeps them: the last move of a chat. */
interface Moved {
  readonly key: string;
  readonly from: string;
  readonly entries: readonly (readonly [taskId: string, entryId: string])[];
}

const noteOf = (chatId: string) => `zone_move:${chatId}`;
/** Tasks that are told with their next run; the list shows the others. */
const toldMax = 5;

export const movePressed = onChat('manage', async (ctx): Promise<Answer> => {
  const { chat } = texts;
  const from = zoneName(arg(ctx, 0));
  const expected = Number(arg(ctx, 1));
  if (from === null || !Number.isSafeInteger(expected)) throw new Refused(texts.chat.oldButton);
  const { timezone } = ctx.place;
  const kept = chat.zoneIs(timezone, clockIn(timezone, ctx.clock.now()));
  if (expected === 0) return redrawn(ctx, drawn(lines(kept, chat.zoneKept)));
  const tasks = (await tasksElsewhere(ctx)).filter(isIn(from));
  // Pressed twice: what the first press has moved is told.
  if (tasks.length === 0) return toasted(chat.zoneNothing);
  if (tasks.length !== expected) {
    const { left, rows } = await moveOffered(ctx, from);
    return redrawn(ctx, drawn(lines(kept, left), rows), texts.clean.changed);
  }
  const key = ctx.updateId.toString(36);
  const entries: (readonly [string, string])[] = [];
  const moved: Task[] = [];
  const stayed: Task[] = [];
  for (const task of tasks) {
    const done = await triedTo(() =>
      ctx.tasks.edit(targetOf(ctx, task), { schedule: inZone(task.schedule, timezone) }),
    );
    if ('refusal' in done) stayed.push(task);
    else {
      moved.push(done.made.task);
      if (done.made.entryId !== null) entries.push([task.id, done.made.entryId]);
    }
  }
  const note: Moved = { key, from, entries };
  await ctx.store.writeNote(noteOf(ctx.place.chat.id), JSON.stringify(note), ctx.clock.now());
  return redrawn(
    ctx,
    drawn(
      blocks(
        lines(chat.zoneMoved(moved.length, timezone), moved.some(isWait) ? chat.zoneWaits : null),
        nextLines(moved, ctx),
        await snoozeLines(moved, ctx),
        stayedLines(stayed),
      ),
      entries.length === 0 ? [] : [[button(texts.button.undo, dataOf('zoneback', key))]],
    ),
  );
});

function isWait({ schedule }: Task): boolean {
  return schedule.kind === 'once' && schedule.startAt !== undefined;
}

function nextLines(tasks: readonly Task[], ctx: ChatContext) {
  return timeLines(
    texts.chat.zoneNextHead,
    tasks.flatMap((task) => (task.nextAt === null ? [] : [{ task, at: task.nextAt }])),
    ctx,
  );
}

/** A result was put off to an instant, which no clock changes. */
async function snoozeLines(tasks: readonly Task[], ctx: ChatContext) {
  const snoozes = await ctx.store.snoozesOf(tasks.map(({ id }) => id));
  return timeLines(
    texts.chat.zoneSnoozed,
    tasks.flatMap((task) => (snoozes.get(task.id) ?? []).map(({ at }) => ({ task, at }))),
    ctx,
  );
}

function timeLines(head: string, times: readonly { readonly task: Task; readonly at: number }[], ctx: ChatContext) {
  const setting = settingHere(ctx);
  const shown = times
    .toSorted((a, b) => a.at - b.at)
    .slice(0, toldMax)
    .map(({ task, at }) => texts.chat.zoneNext(taskName(task), aboutMoment(at, setting)));
  return shown.length === 0 ? null : lines(head, ...shown);
}

function stayedLines(tasks: readonly Task[]) {
  return tasks.length === 0 ? null : lines(texts.chat.zoneStayed, ...tasks.slice(0, toldMax).map(taskName));
}

/** One Undo for all of them. */
export const moveBackPressed = onChat('manage', async (ctx): Promise<Answer> => {
  const { chat } = texts;
  const note = await ctx.store.readNote(noteOf(ctx.place.chat.id));
  const moved = note === null ? null : (JSON.parse(note) as Moved);
  if (moved === null || moved.key !== arg(ctx, 0)) return toasted(chat.zoneMoveOver);
  let back = 0;
  for (const [id, entryId] of moved.entries) {
    const done = await triedTo(() => ctx.tasks.undo(targetOf(ctx, { id }), entryId));
    if ('made' in done && done.made.moot === null) back += 1;
  }
  return redrawn(ctx, drawn(chat.zoneMovedBack(back, moved.from)), texts.deed.undoneWord);
});
