import type { AppError } from '../../../domain/errors.ts';
import { instructionsLengthMax } from '../../../domain/limits.ts';
import { pad } from '../../../domain/schedule/time/calendar.ts';
import { nth } from '../../../domain/schedule/words/words.ts';
import { isBlank } from '../../../domain/task.ts';
import { type Asked, readAnywhere, readAsked, readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext } from '../context.ts';
import { answer, silence, turnedDown, triedTo } from '../kit/answers.ts';
import { dateIn } from '../kit/clock.ts';
import {
  draftHere,
  type Kept,
  type MakingStep,
  type OpenDraft,
  type StepOf,
  replacedWords,
  isForUs,
  readingOf,
  type PartStep,
  type PlaceAndDate,
} from '../kit/drafts.ts';
import { onChat } from '../kit/guards.ts';
import { blocks, type Rich } from '../kit/rich.ts';
import { refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { whatIsWrong, whatIsWrongWithTime } from './preview.ts';
import { missed, spoken, whereOf } from './steps.ts';
import { withTime, hourStep, timed } from './wizard.ts';

/** `/new`: with everything it shows the preview at once, and without it asks for what is missing. */
export const newTask = onChat('create', async (ctx) => {
  const draft = await draftHere(ctx);
  const before = replacedWords(draft);
  const words = ctx.args.trim();
  // An answer to a question of ours means that question, and not that its words be sent.
  const isAnswer = ctx.repliedTo?.isOurs === true && (words === '' || draft !== null);
  const kept = isAnswer ? sentWith(ctx) : brought(ctx);
  const step: StepOf<'ask'> = { step: 'ask', kept };
  return words === '' ? spoken(ctx, { step, before }) : readNew(ctx, step, before);
});

/** The file that came with the words. */
function sentWith({ media, album }: ChatContext): Kept {
  return media === null ? {} : { media, ...(album === undefined ? {} : { album }) };
}

/** The file and the text of the message that was replied to, below what was sent with the words. */
function brought(ctx: ChatContext): Kept {
  const { repliedTo } = ctx;
  const text = repliedTo?.text?.trim() ?? '';
  const media = repliedTo?.media ?? null;
  if (text === '' && media === null) return sentWith(ctx);
  return {
    ...(text === '' ? {} : { text }),
    ...(media === null ? {} : { media }),
    ...sentWith(ctx),
  };
}

/** Reads when and what from one text. */
async function readNew(ctx: ChatContext, step: StepOf<'ask'>, before: Rich | null): Promise<Answer> {
  const read = await triedTo(async () => (isForUs(ctx) ? readAnywhere : readAsked)(ctx.args, readingOf(ctx)));
  if ('refusal' in read) return unread(ctx, step, before, read.refusal);
  // Among people who talk to each other, a sentence that begins with a time is more than what was asked for.
  if (!isForUs(ctx) && hasSubject(step.kept) && read.made.text !== '') return silence;
  return spoken(ctx, { step: withTime(read.made, ctx.date, step), before });
}

function hasSubject({ text, media }: Kept): boolean {
  return text !== undefined || media !== undefined;
}

async function unread(ctx: ChatContext, step: StepOf<'ask'>, before: Rich | null, fault: AppError): Promise<Answer> {
  const hasText = hasSubject(step.kept);
  const { sentence, tries } = hasText ? whatIsWrongWithTime(fault) : whatIsWrong(fault);
  const where = whereOf(ctx);
  const { making } = texts;
  const words = hasText ? making.unread(sentence, tries, where) : making.unreadBoth(sentence, tries, where);
  return missed(ctx, step, blocks(before, words));
}

/** The next plain message of somebody whose draft waits for it. */
export async function goOn(ctx: ChatContext, draft: OpenDraft): Promise<Answer> {
  const { row, step } = draft;
  if (step.step === 'edit' || step.step === 'made') return silence;
  if (isPartOfAlbum(ctx, step)) return silence;
  if (step.step === 'preview' || isAsking(ctx)) return quickly(ctx);
  if (isOverheard(ctx, step)) return silence;
  const refused = await refusal(ctx, 'create');
  if (refused !== null) return { ...turnedDown(refused), draft: { is: 'drop', draftId: row.id } };
  return carriedOn(ctx, withMedia(ctx, step));
}

/** Words that were not said to us can be a time that we ask for, but any sentence could be a text, and any file an attachment. */
function isOverheard(ctx: ChatContext, step: MakingStep): boolean {
  if (isForUs(ctx)) return false;
  return step.step === 'text' || step.step === 'retext' || ctx.media !== null;
}

/** Of several pictures that are sent at once, one can be kept: the first. */
function isPartOfAlbum({ album }: ChatContext, { kept }: MakingStep): boolean {
  return album !== undefined && album === kept.album;
}

function withMedia<S extends MakingStep>(ctx: ChatContext, step: S): S {
  const kept = { ...step.kept, ...sentWith(ctx) };
  return ctx.media === null ? step : { ...step, kept };
}

async function carriedOn(ctx: ChatContext, step: MakingStep): Promise<Answer> {
  const words = ctx.args.trim();
  switch (step.step) {
    case 'text':
    case 'retext':
      return textTyped(ctx, { ...step, step: 'preview', text: words, from: step });
    case 'offer':
      return offerTyped(ctx, step);
    case 'preview':
      return quickly(ctx);
    default:
      return timePart(ctx, step);
  }
}

type TextTyped = StepOf<'preview'> & { readonly from: MakingStep };

/** A text without a visible character is none, unless a file comes with it. */
async function textTyped(ctx: ChatContext, { from, ...step }: TextTyped): Promise<Answer> {
  const isNothing = isBlank(step.text) && step.kept.media === undefined;
  return spoken(ctx, isNothing ? { step: from, before: { text: texts.wizard.blankText, entities: [] } } : { step });
}

type Timing = Exclude<MakingStep, { step: 'text' | 'retext' | 'offer' | 'preview' }>;

async function timePart(ctx: ChatContext, step: Timing): Promise<Answer> {
  // A picture without words belongs to the task; the time is still asked for.
  if (ctx.args.trim() === '' && ctx.media !== null) return spoken(ctx, { step });
  if (step.step === 'ask') return readNew(ctx, step, null);
  return step.step === 'time' ? timeAnswered(ctx, step) : typedPart(ctx, step);
}

async function timeAnswered(ctx: ChatContext, step: StepOf<'time'>): Promise<Answer> {
  const read = await triedTo(async () => readTime(ctx.args, readingOf(ctx)));
  if ('made' in read) return timeTyped(ctx, read.made, step);
  const { sentence, tries } = whatIsWrongWithTime(read.refusal);
  return missed(ctx, step, texts.making.unread(sentence, tries, whereOf(ctx)));
}

/** A file came alone, and then its time. */
async function offerTyped(ctx: ChatContext, step: StepOf<'offer'>): Promise<Answer> {
  if (ctx.media !== null) return offered(ctx);
  const read = await triedTo(async () => (isForUs(ctx) ? readAnywhere : readAsked)(ctx.args, readingOf(ctx)));
  return 'made' in read ? spoken(ctx, { step: withTime(read.made, ctx.date, step) }) : quickly(ctx);
}

const asking =
  /^(?:please\s+)?(?:schedule\s+(?:this|that|it)|remind\s+(?:me|us)(?:\s+(?:of|about)\s+(?:this|that|it))?|later)(?![\p{L}\p{N}'])[\s,:]*/iu;

/** "Schedule this tomorrow at 9", said about a message of somebody. */
function isAsking({ args, repliedTo, place, isAddressed }: ChatContext): boolean {
  const isDirect = place.chat.kind === 'private' || isAddressed === true;
  return isDirect && repliedTo !== null && !repliedTo.isOurs && asking.test(args.trim());
}

/**
 * In a private chat, and where the bot is called by its name, no command is needed: a text with a time, a file, or words
 * about a message that is replied to. What comes of it is a preview only.
 */
export async function quickly(ctx: ChatContext): Promise<Answer> {
  const { place, repliedTo, media } = ctx;
  const words = ctx.args.trim();
  const isDirect = place.chat.kind === 'private' || ctx.isAddressed === true;
  if (!isDirect) return silence;
  const asked = asking.exec(words);
  const hasSubject = repliedTo !== null && (repliedTo.text !== null || repliedTo.media !== null);
  if (asked !== null && hasSubject) return scheduleThis(ctx, words.slice(asked[0].length));
  if (words === '' && media !== null) return offered(ctx);
  const read = await triedTo(async () => readAnywhere(ctx.args, readingOf(ctx)));
  if (!('made' in read)) return answer(hintFor(words, read.refusal));
  return begunQuickly(ctx, read.made);
}

const begunQuickly = onChat('create', async (ctx, asked: Asked) => {
  const before = replacedWords(await draftHere(ctx));
  return spoken(ctx, { step: withTime(asked, ctx.date, { kept: sentWith(ctx) }), before });
});

/** Faults that only a line with a time can have: then it is told what is wrong with it. */
const nearly: ReadonlySet<unknown> = new Set(['misspelt', 'bare_hour']);

function hintFor(words: string, fault: AppError): Rich | string {
  if (nearly.has(fault.details?.['reason'])) {
    const { sentence, tries } = whatIsWrong(fault);
    return texts.making.unreadQuick(sentence, tries);
  }
  return /^schedule\s+(?:this|that|it)\b/i.test(words) ? texts.wizard.nothingToSchedule : texts.making.quickHint();
}

const scheduleThis = onChat('create', async (ctx, when: string) => {
  const before = replacedWords(await draftHere(ctx));
  const step: StepOf<'ask'> = { step: 'ask', kept: brought(ctx) };
  if (when === '') return spoken(ctx, { step, before });
  const read = await triedTo(async () => readTime(when, readingOf(ctx)));
  if ('refusal' in read) return unread(ctx, step, before, read.refusal);
  return spoken(ctx, { step: withTime(read.made, ctx.date, step), before });
});

/** A file alone may be meant for anything, so it is only offered. */
async function offered(ctx: ChatContext): Promise<Answer> {
  const draft = await draftHere(ctx);
  if (draft !== null && draft.step.step !== 'edit' && draft.step.step !== 'made' && isPartOfAlbum(ctx, draft.step))
    return silence;
  return spoken(ctx, { step: { step: 'offer', kept: sentWith(ctx) }, before: replacedWords(draft) });
}

/* ---- words in the place of the buttons ---- */

/** As the part that is asked for, or else as a whole time of their own, or as the text that comes too early. */
async function typedPart(ctx: ChatContext, step: StepOf<PartStep>): Promise<Answer> {
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

function alone(words: string, speaking: PlaceAndDate): Asked | null {
  const read = timeOr(() => readTime(words, readingOf(speaking)));
  return read?.text === '' ? read : null;
}

function clockTyped(bare: string, step: StepOf<PartStep>, speaking: PlaceAndDate): MakingStep | null {
  const { plan } = step;
  const isMinute = step.step === 'minute' && /^:?[0-5]?\d$/.test(bare);
  const time = isMinute ? `${pad(plan.hour ?? 0, 2)}:${bare.replace(':', '').padStart(2, '0')}` : bare;
  return alone(`${plan.lead ?? 'every day'} at ${time}`, speaking) === null ? null : timed(step, time, speaking);
}

/** The day alone, or with its time as in "monday at 9". */
function daysTyped(lead: string, step: StepOf<PartStep>, speaking: PlaceAndDate): MakingStep | null {
  const whole = alone(lead, speaking);
  if (whole !== null) return withTime(whole, speaking.date, step);
  return alone(`${lead} at 9:00`, speaking) === null ? null : hourStep(step, lead);
}

function dateTyped(words: string, step: StepOf<PartStep>, speaking: PlaceAndDate): MakingStep | null {
  // The last minute of the day, because the day is not over before.
  const read = alone(words, speaking) === null ? alone(`${words} at 23:59`, speaking) : null;
  const schedule = read?.schedule;
  if (schedule?.kind !== 'once') return null;
  return hourStep(step, dateIn({ timezone: schedule.timezone, now: schedule.onceAt }, 0));
}

/** A whole time was written; what follows it is the text, where none is there yet. */
async function timeTyped(ctx: ChatContext, read: Asked, step: StepOf<PartStep | 'time'>): Promise<Answer> {
  const rest = read.text;
  if (rest !== '' && !isForUs(ctx)) return silence;
  const text = step.step === 'time' ? step.text : step.kept.text;
  const media = ctx.media ?? step.kept.media;
  const kept: Kept = { ...step.kept, ...(media === undefined ? {} : { media }) };
  if (rest !== '' && text !== undefined && kept.isEarly !== true) return missed(ctx, step, texts.making.leftOver(rest));
  return spoken(ctx, {
    step: withTime(read, ctx.date, { kept: text === undefined ? kept : { ...kept, text } }),
  });
}
