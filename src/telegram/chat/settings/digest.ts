import { inputOf, type Schedule } from '../../../domain/schedule/schedule.ts';
import type { Task } from '../../../domain/task.ts';
import { threadKeyOf, type Thread } from '../../../domain/thread.ts';
import { timeOr } from '../../../domain/when/asked.ts';
import { readWhen } from '../../../domain/when/when.ts';
import type { Answer, ConversationRooms, Person, Place, Said, Pressed } from '../conversation.ts';
import { answer, forAsker, turnedDown, alerted, redrawn, signOr } from '../kit/answers.ts';
import { taskName, settingFor } from '../kit/card.ts';
import { moments, scheduleText } from '../kit/clock.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { readingOf, type Speaking } from '../kit/reading.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { mayManage, refusal, arg } from '../kit/rights.ts';
import { texts } from '../texts.ts';

/** The digest of a chat: a task like any other, and this is its comfortable door. */

interface Here {
  readonly place: Place;
  readonly person: Person;
}

interface Asked extends Here {
  /** For whatever is changed. */
  readonly key: string;
}

/** By it the task is found again, and told from others that people have called so. */
const subject = 'digest';

export async function digestCommand(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const words = said.args.trim().toLowerCase();
  if (words === '') return forAsker(answer(...(await digestView(said, rooms))));
  if (words === 'off') return toldOf(await switchedOff(said, rooms));
  if (words === 'now') return toldNow(said, await digestNow(said, rooms));
  const schedule = readDigestWhen(words, said);
  if (schedule === null) return answer(texts.digest.unread());
  return toldOf(await scheduled(said, rooms, schedule));
}

/** In its own topic the digest itself is the answer. */
function toldNow(said: Said, { words, isRefused }: Told): Answer {
  if (isRefused === true) return turnedDown(words);
  return said.place.topicTask?.subject === subject ? signOr(said, '👀', answer(words)) : answer(words);
}

function toldOf({ words, rows, isRefused }: Told): Answer {
  return isRefused === true ? turnedDown(words) : answer(words, rows);
}

/** The task that is the digest of the chat, whether it comes or rests. */
async function digestOf({ chat }: Place, { tasks }: Pick<ConversationRooms, 'tasks'>): Promise<Task | null> {
  const query = {
    thread: baseOf(chat),
    state: 'all',
    text: null,
    tag: null,
    subject,
    limit: 10,
    cursor: null,
  } as const;
  const { items } = await tasks.list(query);
  return items.find(({ action }) => action.kind === 'digest') ?? null;
}

function baseOf({ address }: Place['chat']): Thread {
  return { provider: 'telegram', address, topic: null };
}

/** When it comes, as a line of the settings has it; null when it does not. */
export async function digestWords(place: Place, rooms: ConversationRooms): Promise<string | null> {
  const task = await digestOf(place, rooms);
  return task === null || task.state !== 'active' ? null : whenWords(task, rooms);
}

function whenWords({ number, schedule }: Task, { clock }: ConversationRooms): string {
  return `${scheduleText(schedule, clock.now())} (${schedule.timezone}), #${number}`;
}

const daily = '8:00';
const weekly = '9:00';

/** What the buttons, and words as short as theirs, stand for. */
const digestChoices: Readonly<Record<string, string>> = {
  daily: `every day at ${daily}`,
  weekdays: `every weekday at ${daily}`,
  weekly: `every monday at ${weekly}`,
};

/** Null for what is no time that comes again. */
function readDigestWhen(words: string, speaking: Speaking): Schedule | null {
  const read = timeOr(() => readWhen(spelled(words), readingOf(speaking)));
  return read?.rest === '' && read.schedule.kind !== 'once' ? read.schedule : null;
}

/** `daily 8:00`, `weekdays at 7`, `weekly friday 17:00`. */
function spelled(words: string): string {
  const match = /^(daily|weekdays|weekly)(?:\s+(?:on\s+)?([a-z]+day))?(?:\s+at)?(?:\s+(\d[\d:.]*\s*(?:am|pm)?))?$/.exec(
    words,
  );
  const [, rhythm = '', day, time] = match ?? [];
  if (rhythm === '' || (day !== undefined && rhythm !== 'weekly')) return words;
  if (rhythm === 'weekly') return `every ${day ?? 'monday'} at ${time ?? weekly}`;
  return `every ${rhythm === 'daily' ? 'day' : 'weekday'} at ${time ?? daily}`;
}

interface Told {
  readonly words: Rich | string;
  readonly rows: Rows;
  /** It was not done; the words say why. */
  readonly isRefused?: true;
}

function refusedWith(words: string): Told {
  return { words, rows: [], isRefused: true };
}

/** A second digest is never made: the one that is there moves. */
async function scheduled(asked: Asked, rooms: ConversationRooms, schedule: Schedule): Promise<Told> {
  const refused = await refusal(asked, 'manage', { task: null, rooms });
  if (refused !== null) return refusedWith(refused);
  const { place, person, key } = asked;
  const known = await digestOf(place, rooms);
  const at = inputOf(schedule);
  const actor = person.actor;
  const task =
    known === null
      ? await made({ place, rooms, actor, key }, at)
      : (await rooms.tasks.edit({ taskId: known.id, actor, idempotencyKey: key }, { schedule: at, enabled: true }))
          .task;
  const next = await rooms.truth.upcoming(task.id, 1);
  const setting = await settingFor(task, rooms);
  const words = texts.digest.on(taskName(task), scheduleText(task.schedule, rooms.clock.now()));
  return {
    words: lines(words, texts.digest.next(moments(next, setting), setting.timezone)),
    rows: [[button(texts.digest.off, dataOf('digest', 'off')), button(texts.digest.now, dataOf('digest', 'now'))]],
  };
}

interface Making {
  readonly place: Place;
  readonly rooms: ConversationRooms;
  readonly actor: Person['actor'];
  readonly key: string;
}

async function made({ place, rooms, actor, key }: Making, schedule: ReturnType<typeof inputOf>): Promise<Task> {
  const { task } = await rooms.tasks.create({
    threadKey: threadKeyOf(baseOf(place.chat)),
    actor,
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

/** It rests, and keeps its topic and its history. */
async function switchedOff(asked: Asked, rooms: ConversationRooms): Promise<Told> {
  const refused = await refusal(asked, 'manage', { task: null, rooms });
  if (refused !== null) return refusedWith(refused);
  const { person, key, place } = asked;
  const task = await digestOf(place, rooms);
  if (task === null || task.state !== 'active') return { words: texts.digest.isOff(), rows: [] };
  await rooms.tasks.pause({ taskId: task.id, actor: person.actor, idempotencyKey: key }, null);
  return { words: texts.digest.switchedOff(taskName(task)), rows: [] };
}

async function digestNow(asked: Asked, rooms: ConversationRooms): Promise<Told> {
  const { person, key, place } = asked;
  const task = await digestOf(place, rooms);
  if (task === null) return { words: texts.digest.isOff(), rows: [], isRefused: true };
  const refused = await refusal(asked, 'change', { task, rooms });
  if (refused !== null) return refusedWith(refused);
  await rooms.tasks.runNow({ taskId: task.id, actor: person.actor, idempotencyKey: `${key}:now` });
  return { words: texts.digest.comes(taskName(task)), rows: [] };
}

/** When it comes, and how to change that. */
async function digestView(here: Here, rooms: ConversationRooms): Promise<readonly [Rich, Rows]> {
  const task = await digestOf(here.place, rooms);
  const { digest } = texts;
  const isOn = task?.state === 'active';
  const words = blocks(
    digest.about,
    task !== null && isOn ? digest.isOn(whenWords(task, rooms)) : digest.isOff(),
    mayManage(here) ? digest.how() : null,
  );
  if (!mayManage(here)) return [words, []];
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

async function digestDrawn(here: Here, rooms: ConversationRooms, back: Rows) {
  const [words, rows] = await digestView(here, rooms);
  return drawn(words, [...rows, ...back]);
}

export async function digestPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const what = arg(pressed, 0);
  const back = [[button(texts.button.back, dataOf('set', 'open', 'all'))]];
  if (what === 'open') return redrawn(pressed, await digestDrawn(pressed, rooms, back));
  if (what === 'off') return told(pressed, await switchedOff(pressed, rooms));
  if (what === 'now') return told(pressed, await digestNow(pressed, rooms));
  const when = Object.hasOwn(digestChoices, what) ? digestChoices[what] : undefined;
  const schedule = when === undefined ? null : readDigestWhen(when, pressed);
  if (schedule === null) return alerted(texts.chat.oldButton);
  return told(pressed, await scheduled(pressed, rooms, schedule));
}

function told(pressed: Pressed, { words, rows, isRefused }: Told): Answer {
  if (isRefused === true) return alerted(typeof words === 'string' ? words : words.text);
  return redrawn(pressed, drawn(words, rows));
}
