import type { DraftChange } from '../../../app/ports/chats.ts';
import type { AppError } from '../../../domain/errors.ts';
import { settingsOf } from '../../../domain/chat-settings.ts';
import { checkTexts } from '../../../domain/task.ts';
import type { ConversationRooms, Place, Said } from '../conversation.ts';
import { examples } from './english.ts';
import type { Proposal } from './preview.ts';
import { texts } from '../texts.ts';
import { draftHere, putDraft, type StepOf, titleOf } from '../kit/drafts.ts';
import { mayManage } from '../kit/rights.ts';
import { type Here, readWords } from '../kit/reading.ts';
import { sentenceOf, triedTo } from '../kit/answers.ts';

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
