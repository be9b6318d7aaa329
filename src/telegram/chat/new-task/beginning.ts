import { AppError } from '../../../domain/errors.ts';
import { isBlank } from '../../../domain/task.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { answer, silence, turnedDown, triedTo } from '../kit/answers.ts';
import { draftHere, type Kept, type OpenDraft, type StepOf, replacedWords } from '../kit/drafts.ts';
import { isForUs, readTimeAlone, textIn, readWords, type Speaking } from '../kit/reading.ts';
import { blocks, type Rich } from '../kit/rich.ts';
import { refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { keptWith, readAsked, type Asked } from './clauses.ts';
import { whatIsWrong, whatIsWrongWithTime } from './preview.ts';
import { missed, spoken, whereOf, type MakingStep } from './steps.ts';
import { timeTyped, typedPart } from './typed.ts';
import { afterTime } from './wizard.ts';

/** `/new`: with everything it shows the preview at once, and without it asks for what is missing. */
export async function newTask(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const draft = await draftHere(said, rooms);
  const before = replacedWords(draft);
  const words = said.args.trim();
  if (/^templates?$/i.test(words)) return spoken(said, rooms, { step: { step: 'templates', kept: {} }, before });
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
  const read = await triedTo(async () => (isForUs(said) ? readBoth : readBeginning)(said.args, said, rooms));
  if ('refusal' in read) return unread(said, rooms, { step, before, fault: read.refusal });
  const isTalk = !isForUs(said) && hasSubject(step.kept) && read.made.text !== '';
  return isTalk ? silence : spoken(said, rooms, { step: stepOf(read.made, step.kept), before });
}

function hasSubject({ text, media }: Kept): boolean {
  return text !== undefined || media !== undefined;
}

/** The words of the person go before the words of the message that they answered. */
function stepOf({ read: { when, policies }, text }: Both, kept: Kept): MakingStep {
  const all = keptWith(kept, policies);
  return afterTime({ when, kept: text === '' ? all : { ...all, text } });
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
  const asksText =
    step.step === 'text' || step.step === 'retext' || (step.step === 'templates' && step.when !== undefined);
  return asksText || said.media !== null;
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
    case 'templates':
      if (step.when !== undefined)
        return textTyped(said, rooms, { ...step, step: 'preview', when: step.when, text: words, from: step });
      return readNew(said, rooms, { step: { step: 'ask', kept: step.kept }, before: null });
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

type Timing = Exclude<MakingStep, { step: 'text' | 'retext' | 'offer' | 'templates' | 'preview' }>;

async function timePart(said: Said, rooms: ConversationRooms, step: Timing): Promise<Answer> {
  // A picture without words belongs to the task; the time is still asked for.
  if (said.args.trim() === '' && said.media !== null) return spoken(said, rooms, { step });
  if (step.step === 'ask') return readNew(said, rooms, { step, before: null });
  return step.step === 'time' ? timeAnswered(said, rooms, step) : typedPart(said, rooms, step);
}

async function timeAnswered(said: Said, rooms: ConversationRooms, step: StepOf<'time'>): Promise<Answer> {
  const read = await triedTo(async () => readAsked(said.args, { speaking: said, rooms }, readTimeAlone));
  if ('made' in read) return timeTyped(said, rooms, { read: read.made, step });
  const { sentence, tries } = whatIsWrongWithTime(read.refusal);
  return missed(said, rooms, { step, fault: texts.making.unread(sentence, tries, whereOf(said)) });
}

/** A file came alone, and then its time. */
async function offerTyped(said: Said, rooms: ConversationRooms, step: StepOf<'offer'>): Promise<Answer> {
  if (said.media !== null) return offered(said, rooms);
  const read = await triedTo(async () => (isForUs(said) ? readBoth : readBeginning)(said.args, said, rooms));
  return 'made' in read ? spoken(said, rooms, { step: stepOf(read.made, step.kept) }) : quickly(said, rooms);
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
  const read = await triedTo(async () => readBoth(said.args, said, rooms));
  if (!('made' in read)) return answer(hintFor(words, read.refusal));
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return turnedDown(refused);
  const before = replacedWords(await draftHere(said, rooms));
  return spoken(said, rooms, { step: stepOf(read.made, sentWith(said)), before });
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
  const read = await triedTo(async () => readAsked(when, { speaking: said, rooms }, readTimeAlone));
  if ('refusal' in read) return unread(said, rooms, { step, before, fault: read.refusal });
  const text = textIn(read.made);
  return spoken(said, rooms, { step: stepOf({ read: read.made, text }, step.kept), before });
}

/** A file alone may be meant for anything, so it is only offered. */
async function offered(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const draft = await draftHere(said, rooms);
  if (draft !== null && draft.step.step !== 'edit' && draft.step.step !== 'made' && isPartOfAlbum(said, draft.step))
    return silence;
  return spoken(said, rooms, { step: { step: 'offer', kept: sentWith(said) }, before: replacedWords(draft) });
}

interface Both {
  readonly read: Asked;
  readonly text: string;
}

type Rooms = Pick<ConversationRooms, 'preview' | 'clock'>;

/** When and what from one text that begins with the time. */
function readBeginning(words: string, speaking: Speaking, rooms: Rooms): Both {
  const read = readAsked(words, { speaking, rooms }, readWords);
  return { read, text: textIn(read) };
}

/**
 * When and what from one text: the time stands first, or as the last words of the last line, as in "call mum tomorrow at 9".
 * At the end it is taken only where nothing else could be meant; throws the refusal of what cannot be read.
 */
function readBoth(words: string, speaking: Speaking, rooms: Rooms): Both {
  try {
    return readBeginning(words, speaking, rooms);
  } catch (error) {
    const isEnd = isNoBeginning(error) || (reasonOf(error) === 'no_time' && partOfDay.test(words.trim()));
    const ending = isEnd ? readEnd(words, speaking, rooms) : null;
    if (ending === null) throw error;
    return ending;
  }
}

function reasonOf(error: unknown): string | null {
  const isUnread = error instanceof AppError && error.code === 'invalid_schedule';
  return isUnread ? String(error.details?.['reason']) : null;
}

/** No time stands there at all, rather than one that is wrong. */
function isNoBeginning(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason === 'unknown' || reason === 'not_first';
}

/** "Evening pills every day at 20:00" begins with a text all the same. */
const partOfDay = /^(?:morning|afternoon|evening|night)s?\b/i;

/** "Pay 8.45 every friday": with a text before it, that is hardly a time. */
const sumOfMoney = /^\d+\.\d/;

/** A time has hardly more words, and each of them costs a reading. */
const wordsMax = 14;

/** What stands before a time and would change its meaning: then it is not clear what belongs to it. */
const dangling =
  /(?:^|\s)(?:every|each|on|at|in|by|for|from|until|till|to|not|no|except|before|after|about|around|and|or|but|next|this|last|the|of|than|since|between|starting|plus)$/iu;

function readEnd(words: string, speaking: Speaking, rooms: Rooms): Both | null {
  const trimmed = words.trim();
  const line = trimmed.slice(trimmed.lastIndexOf('\n') + 1);
  const starts = [...line.matchAll(/(?<=\s|^)\S/g)].map(({ index }) => index + trimmed.length - line.length);
  for (const start of starts.slice(-wordsMax)) {
    const [head, end] = [withoutMarks(trimmed.slice(0, start)), trimmed.slice(start)];
    if (head === '') continue;
    const read = endAt(end, speaking, rooms);
    if (read === 'text') continue;
    const isClear = textIn(read) === '' && !dangling.test(head);
    return isClear ? { read, text: head } : null;
  }
  return null;
}

/** Without the comma or the dash before the time. By hand, because a pattern would look at a long row of dashes again and again. */
function withoutMarks(head: string): string {
  let end = head.length;
  while (end > 0 && /[\s,;:–-]/u.test(head.charAt(end - 1))) end -= 1;
  return head.slice(0, end);
}

/** Throws where a time begins there that cannot be read: what follows later in the line is a part of it at best. */
function endAt(end: string, speaking: Speaking, rooms: Rooms): Asked | 'text' {
  if (sumOfMoney.test(end)) return 'text';
  try {
    return readAsked(end, { speaking, rooms }, readTimeAlone);
  } catch (error) {
    const reason = reasonOf(error);
    // A number, a part of the day and a preposition stand in texts as well: "bus 9", "evening pills", "go by train".
    const isText =
      (reason === 'no_time' && (/^\d/.test(end) || partOfDay.test(end))) ||
      (reason === 'no_such_time' && /^(?:at|around|about|before|after|by)\b/i.test(end));
    if (isText || isNoBeginning(error)) return 'text';
    throw error;
  }
}
