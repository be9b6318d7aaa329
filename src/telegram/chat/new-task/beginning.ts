import type { AppError } from '../../../domain/errors.ts';
import { isBlank } from '../../../domain/task.ts';
import { type Asked, readAnywhere, readAsked, readTime } from '../../../domain/when/asked.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { answer, silence, turnedDown, triedTo } from '../kit/answers.ts';
import { draftHere, type Kept, type MakingStep, type OpenDraft, type StepOf, replacedWords } from '../kit/drafts.ts';
import { isForUs, readingOf } from '../kit/reading.ts';
import { blocks, type Rich } from '../kit/rich.ts';
import { refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { whatIsWrong, whatIsWrongWithTime } from './preview.ts';
import { missed, spoken, whereOf } from './steps.ts';
import { timeTyped, typedPart } from './typed.ts';
import { afterTime } from './wizard.ts';

/** `/new`: with everything it shows the preview at once, and without it asks for what is missing. */
export async function newTask(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const draft = await draftHere(said, rooms);
  const before = replacedWords(draft);
  const words = said.args.trim();
  // Whoever answers a question of ours means that question, and not that its words be sent.
  const isAnswer = said.repliedTo?.isOurs === true && (words === '' || draft !== null);
  const kept = isAnswer ? sentWith(said) : brought(said);
  const step: StepOf<'ask'> = { step: 'ask', kept };
  return words === '' ? spoken(said, rooms, { step, before }) : readNew(said, rooms, { step, before });
}

/** The file that came with the words. */
function sentWith({ media, album }: Said): Kept {
  return media === null ? {} : { media, ...(album === undefined ? {} : { album }) };
}

/** The same, and what stands in the message that was replied to. */
function brought(said: Said): Kept {
  const { repliedTo } = said;
  const text = repliedTo?.text?.trim() ?? '';
  const media = repliedTo?.media ?? null;
  if (text === '' && media === null) return sentWith(said);
  return {
    ...(text === '' ? {} : { text }),
    ...(media === null ? {} : { media }),
    ...sentWith(said),
  };
}

interface Reading {
  readonly step: StepOf<'ask'>;
  readonly before: Rich | null;
}

/** Reads when and what from one text. */
async function readNew(said: Said, rooms: ConversationRooms, { step, before }: Reading): Promise<Answer> {
  const read = await triedTo(async () => (isForUs(said) ? readAnywhere : readAsked)(said.args, readingOf(said)));
  if ('refusal' in read) return unread(said, rooms, { step, before, fault: read.refusal });
  const isTalk = !isForUs(said) && hasSubject(step.kept) && read.made.text !== '';
  return isTalk ? silence : spoken(said, rooms, { step: stepOf(said, read.made, step.kept), before });
}

function hasSubject({ text, media }: Kept): boolean {
  return text !== undefined || media !== undefined;
}

/** The words of the person go before the words of the message that they answered. */
function stepOf({ date }: Said, read: Asked, kept: Kept): MakingStep {
  return afterTime(read, date, { kept: read.text === '' ? kept : { ...kept, text: read.text } });
}

interface Unread extends Reading {
  readonly fault: AppError;
}

async function unread(said: Said, rooms: ConversationRooms, { step, before, fault }: Unread): Promise<Answer> {
  const hasText = hasSubject(step.kept);
  const { sentence, tries } = hasText ? whatIsWrongWithTime(fault) : whatIsWrong(fault);
  const where = whereOf(said);
  const { making } = texts;
  const words = hasText ? making.unread(sentence, tries, where) : making.unreadBoth(sentence, tries, where);
  return missed(said, rooms, { step, fault: blocks(before, words) });
}

/** The next plain message of somebody whose draft waits for it. */
export async function goOn(said: Said, rooms: ConversationRooms, draft: OpenDraft): Promise<Answer> {
  const { row, step } = draft;
  if (step.step === 'edit' || step.step === 'made') return silence;
  if (isPartOfAlbum(said, step)) return silence;
  if (step.step === 'preview' || isAsking(said)) return quickly(said, rooms);
  if (isTalk(said, step)) return silence;
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return { ...turnedDown(refused), draft: { is: 'drop', draftId: row.id } };
  return carriedOn(said, rooms, withMedia(said, step));
}

/** What nobody said to us can be a time that we ask for, but any sentence could be a text, and any file an attachment. */
function isTalk(said: Said, step: MakingStep): boolean {
  if (isForUs(said)) return false;
  return step.step === 'text' || step.step === 'retext' || said.media !== null;
}

/** Of several pictures that are sent at once, one can be kept: the first. */
function isPartOfAlbum({ album }: Said, { kept }: MakingStep): boolean {
  return album !== undefined && album === kept.album;
}

function withMedia<S extends MakingStep>(said: Said, step: S): S {
  const kept = { ...step.kept, ...sentWith(said) };
  return said.media === null ? step : { ...step, kept };
}

async function carriedOn(said: Said, rooms: ConversationRooms, step: MakingStep): Promise<Answer> {
  const words = said.args.trim();
  switch (step.step) {
    case 'text':
    case 'retext':
      return textTyped(said, rooms, { ...step, step: 'preview', text: words, from: step });
    case 'offer':
      return offerTyped(said, rooms, step);
    case 'preview':
      return quickly(said, rooms);
    default:
      return timePart(said, rooms, step);
  }
}

type TextTyped = StepOf<'preview'> & { readonly from: MakingStep };

/** What cannot be seen is no text, unless a file comes with it. */
async function textTyped(said: Said, rooms: ConversationRooms, { from, ...step }: TextTyped): Promise<Answer> {
  const isNothing = isBlank(step.text) && step.kept.media === undefined;
  return spoken(
    said,
    rooms,
    isNothing ? { step: from, before: { text: texts.wizard.blankText, entities: [] } } : { step },
  );
}

type Timing = Exclude<MakingStep, { step: 'text' | 'retext' | 'offer' | 'preview' }>;

async function timePart(said: Said, rooms: ConversationRooms, step: Timing): Promise<Answer> {
  // A picture without words belongs to the task; the time is still asked for.
  if (said.args.trim() === '' && said.media !== null) return spoken(said, rooms, { step });
  if (step.step === 'ask') return readNew(said, rooms, { step, before: null });
  return step.step === 'time' ? timeAnswered(said, rooms, step) : typedPart(said, rooms, step);
}

async function timeAnswered(said: Said, rooms: ConversationRooms, step: StepOf<'time'>): Promise<Answer> {
  const read = await triedTo(async () => readTime(said.args, readingOf(said)));
  if ('made' in read) return timeTyped(said, rooms, { read: read.made, step });
  const { sentence, tries } = whatIsWrongWithTime(read.refusal);
  return missed(said, rooms, { step, fault: texts.making.unread(sentence, tries, whereOf(said)) });
}

/** A file came alone, and then its time. */
async function offerTyped(said: Said, rooms: ConversationRooms, step: StepOf<'offer'>): Promise<Answer> {
  if (said.media !== null) return offered(said, rooms);
  const read = await triedTo(async () => (isForUs(said) ? readAnywhere : readAsked)(said.args, readingOf(said)));
  return 'made' in read ? spoken(said, rooms, { step: stepOf(said, read.made, step.kept) }) : quickly(said, rooms);
}

const asking =
  /^(?:please\s+)?(?:schedule\s+(?:this|that|it)|remind\s+(?:me|us)(?:\s+(?:of|about)\s+(?:this|that|it))?|later)(?![\p{L}\p{N}'])[\s,:]*/iu;

/** "Schedule this tomorrow at 9", said about a message of somebody. */
function isAsking({ args, repliedTo, place, isAddressed }: Said): boolean {
  const isForUs = place.chat.kind === 'private' || isAddressed === true;
  return isForUs && repliedTo !== null && !repliedTo.isOurs && asking.test(args.trim());
}

/**
 * In a private chat, and where the bot is called by its name, no command is needed: a text with a time, a file, or words
 * about a message that is replied to. What comes of it is a preview only.
 */
export async function quickly(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const { place, repliedTo, media } = said;
  const words = said.args.trim();
  const isForUs = (place.chat.kind === 'private' && place.topicTask === null) || said.isAddressed === true;
  if (!isForUs) return silence;
  const asked = asking.exec(words);
  const hasSubject = repliedTo !== null && (repliedTo.text !== null || repliedTo.media !== null);
  if (asked !== null && hasSubject) return scheduleThis(said, rooms, words.slice(asked[0].length));
  if (words === '' && media !== null) return offered(said, rooms);
  const read = await triedTo(async () => readAnywhere(said.args, readingOf(said)));
  if (!('made' in read)) return answer(hintFor(words, read.refusal));
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const before = replacedWords(await draftHere(said, rooms));
  return spoken(said, rooms, { step: stepOf(said, read.made, sentWith(said)), before });
}

/** Faults that only a line with a time can have: then it is told what is wrong with it. */
const nearly: ReadonlySet<unknown> = new Set(['misspelt', 'bare_hour']);

function hintFor(words: string, fault: AppError): Rich | string {
  if (nearly.has(fault.details?.['reason'])) {
    const { sentence, tries } = whatIsWrong(fault);
    return texts.making.unreadQuick(sentence, tries);
  }
  return /^schedule\s+(?:this|that|it)\b/i.test(words) ? texts.wizard.nothingToSchedule : texts.making.quickHint();
}

async function scheduleThis(said: Said, rooms: ConversationRooms, when: string): Promise<Answer> {
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const before = replacedWords(await draftHere(said, rooms));
  const step: StepOf<'ask'> = { step: 'ask', kept: brought(said) };
  if (when === '') return spoken(said, rooms, { step, before });
  const read = await triedTo(async () => readTime(when, readingOf(said)));
  if ('refusal' in read) return unread(said, rooms, { step, before, fault: read.refusal });
  return spoken(said, rooms, { step: stepOf(said, read.made, step.kept), before });
}

/** A file alone may be meant for anything, so it is only offered. */
async function offered(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const draft = await draftHere(said, rooms);
  if (draft !== null && draft.step.step !== 'edit' && draft.step.step !== 'made' && isPartOfAlbum(said, draft.step))
    return silence;
  return spoken(said, rooms, { step: { step: 'offer', kept: sentWith(said) }, before: replacedWords(draft) });
}
