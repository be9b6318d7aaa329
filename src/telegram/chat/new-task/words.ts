import { settingsOf } from '../../../domain/chat-settings.ts';
import type { Task } from '../../../domain/task.ts';
import { readAnywhere, timeOr } from '../../../domain/when/asked.ts';
import type { Answer, ChatContext, Handler } from '../context.ts';
import { silence } from '../kit/answers.ts';
import { settingFor, taskName } from '../kit/card.ts';
import { scheduleText } from '../kit/clock.ts';
import {
  isEditing,
  isForUs,
  messageOf,
  opened,
  putDraft,
  readingOf,
  type OpenDraft,
  type StepOf,
} from '../kit/drafts.ts';
import { button, dataOf, shortId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { refusal } from '../kit/rights.ts';
import { texts } from '../texts.ts';
import { isYes, quickly } from './beginning.ts';
import { isSameText, isSameTime, newTaskButtons } from './buttons.ts';
import { instructionsOf } from './preview.ts';

/** Words in the place of a press, and words that were edited. */

const no = /^(?:no|nope|n|cancel|cancel it|forget it|never ?mind|👎\p{Emoji_Modifier}?)[.!\s]*$/iu;

/** "Yes" and "no" press the open preview, or the one whose message they answer; "cancel" ends a question as well. */
export async function pressedInWords(ctx: ChatContext, draft: OpenDraft): Promise<Answer | null> {
  const press = pressIn(ctx.args.trim(), draft);
  if (press === null || !isForUs(ctx)) return null;
  const messageId = await messageOf(ctx, draft);
  if (ctx.repliedTo !== null && ctx.repliedTo.messageId !== messageId) return null;
  const { verb, action } = press;
  const args = [shortId(draft.row.id), ...action];
  const { toast: _said, ...told } = await newTaskButtons[verb]({
    ...ctx,
    messageId: messageId ?? 0,
    press: { verb, args },
  });
  const isQuiet = messageId === null || !settingsOf(ctx.place.chat.settings).reactions;
  return { ...(messageId === null ? anew(told) : told), ...(isQuiet ? {} : { reaction: '👍' as const }) };
}

type InWords = { readonly verb: 'create' | 'cancel' | 'wizard'; readonly action: readonly string[] };

function pressIn(words: string, { step }: OpenDraft): InWords | null {
  const isPreview = step.step === 'preview';
  if (isPreview && isYes(words)) {
    return isEditing(step) ? { verb: 'wizard', action: ['thatboth'] } : { verb: 'create', action: [] };
  }
  const isEnd = no.test(words) && (isPreview || (step.step !== 'edit' && /^cancel/i.test(words)));
  return isEnd ? { verb: 'cancel', action: [] } : null;
}

/** Below the words, where the message of the preview is not known. */
function anew(told: Answer): Answer {
  const replies = told.replies.map((reply) =>
    reply.is === 'edit' ? ({ is: 'message', shown: reply.shown } as const) : reply,
  );
  return { ...told, replies };
}

/** The words with which a draft was begun are other words now: its message shows what comes of them. */
export async function mended(ctx: ChatContext, handle: Handler): Promise<Answer> {
  const { mends = null } = ctx;
  const draft = opened(mends);
  // The command that asked which task is meant is asked anew.
  if (draft === null) return mends?.body['command'] === ctx.command ? handle(ctx) : silence;
  const { step } = draft;
  const said = step.step === 'made' ? step.said : 'kept' in step ? step.kept.said : undefined;
  if (said === undefined || said.command !== ctx.command) return silence;
  if (step.step === 'made') return madeMended(ctx, step, said.isTimeless === true);
  if (step.step === 'edit') return silence;
  return ctx.command === null ? quickly(ctx) : handle(ctx);
}

/** The task is there already, so its change is offered. */
async function madeMended(ctx: ChatContext, made: StepOf<'made'>, isTimeless: boolean): Promise<Answer> {
  const task = await ctx.store.readTask(made.taskId);
  if (task === null || !['active', 'paused'].includes(task.state)) return silence;
  if ((await refusal(ctx, 'change', task)) !== null) return silence;
  const step = changeIn(ctx, task, made, isTimeless);
  if (step === null || (isSameTime(task, step) && isSameText(task, step))) return silence;
  const id = ctx.ids.next();
  const { making, wizard } = texts;
  const { now, dates } = settingFor({ schedule: step.when.schedule }, ctx);
  const shown = making.changeToo(taskName(task), scheduleText(step.when.schedule, now, dates), instructionsOf(step));
  const rows = [
    [
      button(wizard.changeIt, dataOf('wizard', shortId(id), 'thatboth')),
      button(texts.topic.keep, dataOf('cancel', shortId(id))),
    ],
  ];
  return { replies: [{ is: 'message', shown: drawn(shown, rows), id }], draft: putDraft(ctx, id, step) };
}

function changeIn(ctx: ChatContext, task: Task, made: StepOf<'made'>, isTimeless: boolean): StepOf<'preview'> | null {
  const text = ctx.args.trim();
  const kept = { taskId: task.id };
  const as = { words: made.words ?? '', at: ctx.date, schedule: task.schedule, assumed: [], ways: [] };
  const read = timeOr(() => readAnywhere(text, readingOf(ctx)));
  if (read === null) return isTimeless ? { step: 'preview', when: as, text, kept } : null;
  // "In 20 minutes" counts from when it was first written.
  const when = read.words === made.words ? as : { ...as, words: read.words, schedule: read.schedule };
  const forWhom = read.forWhom === null ? {} : { forWhom: read.forWhom };
  return {
    step: 'preview',
    when,
    text: read.text === '' ? task.instructions : read.text,
    kept: { ...kept, ...forWhom },
  };
}
