import type { DraftChange } from '../../../app/chat-store.ts';
import type { Preview } from '../../../app/preview.ts';
import { inputOf } from '../../../app/tasks/undo.ts';
import type { AppError } from '../../../domain/errors.ts';
import { checkTexts, titleFrom } from '../../../domain/task.ts';
import { button, dataOf, shortId, type Rows } from '../buttons/press.ts';
import type { Answer, ConversationRooms, Person, Place, Said } from '../conversation.ts';
import { wordsOf } from '../views/clock.ts';
import { examples } from '../views/english/making.ts';
import { proposalDrawn, type Proposal } from '../views/preview.ts';
import { blocks, type Rich } from '../views/rich.ts';
import { texts } from '../views/texts.ts';
import { answer, answerWith, silence } from './answers.ts';
import { draftHere, putDraft, type DraftStep, type DraftWhen, type OpenDraft } from './drafts.ts';
import { sentenceOf, triedTo } from './refusals.ts';
import { mayManage, refusal } from './rights.ts';

/** `/new`: with everything it shows the preview at once, and without it asks for what is missing. */
export async function newTask(said: Said, rooms: ConversationRooms): Promise<Answer> {
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return answer(refused);
  const before = replacedWords(await draftHere(said, rooms));
  if (said.args.trim() === '') return asked(said, rooms, { words: blocks(before, texts.making.ask()), misses: 0 });
  return readNew(said, rooms, { before, misses: 0 });
}

/** What is lost when another task is begun in the same place. */
function replacedWords(draft: OpenDraft | null): Rich | null {
  if (draft === null) return null;
  const { step } = draft;
  return texts.making.replaced('text' in step ? titleFrom(step.text) : null);
}

interface Reading {
  readonly before: Rich | null;
  /** How often something was said here that could not be read. */
  readonly misses: number;
}

/** Reads when and what from one text. */
async function readNew(said: Said, rooms: ConversationRooms, { before, misses }: Reading): Promise<Answer> {
  const read = await triedTo(async () => readWords(said.args, said, rooms));
  if ('refusal' in read && isTalk(said, misses)) return silence;
  if ('refusal' in read) return unread(said, rooms, { refusal: read.refusal, before, misses: misses + 1 });
  const { preview, when } = read.made;
  const text = (preview.text ?? '').trim();
  if (text !== '') return proposed(said, rooms, { when, text, preview, before });
  const id = rooms.ids.next();
  const words = texts.making.askText(wordsOf(preview.schedule, rooms.clock.now()), preview.schedule.timezone);
  return {
    ...answer(blocks(before, words), cancelRow(id)),
    draft: putDraft(said, { step: 'text', when }, { id, now: rooms.clock.now() }),
  };
}

interface ReadWords {
  readonly preview: Preview;
  readonly when: DraftWhen;
}

/** A wait counts from when it was written, not from when it is read. */
export function readWords(
  words: string,
  { place, date }: Pick<Said, 'place' | 'date'>,
  { preview: read, clock }: Pick<ConversationRooms, 'preview' | 'clock'>,
): ReadWords {
  const { schedule: meant, text } = read({ when: words, timezone: place.timezone, now: date, count: 1 });
  const schedule = inputOf(meant);
  // It may be read hours later, when the platform could not be reached: what is ahead, and what is over, counts from now.
  const preview = { ...read({ schedule, after: Math.max(date, clock.now()), count: 3 }), text };
  return { preview, when: { words, at: date, schedule } };
}

interface Unread extends Reading {
  readonly refusal: AppError;
}

/** In a group people talk to each other as well: after this many words that were none, only a reply to us is told so. */
const missesAloud = 2;

async function unread(
  said: Said,
  rooms: ConversationRooms,
  { refusal: fault, before, misses }: Unread,
): Promise<Answer> {
  const { sentence, tries } = whatIsWrong(fault);
  return asked(said, rooms, { words: blocks(before, texts.making.unreadBoth(sentence, tries)), misses });
}

/** The sentence alone, and what can be written instead as lines that can be copied. */
export function whatIsWrong(fault: AppError): { readonly sentence: string; readonly tries: readonly string[] } {
  const sentence = (sentenceOf(fault) ?? fault.message).replace(/ Try "[\s\S]*$/, '');
  const named = fault.details?.['examples'];
  return { sentence, tries: Array.isArray(named) ? named.map(String) : examples };
}

interface Asking {
  readonly words: Rich;
  readonly misses: number;
}

/** The same where the time is sent alone: then no text follows it that could be set apart. */
export function whatIsWrongWithTime(fault: AppError): ReturnType<typeof whatIsWrong> {
  const { unclearEnd, timeTries } = texts.making;
  return fault.details?.['reason'] === 'unclear_end' ? { sentence: unclearEnd, tries: timeTries } : whatIsWrong(fault);
}

function asked(said: Said, rooms: ConversationRooms, { words, misses }: Asking): Answer {
  const id = rooms.ids.next();
  return {
    ...answer(words, cancelRow(id)),
    draft: putDraft(said, { step: 'ask', misses }, { id, now: rooms.clock.now() }),
  };
}

export function cancelRow(draftId: string): Rows {
  return [[button(texts.button.cancel, dataOf('cancel', shortId(draftId)))]];
}

interface Proposed extends ReadWords {
  readonly text: string;
  readonly before: Rich | null;
}

function proposed(said: Said, rooms: ConversationRooms, { when, text, preview, before }: Proposed): Answer {
  checkTexts(titleFrom(text), text);
  const id = rooms.ids.next();
  const step: DraftStep = { step: 'preview', when, text };
  return {
    ...answerWith(proposalDrawn({ ...proposalFor(said, rooms, { draftId: id, text, preview }), before })),
    draft: putDraft(said, step, { id, now: rooms.clock.now() }),
  };
}

/** A preview with everything around it that this place and this person bring along. */
export function proposalFor(
  { place, person }: Here,
  { clock }: Pick<ConversationRooms, 'clock'>,
  about: Pick<Proposal, 'draftId' | 'text' | 'preview'>,
): Proposal {
  return {
    ...about,
    now: clock.now(),
    zone: { name: place.timezone, isConfirmed: place.isZoneConfirmed, maySet: mayManage({ person, place }) },
    topicsOff: topicsOff(place),
  };
}

interface Here {
  readonly place: Place;
  readonly person: Person;
}

export function inZone(place: Place, timezone: string): Place {
  return { ...place, timezone, isZoneConfirmed: true };
}

/** The chat has other clocks now: what this person is making here is read again on them. Null when they make nothing. */
export async function readAgain(
  here: Here & Pick<Said, 'date'>,
  rooms: ConversationRooms,
): Promise<{ readonly proposal: Proposal; readonly draft: DraftChange } | null> {
  const step = (await draftHere(here, rooms))?.step;
  if (step?.step !== 'preview') return null;
  const { text, when: before } = step;
  const read = await triedTo(async () => readWords(before.words, { place: here.place, date: before.at }, rooms));
  if ('refusal' in read) return null;
  const { preview, when } = read.made;
  const id = rooms.ids.next();
  return {
    proposal: proposalFor(here, rooms, { draftId: id, text, preview }),
    draft: putDraft(here, { step: 'preview', when, text }, { id, now: rooms.clock.now() }),
  };
}

/** Where results would find no topic, as far as is known. */
export function topicsOff({ isForum, chat }: Place): Proposal['topicsOff'] {
  if (isForum) return null;
  return chat.kind === 'private' ? 'private' : 'group';
}

/** The next plain message of somebody whose draft waits for it. */
export async function goOn(said: Said, rooms: ConversationRooms, { row, step }: OpenDraft): Promise<Answer> {
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return { ...answer(refused), draft: { is: 'drop', draftId: row.id } };
  switch (step.step) {
    case 'ask':
      return readNew(said, rooms, { before: null, misses: step.misses });
    case 'text':
      return withText(said, rooms, step.when);
    case 'time':
      return withTime(said, rooms, step);
    default:
      return silence;
  }
}

export function isTalk({ place, repliesTo }: Said, misses: number): boolean {
  return misses >= missesAloud && place.chat.kind !== 'private' && repliesTo === null;
}

function withText(said: Said, rooms: ConversationRooms, when: DraftWhen): Answer {
  const preview = rooms.preview({ schedule: when.schedule, after: rooms.clock.now(), count: 3 });
  return proposed(said, rooms, { when, text: said.args.trim(), preview, before: null });
}

async function withTime(
  said: Said,
  rooms: ConversationRooms,
  step: Extract<DraftStep, { step: 'time' }>,
): Promise<Answer> {
  const id = rooms.ids.next();
  const again = (words: Rich): Answer =>
    isTalk(said, step.misses)
      ? silence
      : {
          ...answer(words, cancelRow(id)),
          draft: putDraft(said, { ...step, misses: step.misses + 1 }, { id, now: rooms.clock.now() }),
        };
  const read = await triedTo(async () => readWords(said.args, said, rooms));
  if ('refusal' in read) {
    const { sentence, tries } = whatIsWrongWithTime(read.refusal);
    return again(texts.making.unread(sentence, tries));
  }
  const { preview, when } = read.made;
  const rest = (preview.text ?? '').trim();
  if (rest !== '') return again(texts.making.leftOver(rest));
  return proposed(said, rooms, { when, text: step.text, preview, before: null });
}

/** In a private chat no command is needed where a text begins with a time; what comes of it is a preview only. */
export async function quickly(said: Said, rooms: ConversationRooms): Promise<Answer> {
  if (said.place.chat.kind !== 'private' || said.place.topicTask !== null) return silence;
  const read = await triedTo(async () => readWords(said.args, said, rooms));
  const hasBoth = 'made' in read && (read.made.preview.text ?? '').trim() !== '';
  if (!hasBoth) return answer(texts.making.quickHint());
  const refused = await refusal(said, 'create', { task: null, rooms });
  if (refused !== null) return answer(refused);
  return readNew(said, rooms, { before: replacedWords(await draftHere(said, rooms)), misses: 0 });
}
