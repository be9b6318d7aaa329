import { AppError } from '../../../domain/errors.ts';
import { instructionsLengthMax } from '../../../domain/limits.ts';
import { pad } from '../../../domain/schedule/time/calendar.ts';
import { nth } from '../../../domain/schedule/words/words.ts';
import { isBlank } from '../../../domain/task.ts';
import { type Asked, readAnswer, readAnywhere, readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext } from '../context.ts';
import { silence, turnedDown, triedTo } from '../kit/answers.ts';
import { dateIn } from '../kit/clock.ts';
import {
  type Kept,
  type MakingStep,
  type OpenDraft,
  type StepOf,
  isForUs,
  isMaking,
  readingOf,
  type PartStep,
  type PlaceAndDate,
} from '../kit/drafts.ts';
import { refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { actionSaid, actionTyped } from './acting.ts';
import {
  asLength,
  isAsking,
  isDayAlone,
  isUndecided,
  offerCounted,
  offerNamed,
  questionIn,
  quickly,
  readNew,
  readingMeant,
  readingsOf,
  sentWith,
  stepOf,
  textBeside,
} from './beginning.ts';
import { isTimeless, whatIsWrongWithTime } from './preview.ts';
import { missed, spoken, whereOf } from './steps.ts';
import { withTime, hourStep, timed } from './wizard.ts';
import { atHours, otherTime } from './words.ts';

/** The next plain message of somebody whose draft waits for it. */
export async function goOn(ctx: ChatContext, draft: OpenDraft): Promise<Answer> {
  const { row, step } = draft;
  if (!isMaking(step)) return silence;
  if (step.step === 'preview' || isAsking(ctx)) return quickly(ctx);
  if (isOverheard(ctx, step)) return silence;
  const refused = await refusal(ctx, 'create');
  if (refused !== null) return { ...turnedDown(refused), draft: { is: 'drop', draftId: row.id } };
  return carriedOn({ ...ctx, answers: row }, step);
}

/** Words that were not said to us can be a time that we ask for, but any sentence could be a text, and any file an attachment. */
function isOverheard(ctx: ChatContext, step: MakingStep): boolean {
  if (isForUs(ctx)) return false;
  return step.step === 'text' || step.step === 'retext' || ctx.media !== null;
}

function withMedia<S extends Exclude<MakingStep, { step: 'question' }>>(ctx: ChatContext, step: S): S {
  const kept = { ...step.kept, ...sentWith(ctx) };
  return ctx.media === null ? step : { ...step, kept };
}

async function carriedOn(ctx: ChatContext, waiting: MakingStep): Promise<Answer> {
  if (waiting.step === 'question') return questionAnswered(ctx, waiting);
  const step = withMedia(ctx, waiting);
  switch (step.step) {
    case 'text': {
      if (step.kept.kind !== undefined) return actionTyped(ctx, step);
      if (isOfItsOwn(ctx)) return afresh(ctx);
      const when = isReply(ctx) || ctx.media !== null ? null : otherTime(ctx.args.trim(), step.when, ctx);
      if (when !== null) return spoken(ctx, { step: { ...step, when, plan: undefined } });
      return textTyped(ctx, { ...step, step: 'preview', text: ctx.args.trim(), from: step });
    }
    case 'retext':
      if (step.kept.kind !== undefined) return actionTyped(ctx, step);
      return textTyped(ctx, { ...step, step: 'preview', text: ctx.args.trim(), from: step });
    case 'preview':
      return silence;
    default:
      return timePart(ctx, step);
  }
}

/** Times that belong to the word behind them: "weekly report", "monday's minutes", "10 minutes of yoga". */
const describing = /^(?:\p{L}+ly|\p{L}+['’]s|\d+[\s-]*(?:m|h|d|min|minute|hour|day|week|month|year)s?)\s/iu;

/** A task of its own leaves a question about the time of another as it is, with its buttons: "mondays at 9: plan the week". */
export function isAnotherTask(ctx: ChatContext): boolean {
  return isForUs(ctx) && isOfItsOwn(ctx) && !/\s(?:instead of|in place of|rather than)\s/i.test(ctx.args);
}

/** A task that begins with its own time, or with what could be one; a time within a sentence is a part of the text. */
function isOfItsOwn(ctx: ChatContext): boolean {
  const words = ctx.args.trim();
  const beside = isReply(ctx) || ctx.media !== null || words.includes('\n') ? '' : textBeside(ctx);
  return beside !== '' && words !== beside && words.endsWith(beside) && !describing.test(words);
}

type TextTyped = StepOf<'preview'> & { readonly from: MakingStep };

/** A text without a visible character is none, unless a file comes with it. */
async function textTyped(ctx: ChatContext, { from, ...step }: TextTyped): Promise<Answer> {
  const isNothing = isBlank(step.text) && step.kept.media === undefined;
  return spoken(ctx, isNothing ? { step: from, before: { text: texts.wizard.blankText, entities: [] } } : { step });
}

/* ---- the piece that was missing ---- */

/**
 * The piece alone, read together with what was said before. Words that say more than a piece are a task of their own, unless
 * they reply to the question.
 */
async function questionAnswered(said: ChatContext, step: StepOf<'question'>): Promise<Answer> {
  const ctx = { ...said, args: asLength(said, step) };
  const words = ctx.args.trim();
  if (isUndecided(words)) return missed(ctx, step, { text: texts.asked.unclear, entities: [] });
  const named = offerNamed(words, step) ?? offerCounted(words, step);
  const own = timeOr(() => readAnywhere(named ?? words, readingOf(ctx)));
  if (named !== null && own !== null && isForUs(ctx)) {
    return spoken(ctx, { step: withTime(own, ctx.date, { kept: step.kept, phrase: named }) });
  }
  if (ctx.media !== null || !isAnswer(ctx, step, own)) return isForUs(ctx) ? afresh(ctx) : silence;
  if (own === null) return pieceAnswered(ctx, step);
  const meant = readingMeant(ctx, step, own);
  if (meant !== null) {
    return spoken(ctx, { step: withTime(meant.read, ctx.date, { kept: step.kept, phrase: meant.when }) });
  }
  const isOther = step.isEither === true && isDayAlone(own);
  return isOther ? missed(ctx, step, { text: texts.asked.unclear, entities: [] }) : pieceAnswered(ctx, step);
}

/** A time alone is; with a text of its own it is another task, where the question has one. Longer words say something else. */
function isAnswer(ctx: ChatContext, step: StepOf<'question'>, own: Asked | null): boolean {
  if (own === null) return isReply(ctx) || (isShort(ctx.args.trim()) && textBeside(ctx) === '');
  return own.text === '' || (isForUs(ctx) && (isReply(ctx) || !hasText(step)));
}

async function pieceAnswered(ctx: ChatContext, step: StepOf<'question'>): Promise<Answer> {
  const words = ctx.args.trim();
  const { kept, phrase } = step;
  const before = phrase === '' ? (kept.text ?? '') : phrase;
  const read = await stepOf(ctx, words, {
    kept,
    read: (answer, setting) => {
      const made = readAnswer(before, answer, setting);
      // Where the answer takes the place of the time, the rest of the words is what the other readings leave.
      const left = made.text === before ? readingsOf(step, ctx)[0]?.read.text : undefined;
      return phrase === '' || left === undefined ? made : { ...made, text: left };
    },
    phrase: `${before} ${words}`,
  });
  if ('made' in read) return spoken(ctx, read);
  if (!isForUs(ctx)) return silence;
  const isTime = isTimeAlone(ctx) || ('step' in read ? await isQuestion(ctx) : !isTimeless(read.refusal));
  if (!isReply(ctx) && !isTime) return afresh(ctx);
  const isAgain = 'step' in read && read.step.step === 'question' && read.step.ask === step.ask;
  if (isAgain) return missed(ctx, step, { text: texts.asked.unclear, entities: [] });
  if ('step' in read) return spoken(ctx, read);
  const { sentence, tries } = whatIsWrongWithTime(read.refusal);
  return missed(ctx, step, texts.making.unreadQuick(sentence, tries));
}

/** A piece of a time, to which another one is missing still. */
async function isQuestion(ctx: ChatContext): Promise<boolean> {
  const read = await stepOf(ctx, ctx.args.trim(), { kept: {}, read: readAnywhere });
  return 'step' in read && read.step.step === 'question' && read.step.phrase !== '';
}

function isTimeAlone(ctx: ChatContext): boolean {
  return timeOr(() => readTime(ctx.args, readingOf(ctx)))?.text === '';
}

/** Not more than a piece of a time would need. */
function isShort(words: string): boolean {
  return /^(?:[\d\s.:,&]|and)+$/i.test(words) || words.split(/\s+(?:(?:and|&)\s+)?/i).length <= 2;
}

function hasText({ phrase, kept }: StepOf<'question'>): boolean {
  return phrase !== '' || kept.text !== undefined;
}

function isReply({ repliedTo }: ChatContext): boolean {
  return repliedTo?.isOurs === true;
}

/** The question stays, with its buttons. */
function afresh({ answers: _left, ...ctx }: ChatContext): Promise<Answer> {
  return quickly(ctx);
}

/* ---- words in the place of the buttons ---- */

type Timing = Exclude<MakingStep, { step: 'question' | 'text' | 'retext' | 'preview' }>;

async function timePart(ctx: ChatContext, step: Timing): Promise<Answer> {
  // A picture without words belongs to the task; the time is still asked for.
  if (ctx.args.trim() === '' && ctx.media !== null) return spoken(ctx, { step });
  if (step.step === 'ask') return step.kept.kind === undefined ? readNew(ctx, step.kept) : actionSaid(ctx, step.kept);
  return step.step === 'time' ? timeAnswered(ctx, step) : typedPart(ctx, step);
}

async function timeAnswered(ctx: ChatContext, step: StepOf<'time'>): Promise<Answer> {
  const reading = readingOf(ctx, step.when?.schedule.timezone);
  const { text, kept } = step;
  const when = step.when === undefined ? null : atHours(ctx.args.trim(), step.when, reading);
  if (when !== null) return spoken(ctx, { step: { step: 'preview', when, text, kept } });
  if (isForUs(ctx) && !isReply(ctx) && textBeside(ctx) !== '') return afresh(ctx);
  const read = await triedTo(async () => readTime(ctx.args, reading));
  if ('made' in read) return timeTyped(ctx, read.made, step);
  const asked = questionIn(read.refusal, ctx.args.trim(), { ...step.kept, text: step.text });
  if (asked !== null) return questionSpoken(ctx, asked);
  const { sentence, tries } = whatIsWrongWithTime(read.refusal);
  return missed(ctx, step, texts.making.unread(sentence, tries, whereOf(ctx)));
}

/** In a group the words may not have been meant for us. */
async function questionSpoken(ctx: ChatContext, step: StepOf<'question'>): Promise<Answer> {
  return isForUs(ctx) ? spoken(ctx, { step }) : silence;
}

/** As the part that is asked for, or else as a whole time of their own, or as the text that comes too early. */
async function typedPart(ctx: ChatContext, step: StepOf<PartStep>): Promise<Answer> {
  const words = ctx.args.trim();
  const part = words.length > partLengthMax ? null : partOf(words, step, ctx);
  if (part !== null) return spoken(ctx, { step: part });
  const read = await triedTo(async () => readTime(ctx.args, readingOf(ctx)));
  if ('made' in read) return timeTyped(ctx, read.made, step);
  const asked = partQuestion(words, step, ctx);
  if (asked !== null) return questionSpoken(ctx, asked);
  if (isForUs(ctx) && isText(words, step, read.refusal)) {
    const before = { text: texts.wizard.notedText, entities: [] };
    return spoken(ctx, { step: { ...step, kept: { ...step.kept, text: words, isEarly: true } }, before });
  }
  const { sentence, tries } = whatIsWrongWithPart(step.step, words, read.refusal);
  return missed(ctx, step, texts.making.unreadQuick(sentence, tries));
}

/** A part of a time needs no more words. */
const partLengthMax = 100;

/** True where there is no text yet, and the words do not begin like a time that was meant. */
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

/** Names the part that is asked for at that step, rather than all that a time can be. */
function whatIsWrongWithPart(step: PartStep, words: string, fault: AppError): ReturnType<typeof whatIsWrongWithTime> {
  const whole = whatIsWrongWithTime(fault);
  const known = texts.wizard.partFaults[step];
  const reason = fault.details?.['reason'];
  const isClock = reason === 'no_such_time' && /\d/.test(words);
  return { sentence: isClock || reason === 'misspelt' ? whole.sentence : known.sentence, tries: known.tries };
}

function partOf(words: string, step: StepOf<PartStep>, speaking: PlaceAndDate): MakingStep | null {
  const said = phraseOf(words, step);
  if (said === null) return null;
  switch (step.step) {
    case 'hour':
    case 'minute':
      return alone(said.phrase, speaking) === null ? null : timed(step, said.part, speaking);
    case 'days':
    case 'month':
      return daysTyped(said.phrase, step, speaking);
    case 'date':
      return dateTyped(words, step, speaking);
  }
}

/** The part as it is read, and the whole phrase together with what was chosen before. */
function phraseOf(words: string, { step, plan }: StepOf<PartStep>) {
  const bare = words.replace(/^(?:on|at|every|each)\s+/i, '').replace(/^the\s+/i, '');
  if (bare === '') return null;
  switch (step) {
    case 'hour':
    case 'minute': {
      const isMinute = step === 'minute' && /^:?[0-5]?\d$/.test(bare);
      const part = isMinute ? `${pad(plan.hour ?? 0, 2)}:${bare.replace(':', '').padStart(2, '0')}` : bare;
      return { part, phrase: `${plan.lead ?? 'every day'} at ${part}` };
    }
    case 'days':
      return { part: bare, phrase: `every ${bare}` };
    case 'month':
      return { part: bare, phrase: `every month on the ${/^\d{1,2}$/.test(bare) ? nth(Number(bare)) : bare}` };
    case 'date':
      return { part: bare, phrase: words };
  }
}

/** Two readings of the part: "half nine". What is no part at all is told with examples of one. */
function partQuestion(words: string, step: StepOf<PartStep>, speaking: PlaceAndDate): StepOf<'question'> | null {
  const said = words.length > partLengthMax ? null : phraseOf(words, step);
  if (said === null) return null;
  try {
    readTime(said.phrase, readingOf(speaking));
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code === 'ambiguous_schedule' ? questionIn(error, said.phrase, step.kept) : null;
  }
}

/** A time with its hour, and nothing else. */
function alone(words: string, speaking: PlaceAndDate): Asked | null {
  const read = timeOr(() => readTime(words, readingOf(speaking)));
  return read?.text === '' && !isDayAlone(read) ? read : null;
}

/** The day alone, or with its time as in "monday at 9". */
function daysTyped(lead: string, step: StepOf<PartStep>, speaking: PlaceAndDate): MakingStep | null {
  const whole = alone(lead, speaking);
  if (whole !== null) return withTime(whole, speaking.date, { ...step, phrase: lead });
  return alone(`${lead} at 9:00`, speaking) === null ? null : hourStep(step, lead);
}

function dateTyped(words: string, step: StepOf<PartStep>, speaking: PlaceAndDate): MakingStep | null {
  if (alone(words, speaking) !== null) return null;
  // The last minute of the day, because the day is not over before.
  const schedule = alone(`${words} at 23:59`, speaking)?.schedule;
  if (schedule?.kind !== 'once') return null;
  return hourStep(step, dateIn({ timezone: schedule.timezone, now: schedule.onceAt }, 0));
}

/** A whole time was written; what follows it is the text, where none is there yet. */
async function timeTyped(ctx: ChatContext, read: Asked, step: StepOf<PartStep | 'time'>): Promise<Answer> {
  const rest = read.text;
  if (rest !== '' && !isForUs(ctx)) return silence;
  const text = step.step === 'time' ? step.text : step.kept.text;
  const kept: Kept = { ...step.kept, ...sentWith(ctx) };
  if (rest !== '' && text !== undefined && kept.isEarly !== true) return missed(ctx, step, texts.making.leftOver(rest));
  return spoken(ctx, {
    step: withTime(read, ctx.date, {
      kept: text === undefined ? kept : { ...kept, text },
      phrase: ctx.args.trim(),
    }),
  });
}
