import { settingsOf } from '../../../domain/chat-settings.ts';
import { hoursOf, withHours } from '../../../domain/schedule/hours.ts';
import { nextSlot, parseSchedule, type Schedule } from '../../../domain/schedule/schedule.ts';
import { clockText } from '../../../domain/schedule/time/calendar.ts';
import { describe } from '../../../domain/schedule/words/describe.ts';
import type { Task } from '../../../domain/task.ts';
import { readAnywhere, timeOr, type Asked, readTime, timeWith } from '../../../domain/when/asked.ts';
import { hourOfPart, type Setting } from '../../../domain/when/setting.ts';
import type { Answer, ChatContext, Handler } from '../context.ts';
import { silence, triedTo, turnedDown } from '../kit/answers.ts';
import { settingFor, taskName } from '../kit/card.ts';
import { scheduleText, dateIn } from '../kit/clock.ts';
import { clocksIn } from '../kit/days.ts';
import {
  isEditing,
  isForUs,
  messageOf,
  opened,
  putDraft,
  readingOf,
  type MakingStep,
  type OpenDraft,
  type PlaceAndDate,
  type StepOf,
} from '../kit/drafts.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { drawn, type Rich } from '../kit/rich.ts';
import { refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { isNo, isYes, quickly, questionIn } from './beginning.ts';
import { isSameText, isSameTime, newTaskButtons } from './buttons.ts';
import { titleOfStep, instructionsOf, offersIn, whatIsWrongWithTime } from './preview.ts';
import { spoken } from './steps.ts';
import { withTime } from './wizard.ts';

/** Words in the place of a press, and words that were edited. */

/** "Yes" and "no" press the open preview, or the one whose message they answer; "cancel" ends a question as well. */
export async function pressedInWords(ctx: ChatContext, draft: OpenDraft): Promise<Answer | null> {
  const press = pressIn(ctx.args.trim(), draft);
  if (press === null || !isForUs(ctx)) return null;
  const messageId = await messageOf(ctx, draft);
  if (ctx.repliedTo !== null && ctx.repliedTo.messageId !== messageId) return null;
  const { verb, action } = press;
  // Another task has that title: which of both is meant, a button says.
  if (verb === 'create' && draft.step.step === 'preview' && (await sameTitle(ctx, draft.step))) {
    const before = { text: texts.asked.unclear, entities: [] };
    return spoken({ ...ctx, answers: draft.row }, { step: withMessage(draft.step, messageId), before });
  }
  const args = [shortId(draft.row.id), ...action];
  const { toast: _said, ...told } = await newTaskButtons[verb]({
    ...ctx,
    messageId: messageId ?? 0,
    press: { verb, args },
  });
  // A preview that could not become a task is open still, and agreed to by nothing.
  const isRefused = verb === 'create' && told.draft === undefined;
  const isQuiet = messageId === null || isRefused || !settingsOf(ctx.place.chat.settings).reactions;
  return { ...(messageId === null ? anew(told) : told), ...(isQuiet ? {} : { reaction: '👍' as const }) };
}

async function sameTitle({ place, store, args }: ChatContext, step: StepOf<'preview'>): Promise<boolean> {
  const isSaid = /^(?:create|add)/i.test(args.trim());
  return !isSaid && (await store.taskByTitle(place.chat.id, titleOfStep(step))) !== null;
}

/** The message that shows the step goes when another one does. */
function withMessage(step: StepOf<'preview'>, message: number | null): StepOf<'preview'> {
  return message === null ? step : { ...step, kept: { ...step.kept, message } };
}

type InWords = { readonly verb: 'create' | 'cancel' | 'wizard'; readonly action: readonly string[] };

function pressIn(words: string, { step }: OpenDraft): InWords | null {
  const isPreview = step.step === 'preview';
  if (isPreview && isYes(words)) {
    return isEditing(step) ? { verb: 'wizard', action: ['thatboth'] } : { verb: 'create', action: [] };
  }
  const isAsked = isPreview || step.step === 'question';
  const isText = step.step === 'edit' && step.what !== 'time';
  const isEnd = isNo(words) && (isAsked || (!isText && /^cancel/i.test(words)));
  return isEnd ? { verb: 'cancel', action: [] } : null;
}

/** Below the words, where the message of the preview is not known. */
function anew(told: Answer): Answer {
  const replies = told.replies.map((reply) =>
    reply.is === 'edit' ? ({ is: 'message', shown: reply.shown } as const) : reply,
  );
  return { ...told, replies };
}

/** The words with which a draft was begun are other words now: its message shows what comes of them. */
export async function mended(ctx: ChatContext, handle: Handler): Promise<Answer> {
  const { mends = null } = ctx;
  const draft = opened(mends);
  // The command that asked which task is meant is asked anew.
  if (draft === null) return mends?.body['command'] === ctx.command ? handle(ctx) : silence;
  const { step } = draft;
  const said = step.step === 'made' ? step.said : 'kept' in step ? step.kept.said : undefined;
  if (said === undefined || said.command !== ctx.command) return silence;
  if (step.step === 'made') return madeMended(ctx, step, said.isTimeless === true);
  if (step.step === 'edit') return silence;
  return ctx.command === null ? quickly(ctx) : handle(ctx);
}

/** The task is there already, so its change is offered. */
async function madeMended(ctx: ChatContext, made: StepOf<'made'>, isTimeless: boolean): Promise<Answer> {
  const task = await ctx.store.readTask(made.taskId);
  if (task === null || !['active', 'paused'].includes(task.state)) return silence;
  if ((await refusal(ctx, 'change', task)) !== null) return silence;
  const step = changeIn(ctx, task, made, isTimeless);
  if (step === null || (isSameTime(task, step) && isSameText(task, step))) return silence;
  const id = ctx.ids.next();
  const { making, wizard } = texts;
  const { now, dates } = settingFor({ schedule: step.when.schedule }, ctx);
  const shown = making.changeToo(taskName(task), scheduleText(step.when.schedule, now, dates), instructionsOf(step));
  const rows = [
    [
      button(wizard.changeIt, dataOf('wizard', shortId(id), 'thatboth')),
      button(texts.topic.keep, dataOf('cancel', shortId(id))),
    ],
  ];
  return { replies: [{ is: 'message', shown: drawn(shown, rows), id }], draft: putDraft(ctx, id, step) };
}

function changeIn(ctx: ChatContext, task: Task, made: StepOf<'made'>, isTimeless: boolean): StepOf<'preview'> | null {
  const text = ctx.args.trim();
  const kept = { taskId: task.id };
  const as = { words: made.words ?? '', at: ctx.date, schedule: task.schedule, assumed: [], ways: [] };
  const read = timeOr(() => readAnywhere(text, readingOf(ctx)));
  if (read === null) return isTimeless ? { step: 'preview', when: as, text, kept } : null;
  // "In 20 minutes" counts from when it was first written.
  const when = read.words === made.words ? as : { ...as, words: read.words, schedule: read.schedule };
  const forWhom = read.forWhom === null ? {} : { forWhom: read.forWhom };
  return {
    step: 'preview',
    when,
    text: read.text === '' ? task.instructions : read.text,
    kept: { ...kept, ...forWhom },
  };
}

/* ---- a time that is said while a preview is open is another time of it: "at 19", "make it 8", "every friday" ---- */

const lead =
  /^(?:(?:no|oh|sorry|ok(?:ay)?|actually|rather|wait|better|i mean|make (?:it|that)|(?:change|move|set) (?:it|that)(?: to)?|let['’]s (?:say|make it)|say)[,:\s]+)+/iu;

function leadless(words: string): string {
  return words
    .trim()
    .replace(lead, '')
    .replace(/[,\s]+instead[.!\s]*$/i, '');
}

/** "Make it 9" right after [Create]: the task that was made last here, and its other time; null for other words. */
export async function madeMoved(
  ctx: ChatContext,
  words: string,
): Promise<{ readonly task: Task; readonly time: string } | null> {
  const { place, person, date, store } = ctx;
  const time = leadless(words);
  const newest = time === words ? null : await store.openDraft(place.chat.id, person.actor, place.topic, date);
  const step = opened(newest)?.step;
  const task = step?.step === 'made' ? await store.readTask(step.taskId) : null;
  if (task === null || !['active', 'paused'].includes(task.state)) return null;
  const reading = readingOf(ctx, task.schedule.timezone);
  return timeAlone(time, reading) === null && clocksIn(time, reading) === null ? null : { task, time };
}

export async function timeMended(ctx: ChatContext, draft: OpenDraft): Promise<Answer | null> {
  const { row, step } = draft;
  if (step.step !== 'preview' || isEditing(step) || !isForUs(ctx) || ctx.media !== null) return null;
  const message = await messageOf(ctx, draft);
  if (ctx.repliedTo !== null && ctx.repliedTo.messageId !== message) return null;
  // In the topic of a task a time alone puts off what came there.
  if (ctx.repliedTo === null && ctx.place.topicTask !== null) return null;
  const words = leadless(ctx.args);
  const reading = readingOf(ctx, step.when.schedule.timezone);
  const shown = withMessage(step, message);
  const showing = (await besideTime(words, shown, reading)) ?? (await anotherTime(words, shown, reading));
  if (showing === null) return null;
  const refused = await refusal(ctx, 'create');
  if (refused !== null) return turnedDown(refused);
  // The message that shows the preview changes; where it is not known, another one does.
  const told = await spoken({ ...ctx, mends: row, answers: row }, showing);
  const isQuiet = message === null || !settingsOf(ctx.place.chat.settings).reactions;
  return { ...told, ...(isQuiet ? {} : { reaction: '👍' as const }) };
}

interface Mended {
  readonly step: MakingStep;
  readonly before?: Rich;
}

async function anotherTime(words: string, shown: StepOf<'preview'>, reading: Setting): Promise<Mended | null> {
  const when = atHours(words, shown.when, reading) ?? atOther(words, shown.when, reading);
  const step = when === null ? await asked(words, reading, shown) : { ...shown, when };
  return step === null ? null : { step };
}

/** "Until friday", "except tomorrow", "in Tokyo": what goes with a time joins the one that is shown. */
async function besideTime(words: string, shown: StepOf<'preview'>, reading: Setting): Promise<Mended | null> {
  const { when, text } = shown;
  const bases = [when.words, describe(when.schedule, { now: reading.now })].filter((base) => base !== '');
  const wholes = bases.flatMap((base) => timeWith(base, words, reading) ?? []);
  for (const phrase of wholes) {
    const read = timeAlone(phrase, reading);
    const kept = { ...shown.kept, text };
    if (read !== null) return { step: withTime(read, reading.now, { plan: shown.plan, kept, phrase }) };
  }
  const [phrase] = wholes;
  const tried = phrase === undefined ? null : await triedTo(async () => readTime(phrase, reading));
  if (phrase === undefined || tried === null || !('refusal' in tried)) return null;
  const question = questionIn(tried.refusal, phrase, { ...shown.kept, text });
  const { sentence } = whatIsWrongWithTime(tried.refusal);
  return question === null ? { step: shown, before: { text: sentence, entities: [] } } : { step: question };
}

type When = StepOf<'preview'>['when'];

/** A day, a rhythm, or a length in the place of the time; a number alone may be the text as well. */
export function otherTime(words: string, before: When, speaking: PlaceAndDate): When | null {
  return /^[\d\s.:]*$/.test(words) ? null : atOther(words, before, readingOf(speaking, before.schedule.timezone));
}

/** Hours alone leave the days as they are, unless that moment has passed. */
export function atHours(words: string, { schedule: before, assumed }: When, reading: Setting): When | null {
  // An hour that nobody said decides no half of the day.
  const isSaid = !assumed.includes(clockText(hourOfPart('morning', reading) * 60));
  const clock = isSaid ? inSameHalf(words, before) : null;
  const read = clocksIn(clock ?? words, reading);
  const times = read === null ? null : hoursOf(read.schedule);
  const moved = times === null ? null : withHours(before, times);
  const schedule = moved === null ? null : parseSchedule(moved, reading.now);
  if (read === null || schedule === null || nextSlot(schedule, reading.now) === null) return null;
  // No words of theirs say all of it.
  const when = { ...whenOf(read, reading), schedule, words: '' };
  return clock === null ? when : { ...when, assumed: [clock] };
}

/**
 * A bare hour in the place of one that is early in the morning or late in the day is meant there too: "no, 6" below 05:00, and
 * "9" below 20:00. Null where it means what it always does.
 */
function inSameHalf(words: string, before: Schedule): string | null {
  const { hour, minute = '00' } =
    /^(?:at |@ ?)?(?<hour>[1-9]|1[01])(?:[:.](?<minute>[0-5]\d))?$/.exec(words)?.groups ?? {};
  const [was, another] = hoursOf(before) ?? [];
  if (hour === undefined || was === undefined || another !== undefined) return null;
  const isEarly = Number(hour) < firstBareMorning;
  const isMeant = isEarly ? was < firstBareMorning * 60 : was >= lateFrom * 60;
  return isMeant ? clockText((Number(hour) + (isEarly ? 0 : 12)) * 3600 + Number(minute) * 60) : null;
}

/** A bare hour below it is the afternoon. */
const firstBareMorning = 7;
const lateFrom = 17;

function whenOf({ schedule, words, assumed }: Asked, { now }: Setting): When {
  return { schedule, words, at: now, assumed: assumed.map(({ text }) => text), ways: [] };
}

/** Another day keeps the hour that was said, and hours of its own go before that. */
function atOther(words: string, before: When, reading: Setting): When | null {
  const alone = timeAlone(words, reading);
  const isLoneDay = alone?.assumed.some(({ what }) => what === 'day') === true;
  const piece =
    alone?.schedule.kind === 'once' || alone === null ? asPiece(words, before, { reading, isLoneDay }) : null;
  if (piece !== null || alone === null) return piece;
  const times = isLoneDay && before.assumed.length === 0 ? hoursOf(before.schedule) : null;
  const clock = times?.map((minute) => clockText(minute * 60)).join(' and ');
  const timed = clock === undefined ? null : timeAlone(`${words} at ${clock}`, reading);
  return whenOf(timed ?? alone, reading);
}

interface Piece {
  readonly reading: Setting;
  readonly isLoneDay: boolean;
}

/** A piece that was missing: "in the evening" after "tomorrow", "the 1st" after "every month". */
function asPiece(words: string, before: When, { reading, isLoneDay }: Piece): When | null {
  const repeats = before.schedule.kind !== 'once';
  const ways = [
    ...(before.assumed.length > 0 ? [`${before.words} ${words}`] : []),
    ...(repeats && isLoneDay ? [`every ${words}`] : []),
  ];
  for (const way of ways) {
    const whole = timeAlone(way, reading);
    if (whole !== null && isLike(before.schedule, whole.schedule)) return whenOf(whole, reading);
  }
  return null;
}

function timeAlone(words: string, reading: Setting): Asked | null {
  const read = timeOr(() => readTime(words, reading));
  return read?.text === '' ? read : null;
}

/** Still a series, or still on its day. */
function isLike(before: Schedule, after: Schedule): boolean {
  if (before.kind !== 'once' || after.kind !== 'once') return before.kind !== 'once' && after.kind !== 'once';
  const day = ({ timezone, onceAt }: typeof before) => dateIn({ timezone, now: onceAt }, 0);
  return day(before) === day(after);
}

/** Two readings of a time alone. */
async function asked(words: string, reading: Setting, step: StepOf<'preview'>): Promise<StepOf<'question'> | null> {
  const read = await triedTo(async () => readTime(words, reading));
  const offers = 'refusal' in read ? offersIn(read.refusal) : null;
  const isTime = offers?.some(({ when }) => timeAlone(when, reading) !== null) === true;
  if (!('refusal' in read) || !isTime) return null;
  return questionIn(read.refusal, words, { ...step.kept, text: step.text });
}
