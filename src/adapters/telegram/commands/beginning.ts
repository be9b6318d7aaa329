import type { AppError } from '../../../domain/errors.ts';
import type { Answer, ConversationRooms, Said } from '../conversation.ts';
import { blocks, type Rich } from '../views/rich.ts';
import { texts } from '../views/texts.ts';
import { answer, silence } from './answers.ts';
import { draftHere, type Kept, type OpenDraft, type StepOf } from './drafts.ts';
import { readTimeAlone, replacedWords, whatIsWrong, whatIsWrongWithTime } from './making.ts';
import { readBeginning, readBoth, type Both } from './quick.ts';
import { triedTo } from './refusals.ts';
import { refusal } from './rights.ts';
import { missed, spoken, whereOf, type MakingStep } from './steps.ts';
import { afterTime, timeTyped, typedPart } from './wizard.ts';

/** `/new`: with everything it shows the preview at once, and without it asks for what is missing. */
export async function newTask(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return answer(refused);
  const draft = await draftHere(said, rooms);
  const before = replacedWords(draft);
  const words = said.args.trim();
  if (/^templates?$/i.test(words)) return spoken(said, rooms, { step: { step: 'templates', kept: {} }, before });
  // Whoever answers a question of ours means that question, and not that its words be sent.
  const isAnswer = said.repliedTo?.isOurs === true && (words === '' || draft !== null);
  const kept = isAnswer ? sentWith(said) : brought(said);
  const step: StepOf<'ask'> = { step: 'ask', misses: 0, kept };
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
    isBrought: true,
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
  const read = await triedTo(async () => (isMeant(said) ? readBoth : readBeginning)(said.args, said, rooms));
  if ('refusal' in read) return unread(said, rooms, { step, before, fault: read.refusal });
  return spoken(said, rooms, { step: stepOf(read.made, step.kept), before });
}

/** "See you tomorrow at 9" ends with a time as well: where people talk to each other, it must be said to us. */
function isMeant({ command, place, repliedTo, isAddressed }: Said): boolean {
  const isToUs = repliedTo?.isOurs === true || isAddressed === true;
  return command !== null || place.chat.kind === 'private' || isToUs;
}

/** The words of the person go before the words of the message that they answered. */
function stepOf({ read: { when }, text }: Both, kept: Kept): MakingStep {
  return afterTime({ when, kept: text === '' ? kept : { ...kept, text } });
}

interface Unread extends Reading {
  readonly fault: AppError;
}

async function unread(said: Said, rooms: ConversationRooms, { step, before, fault }: Unread): Promise<Answer> {
  const hasText = step.kept.text !== undefined || step.kept.media !== undefined;
  const { sentence, tries } = hasText ? whatIsWrongWithTime(fault) : whatIsWrong(fault);
  const where = whereOf(said);
  const { making } = texts;
  const words = hasText ? making.unread(sentence, tries, where) : making.unreadBoth(sentence, tries, where);
  return (await missed(said, rooms, { step, fault: blocks(before, words) })) ?? silence;
}

/** The next plain message of somebody whose draft waits for it. */
export async function goOn(said: Said, rooms: ConversationRooms, draft: OpenDraft): Promise<Answer> {
  const { row, step } = draft;
  if (step.step === 'edit' || step.step === 'made') return silence;
  if (isPartOfAlbum(said, step)) return silence;
  if (step.step === 'preview' || isAsking(said)) return quickly(said, rooms);
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return { ...answer(refused), draft: { is: 'drop', draftId: row.id } };
  return carriedOn(said, rooms, withMedia(said, step));
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
      return spoken(said, rooms, { step: { ...step, step: 'preview', text: words } });
    case 'retext':
      return spoken(said, rooms, { step: { ...step, step: 'preview', text: words } });
    case 'offer':
      return offerTyped(said, rooms, step);
    case 'templates':
      if (step.when !== undefined)
        return spoken(said, rooms, { step: { ...step, step: 'preview', when: step.when, text: words } });
      return readNew(said, rooms, { step: { step: 'ask', misses: 0, kept: step.kept }, before: null });
    case 'preview':
      return quickly(said, rooms);
    default:
      return timePart(said, rooms, step);
  }
}

type Timing = Exclude<MakingStep, { step: 'text' | 'retext' | 'offer' | 'templates' | 'preview' }>;

async function timePart(said: Said, rooms: ConversationRooms, step: Timing): Promise<Answer> {
  // A picture without words belongs to the task; the time is still asked for.
  if (said.args.trim() === '' && said.media !== null) {
    const isForUs = said.place.chat.kind === 'private' || said.repliedTo?.isOurs === true;
    return isForUs ? spoken(said, rooms, { step }) : silence;
  }
  if (step.step === 'ask') return readNew(said, rooms, { step, before: null });
  return step.step === 'time' ? timeAnswered(said, rooms, step) : typedPart(said, rooms, step);
}

async function timeAnswered(said: Said, rooms: ConversationRooms, step: StepOf<'time'>): Promise<Answer> {
  const read = await triedTo(async () => readTimeAlone(said.args, said, rooms));
  if ('made' in read) return timeTyped(said, rooms, { read: read.made, step });
  const { sentence, tries } = whatIsWrongWithTime(read.refusal);
  return (await missed(said, rooms, { step, fault: texts.making.unread(sentence, tries, whereOf(said)) })) ?? silence;
}

/** A file came alone, and then its time. */
async function offerTyped(said: Said, rooms: ConversationRooms, step: StepOf<'offer'>): Promise<Answer> {
  if (said.media !== null) return offered(said, rooms);
  const read = await triedTo(async () => readBoth(said.args, said, rooms));
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
  if (!('made' in read)) return answer(hintFor(words));
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return answer(refused);
  const before = replacedWords(await draftHere(said, rooms));
  return spoken(said, rooms, { step: stepOf(read.made, sentWith(said)), before });
}

function hintFor(words: string): Rich | string {
  return /^schedule\s+(?:this|that|it)\b/i.test(words) ? texts.wizard.nothingToSchedule : texts.making.quickHint();
}

async function scheduleThis(said: Said, rooms: ConversationRooms, when: string): Promise<Answer> {
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return answer(refused);
  const before = replacedWords(await draftHere(said, rooms));
  const step: StepOf<'ask'> = { step: 'ask', misses: 0, kept: brought(said) };
  if (when === '') return spoken(said, rooms, { step, before });
  const read = await triedTo(async () => readTimeAlone(when, said, rooms));
  if ('refusal' in read) return unread(said, rooms, { step, before, fault: read.refusal });
  const rest = (read.made.preview.text ?? '').trim();
  return spoken(said, rooms, { step: stepOf({ read: read.made, text: rest }, step.kept), before });
}

/** A file alone may be meant for anything, so it is only offered. */
async function offered(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const draft = await draftHere(said, rooms);
  if (draft !== null && draft.step.step !== 'edit' && draft.step.step !== 'made' && isPartOfAlbum(said, draft.step))
    return silence;
  return spoken(said, rooms, { step: { step: 'offer', kept: sentWith(said) }, before: replacedWords(draft) });
}
