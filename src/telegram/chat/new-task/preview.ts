import type { DraftChange } from '../../../app/ports/chats.ts';
import type { Preview } from '../../../app/tasks/preview.ts';
import { type DateStyle, settingsOf } from '../../../domain/chat-settings.ts';
import type { AppError } from '../../../domain/errors.ts';
import type { Policies } from '../../../domain/policy.ts';
import type { Refusal } from '../../../domain/schedule/schedule.ts';
import type { Button, Drawn, Media } from '../../../domain/shown.ts';
import { isBlank, checkTexts } from '../../../domain/task.ts';
import { timeOr } from '../../../domain/when/asked.ts';
import { readWhen } from '../../../domain/when/when.ts';
import type { ChatContext, Place } from '../conversation.ts';
import { sentenceOf } from '../kit/answers.ts';
import { clockIn, moments, wordsOf } from '../kit/clock.ts';
import { titleOf, draftHere, putDraft, type StepOf } from '../kit/drafts.ts';
import { policyLines } from '../kit/policy.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { readingOf } from '../kit/reading.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { mayManage } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { examples } from './english.ts';

/** A task that is not made yet, as it is shown before it is. */
interface Proposal {
  readonly draftId: string;
  readonly text: string;
  readonly preview: Preview;
  /** What is sent with the text, or alone when that is blank. */
  readonly media: Media | null;
  readonly policies: Policies;
  /** A task of this chat with the same title. */
  readonly same: { readonly number: number; readonly title: string } | null;
  readonly now: number;
  readonly dates: DateStyle;
  /** The zone of the chat, and whether this person may confirm it when nobody has. */
  readonly zone: { readonly name: string; readonly isConfirmed: boolean; readonly maySet: boolean };
  /** Null where topics are on, or nothing is known against them. */
  readonly topicsOff: 'private' | 'group' | null;
  /** What comes before it: that an earlier draft was dropped. */
  readonly before?: Rich | null;
  /** Why it could not be created as it is. */
  readonly fault?: Rich | null;
  readonly offersPlain?: boolean;
}

export function proposalDrawn(proposal: Proposal): Drawn {
  const { preview, now, dates } = proposal;
  const { schedule } = preview;
  const setting = { timezone: schedule.timezone, now, dates };
  const { making } = texts;
  const title = titleOf(proposal);
  const words = blocks(
    proposal.before ?? null,
    lines(
      making.preview(title),
      wordsOf(schedule, now, dates),
      making.zone(schedule.timezone),
      preview.next.length === 0 ? making.nothingToRun : texts.task.next(moments(preview.next.slice(0, 3), setting)),
      ...preview.warnings.filter((one) => !isRefusal(one)).map(({ message }) => making.note(message)),
      proposal.media === null ? null : texts.wizard.with[proposal.media.kind],
      ...policyLines(proposal.policies, setting),
      proposal.topicsOff === null ? null : making.note(making.topicsOff[proposal.topicsOff]),
      isBlank(proposal.text) || proposal.text.trim() === title ? null : making.text(proposal.text),
    ),
    faultOf(proposal),
    sameLine(proposal),
    asksZone(proposal) ? making.isItNow(clockIn(proposal.zone.name, now)) : null,
  );
  return drawn(words, proposalButtons(proposal));
}

function sameLine({ same }: Proposal): Rich | null {
  return same === null ? null : texts.wizard.same(same.number, same.title);
}

/** What creation would refuse is calculated all the same, and stands among the warnings. */
const refusals: ReadonlySet<string> = new Set<Refusal['reason']>(['past', 'never', 'too_dense']);

function isRefusal({ code }: Preview['warnings'][number]): boolean {
  return refusals.has(code);
}

function faultOf({ preview, fault }: Proposal): Rich | null {
  const refused = preview.warnings.find(isRefusal);
  return refused === undefined ? (fault ?? null) : texts.making.refused(refused.message);
}

/** Whoever named a zone has said it already. */
function asksZone({ zone, preview: { schedule } }: Proposal): boolean {
  return !zone.isConfirmed && zone.maySet && schedule.timezone === zone.name;
}

function proposalButtons(proposal: Proposal): (Button | null)[][] {
  const { button: words, wizard } = texts;
  const id = shortId(proposal.draftId);
  const { same, policies } = proposal;
  const canCreate = proposal.offersPlain !== true && !proposal.preview.warnings.some(isRefusal);
  const create = canCreate ? button(same === null ? words.create : wizard.addAnyway, dataOf('create', id)) : null;
  const edit = same === null ? null : button(wizard.editThat, dataOf('wizard', id, 'that'));
  return [
    asksZone(proposal) ? [button(words.yes, dataOf('zoneyes', id)), button(words.noChange, dataOf('zones'))] : [],
    proposal.offersPlain === true ? [button(words.asPlain, dataOf('plain', id))] : [],
    same === null ? [] : [edit, create],
    [
      same === null ? create : null,
      button(words.changeTime, dataOf('retime', id)),
      button(words.cancel, dataOf('cancel', id)),
    ],
    [
      button(wizard.changeText, dataOf('wizard', id, 'retext')),
      policies.ack === undefined ? null : button(wizard.dontAsk, dataOf('wizard', id, 'noask')),
      policies.quiet === undefined ? null : button(wizard.notUrgent, dataOf('wizard', id, 'calm')),
    ],
  ];
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

/** A preview with everything around it that this place and this person bring along. */
export async function proposalOf(ctx: ChatContext, draftId: string, step: StepOf<'preview'>): Promise<Proposal> {
  const { place, clock, preview, store } = ctx;
  const { media, policies } = step.kept;
  const same = await store.taskByTitle(place.chat.id, titleOfStep(step));
  return {
    draftId,
    text: step.text,
    preview: preview(step.when.schedule),
    media: media ?? null,
    policies: policies ?? {},
    same: same === null ? null : { number: same.number, title: same.title },
    now: clock.now(),
    dates: settingsOf(place.chat.settings).dates,
    zone: { name: place.timezone, isConfirmed: place.isZoneConfirmed, maySet: mayManage(ctx) },
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
  ctx: ChatContext,
): Promise<{ readonly proposal: Proposal; readonly draft: DraftChange } | null> {
  const before = (await draftHere(ctx))?.step;
  if (before?.step !== 'preview') return null;
  const { words, at } = before.when;
  const read = timeOr(() => readWhen(words, readingOf({ place: ctx.place, date: at })));
  if (read === null) return null;
  const id = ctx.ids.next();
  const step: StepOf<'preview'> = { ...before, when: { words, at, schedule: read.schedule } };
  return {
    proposal: await proposalOf(ctx, id, step),
    draft: putDraft(ctx, step, { id, now: ctx.clock.now() }),
  };
}

/** Where results would find no topic, as far as is known. */
export function topicsOff({ isForum, chat }: Place): Proposal['topicsOff'] {
  if (isForum) return null;
  return chat.kind === 'private' ? 'private' : 'group';
}
