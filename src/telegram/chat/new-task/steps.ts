import { settingsOf } from '../../../domain/chat-settings.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, ChatContext } from '../conversation.ts';
import { redrawn, silence } from '../kit/answers.ts';
import { putDraft, type MakingStep, isForUs } from '../kit/drafts.ts';
import { blocks, type Rich, drawn } from '../kit/rich.ts';
import type { Where } from './english.ts';
import { proposalDrawn, checkStep } from './preview.ts';
import { questionOf } from './wizard-view.ts';

interface Showing {
  readonly draftId: string;
  readonly step: MakingStep;
  /** What comes before it: what was wrong, or that an earlier draft was dropped. */
  readonly before?: Rich | null;
  /** Said in the place of the question, which was read a moment ago. */
  readonly instead?: Rich;
}

export function whereOf({ place }: ChatContext): Where {
  return place.chat.kind === 'private' ? 'private' : 'group';
}

export async function stepDrawn(ctx: ChatContext, showing: Showing): Promise<Drawn> {
  const { draftId, step, before = null, instead } = showing;
  if (step.step === 'preview') {
    checkStep(step);
    return proposalDrawn(ctx, { draftId, step, before });
  }
  const { timezone, chat } = ctx.place;
  const { dates } = settingsOf(chat.settings);
  const asking = { draftId, where: whereOf(ctx), timezone, now: ctx.clock.now(), dates };
  const { words, rows } = questionOf(asking, step);
  return drawn(instead ?? blocks(before, words), rows);
}

type Speaking = Omit<Showing, 'draftId'>;

/** A new message below the words of the person; the one with the step before goes, so that there is one to look at. */
export async function spoken(ctx: ChatContext, speaking: Speaking): Promise<Answer> {
  const { step } = speaking;
  const id = ctx.ids.next();
  const { message, ...kept } = step.kept;
  const next = { ...step, kept };
  const shown = await stepDrawn(ctx, { ...speaking, draftId: id, step: next });
  return {
    replies: [
      { is: 'message', shown },
      ...(message === undefined ? [] : [{ is: 'remove', messageId: message } as const]),
    ],
    draft: putDraft(ctx, next, { id, now: ctx.clock.now() }),
  };
}

/** What was said cannot be read as what was asked for. In a group it may not have been meant for us at all. */
export async function missed(ctx: ChatContext, step: MakingStep, fault: Rich): Promise<Answer> {
  if (!isForUs(ctx)) return silence;
  const isWhole = step.step === 'ask' || step.step === 'time';
  return spoken(ctx, { step, ...(isWhole ? { instead: fault } : { before: fault }) });
}

/** The same message shows the next step. Its buttons belong to the same draft, so that two quick presses both count. */
export async function turned(ctx: ChatContext, draftId: string, step: MakingStep): Promise<Answer> {
  const { message: _before, ...kept } = step.kept;
  // What one person alone sees goes by itself, and by another number.
  const shownIn = ctx.ephemeralId === null ? { message: ctx.messageId } : {};
  const next = { ...step, kept: { ...kept, ...shownIn } };
  return {
    ...redrawn(ctx, await stepDrawn(ctx, { draftId, step: next })),
    draft: putDraft(ctx, next, { id: draftId, now: ctx.clock.now() }),
  };
}
