import type { AppError } from '../../../domain/errors.ts';
import { instructionsLengthMax } from '../../../domain/limits.ts';
import { pad } from '../../../domain/schedule/time/calendar.ts';
import { isBlank } from '../../../domain/task.ts';
import { type Asked, readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext } from '../conversation.ts';
import { silence, triedTo } from '../kit/answers.ts';
import { dateIn } from '../kit/clock.ts';
import {
  isForUs,
  readingOf,
  type Kept,
  type MakingStep,
  type PartStep,
  type Speaking,
  type StepOf,
} from '../kit/drafts.ts';
import { texts } from '../texts.ts';
import { whatIsWrongWithTime } from './preview.ts';
import { missed, spoken } from './steps.ts';
import { afterTime, hourStep, nth, timed } from './wizard.ts';

/** Words in the place of the buttons with which a task is made. */

/** As the part that is asked for, or else as a whole time of their own, or as the text that comes too early. */
export async function typedPart(ctx: ChatContext, step: StepOf<PartStep>): Promise<Answer> {
  const words = ctx.args.trim();
  const part = words.length > partLengthMax ? null : partOf(words, step, ctx);
  if (part !== null) return spoken(ctx, { step: part });
  const read = await triedTo(async () => readTime(ctx.args, readingOf(ctx)));
  if ('made' in read) return timeTyped(ctx, read.made, step);
  if (isForUs(ctx) && isText(words, step, read.refusal)) {
    const before = { text: texts.wizard.notedText, entities: [] };
    return spoken(ctx, { step: { ...step, kept: { ...step.kept, text: words, isEarly: true } }, before });
  }
  const { sentence, tries } = whatIsWrongWithPart(step.step, words, read.refusal);
  return missed(ctx, step, texts.making.unreadQuick(sentence, tries));
}

/** Nobody needs more words for a part of a time. */
const partLengthMax = 100;

/** Where there is none yet, and the words do not begin like a time that was meant. */
function isText(words: string, { step, kept }: StepOf<PartStep>, fault: AppError): boolean {
  const reason = fault.details?.['reason'];
  const isUnknown = reason === 'unknown' || reason === 'not_first';
  const isTaken = kept.text !== undefined && kept.isEarly !== true;
  if (!isUnknown || isTaken || isBlank(words)) return false;
  const asksClock = step === 'hour' || step === 'minute';
  if (words.length > instructionsLengthMax) return false;
  return /\p{L}{2}/u.test(words) && (asksClock ? !isLikeClock.test(words) : /\S\s+\S/.test(words));
}

const isLikeClock =
  /^(?:\S+\s+)?\S*(?:\d|half|quarter|noon|midnight|o'?clock|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\S*$/iu;

/** What is asked for at that step, rather than all that a time can be. */
function whatIsWrongWithPart(step: PartStep, words: string, fault: AppError): ReturnType<typeof whatIsWrongWithTime> {
  const whole = whatIsWrongWithTime(fault);
  const known = texts.wizard.partFaults[step];
  const reason = fault.details?.['reason'];
  const isClock = reason === 'no_such_time' && /\d/.test(words);
  return { sentence: isClock || reason === 'misspelt' ? whole.sentence : known.sentence, tries: known.tries };
}

function partOf(words: string, step: StepOf<PartStep>, speaking: Speaking): MakingStep | null {
  const bare = words.replace(/^(?:on|at|every|each)\s+/i, '').replace(/^the\s+/i, '');
  if (bare === '') return null;
  switch (step.step) {
    case 'hour':
    case 'minute':
      return clockTyped(bare, step, speaking);
    case 'days':
      return daysTyped(`every ${bare}`, step, speaking);
    case 'month':
      return daysTyped(`every month on the ${/^\d{1,2}$/.test(bare) ? nth(Number(bare)) : bare}`, step, speaking);
    case 'date':
      return dateTyped(words, step, speaking);
  }
}

function alone(words: string, speaking: Speaking): Asked | null {
  const read = timeOr(() => readTime(words, readingOf(speaking)));
  return read?.text === '' ? read : null;
}

function clockTyped(bare: string, step: StepOf<PartStep>, speaking: Speaking): MakingStep | null {
  const { plan } = step;
  const isMinute = step.step === 'minute' && /^:?[0-5]?\d$/.test(bare);
  const time = isMinute ? `${pad(plan.hour ?? 0, 2)}:${bare.replace(':', '').padStart(2, '0')}` : bare;
  return alone(`${plan.lead ?? 'every day'} at ${time}`, speaking) === null ? null : timed(step, time, speaking);
}

/** The day alone, or with its time as in "monday at 9". */
function daysTyped(lead: string, step: StepOf<PartStep>, speaking: Speaking): MakingStep | null {
  const whole = alone(lead, speaking);
  if (whole !== null) return afterTime(whole, speaking.date, step);
  return alone(`${lead} at 9:00`, speaking) === null ? null : hourStep(step, lead);
}

function dateTyped(words: string, step: StepOf<PartStep>, speaking: Speaking): MakingStep | null {
  // The last minute of the day, because the day is not over before.
  const read = alone(words, speaking) === null ? alone(`${words} at 23:59`, speaking) : null;
  const schedule = read?.schedule;
  if (schedule?.kind !== 'once') return null;
  return hourStep(step, dateIn({ timezone: schedule.timezone, now: schedule.onceAt }, 0));
}

/** A whole time was written; what follows it is the text, where none is there yet. */
export async function timeTyped(ctx: ChatContext, read: Asked, step: StepOf<PartStep | 'time'>): Promise<Answer> {
  const rest = read.text;
  // Where people talk to each other, a sentence that begins with a time is more than what was asked for.
  if (rest !== '' && !isForUs(ctx)) return silence;
  const text = step.step === 'time' ? step.text : step.kept.text;
  const media = ctx.media ?? step.kept.media;
  const kept: Kept = { ...step.kept, ...(media === undefined ? {} : { media }) };
  if (rest !== '' && text !== undefined && kept.isEarly !== true) return missed(ctx, step, texts.making.leftOver(rest));
  const known = rest === '' ? text : rest;
  return spoken(ctx, {
    step: afterTime(read, ctx.date, { kept: known === undefined ? kept : { ...kept, text: known } }),
  });
}
