import { z } from 'zod';
import type { DraftChange } from '../../../app/ports/chats.ts';
import type { BudgetView } from '../../../app/ports/metering.ts';
import type { Preview } from '../../../app/tasks/preview.ts';
import type { AppError } from '../../../domain/errors.ts';
import { inZone, parseSchedule, type Refusal, type Schedule } from '../../../domain/schedule/schedule.ts';
import { DAY_MS } from '../../../domain/schedule/time/calendar.ts';
import type { Drawn } from '../../../domain/shown.ts';
import { addressed, isBlank, checkTexts } from '../../../domain/task.ts';
import { readTime, timeOr } from '../../../domain/when/asked.ts';
import type { ChatContext, Place } from '../context.ts';
import { briefMax, briefOf, outlookLines, settingsTold } from '../kit/action.ts';
import { sentenceOf } from '../kit/answers.ts';
import { settingFor } from '../kit/card.ts';
import { clockIn, moments, wordsOf, type Setting } from '../kit/clock.ts';
import {
  type Kept,
  Offer,
  titleOf,
  draftHere,
  messageOf,
  putDraft,
  shownIn,
  type StepOf,
  readingOf,
} from '../kit/drafts.ts';
import { threadOf } from '../kit/guards.ts';
import { policyLines } from '../kit/policy.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { blocks, code, drawn, lines, type Rich, shortened } from '../kit/rich.ts';
import { mayManage } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { examples } from './english.ts';

/** Facts that a proposal is drawn from, beside the draft. */
type Drawing = Pick<ChatContext, 'place' | 'person' | 'clock' | 'preview' | 'kinds'> & {
  readonly spending: Pick<ChatContext['spending'], 'list'>;
  readonly store: Pick<ChatContext['store'], 'taskByTitle' | 'readNote' | 'writeNote'>;
};

interface Proposing {
  readonly draftId: string;
  readonly step: StepOf<'preview'>;
  /** Words before it: that an earlier draft was dropped. */
  readonly before?: Rich | null;
  /** Why it could not be created as it is. */
  readonly fault?: Rich | null;
  readonly offersPlain?: boolean;
}

/** A task that is not made yet, as it is shown before it is, with all that this place and this person bring along. */
export async function proposalDrawn(ctx: Drawing, proposing: Proposing): Promise<Drawn> {
  const { making, wizard, task } = texts;
  const { text, when, kept } = proposing.step;
  const { place, clock, preview: calculated, store } = ctx;
  const { schedule } = when;
  const { timezone } = schedule;
  const setting = settingFor({ schedule }, { place, clock });
  const { now } = setting;
  const { next, warnings } = calculated(schedule, texts.advice);
  const title = titleOfStep(proposing.step);
  const same = await store.taskByTitle(place.chat.id, title);
  const refused = warnings.find(isRefusal);
  const off = topicsOff(place);
  // A zone that the words name was said already.
  const isOpen = !place.isZoneConfirmed && mayManage(ctx) && timezone === place.timezone;
  const asksZone = isOpen && (await isFirstToAsk(ctx, proposing.draftId));
  const words = blocks(
    proposing.before ?? null,
    lines(
      making.preview(title),
      ...actionLines(ctx, proposing.step),
      ...timeLines(when, setting, kept.guessed),
      next.length === 0 ? making.nothingToRun : task.next(moments(next.slice(0, 3), setting)),
      ...warnings.filter((one) => !isRefusal(one)).map(({ message }) => making.note(message)),
      ...keptLines(kept, setting),
      off === null ? null : making.note(making.topicsOff[off]),
      kept.action === undefined && !isBlank(text) && text.trim() !== title ? making.text(text) : null,
    ),
    ...(await outlookTold(ctx, proposing.step)),
    refused === undefined ? (proposing.fault ?? null) : making.refused(refused.message),
    same === null ? null : wizard.same(same.number, same.title),
    asksZone ? making.isItNow(clockIn(place.timezone, now)) : null,
  );
  const canCreate = refused === undefined && proposing.offersPlain !== true;
  return drawn(words, proposalButtons(proposing, { asksZone, canCreate, isSame: same !== null }));
}

/** One preview of a day asks for the zone, and goes on to ask when it is drawn again. */
async function isFirstToAsk({ place, clock, store }: Drawing, draftId: string): Promise<boolean> {
  const name = `zone_check:${place.chat.id}`;
  const now = clock.now();
  const [asker, at] = (await store.readNote(name))?.split(' ') ?? [];
  if (at !== undefined && now - Number(at) < DAY_MS) return asker === draftId;
  await store.writeNote(name, `${draftId} ${now}`, now);
  return true;
}

/** The action, where that is not to say a text. */
function actionLines({ kinds }: Drawing, { kept: { kind = '', action } }: StepOf<'preview'>): readonly Rich[] {
  const brief = action === undefined ? null : briefOf(action, kinds.formOf(kind));
  return brief === null ? [] : [code(shortened(brief, briefMax))];
}

/** The reach and cost of it, in a paragraph of its own. */
async function outlookTold(ctx: Drawing, { kept, when }: StepOf<'preview'>): Promise<readonly Rich[]> {
  const { kinds, clock } = ctx;
  const { action, kind = '', policies = {} } = kept;
  if (action === undefined) return [];
  const planned = { schedule: when.schedule, policies, now: clock.now() };
  const settings = settingsTold(action, kinds.formOf(kind));
  const told = outlookLines(kinds.outlook(action, planned), await budgetsOf(ctx));
  return [...(settings.length === 0 ? [] : [lines(...settings)]), ...(told.length === 0 ? [] : [lines(...told)])];
}

/** Those of the chat, and of the person who is to own the task. */
async function budgetsOf({ place, person, spending }: Drawing): Promise<readonly BudgetView[]> {
  const ofChat = await spending.list({ thread: threadOf(place), ownerId: null, taskId: null });
  const own = await spending.list({ thread: null, ownerId: person.actor, taskId: null });
  return [...ofChat.filter(({ scope }) => scope === 'chat'), ...own];
}

/** When it comes, what of that was assumed, and on which clocks. */
function timeLines(
  { schedule, assumed: said }: StepOf<'preview'>['when'],
  { now, dates }: Setting,
  guessed: readonly string[] = [],
): readonly string[] {
  const { making } = texts;
  const assumed = [...said, ...guessed];
  return [
    wordsOf(schedule, now, dates),
    ...(assumed.length === 0 ? [] : [making.assumed(assumed.join(', '))]),
    making.zone(schedule.timezone),
  ];
}

function keptLines({ forWhom, media, album, policies = {} }: Kept, setting: Setting): readonly (Rich | string)[] {
  return [
    ...(forWhom === undefined ? [] : [texts.making.forWhom(forWhom)]),
    ...(media === undefined ? [] : [album === undefined ? texts.wizard.with(media.kind) : texts.wizard.withAlbum]),
    ...policyLines(policies, setting),
  ];
}

/** Slots that creation would refuse are calculated all the same; the reason stands among the warnings. */
const refusals: ReadonlySet<string> = new Set<Refusal['reason']>(['past', 'never', 'too_dense']);

function isRefusal({ code }: Preview['warnings'][number]): boolean {
  return refusals.has(code);
}

/** A call that may change something is tried out only when somebody has said so. */
export function testAsked({ kinds }: Pick<Drawing, 'kinds'>, { draftId, step }: Proposing): Drawn {
  const { action: words, button: buttons } = texts;
  const { kind = '', action = { kind } } = step.kept;
  const id = shortId(draftId);
  return drawn(words.testAsk(briefOf(action, kinds.formOf(kind)) ?? kind), [
    [button(words.testYes, dataOf('trial', id, 'yes')), button(buttons.back, dataOf('wizard', id, 'stay'))],
  ]);
}

const waysMax = 2;

interface Offers {
  readonly asksZone: boolean;
  readonly canCreate: boolean;
  /** A task of this chat has the same title. */
  readonly isSame: boolean;
}

function proposalButtons({ draftId, step, offersPlain }: Proposing, offers: Offers): Rows {
  const { button: words, wizard, action } = texts;
  const id = shortId(draftId);
  const others = [button(words.changeTime, dataOf('retime', id)), button(words.cancel, dataOf('cancel', id))];
  const { asksZone, canCreate, isSame } = offers;
  const { ack, quiet } = step.kept.policies ?? {};
  const create = canCreate ? button(isSame ? wizard.addAnyway : words.create, dataOf('create', id)) : null;
  // Beside what was assumed stands what could have been meant.
  const ways = step.when.ways
    .slice(0, waysMax)
    .map(({ text }, index) => button(text, dataOf('wizard', id, 'way', index)));
  return [
    asksZone ? [button(words.yes, dataOf('zoneyes', id)), button(words.noChange, dataOf('zones'))] : [],
    offersPlain === true ? [button(words.asPlain, dataOf('plain', id))] : [],
    isSame ? [button(wizard.editThat, dataOf('wizard', id, 'that')), create] : [],
    ...(step.kept.action === undefined
      ? [[isSame ? null : create, ...others]]
      : [[isSame ? null : create, button(action.test, dataOf('trial', id))], others]),
    ways,
    [
      button(step.kept.kind === undefined ? wizard.changeText : action.change, dataOf('wizard', id, 'retext')),
      ack === undefined ? null : button(wizard.dontAsk, dataOf('wizard', id, 'noask')),
      quiet === undefined ? null : button(wizard.notUrgent, dataOf('wizard', id, 'calm')),
    ],
  ];
}

const Details = z.object({
  readings: z.array(Offer).catch([]),
  offers: z.array(Offer).catch([]),
});

/** Buttons of one question: more are not looked through. */
const offersMax = 6;

/** The answers to the question that a fault of the words asks; null for a fault that asks none. */
export function offersIn(fault: AppError): Offer[] | null {
  const { code, details } = fault;
  if (isTimeless(fault)) return null;
  if (code !== 'ambiguous_schedule' && code !== 'incomplete_schedule') return null;
  const { readings, offers } = Details.parse(details ?? {});
  return (code === 'ambiguous_schedule' ? readings : offers).slice(0, offersMax);
}

/** No time stands there, rather than one that is wrong. */
export function isTimeless(fault: AppError): boolean {
  const reason = fault.details?.['reason'];
  return reason === 'unknown' || reason === 'not_first';
}

/** The sentence alone, and what can be written instead as lines that can be copied. */
export function whatIsWrong(fault: AppError): { readonly sentence: string; readonly tries: readonly string[] } {
  const sentence = (sentenceOf(fault) ?? fault.message).replace(/ Try "[\s\S]*$/, '');
  const named = fault.details?.['examples'];
  return { sentence, tries: Array.isArray(named) ? named.map(String) : examples };
}

/** The sentence where the time is sent alone: then no text follows it that could be set apart. */
export function whatIsWrongWithTime(fault: AppError): ReturnType<typeof whatIsWrong> {
  const { unclearEnd, timeTries } = texts.making;
  return fault.details?.['reason'] === 'unclear_end' ? { sentence: unclearEnd, tries: timeTries } : whatIsWrong(fault);
}

export function titleOfStep({ text, kept }: Pick<StepOf<'preview'>, 'text' | 'kept'>): string {
  return titleOf({ ...kept, text });
}

/** Telegram tells those who are mentioned in a message. */
export function instructionsOf({ text, kept: { forWhom } }: Pick<StepOf<'preview'>, 'text' | 'kept'>): string {
  return addressed(forWhom ?? null, text);
}

/** Throws where no task could have such a text. */
export function checkStep(step: Pick<StepOf<'preview'>, 'text' | 'kept'>): void {
  const { media, action } = step.kept;
  checkTexts(titleOfStep(step), step.text, { mayBeBlank: media !== undefined || action !== undefined });
}

interface Again {
  readonly proposing: Proposing;
  readonly draft: DraftChange;
  /** The message that shows it on the clocks from before; null while it is not known. */
  readonly shownIn: number | null;
}

/**
 * The chat has other clocks now: the preview that this person has open is read again on them. Null when there is none. It
 * stays in its message, or comes in the one that was pressed or a new one.
 */
export async function readAgain(ctx: ChatContext, stays: boolean): Promise<Again | null> {
  const open = await draftHere(ctx);
  if (open?.step.step !== 'preview') return null;
  const before = open.step;
  const { words, at } = before.when;
  const read = timeOr(() => readTime(words, readingOf({ place: ctx.place, date: at })));
  const id = ctx.ids.next();
  const stood = await messageOf(ctx, open);
  const step: StepOf<'preview'> = {
    ...before,
    kept: shownIn(ctx, before.kept, stays ? stood : ctx.isPress ? ctx.messageId : null),
    when: { ...before.when, schedule: read?.schedule ?? moved(before.when.schedule, ctx) },
  };
  return {
    proposing: { draftId: id, step },
    draft: putDraft(ctx, id, step, open.row.id),
    shownIn: stood,
  };
}

function moved(schedule: Schedule, { place, clock }: ChatContext): Schedule {
  return parseSchedule(inZone(schedule, place.timezone), clock.now());
}

/** The kind of chat in which results would find no topic, as far as is known; null where they would. */
export function topicsOff({ isForum, chat }: Place): 'private' | 'group' | null {
  if (isForum) return null;
  return chat.kind === 'private' ? 'private' : 'group';
}
