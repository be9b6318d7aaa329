import { AppError } from '../../../domain/errors.ts';
import { albumMax } from '../../../domain/files/limits.ts';
import { instructionsLengthMax } from '../../../domain/limits.ts';
import { clockText, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import { resolveShifted } from '../../../domain/schedule/time/zone.ts';
import { isBlank } from '../../../domain/task.ts';
import { type Asked, readAnywhere, readTime, textAlone, timeOr } from '../../../domain/when/asked.ts';
import { hourOfPart, type Setting } from '../../../domain/when/setting.ts';
import type { Answer, ChatContext } from '../context.ts';
import { wordsOfKind } from '../kit/action.ts';
import { answer, reactOr, sentenceOf, silence, triedTo } from '../kit/answers.ts';
import { dateIn } from '../kit/clock.ts';
import { dayIn } from '../kit/days.ts';
import {
  draftHere,
  type Kept,
  type MakingStep,
  type Offer,
  type OpenDraft,
  type StepOf,
  type PlaceAndDate,
  isForUs,
  isMaking,
  opened,
  putDraft,
  readingOf,
  saidIn,
} from '../kit/drafts.ts';
import { onChat } from '../kit/guards.ts';
import { texts } from '../texts.ts';
import { isTimeless, offersIn, whatIsWrong, whatIsWrongWithTime } from './preview.ts';
import { missed, spoken, whereOf } from './steps.ts';
import { withTime } from './wizard.ts';

/** `/new`: with everything it shows the preview at once, and without it asks for what is missing. */
export const newTask = onChat('create', async (ctx) => {
  const words = ctx.args.trim();
  // An answer to a question of ours means that question, and not that its words be sent.
  const isAnswer = ctx.repliedTo?.isOurs === true && (words === '' || (await draftHere(ctx)) !== null);
  const kept = isAnswer ? sentWith(ctx) : brought(ctx);
  return words === '' ? spoken(ctx, { step: { step: 'ask', kept } }) : readNew(ctx, kept);
});

/** The file that came with the words, in the place of any other. Where the words of an album are edited, the rest of it stays. */
export function sentWith({ media, album, mends }: ChatContext): Kept {
  if (media === null) return {};
  const before = opened(mends ?? null)?.step;
  const isSame = album !== undefined && before !== undefined && isMaking(before) && before.kept.album === album;
  return { media, album, more: isSame ? before.kept.more : undefined };
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
export async function readNew(ctx: ChatContext, kept: Kept): Promise<Answer> {
  const isOurs = isForUs(ctx);
  if (isOurs && /^(?:please\s+)?(?:remind|ping|nudge)\s+(?:me|us)[.!?\s]*$/i.test(ctx.args.trim())) {
    return spoken(ctx, { step: { step: 'ask', kept } });
  }
  const read = await stepOf(ctx, ctx.args.trim(), { kept, read: readAnywhere });
  // Among people who talk to each other, a sentence that begins with a time is more than what was asked for.
  if (!isOurs && !('made' in read && isSaid(ctx, kept, read.made))) return silence;
  if ('step' in read) return spoken(ctx, read);
  return unread(ctx, kept, read.refusal);
}

function isSaid({ args }: ChatContext, kept: Kept, { text, words }: Asked): boolean {
  return args.trim().startsWith(words) && (text === '' || !hasSubject(kept));
}

type Read = typeof readAnywhere;

interface Reading {
  readonly kept: Kept;
  readonly read: Read;
  /** All the words, where they are more than what is read now. */
  readonly phrase?: string;
}

type StepRead =
  | { readonly step: MakingStep; readonly made: Asked }
  | { readonly step: MakingStep }
  | { readonly refusal: AppError };

/** The step to which words lead: the time that they say, or the question for the piece that is missing. */
export async function stepOf(
  ctx: ChatContext,
  words: string,
  { kept, read, phrase = words }: Reading,
): Promise<StepRead> {
  const tried = await triedTo(async () => read(words, readingOf(ctx)));
  if ('made' in tried) return { ...tried, step: withTime(tried.made, ctx.date, { kept, phrase }) };
  const step = questionIn(tried.refusal, phrase, kept) ?? whenAsked(ctx, tried.refusal, words, kept);
  return step === null ? tried : { step };
}

/** The question that a fault of the words asks, with a button for each answer; null for every other fault. */
export function questionIn(fault: AppError, phrase: string, kept: Kept): StepOf<'question'> | null {
  const offers = offersIn(fault);
  if (offers === null) return null;
  const isEither = fault.code === 'ambiguous_schedule';
  return { step: 'question', ask: sentenceOf(fault) ?? fault.message, phrase, offers, isEither, kept };
}

/** Words in which there is no time at all are the text; then the time is asked for, unless it was answered before they were edited. */
function whenAsked(ctx: ChatContext, fault: AppError, words: string, kept: Kept): MakingStep | null {
  const isText =
    isTimeless(fault) && kept.text === undefined && words.length <= instructionsLengthMax && !isBlank(words);
  if (!isText || !isForUs(ctx)) return null;
  const text = textAlone(words, readingOf(ctx));
  const message = saidIn(ctx);
  const said = message === undefined ? {} : { said: { ...message, isTimeless: true } };
  const before = opened(ctx.mends ?? null)?.step;
  const isAnswered = before !== undefined && 'when' in before && before.kept.said?.isTimeless === true;
  return isAnswered && before.when !== undefined
    ? { step: 'preview', when: before.when, text, kept: { ...kept, ...said } }
    : whenStep(ctx, { ...kept, text, ...said });
}

/** The question for the time alone, with a button for each time that people mean most often. */
export function whenStep({ place, date, kinds }: ChatContext, kept: Kept): StepOf<'question'> {
  const form = kinds.formOf(kept.kind ?? '');
  return {
    step: 'question',
    ask: form === undefined ? texts.asked.when : wordsOfKind(form).when,
    phrase: '',
    offers: soon(readingOf({ place, date })),
    kept,
  };
}

/** Times that people mean most often. The days are dates, because tomorrow is another day when it is pressed tomorrow. */
function soon(reading: Setting): Offer[] {
  const { asked } = texts;
  const { timezone, now } = reading;
  const minute = hourOfPart('tonight', reading);
  const [tonight, morning] = [clockText(minute * 60), clockText(hourOfPart('morning', reading) * 60)];
  const isBefore = resolveShifted(timezone, dayIn(reading, now) * DAY_MS + minute * MINUTE_MS) - now > HOUR_MS;
  return [
    { text: asked.inAnHour, when: 'in 1 hour' },
    ...(isBefore ? [{ text: asked.tonight(tonight), when: `${dateIn(reading, 0)} ${tonight}` }] : []),
    { text: asked.tomorrow(morning), when: `${dateIn(reading, 1)} ${morning}` },
  ];
}

function hasSubject({ text, media }: Kept): boolean {
  return text !== undefined || media !== undefined;
}

async function unread(ctx: ChatContext, kept: Kept, fault: AppError): Promise<Answer> {
  const { sentence, tries } = hasSubject(kept) ? whatIsWrongWithTime(fault) : whatIsWrong(fault);
  return missed(ctx, { step: 'ask', kept }, texts.making.unread(sentence, tries, whereOf(ctx)));
}

const asking =
  /^(?:please\s+)?(?:schedule\s+(?:this|that|it)|remind\s+(?:me|us)(?:\s+(?:of|about)\s+(?:this|that|it))?|later)(?![\p{L}\p{N}'])[\s,:]*/iu;

/** "Schedule this tomorrow at 9", said about a message of somebody. */
export function isAsking({ args, repliedTo, place, isAddressed }: ChatContext): boolean {
  const isDirect = place.chat.kind === 'private' || isAddressed === true;
  return isDirect && repliedTo !== null && !repliedTo.isOurs && asking.test(args.trim());
}

/** Words to the bot that are about no task: a greeting, thanks, or nothing that could be sent. */
const smallTalk =
  /^(?:(?:hi|hello|hey|help|thanks|thank you|thx|cheers|great|good (?:morning|afternoon|evening|night)|ok(?:ay)?|yes|no|cancel|there|bot|all|so much|very much|a lot|i see)(?:[^\p{L}\p{N}]+|$))+$|^[^\p{L}\p{N}]*$/iu;
const yes =
  /^(?:yes|yes please|yep|yeah|yup|y|ok|okay|sure|create(?: it| this| that| the task)?|do it|go ahead|👍\p{Emoji_Modifier}?)[.!\s]*$/iu;
export function isYes(words: string): boolean {
  return yes.test(words);
}

const no = /^(?:no|nope|n|cancel(?: it| that| this)?|forget it|never ?mind|👎\p{Emoji_Modifier}?)[.!\s]*$/iu;

export function isNo(words: string): boolean {
  return no.test(words);
}

const agreeing = /^(?:thanks|thank you|thx|cheers|great|ok(?:ay)?|yes|👍)/iu;

/**
 * In a private chat, and where the bot is called by its name, no command is needed: a text with or without a time, a file, or
 * words about a message that is replied to. Nothing comes of it but a question or a preview.
 */
export async function quickly(ctx: ChatContext): Promise<Answer> {
  const { place, repliedTo, media } = ctx;
  const words = ctx.args.trim();
  const isDirect = place.chat.kind === 'private' || ctx.isAddressed === true;
  if (!isDirect) return silence;
  const asked = asking.exec(words);
  const isAbout = repliedTo !== null && (repliedTo.text !== null || repliedTo.media !== null);
  if (asked !== null && isAbout) return scheduleThis(ctx, words.slice(asked[0].length));
  if (media !== null) return words === '' ? offered(ctx) : begun(ctx);
  if (/^schedule\s+(?:this|that|it)\b/i.test(words)) return answer(texts.wizard.nothingToSchedule);
  if (isNo(words) || (isYes(words) && !words.startsWith('👍'))) return answer(texts.making.nothingOpen());
  if (!smallTalk.test(words)) return begun(ctx);
  const hint = answer(texts.making.quickHint());
  return agreeing.test(words) ? reactOr(ctx, '👍', hint) : hint;
}

const begun = onChat('create', async (ctx) => readNew(ctx, sentWith(ctx)));

const scheduleThis = onChat('create', async (ctx, when: string) => {
  const kept = brought(ctx);
  if (when === '') return spoken(ctx, { step: whenStep(ctx, kept) });
  const read = await stepOf(ctx, when, { kept, read: readTime });
  return 'step' in read ? spoken(ctx, read) : unread(ctx, kept, read.refusal);
});

/** A file alone may be meant for anything, so it is only offered. */
function offered(ctx: ChatContext): Promise<Answer> {
  return spoken(ctx, { step: whenStep(ctx, sentWith(ctx)) });
}

/**
 * Of several files that are sent at once each is a message of its own. Those after the first join the draft without a word: they
 * come faster than its message can be changed, and that speaks of an album from the beginning. Null for anything else.
 */
export function joinedAlbum(ctx: ChatContext, { row, step }: OpenDraft): Answer | null {
  const { album, media } = ctx;
  if (album === undefined || !isMaking(step) || album !== step.kept.album) return null;
  const { kept } = step;
  const files = [...(kept.media === undefined ? [] : [kept.media]), ...(kept.more ?? [])];
  const isKnown = media === null || files.some(({ fileId }) => fileId === media.fileId);
  if (isKnown || files.length >= albumMax) return silence;
  const [first, ...more] = [...files, media];
  return { ...silence, draft: putDraft(ctx, row.id, { ...step, kept: { ...kept, media: first, more } }) };
}

/* ---- which of the offers is meant ---- */

/** "2h" beside "In 1 hour" is how long to wait. */
export function asLength(ctx: ChatContext, { phrase }: StepOf<'question'>): string {
  const words = ctx.args.trim();
  return phrase === '' && /^\d+\s*\p{L}+$/u.test(words) && isLength(`in ${words}`, ctx) ? `in ${words}` : words;
}

/** Words that leave it open what is meant. */
export function isUndecided(words: string): boolean {
  return (
    isYes(words) ||
    /^(?:later|soon|some ?time|du?nno|i do(?:n['’]t| not) know|idk|not sure|no idea|h+m+|any|whatever)[.!?\s]*$/i.test(
      words,
    )
  );
}

/** The one answer in whose button the words stand: "once" for "Once, in 30m". */
export function offerNamed(words: string, { phrase, offers }: StepOf<'question'>): string | null {
  const said = wordsIn(words);
  if (phrase === '' || said.length === 0 || /\d/.test(words)) return null;
  const named = offers.filter(({ text }) => said.every((word) => wordsIn(text).includes(word)));
  return named.length === 1 ? (named[0]?.when ?? null) : null;
}

const counts = ['first', 'second', 'third', 'fourth'];

/** "The second one". Without "one" it can be a day of the month, unless the offers are all that can be meant. */
export function offerCounted(words: string, { phrase, offers, isEither }: StepOf<'question'>): string | null {
  const said = /^(?:the\s+)?(\p{L}+)(\s+one)?[.!\s]*$/iu.exec(words.toLowerCase());
  const [, count = '', one] = said ?? [];
  if (phrase === '' || (one === undefined && isEither !== true)) return null;
  const index = count === 'former' ? 0 : /^(?:last|latter)$/.test(count) ? offers.length - 1 : counts.indexOf(count);
  return offers[index]?.when ?? null;
}

function wordsIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}:]+/gu) ?? [];
}

/** A time that needs no more, or the one of several readings that it names: by its day alone, or as a whole. */
export function readingMeant(ctx: ChatContext, step: StepOf<'question'>, own: Asked) {
  if (step.phrase === '' || own.text !== '') return { read: own, when: ctx.args.trim() };
  const told = isDayAlone(own) ? dayOf : momentOf;
  const meant = told(own);
  if (meant === null) return null;
  // A length ends on some day, but that day does not name it.
  const named = readingsOf(step, ctx).filter(({ when }) => told !== dayOf || !isLength(when, ctx));
  return named.find(({ read }) => told(read) === meant) ?? null;
}

/** "In 20 minutes" is another moment whenever it is said. */
function isLength(words: string, speaking: PlaceAndDate): boolean {
  const [now, later] = [speaking.date, speaking.date + MINUTE_MS].map((date) => {
    const read = timeOr(() => readAnywhere(words, readingOf({ place: speaking.place, date })));
    return read?.schedule.kind === 'once' ? read.schedule.onceAt : null;
  });
  return typeof now === 'number' && later === now + MINUTE_MS;
}

/** The text that stands beside a time, or beside what could be one; empty where there is no such time. */
export function textBeside(ctx: ChatContext): string {
  const words = ctx.args.trim();
  const own = timeOr(() => readAnywhere(words, readingOf(ctx)));
  if (own !== null) return /^(?:please|thanks|thank you|instead)[.!\s]*$/i.test(own.text) ? '' : own.text;
  const asked = readingFault(words, ctx);
  const [first] = asked === null ? [] : (offersIn(asked) ?? []);
  return first === undefined ? '' : (timeOr(() => readAnywhere(first.when, readingOf(ctx)))?.text ?? '');
}

function readingFault(words: string, ctx: ChatContext): AppError | null {
  try {
    readAnywhere(words, readingOf(ctx));
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

export function readingsOf({ offers }: StepOf<'question'>, speaking: PlaceAndDate) {
  return offers.flatMap(({ when }) => {
    const read = timeOr(() => readAnywhere(when, readingOf(speaking)));
    return read === null ? [] : { read, when };
  });
}

function momentOf({ schedule }: Asked): string | null {
  return JSON.stringify(schedule);
}

function dayOf({ schedule }: Asked): string | null {
  return schedule.kind === 'once' ? dateIn({ timezone: schedule.timezone, now: schedule.onceAt }, 0) : null;
}

/** No hour was said, so that it can be asked for. */
export function isDayAlone({ assumed }: Asked): boolean {
  return assumed.some(({ what }) => what === 'day');
}
