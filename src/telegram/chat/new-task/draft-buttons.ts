import { threadKeyOf } from '../../../domain/thread.ts';
import type { TaskInput } from '../../../app/tasks/definition.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { AppError } from '../../../domain/errors.ts';
import { alerted, redrawn } from '../kit/answers.ts';
import { cardOf, markFor } from '../kit/cards.ts';
import { draftOf, putDraft, type OpenDraft, type StepOf } from '../kit/drafts.ts';
import { proposalOf, topicsOff } from './making.ts';
import { sentenceOf, templateFault, triedTo } from '../kit/refusals.ts';
import { refusal } from '../kit/rights.ts';
import { turned } from './steps.ts';
import { retimed } from './wizard.ts';
import type { Answer, ConversationRooms, Place, Pressed } from '../conversation.ts';
import { drawn } from '../kit/drawing.ts';
import { proposalDrawn, titleOf } from './preview.ts';
import { texts } from '../texts.ts';
import { arg } from '../kit/presser.ts';

/** Buttons of a task that is being made. Only the person who makes it may press them. */

export type Held = { readonly draft: OpenDraft } | { readonly answer: Answer };

export async function held(pressed: Pressed, rooms: ConversationRooms): Promise<Held> {
  const { making } = texts;
  const found = await draftOf(pressed, arg(pressed, 0), rooms);
  switch (found.is) {
    case 'open':
      return found.draft.step.step === 'made'
        ? { answer: await alreadyMade(pressed, rooms, found.draft.step.taskId) }
        : { draft: found.draft };
    case 'expired':
      return { answer: redrawn(pressed, drawn(making.expired)) };
    // What the message shows may be newer than the button, so it stays as it is.
    case 'gone':
      return { answer: alerted(making.over) };
    case 'foreign':
      return { answer: alerted(making.onlyTheirs) };
  }
}

/** The second press of two finds the task that the first one made. */
async function alreadyMade(pressed: Pressed, rooms: ConversationRooms, taskId: string): Promise<Answer> {
  const task = await rooms.store.readTask(taskId);
  if (task === null) return alerted(texts.making.over);
  return redrawn(pressed, await cardOf(task, rooms, markFor(pressed)), texts.making.createdBefore(task.number));
}

export async function createPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return created(pressed, rooms, { plain: false });
}

export async function plainPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  return created(pressed, rooms, { plain: true });
}

async function created(pressed: Pressed, rooms: ConversationRooms, { plain }: { plain: boolean }): Promise<Answer> {
  const refused = await refusal(pressed, 'create', { task: null, rooms });
  if (refused !== null) return alerted(refused);
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  if (step.step !== 'preview') return alerted(texts.making.over);
  const { chat, topic } = pressed.place;
  const tried = await triedTo(() =>
    rooms.tasks.create({
      threadKey: threadKeyOf({ provider: 'telegram', address: chat.address, topic }),
      actor: pressed.person.actor,
      // Of the draft and not of the press: however often it is pressed, one draft makes one task.
      idempotencyKey: `telegram:draft:${row.id}${plain ? ':plain' : ''}`,
      input: inputOf(step, plain),
    }),
  );
  if ('refusal' in tried) return notCreated(pressed, rooms, { draftId: row.id, step, fault: tried.refusal });
  const { task } = tried.made;
  const missing = topicsOff(pressed.place) ?? (await rightMissing(pressed.place, rooms));
  const shown = withNote(await cardOf(task, rooms, markFor(pressed)), missing);
  return {
    ...redrawn(pressed, shown, texts.making.created(task.number)),
    draft: putDraft(pressed, { step: 'made', taskId: task.id }, { id: row.id, now: rooms.clock.now() }),
  };
}

function inputOf({ text, when, kept }: StepOf<'preview'>, plain: boolean): TaskInput {
  const { media, policies } = kept;
  const sent = media === undefined ? {} : { media: { kind: media.kind, file_id: media.fileId } };
  return {
    ...(media === undefined ? {} : { title: titleOf({ text, media }) }),
    instructions: text,
    schedule: when.schedule,
    ...(plain || media !== undefined
      ? { action: { kind: 'message', ...(plain ? { plain: true } : {}), ...sent } }
      : {}),
    ...(policies === undefined ? {} : { policies }),
  };
}

/** A task may be made where its results cannot be shown yet; then its first card says so. */
function withNote(shown: Drawn, missing: keyof typeof texts.making.topicsOff | null): Drawn {
  if (missing === null) return shown;
  return { ...shown, text: `${shown.text}\n\n${texts.making.note(texts.making.topicsOff[missing])}` };
}

/** Asked when a task was made, and not for every preview, because only the platform knows it. */
async function rightMissing(place: Place, rooms: ConversationRooms): Promise<'right' | null> {
  const setUp = await rooms.setUp(place);
  return !setUp.isPrivate && setUp.canManageTopics === false ? 'right' : null;
}

interface NotCreated {
  readonly draftId: string;
  readonly step: StepOf<'preview'>;
  readonly fault: AppError;
}

/** The preview stays, says what is wrong, and offers what can be done about it. */
async function notCreated(
  pressed: Pressed,
  rooms: ConversationRooms,
  { draftId, step, fault }: NotCreated,
): Promise<Answer> {
  const { making } = texts;
  const isTemplate = fault.code === 'invalid_template';
  const proposal = await proposalOf(pressed, rooms, { draftId, step });
  return redrawn(
    pressed,
    proposalDrawn({
      ...proposal,
      fault: isTemplate
        ? making.templateFault(templateFault(fault.message))
        : making.refused(sentenceOf(fault) ?? fault.message),
      offersPlain: isTemplate,
    }),
  );
}

/** The time is asked for again; it is chosen or written. */
export async function retimePressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  if (step.step !== 'preview') return alerted(texts.making.over);
  return turned(pressed, rooms, { draftId: row.id, step: retimed(step) });
}

export async function cancelPressed(pressed: Pressed, rooms: ConversationRooms): Promise<Answer> {
  const found = await held(pressed, rooms);
  if ('answer' in found) return found.answer;
  const { row, step } = found.draft;
  const words = step.step === 'edit' ? texts.making.editDropped : texts.making.dropped;
  return { ...redrawn(pressed, drawn(words)), draft: { is: 'drop', draftId: row.id } };
}
