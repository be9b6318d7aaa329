import { settingsOf } from '../../../domain/chat-settings.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, ConversationRooms, Pressed, Said } from '../conversation.ts';
import { redrawn, silence } from '../kit/answers.ts';
import { putDraft, type MakingStep } from '../kit/drafts.ts';
import { isForUs, type Here } from '../kit/reading.ts';
import { blocks, type Rich, drawn } from '../kit/rich.ts';
import type { Where } from './english.ts';
import { proposalDrawn, checkStep } from './preview.ts';
import { questionOf } from './wizard-view.ts';

type Rooms = Pick<ConversationRooms, 'clock' | 'preview' | 'store'>;

interface Showing {
  readonly draftId: string;
  readonly step: MakingStep;
  /** What comes before it: what was wrong, or that an earlier draft was dropped. */
  readonly before?: Rich | null;
  /** Said in the place of the question, which was read a moment ago. */
  readonly instead?: Rich;
}

export function whereOf({ place }: Pick<Here, 'place'>): Where {
  return place.chat.kind === 'private' ? 'private' : 'group';
}

export async function stepDrawn(here: Here, rooms: Rooms, showing: Showing): Promise<Drawn> {
  const { draftId, step, before = null, instead } = showing;
  if (step.step === 'preview') {
    checkStep(step);
    return proposalDrawn(here, rooms, { draftId, step, before });
  }
  const { timezone } = here.place;
  const { dates } = settingsOf(here.place.chat.settings);
  const asking = { draftId, where: whereOf(here), timezone, now: rooms.clock.now(), dates };
  const { words, rows } = questionOf(asking, step);
  return drawn(instead ?? blocks(before, words), rows);
}

type Speaking = Omit<Showing, 'draftId'>;

/** A new message below the words of the person; the one with the step before goes, so that there is one to look at. */
export async function spoken(said: Said, rooms: ConversationRooms, speaking: Speaking): Promise<Answer> {
  const { step } = speaking;
  const id = rooms.ids.next();
  const { message, ...kept } = step.kept;
  const next = { ...step, kept };
  const shown = await stepDrawn(said, rooms, { ...speaking, draftId: id, step: next });
  return {
    replies: [
      { is: 'message', shown },
      ...(message === undefined ? [] : [{ is: 'remove', messageId: message } as const]),
    ],
    draft: putDraft(said, next, { id, now: rooms.clock.now() }),
  };
}

interface Missing {
  readonly step: MakingStep;
  readonly fault: Rich;
}

/** What was said cannot be read as what was asked for. In a group it may not have been meant for us at all. */
export async function missed(said: Said, rooms: ConversationRooms, { step, fault }: Missing): Promise<Answer> {
  if (!isForUs(said)) return silence;
  const isWhole = step.step === 'ask' || step.step === 'time';
  return spoken(said, rooms, { step, ...(isWhole ? { instead: fault } : { before: fault }) });
}

interface Turning {
  readonly draftId: string;
  readonly step: MakingStep;
}

/** The same message shows the next step. Its buttons belong to the same draft, so that two quick presses both count. */
export async function turned(pressed: Pressed, rooms: ConversationRooms, { draftId, step }: Turning): Promise<Answer> {
  const { message: _before, ...kept } = step.kept;
  // What one person alone sees goes by itself, and by another number.
  const shownIn = pressed.ephemeralId === null ? { message: pressed.messageId } : {};
  const next = { ...step, kept: { ...kept, ...shownIn } };
  return {
    ...redrawn(pressed, await stepDrawn(pressed, rooms, { draftId, step: next })),
    draft: putDraft(pressed, next, { id: draftId, now: rooms.clock.now() }),
  };
}
