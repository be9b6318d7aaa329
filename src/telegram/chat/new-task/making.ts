import type { DraftChange } from '../../../app/ports/chats.ts';
import type { Preview } from '../../../app/tasks/preview.ts';
import { inputOf } from '../../../app/tasks/undo.ts';
import { AppError } from '../../../domain/errors.ts';
import { settingsOf } from '../../../domain/chat-settings.ts';
import { checkTexts, isBlank } from '../../../domain/task.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import type { ConversationRooms, Person, Place, Said } from '../conversation.ts';
import { examples } from './english.ts';
import { titleOf, type Proposal } from './preview.ts';
import type { Rich } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { draftHere, putDraft, type DraftWhen, type OpenDraft, type StepOf } from '../kit/drafts.ts';
import { sentenceOf, triedTo } from '../kit/refusals.ts';
import { mayManage } from '../kit/rights.ts';

/** Reading a time and a text from words, and showing the task that they would make. */

export interface Here {
  readonly place: Place;
  readonly person: Person;
}

/** Who writes where, and when it was written. */
export type Speaking = Pick<Said, 'place' | 'date'>;

export interface ReadWords {
  readonly preview: Preview;
  readonly when: DraftWhen;
}

/** A wait counts from when it was written, not from when it is read. */
export function readWords(
  words: string,
  { place, date }: Speaking,
  { preview: read, clock }: Pick<ConversationRooms, 'preview' | 'clock'>,
): ReadWords {
  const { schedule: meant, text } = read({ when: words, timezone: place.timezone, now: date, count: 1 });
  const schedule = inputOf(meant);
  // It may be read hours later, when the platform could not be reached: what is ahead, and what is over, counts from now.
  const preview = { ...read({ schedule, after: Math.max(date, clock.now()), count: 3 }), text };
  return { preview, when: { words, at: date, schedule } };
}

/** What cannot be seen is no text. */
export function textIn({ preview }: ReadWords): string {
  const text = (preview.text ?? '').trim();
  return isBlank(text) ? '' : text;
}

/**
 * The same for a time that stands alone. Where nothing follows, the figure in "tomorrow 9" can only be the hour. What is
 * refused is told as the words stand.
 */
export function readTimeAlone(
  words: string,
  speaking: Speaking,
  rooms: Pick<ConversationRooms, 'preview' | 'clock'>,
): ReadWords {
  try {
    return readWords(words, speaking, rooms);
  } catch (error) {
    const hour = /^([\s\S]*[^\s\d:.,/-])\s+(\d{1,2})$/.exec(words.trim());
    const isBare = error instanceof AppError && error.details?.['reason'] === 'no_time' && hour !== null;
    if (!isBare || /(?:\bat|@)$/i.test(hour[1] ?? '')) throw error;
    return readWords(`${hour[1]} at ${hour[2]}`, speaking, rooms);
  }
}

/** What can be read without a fault; null for everything else. */
export function readOr<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof AppError && sentenceOf(error) !== null) return null;
    throw error;
  }
}

/** In a group people talk to each other as well: a reply to us, our name or a command says that we are meant. */
export function isForUs({ command, place, repliedTo, isAddressed }: Said): boolean {
  return command !== null || place.chat.kind === 'private' || repliedTo?.isOurs === true || isAddressed === true;
}

/** In a group people talk to each other as well: after this many words that were none, only a reply to us is told so. */
const missesAloud = 2;

export function isTalk({ place, repliedTo }: Said, misses: number): boolean {
  return misses >= missesAloud && place.chat.kind !== 'private' && repliedTo?.isOurs !== true;
}

/** The sentence alone, and what can be written instead as lines that can be copied. */
export function whatIsWrong(fault: AppError): { readonly sentence: string; readonly tries: readonly string[] } {
  const sentence = (sentenceOf(fault) ?? fault.message).replace(/ Try "[\s\S]*$/, '');
  const named = fault.details?.['examples'];
  return { sentence, tries: Array.isArray(named) ? named.map(String) : examples };
}

/** The same where the time is sent alone: then no text follows it that could be set apart. */
export function whatIsWrongWithTime(fault: AppError): ReturnType<typeof whatIsWrong> {
  const { unclearEnd, timeTries } = texts.making;
  return fault.details?.['reason'] === 'unclear_end' ? { sentence: unclearEnd, tries: timeTries } : whatIsWrong(fault);
}

export function cancelRow(draftId: string): Rows {
  return [[button(texts.button.cancel, dataOf('cancel', shortId(draftId)))]];
}

/** What is lost when another task is begun in the same place. */
export function replacedWords(draft: OpenDraft | null): Rich | null {
  const step = draft?.step;
  if (step === undefined || step.step === 'offer' || step.step === 'made') return null;
  return step.step === 'edit' ? texts.making.editReplaced : texts.making.replaced(knownOf(step));
}

/** What tells it from others: its title, or as much of its time as there is; null where nothing was said. */
function knownOf(step: Exclude<OpenDraft['step'], { step: 'edit' | 'made' }>): string | null {
  const text = 'text' in step ? step.text : (step.kept.text ?? '');
  const { media } = step.kept;
  if (!isBlank(text) || media !== undefined) return titleOf({ text, media });
  if ('when' in step && step.when !== undefined) return step.when.words;
  const plan = 'plan' in step ? step.plan : undefined;
  if (plan === undefined || plan.rhythm === 'year') return null;
  return plan.lead ?? texts.wizard.rhythms[plan.rhythm];
}

interface Proposing {
  readonly draftId: string;
  readonly step: StepOf<'preview'>;
}

/** A preview with everything around it that this place and this person bring along. */
export async function proposalOf(
  { place, person }: Here,
  { clock, preview, store }: Pick<ConversationRooms, 'clock' | 'preview' | 'store'>,
  { draftId, step }: Proposing,
): Promise<Proposal> {
  const { media, policies } = step.kept;
  const same = await store.taskByTitle(place.chat.id, titleOfStep(step));
  return {
    draftId,
    text: step.text,
    preview: preview({ schedule: step.when.schedule, after: clock.now(), count: 3 }),
    media: media ?? null,
    policies: policies ?? {},
    same: same === null ? null : { number: same.number, title: same.title },
    now: clock.now(),
    dates: settingsOf(place.chat.settings).dates,
    zone: { name: place.timezone, isConfirmed: place.isZoneConfirmed, maySet: mayManage({ person, place }) },
    topicsOff: topicsOff(place),
  };
}

export function titleOfStep({ text, kept }: Pick<StepOf<'preview'>, 'text' | 'kept'>): string {
  return titleOf({ text, media: kept.media });
}

/** Throws where no task could have such a text. */
export function checkStep(step: Pick<StepOf<'preview'>, 'text' | 'kept'>): void {
  checkTexts(titleOfStep(step), step.text, { mayBeBlank: step.kept.media !== undefined });
}

export function inZone(place: Place, timezone: string): Place {
  return { ...place, timezone, isZoneConfirmed: true };
}

/** The chat has other clocks now: what this person is making here is read again on them. Null when they make nothing. */
export async function readAgain(
  here: Here & Pick<Said, 'date'>,
  rooms: ConversationRooms,
): Promise<{ readonly proposal: Proposal; readonly draft: DraftChange } | null> {
  const before = (await draftHere(here, rooms))?.step;
  if (before?.step !== 'preview') return null;
  const { words, at } = before.when;
  const read = await triedTo(async () => readWords(words, { place: here.place, date: at }, rooms));
  if ('refusal' in read) return null;
  const id = rooms.ids.next();
  const step: StepOf<'preview'> = { ...before, when: read.made.when };
  return {
    proposal: await proposalOf(here, rooms, { draftId: id, step }),
    draft: putDraft(here, step, { id, now: rooms.clock.now() }),
  };
}

/** Where results would find no topic, as far as is known. */
export function topicsOff({ isForum, chat }: Place): Proposal['topicsOff'] {
  if (isForum) return null;
  return chat.kind === 'private' ? 'private' : 'group';
}
