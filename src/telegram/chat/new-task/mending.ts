import { hoursOf, withHours } from '../../../domain/schedule/hours.ts';
import { nextSlot, parseSchedule, type Schedule } from '../../../domain/schedule/schedule.ts';
import { clockText } from '../../../domain/schedule/time/calendar.ts';
import { type Asked, readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Setting } from '../../../domain/when/setting.ts';
import type { Answer, ChatContext } from '../context.ts';
import { triedTo, turnedDown } from '../kit/answers.ts';
import { dateIn } from '../kit/clock.ts';
import { clocksIn } from '../kit/days.ts';
import { isEditing, isForUs, messageOf, type OpenDraft, readingOf, type StepOf } from '../kit/drafts.ts';
import { refusal } from '../kit/rights.ts';
import { questionIn } from './beginning.ts';
import { offersIn } from './preview.ts';
import { spoken } from './steps.ts';

/** A time that is said while a preview is open is another time of it: "at 19", "make it 8", "every friday". */

const lead =
  /^(?:(?:no|oh|sorry|ok(?:ay)?|actually|rather|wait|better|i mean|make (?:it|that)|(?:change|move|set) (?:it|that)(?: to)?|let['’]s (?:say|make it)|say)[,:\s]+)+/iu;

export async function timeMended(ctx: ChatContext, draft: OpenDraft): Promise<Answer | null> {
  const { row, step } = draft;
  if (step.step !== 'preview' || isEditing(step) || !isForUs(ctx) || ctx.media !== null) return null;
  const message = await messageOf(ctx, draft);
  if (ctx.repliedTo !== null && ctx.repliedTo.messageId !== message) return null;
  // In the topic of a task a time alone puts off what came there.
  if (ctx.repliedTo === null && ctx.place.topicTask !== null) return null;
  const words = ctx.args
    .trim()
    .replace(lead, '')
    .replace(/[,\s]+instead[.!\s]*$/i, '');
  const reading = readingOf(ctx, step.when.schedule.timezone);
  const kept = { ...step.kept, ...(message === null ? {} : { message }) };
  const when = atHours(words, step.when, reading) ?? atOther(words, step.when, reading);
  const next = when === null ? await asked(words, reading, { ...step, kept }) : { ...step, when, kept };
  if (next === null) return null;
  const refused = await refusal(ctx, 'create');
  return refused === null ? spoken({ ...ctx, answers: row }, { step: next }) : turnedDown(refused);
}

type When = StepOf<'preview'>['when'];

/** Hours alone leave the days as they are, unless that moment has passed. */
function atHours(words: string, { schedule: before }: When, reading: Setting): When | null {
  const read = clocksIn(words, reading);
  const times = read === null ? null : hoursOf(read.schedule);
  const moved = times === null ? null : withHours(before, times);
  const schedule = moved === null ? null : parseSchedule(moved, reading.now);
  if (read === null || schedule === null || nextSlot(schedule, reading.now) === null) return null;
  // No words of theirs say all of it.
  return { ...whenOf(read, reading), schedule, words: '' };
}

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
