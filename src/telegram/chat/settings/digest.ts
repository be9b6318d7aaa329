import { inputOf, type Schedule } from '../../../domain/schedule/schedule.ts';
import type { Task } from '../../../domain/task.ts';
import { threadKeyOf } from '../../../domain/thread.ts';
import { readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, forAsker, redrawn, Refused, reactOr } from '../kit/answers.ts';
import { taskName, settingFor } from '../kit/card.ts';
import { moments, scheduleText } from '../kit/clock.ts';
import { readingOf, type PlaceAndDate } from '../kit/drafts.ts';
import { onChat, onFound, targetOf, threadOf } from '../kit/guards.ts';
import { arg, button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { mayManage, standstill } from '../kit/rights.ts';
import { texts } from '../texts.ts';

/** The digest of a chat: a task like any other, and this is the comfortable way to it. */

/** By it the task is found again, and told from others that people have called so. */
const subject = 'digest';

export async function digestCommand(ctx: ChatContext): Promise<Answer> {
  const words = ctx.args.trim().toLowerCase();
  if (words === '') return forAsker(shown(ctx, await digestView(ctx)));
  if (words === 'off') return switchedOff(ctx);
  if (words === 'now') return now(ctx);
  const schedule = readDigestWhen(words, ctx);
  return schedule === null ? answer(texts.digest.unread()) : scheduled(ctx, schedule);
}

/** Says of lower case words whether they can follow the command. */
export function isDigestAsked(words: string, speaking: PlaceAndDate): boolean {
  return words === 'off' || words === 'now' || readDigestWhen(words, speaking) !== null;
}

/** In its own topic the digest itself is the answer. */
async function now(ctx: ChatContext): Promise<Answer> {
  const told = await digestNow(ctx);
  return ctx.place.topicTask?.subject === subject ? reactOr(ctx, '👀', told) : told;
}

/** The task that is the digest of the chat, whether it comes or rests. */
async function digestOf({ place, tasks }: ChatContext): Promise<Task | null> {
  const any = { state: 'all', text: null, tag: null, cursor: null } as const;
  const { items } = await tasks.list({ ...any, thread: threadOf(place), subject, limit: 10 });
  return items.find(({ action }) => action.kind === 'digest') ?? null;
}

/** When it comes, as a line of the settings has it; null when it does not. */
export async function digestWords(ctx: ChatContext): Promise<string | null> {
  const task = await digestOf(ctx);
  return task === null || task.state !== 'active' ? null : whenWords(task, ctx);
}

function whenWords({ number, schedule }: Task, { clock }: ChatContext): string {
  return `${scheduleText(schedule, clock.now())} (${schedule.timezone}), #${number}`;
}

const daily = '8:00';
const weekly = '9:00';

/** Times that the buttons, and words as short as theirs, stand for. */
const digestChoices: Readonly<Record<string, string>> = {
  daily: `every day at ${daily}`,
  weekdays: `every weekday at ${daily}`,
  weekly: `every monday at ${weekly}`,
};

/** Null for what is no time that comes again. */
function readDigestWhen(words: string, speaking: PlaceAndDate): Schedule | null {
  const read = timeOr(() => readTime(spelled(words), readingOf(speaking)));
  return read?.text === '' && read.schedule.kind !== 'once' ? read.schedule : null;
}

const clockAlone = /^(?:at\s+)?(\d[\d:.]*\s*(?:am|pm)?)$/;

/** `daily 8:00`, `weekdays at 7`, `weekly friday 17:00`; a time alone is that of every day. */
function spelled(words: string): string {
  const match = /^(daily|weekdays|weekly)(?:\s+(?:on\s+)?([a-z]+day))?(?:\s+at)?(?:\s+(\d[\d:.]*\s*(?:am|pm)?))?$/.exec(
    words.replace(clockAlone, 'daily $1'),
  );
  const [, rhythm = '', day, time] = match ?? [];
  if (rhythm === '' || (day !== undefined && rhythm !== 'weekly')) return words;
  if (rhythm === 'weekly') return `every ${day ?? 'monday'} at ${time ?? weekly}`;
  return `every ${rhythm === 'daily' ? 'day' : 'weekday'} at ${time ?? daily}`;
}

/** Words, and the buttons below them. */
type Told = readonly [words: Rich, rows: Rows];

/** A command is answered; a press draws its message anew. */
function shown(ctx: ChatContext, told: Told): Answer {
  return ctx.isPress ? redrawn(ctx, drawn(...told)) : answer(...told);
}

/** A second digest is never made: the one that is there moves. */
const scheduled = onChat('manage', async (ctx, schedule: Schedule) => {
  const known = await digestOf(ctx);
  const at = inputOf(schedule);
  const task =
    known === null
      ? await made(ctx, at)
      : (await ctx.tasks.edit(targetOf(ctx, known), { schedule: at, enabled: true })).task;
  const next = await ctx.truth.upcoming(task.id, 1);
  const setting = settingFor(task, ctx);
  const words = texts.digest.on(taskName(task), scheduleText(task.schedule, ctx.clock.now()));
  return shown(ctx, [
    lines(words, texts.digest.next(moments(next, setting), setting.timezone)),
    [[button(texts.digest.off, dataOf('digest', 'off')), button(texts.digest.now, dataOf('digest', 'now'))]],
  ]);
});

async function made({ place, tasks, person, key }: ChatContext, schedule: ReturnType<typeof inputOf>): Promise<Task> {
  const { task } = await tasks.create({
    threadKey: threadKeyOf(threadOf(place)),
    actor: person.actor,
    idempotencyKey: `${key}:digest`,
    // Two people who ask at the same moment get one.
    onExisting: 'upsert',
    input: {
      title: texts.digest.title,
      instructions: texts.digest.instructions,
      action: { kind: 'digest' },
      subject,
      schedule,
    },
  });
  return task;
}

/** The digest rests, and keeps its topic and its history. */
const switchedOff = onChat('manage', async (ctx) => {
  const task = await digestOf(ctx);
  if (task === null || task.state !== 'active') return shown(ctx, [texts.digest.isOff(), []]);
  await ctx.tasks.pause(targetOf(ctx, task), null);
  return shown(ctx, [texts.digest.switchedOff(taskName(task)), []]);
});

const digestNow = onFound('change', digestFound, async (ctx, { task }) => {
  await ctx.tasks.runNow({ ...targetOf(ctx, task), idempotencyKey: `${ctx.key}:now` });
  const stands = await standstill(ctx, task.action.kind, settingFor(task, ctx));
  return shown(ctx, [lines(texts.digest.comes(taskName(task)), stands), []]);
});

async function digestFound(ctx: ChatContext): Promise<{ readonly task: Task }> {
  const task = await digestOf(ctx);
  if (task === null) throw new Refused(texts.digest.isOff());
  return { task };
}

/** When it comes, and how to change that. */
async function digestView(ctx: ChatContext): Promise<Told> {
  const task = await digestOf(ctx);
  const { digest } = texts;
  const isOn = task?.state === 'active';
  const words = blocks(
    digest.about,
    task !== null && isOn ? digest.isOn(whenWords(task, ctx)) : digest.isOff(),
    mayManage(ctx) ? digest.how() : null,
  );
  if (!mayManage(ctx)) return [words, []];
  return [
    words,
    [
      [
        button(digest.daily, dataOf('digest', 'daily')),
        button(digest.weekdays, dataOf('digest', 'weekdays')),
        button(digest.weekly, dataOf('digest', 'weekly')),
      ],
      task === null || !isOn
        ? []
        : [
            button(digest.now, dataOf('digest', 'now')),
            button(digest.off, dataOf('digest', 'off')),
            button(digest.card, dataOf('task', shortId(task.id))),
          ],
    ],
  ];
}

export async function digestPressed(ctx: ChatContext): Promise<Answer> {
  const what = arg(ctx, 0);
  switch (what) {
    case 'open': {
      const [words, rows] = await digestView(ctx);
      return shown(ctx, [words, [...rows, [button(texts.button.back, dataOf('set', 'open', 'all'))]]]);
    }
    case 'off':
      return switchedOff(ctx);
    case 'now':
      return digestNow(ctx);
    default: {
      const when = Object.hasOwn(digestChoices, what) ? digestChoices[what] : undefined;
      const schedule = when === undefined ? null : readDigestWhen(when, ctx);
      if (schedule === null) throw new Refused(texts.chat.oldButton);
      return scheduled(ctx, schedule);
    }
  }
}
