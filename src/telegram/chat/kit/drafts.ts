import { z } from 'zod';
import type { Draft, DraftChange } from '../../../app/ports/chats.ts';
import { settingsOf, wordsIn } from '../../../domain/chat-settings.ts';
import { mediaKinds, type Media } from '../../../domain/shown.ts';
import { isBlank, titleFrom, type Task } from '../../../domain/task.ts';
import type { Setting as Reading } from '../../../domain/when/setting.ts';
import type { ChatContext } from '../context.ts';
import { currentLocale, texts } from '../texts.ts';
import { zoneOf } from './clock.ts';
import { button, dataOf, longId, shortId, type Rows } from './press.ts';
import type { Asker } from './rights.ts';

/** Long enough to look something up, short enough that nobody is surprised by what becomes of their next message. */
const draftMs = 30 * 60_000;

const timezone = z.string();
const Schedule = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('once'), onceAt: z.number(), startAt: z.number().exactOptional(), timezone }),
  z.object({ kind: z.literal('cron'), cron: z.string(), timezone }),
  z.object({ kind: z.literal('rrule'), rrule: z.string(), timezone }),
  z.object({
    kind: z.literal('interval'),
    interval: z.string(),
    startAt: z.number(),
    from: z.enum(['start', 'completion']),
    timezone,
  }),
]);

const instant = z.iso.datetime().transform(Date.parse);
/** Schedules in drafts of older versions, which keep them in the fields of a request. */
const OlderSchedule = z.union([
  z
    .object({ kind: z.literal('once'), once_at: instant, timezone })
    .transform(({ once_at: onceAt, ...rest }) => ({ ...rest, onceAt })),
  z
    .object({
      kind: z.literal('interval'),
      interval: z.string(),
      start_at: instant,
      from: z.enum(['start', 'completion']),
      timezone,
    })
    .transform(({ start_at: startAt, ...rest }) => ({ ...rest, startAt })),
]);

/** A button that reads something else: its label, and all the words as it reads them. */
export const Offer = z.object({ text: z.string(), when: z.string() });
export type Offer = z.output<typeof Offer>;

/**
 * The words about the time are kept, to be read again when the zone of the chat changes meanwhile. `assumed` says what was
 * not said; `ways` lead to what could have been meant instead, and `back` from there to what is `from` these words.
 */
const When = z.object({
  words: z.string(),
  at: z.number(),
  schedule: z.union([Schedule, OlderSchedule]),
  assumed: z.array(z.string()).default([]),
  ways: z.array(Offer.extend({ back: z.string(), from: z.string() })).default([]),
});

/** The policies that a few words beside the time can bring. */
const Policies = z.object({
  ack: z.object({ nag_every: z.string(), nag_limit: z.number() }).optional(),
  quiet: z.object({ mode: z.literal('off') }).optional(),
  max_runs: z.number().optional(),
});

/** The message of the person that began the draft; it may be edited later. */
const Said = z.object({
  message: z.number(),
  command: z.string().nullable(),
  /** It was a text alone: its time was asked for, and stays when the text is edited. */
  isTimeless: z.boolean().optional(),
});

const File = z.object({ kind: z.enum(mediaKinds), fileId: z.string() });

/** Parts of the task that are there already, whatever is still asked for. */
const Kept = z.object({
  said: Said.optional(),
  text: z.string().optional(),
  /** `@ben`, for whom it is. */
  forWhom: z.string().optional(),
  /** The task that was made of the message before it was edited: it is changed, and none is made. */
  taskId: z.string().optional(),
  media: File.optional(),
  /** Telegram sends several pictures as so many messages, which have this in common; the others are gathered as they come. */
  album: z.string().optional(),
  more: z.array(File).optional(),
  policies: Policies.optional(),
  /** The kind of action that is being made, where it is none that says a text. */
  kind: z.string().optional(),
  /** Its settings, once they are known, and how a task with them is called where nobody gave it a name. */
  action: z.looseObject({ kind: z.string() }).optional(),
  name: z.string().optional(),
  /** Of the settings what nobody said. */
  guessed: z.array(z.string()).optional(),
  /** The text was written before it was asked for, so that another one may take its place. */
  isEarly: z.boolean().optional(),
  /** Our message that shows the step, as far as it is known: it goes when another one takes its place. */
  message: z.number().optional(),
  /** The address at which it has that number: the supergroup that a group becomes counts anew. */
  address: z.string().optional(),
});
export type Kept = z.output<typeof Kept>;

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;
export const rhythms = ['day', 'weekday', 'week', 'month', 'once'] as const;

/** Choices made by buttons so far. They become words, which are read like all others. */
const Plan = z.object({
  rhythm: z.enum(rhythms),
  days: z.array(z.enum(weekdays)),
  /** The words before the time, as in "every monday and thursday". */
  lead: z.string().optional(),
  hour: z.number().optional(),
});
export type Plan = z.output<typeof Plan>;

/** The steps in which a part of the time is asked for by buttons. */
export const partSteps = ['days', 'month', 'date', 'hour', 'minute'] as const;
export type PartStep = (typeof partSteps)[number];

/** Steps of older buttons, which are words now. A draft that stands at one keeps what is known of it. */
const formerSteps: ReadonlySet<string> = new Set([
  'ordinal',
  'nth',
  'week',
  'yearmonth',
  'yearday',
  'cron',
  'templates',
  'offer',
]);

const kept = Kept.default({});
/** A plan only leads back to the buttons, so that one of older buttons is no loss. */
const plan = Plan.optional().catch(undefined);

/**
 * The step at which the making of a task stands says what the next plain message of the person is.
 *
 *   ask (when and what) | question (the piece that is missing) -> text (what) -> preview -> made
 *   ask -> preview      preview -> time (when) -> preview      edit (the new value of an existing task)
 *
 * By buttons, each step in the same message, with a way back from each:
 *
 *   ask | time [-> days | month | date] -> hour -> minute -> text | preview      preview -> retext -> preview
 *
 * `made` stays until it expires, so that a second press finds the task that the first one made; `dropped` does, so that a
 * "yes" that follows presses nothing older.
 */
const Step = z.discriminatedUnion('step', [
  z.object({ step: z.literal('ask'), kept }),
  z.object({
    step: z.literal('question'),
    ask: z.string(),
    /** The words that lack a piece, or have several readings; empty where the whole time is missing. */
    phrase: z.string(),
    offers: z.array(Offer),
    /** The offers are all that can be meant. */
    isEither: z.boolean().optional(),
    kept,
  }),
  z.object({ step: z.enum(partSteps), plan: Plan, kept }),
  z.object({ step: z.literal('text'), when: When, plan, kept }),
  z.object({ step: z.literal('preview'), when: When, text: z.string(), plan, kept }),
  z.object({ step: z.literal('time'), text: z.string(), when: When.optional(), kept }),
  z.object({ step: z.literal('retext'), when: When, text: z.string(), plan, kept }),
  z.object({ step: z.literal('made'), taskId: z.string(), said: Said.optional(), words: z.string().optional() }),
  z.object({ step: z.literal('dropped') }),
  z.object({
    step: z.literal('edit'),
    taskId: z.string(),
    what: z.enum(['time', 'text', 'title']),
    misses: z.number(),
    /** Answers to what was asked about the new time. */
    offers: z.array(Offer).default([]),
  }),
]);
export type DraftStep = z.output<typeof Step>;
/** The steps of a task that is being made. */
export type MakingStep = Exclude<DraftStep, { step: 'made' | 'dropped' | 'edit' }>;
export type StepOf<S extends DraftStep['step']> = Extract<DraftStep, { step: S }>;

export function isMaking(step: DraftStep): step is MakingStep {
  return step.step !== 'made' && step.step !== 'dropped' && step.step !== 'edit';
}

export interface OpenDraft {
  readonly row: Draft;
  readonly step: DraftStep;
}

/** A draft of which it is known at which step it stands. */
export type DraftAt<S extends DraftStep['step']> = OpenDraft & { readonly step: StepOf<S> };

/** `drops` is the draft whose place it takes. Each has an id of its own, so that the buttons of that one are over. */
export function putDraft(
  ctx: Asker & Pick<ChatContext, 'clock'>,
  id: string,
  step: DraftStep,
  drops?: string,
): DraftChange {
  const { step: name, ...body } = step;
  const said = 'kept' in step ? step.kept.said : step.step === 'made' ? step.said : undefined;
  const row = { id, step: name, body, messageId: said?.message ?? null, expiresAt: ctx.clock.now() + draftMs };
  return putRow(ctx, row, drops);
}

/** The row that is kept of this person here, whatever it is. */
export function putRow(
  { place, person }: Asker,
  row: Pick<Draft, 'id' | 'step' | 'body' | 'messageId' | 'expiresAt'>,
  drops?: string,
): DraftChange {
  return { is: 'put', draft: { ...row, chatId: place.chat.id, userId: person.actor, topic: place.topic }, drops };
}

/**
 * The draft that the words are for: the one whose message they answer, or the newest one of this person here. Null where they
 * answer what is over, or the question of somebody else.
 */
export async function draftHere(ctx: ChatContext): Promise<OpenDraft | null> {
  const { place, person, date, store } = ctx;
  const answered = await draftAnswered(ctx);
  const isTheirs = answered?.chatId === place.chat.id && answered.userId === person.actor && answered.expiresAt > date;
  if (answered !== null && !isTheirs) return null;
  const open = opened(answered ?? (await store.openDraft(place.chat.id, person.actor, place.topic, date)));
  return open === null || open.step.step === 'made' || open.step.step === 'dropped' ? null : open;
}

/** The draft whose message the words answer: that has the id of the draft in the outbox. */
export async function draftAnswered({ place, repliedTo, store }: ChatContext): Promise<Draft | null> {
  if (repliedTo?.isOurs !== true) return null;
  const about = await store.messageAt(place.chat.address, repliedTo.messageId);
  return about === null ? null : store.readDraft(about.deliveryId);
}

/** Our message that shows the draft; null while it is not known, and where it stands in what the chat was before. */
export async function messageOf(ctx: ChatContext, { row, step }: OpenDraft): Promise<number | null> {
  if ('kept' in step && step.kept.message !== undefined) return shownBefore(ctx, step.kept);
  const sent = await ctx.store.sentMessage(row.id);
  return sent?.address === ctx.place.chat.address ? sent.messageId : null;
}

export function shownBefore({ place }: Pick<ChatContext, 'place'>, { message, address }: Kept): number | null {
  return (address ?? place.chat.address) === place.chat.address ? (message ?? null) : null;
}

/** The step is shown in that message from now on; in none that is known, where it is null. */
export function shownIn({ place }: Pick<ChatContext, 'place'>, kept: Kept, messageId: number | null): Kept {
  const { message: _message, address: _address, ...others } = kept;
  return messageId === null ? others : { ...others, message: messageId, address: place.chat.address };
}

/** The message with the words, which may be edited later. */
export function saidIn({ isPress, messageId, command }: ChatContext): Kept['said'] {
  return isPress || messageId <= 0 ? undefined : { message: messageId, command };
}

/** Drafts that were written by another version, and cannot be read by this one, are gone. */
export function opened(row: Draft | null): OpenDraft | null {
  if (row === null) return null;
  const step = !formerSteps.has(row.step) ? row.step : row.body['when'] === undefined ? 'ask' : 'text';
  const read = Step.safeParse({ ...row.body, step });
  return read.success ? { row, step: read.data } : null;
}

export type FoundDraft =
  | { readonly is: 'open'; readonly draft: OpenDraft }
  /** The draft has expired, was replaced by another one, or belongs to somebody else. */
  | { readonly is: 'expired' | 'gone' | 'foreign' };

/** The draft that a button belongs to. */
export async function draftOf(ctx: ChatContext, short: string): Promise<FoundDraft> {
  const draft = opened(await ctx.store.readDraft(longId(short)));
  if (draft === null || draft.row.chatId !== ctx.place.chat.id) return { is: 'gone' };
  if (draft.row.userId !== ctx.person.actor) return { is: 'foreign' };
  if (draft.step.step !== 'made' && draft.row.expiresAt <= ctx.date) return { is: 'expired' };
  return { is: 'open', draft };
}

/** Nothing is made in it, but a task is changed. */
export function isEditing(step: DraftStep): boolean {
  return step.step === 'edit' || (step.step === 'preview' && step.kept.taskId !== undefined);
}

/** The title of a task that is made without one; a picture without words is called what it is, and a call what it calls. */
export function titleOf({ text, media, name = '' }: Titled): string {
  if (!isBlank(text)) return titleFrom(text);
  return media === null || media === undefined ? name : texts.wizard.kinds[media.kind];
}

interface Titled {
  readonly text: string;
  readonly media?: Media | null | undefined;
  /** Of an action, which has no text. */
  readonly name?: string | undefined;
}

/* ---- words that are meant for us, and the clocks on which a time in them is read ---- */

/** The place of words, and when they were written. */
export type PlaceAndDate = Pick<ChatContext, 'place' | 'date'>;

/** The clocks on which a time is read, and how it is written here. A wait counts from when it was written, not from when it is read. */
export function readingOf({ place, date }: PlaceAndDate, timezone = place.timezone): Reading {
  return {
    timezone,
    now: date,
    language: currentLocale().tag,
    words: texts.reading,
    ...wordsIn(settingsOf(place.chat.settings)),
  };
}

/** On the clocks of a task, whatever the chat has. */
export function readingFor(task: Pick<Task, 'schedule'>, here: PlaceAndDate): Reading {
  return readingOf(here, zoneOf(task));
}

/** In a group people talk to each other as well: a reply to us, our name or a command says that we are meant. */
export function isForUs({ command, place, repliedTo, isAddressed }: ChatContext): boolean {
  return command !== null || place.chat.kind === 'private' || repliedTo?.isOurs === true || isAddressed === true;
}

export function cancelRow(draftId: string): Rows {
  return [[button(texts.button.cancel, dataOf('cancel', shortId(draftId)))]];
}
