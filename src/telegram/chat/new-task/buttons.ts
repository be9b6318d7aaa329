import type { TaskInput } from '../../../app/tasks/definition.ts';
import type { AppError } from '../../../domain/errors.ts';
import { inputOf, type Warning } from '../../../domain/schedule/schedule.ts';
import { MINUTE_MS } from '../../../domain/schedule/time/calendar.ts';
import type { Drawn } from '../../../domain/shown.ts';
import { titleFrom, type Task } from '../../../domain/task.ts';
import { telegramThread, threadKeyOf } from '../../../domain/thread.ts';
import { readTime, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, Buttons, ChatContext, Handler } from '../context.ts';
import { redrawn, Refused, sentenceOf, templateFault, toastOf, triedTo, undoRow } from '../kit/answers.ts';
import { cardOf, newCard, nextSentence, taskName } from '../kit/card.ts';
import { scheduleText } from '../kit/clock.ts';
import {
  type DraftAt,
  draftOf,
  isEditing,
  isMaking,
  type MakingStep,
  putDraft,
  type OpenDraft,
  readingOf,
  type StepOf,
  titleOf,
} from '../kit/drafts.ts';
import { onChat, onFound, targetOf } from '../kit/guards.ts';
import { arg, button, dataOf, shortId } from '../kit/press.ts';
import { drawn, lines } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import { questionIn } from './beginning.ts';
import { instructionsOf, proposalDrawn, testAsked, topicsOff, titleOfStep } from './preview.ts';
import { turned, stepDrawn } from './steps.ts';
import { retimed, chosen, isFormer } from './wizard.ts';

/** For buttons that carry the draft of this person, while it stands at a step to which they belong. */
function onDraft<At extends OpenDraft>(
  belongs: (draft: OpenDraft) => draft is At,
  handle: (ctx: ChatContext, draft: At) => Promise<Answer>,
): Handler {
  return async (ctx) => {
    const { making } = texts;
    const found = await draftOf(ctx, arg(ctx, 0));
    switch (found.is) {
      case 'open':
        if (found.draft.step.step === 'made') return alreadyMade(ctx, found.draft.step.taskId);
        if (!belongs(found.draft)) throw new Refused(making.over);
        return handle(ctx, found.draft);
      case 'expired':
        return redrawn(ctx, drawn(making.expired));
      // The message may be newer than the button, so it stays as it is.
      case 'gone':
        throw new Refused(making.over);
      case 'foreign':
        throw new Refused(making.onlyTheirs);
    }
  };
}

type PreviewDraft = DraftAt<'preview'>;
type MakingDraft = DraftAt<MakingStep['step']>;

const atPreview = (draft: OpenDraft): draft is PreviewDraft => draft.step.step === 'preview';
const inMaking = (draft: OpenDraft): draft is MakingDraft => isMaking(draft.step);
const anywhere = (_draft: OpenDraft): _draft is OpenDraft => true;

/** The second press of two finds the task that the first one made. */
async function alreadyMade(ctx: ChatContext, taskId: string): Promise<Answer> {
  const task = await ctx.store.readTask(taskId);
  if (task === null) throw new Refused(texts.making.over);
  return redrawn(ctx, await cardOf(task, ctx), texts.making.createdBefore(task.number));
}

async function created(ctx: ChatContext, { row, step: previewed }: PreviewDraft, plain: boolean): Promise<Answer> {
  const step = countedAnew(ctx, previewed);
  const { chat, topic } = ctx.place;
  const tried = await triedTo(() =>
    ctx.tasks.create({
      threadKey: threadKeyOf(telegramThread(chat.address, topic)),
      actor: ctx.person.actor,
      // Of the draft and not of the callback: however often it is pressed, one draft makes one task.
      idempotencyKey: `telegram:draft:${row.id}${plain ? ':plain' : ''}`,
      input: requestInput(step, plain),
      words: texts.advice,
    }),
  );
  if ('refusal' in tried) return notCreated(ctx, row.id, step, tried.refusal);
  const { task, replayed, warnings } = tried.made;
  const shown = replayed ? await cardOf(task, ctx) : newCard(task, ctx);
  const { messageId } = ctx;
  return {
    replies: [
      {
        is: 'edit',
        messageId,
        shown: withSecretsToSet(await withNote(shown, ctx), warnings),
        stands: { as: 'made', taskId: task.id },
      },
    ],
    ...toastOf(texts.making.created(task.number)),
    draft: putMade(ctx, row.id, step, task),
  };
}

/** "In 10 minutes" that are over before it is agreed to count from then on; a time of day stays, and is refused. */
function countedAnew({ place, clock }: ChatContext, step: StepOf<'preview'>): StepOf<'preview'> {
  const { when } = step;
  const now = clock.now();
  if (when.schedule.kind !== 'once' || when.schedule.onceAt > now) return step;
  const read = (date: number) => timeOr(() => readTime(when.words, readingOf({ place, date }, when.schedule.timezone)));
  const [before, after] = [read(when.at)?.schedule, read(now)?.schedule];
  if (before?.kind !== 'once' || after?.kind !== 'once') return step;
  const isWait = Math.abs(after.onceAt - before.onceAt - (now - when.at)) < MINUTE_MS;
  return isWait ? { ...step, when: { ...when, at: now, schedule: after } } : step;
}

function putMade(ctx: ChatContext, id: string, { kept, when }: StepOf<'preview'>, task: Task) {
  return putDraft(ctx, id, { step: 'made', taskId: task.id, said: kept.said, words: when.words });
}

function requestInput({ text, when, kept }: StepOf<'preview'>, plain: boolean): TaskInput {
  const { media, more = [], policies, forWhom, action } = kept;
  if (action !== undefined) {
    const title = titleOfStep({ text: instructionsOf({ text, kept }), kept });
    return {
      title,
      instructions: '',
      action,
      schedule: inputOf(when.schedule),
      ...(policies === undefined ? {} : { policies }),
    };
  }
  const files = [...(media === undefined ? [] : [media]), ...more].map(({ kind, fileId }) => ({
    kind,
    file_id: fileId,
  }));
  const sent = files.length === 0 ? {} : { media: files.length === 1 ? files[0] : files };
  return {
    ...(media === undefined && forWhom === undefined ? {} : { title: titleOf({ text, media }) }),
    instructions: instructionsOf({ text, kept }),
    schedule: inputOf(when.schedule),
    ...(plain || media !== undefined
      ? { action: { kind: 'message', ...(plain ? { plain: true } : {}), ...sent } }
      : {}),
    ...(policies === undefined ? {} : { policies }),
  };
}

/** A task may be made where its results cannot be shown yet; then its first card says so. */
async function withNote(shown: Drawn, { place, setUp }: ChatContext): Promise<Drawn> {
  let missing: keyof typeof texts.making.topicsOff | null = topicsOff(place);
  if (missing === null) {
    // Asked when a task was made, and not for every preview, because only Telegram knows it.
    const { isPrivate, topicsEnabled, canManageTopics } = await setUp(place);
    if (isPrivate && topicsEnabled === false) missing = 'private';
    if (!isPrivate && canManageTopics === false) missing = 'right';
  }
  if (missing === null) return shown;
  return { ...shown, text: `${shown.text}\n\n${texts.making.note(texts.making.topicsOff[missing])}` };
}

/** The preview told of the others already. */
function withSecretsToSet(shown: Drawn, warnings: readonly Warning[]): Drawn {
  const notes = warnings
    .filter(({ code }) => code === 'secret_missing')
    .map(({ message }) => texts.making.note(message));
  return notes.length === 0 ? shown : { ...shown, text: [shown.text, ...notes].join('\n\n') };
}

/** The preview stays, says what is wrong, and offers what can be done about it. */
async function notCreated(
  ctx: ChatContext,
  draftId: string,
  step: StepOf<'preview'>,
  fault: AppError,
): Promise<Answer> {
  const { making } = texts;
  const isTemplate = fault.code === 'invalid_template' && step.kept.action === undefined;
  const words = isTemplate
    ? making.templateFault(templateFault(fault))
    : making.refused(sentenceOf(fault) ?? fault.message);
  return redrawn(ctx, await proposalDrawn(ctx, { draftId, step, fault: words, offersPlain: isTemplate }));
}

/** Every choice while a task is made: `wizard:<draft>:<what>[:<value>[:<more>]]`. */
async function choicePressed(ctx: ChatContext, { row, step }: MakingDraft): Promise<Answer> {
  const [action, value, more] = [arg(ctx, 1), arg(ctx, 2), arg(ctx, 3)];
  const that = thatActions.find((each) => each === action);
  if (that !== undefined && step.step === 'preview') return sameTitlePressed(ctx, { row, step, action: that });
  const moved = await triedTo(async () => {
    const next = chosen(step, action, { speaking: ctx, value, more });
    if (next === null) return null;
    // Buttons are redrawn at the pace of the chat, and the toast comes at once.
    const toast = next.step === 'days' && action === 'd' ? toastOf(texts.wizard.daysChosen(next.plan.days)) : {};
    return { ...(await turned(ctx, row.id, next)), ...toast };
  });
  const offer = step.step === 'question' && action === 'take' ? step.offers[Number(value)] : undefined;
  const asked = 'refusal' in moved && offer !== undefined ? questionIn(moved.refusal, offer.when, step.kept) : null;
  if (asked !== null) return turned(ctx, row.id, asked);
  if ('refusal' in moved) throw new Refused(short(sentenceOf(moved.refusal) ?? moved.refusal.message));
  if (moved.made !== null) return moved.made;
  // The button was of an earlier step: nothing changes, and the message shows the one that is open.
  const before = isFormer(step, action, value) ? texts.wizard.inWords : null;
  return redrawn(ctx, await stepDrawn(ctx, { draftId: row.id, step, before }));
}

/** Does what the task would do, once and at once; whoever pressed alone sees what comes of it. */
async function trialPressed(ctx: ChatContext, { row, step }: PreviewDraft): Promise<Answer> {
  const { action } = step.kept;
  if (action === undefined) throw new Refused(texts.chat.oldButton);
  const isAgreed = arg(ctx, 1) === 'yes';
  if (!isAgreed && ctx.kinds.changesThings(action)) {
    return redrawn(ctx, testAsked(ctx, { draftId: row.id, step }));
  }
  const { place, person, key, asker: onlyFor } = ctx;
  const { title, instructions } = requestInput(step, false);
  const tried = await triedTo(() =>
    ctx.testRuns.run({
      threadKey: threadKeyOf(telegramThread(place.chat.address, place.topic)),
      title: title ?? titleOfStep(step),
      instructions,
      action,
      timezone: step.when.schedule.timezone,
      actor: person.actor,
      isAgreed: true,
      onlyFor,
      idempotencyKey: key,
    }),
  );
  if ('refusal' in tried) return notCreated(ctx, row.id, step, tried.refusal);
  const told = toastOf(texts.action.testing);
  return isAgreed
    ? { ...redrawn(ctx, await proposalDrawn(ctx, { draftId: row.id, step })), ...told }
    : { replies: [], ...told };
}

/** Buttons of a task that is being made. Only the person who makes it may press them. */
export const newTaskButtons = {
  create: onChat(
    'create',
    onDraft(atPreview, (ctx, found) => created(ctx, found, false)),
  ),
  plain: onChat(
    'create',
    onDraft(atPreview, (ctx, found) => created(ctx, found, true)),
  ),
  // The time is asked for again; it is chosen or written.
  retime: onDraft(atPreview, (ctx, { row, step }) => turned(ctx, row.id, retimed(step))),
  trial: onChat('create', onDraft(atPreview, trialPressed)),
  cancel: onDraft(anywhere, async (ctx, { row, step }) => {
    const words = isEditing(step) ? texts.making.editDropped : texts.making.dropped;
    return { ...redrawn(ctx, drawn(words)), draft: putDraft(ctx, row.id, { step: 'dropped' }) };
  }),
  wizard: onChat('create', onDraft(inMaking, choicePressed)),
} satisfies Buttons;

const thatActions = ['that', 'thattime', 'thattext', 'thatboth'] as const;

/** Without what could be written instead, because it was pressed. */
function short(sentence: string): string {
  return sentence.replace(/ Try "[\s\S]*$/, '');
}

/** Another task that is meant: `that` shows what could be changed about it, the others change it. */
const sameTitlePressed = onFound('change', twinOf, async (ctx, { task, row, step, action }) => {
  if (action === 'that') return redrawn(ctx, changeOffered(task, { row, step }, ctx.clock.now()));
  const schedule = action === 'thattext' ? {} : { schedule: inputOf(step.when.schedule) };
  const isDerived = titleFrom(task.instructions) === task.title;
  const title = isDerived && action === 'thatboth' ? { title: titleOfStep(step) } : {};
  const said = step.kept.action ?? null;
  const text =
    action === 'thattime' ? {} : said === null ? { ...title, instructions: instructionsOf(step) } : { action: said };
  const { task: changed, entryId } = await ctx.tasks.edit(targetOf(ctx, task), { ...schedule, ...text });
  const words = lines(texts.edit.changed(taskName(changed)), await nextSentence(changed, ctx));
  return {
    ...redrawn(ctx, drawn(words, undoRow(changed, entryId))),
    draft: putMade(ctx, row.id, step, task),
  };
});

type TwinPressed = PreviewDraft & { readonly action: (typeof thatActions)[number] };

async function twinOf({ store, place }: ChatContext, pressed: TwinPressed) {
  const { taskId } = pressed.step.kept;
  const task =
    taskId === undefined
      ? await store.taskByTitle(place.chat.id, titleOfStep(pressed.step))
      : await store.readTask(taskId);
  if (task === null) throw new Refused(texts.chat.noSuchTask);
  return { ...pressed, task };
}

function changeOffered(task: Task, { row, step }: PreviewDraft, now: number) {
  const { wizard, button: words } = texts;
  const id = shortId(row.id);
  return drawn(wizard.changeThat(taskName(task), scheduleText(task.schedule, now), task.schedule.timezone), [
    [
      isSameTime(task, step) ? null : button(wizard.useTime, dataOf('wizard', id, 'thattime')),
      isSameText(task, step) ? null : button(wizard.useText, dataOf('wizard', id, 'thattext')),
    ],
    [button(words.edit, dataOf('edit', shortId(task.id))), button(words.back, dataOf('wizard', id, 'stay'))],
  ]);
}

export function isSameTime({ schedule }: Task, { when }: StepOf<'preview'>): boolean {
  return JSON.stringify(schedule) === JSON.stringify(when.schedule);
}

export function isSameText({ instructions, action }: Task, step: StepOf<'preview'>): boolean {
  if (step.kept.action !== undefined) return JSON.stringify(action) === JSON.stringify(step.kept.action);
  return instructions.trim() === instructionsOf(step).trim();
}
