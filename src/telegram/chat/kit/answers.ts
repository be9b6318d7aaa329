import { settingsOf } from '../../../domain/chat-settings.ts';
import { AppError, type ErrorCode } from '../../../domain/errors.ts';
import { PolicyFault } from '../../../domain/policy-faults.ts';
import type { Drawn, Button } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { Answer, ChatContext, Handler, Reaction } from '../context.ts';
import { texts } from '../texts.ts';
import { type Rows, button, dataOf, inRows, shortId } from './press.ts';
import { shortened, type Rich, drawn, oneLine, say } from './rich.ts';

/** Telegram shows at most 200 characters there. */
const toastMax = 180;

/** Nothing is said, and nothing changes. */
export const silence: Answer = { replies: [] };

export function answer(words: Rich | string, rows: Rows = []): Answer {
  return answerWith(drawn(words, rows));
}

export function answerWith(shown: Drawn): Answer {
  return { replies: [{ is: 'message', shown }] };
}

/** In a group nobody else needs to read it. */
export function forAsker(told: Answer): Answer {
  const replies = told.replies.map((reply) =>
    reply.is === 'message' ? { ...reply, isForAsker: true as const } : reply,
  );
  return { ...told, replies };
}

/** Why somebody may not, or what they have to mend: in a group nobody else needs to read it. */
export function turnedDown(words: Rich | string): Answer {
  return forAsker(answer(words));
}

/** The message that carries the button is drawn anew. */
export function redrawn(ctx: ChatContext, shown: Drawn, toast: string | null = null): Answer {
  return {
    replies: [{ is: 'edit', messageId: ctx.messageId, shown }],
    ...(toast === null ? {} : toastOf(toast)),
  };
}

/** The words of the toast, or of a window that must be closed. */
export function toastOf(text: string, isAlert = false): Required<Pick<Answer, 'toast'>> {
  return { toast: { text: shortened(text, toastMax), isAlert } };
}

export function toasted(text: string): Answer {
  return { replies: [], ...toastOf(text) };
}

/** In a window that must be closed: for what was refused. */
export function alerted(text: string): Answer {
  return { replies: [], ...toastOf(text, true) };
}

/** As many as a phone shows without scrolling. */
export const pageSize = 8;

export function taskButton(task: Task, data: string | null): Button | null {
  return button(texts.task.plainName(task.number, oneLine(task.title, 30)), data);
}

/** Asks which task is meant; each button does at once what was asked for. */
export function choiceDrawn(
  lead: Rich | string,
  tasks: readonly Task[],
  dataFor: (task: Task) => string | null,
): Drawn {
  return drawn(
    say`${lead}`,
    inRows(
      tasks.map((task) => taskButton(task, dataFor(task))),
      2,
    ),
  );
}

/**
 * Faults in a chat. A fault is told by its own sentence, which was written for the person who has to mend the input, or in
 * other words; or it is ours to mend, and goes on to the caller of the handler, who tries again or tells that something is
 * broken.
 */
const table: Readonly<Record<ErrorCode, 'itself' | 'ours' | ((fault: AppError) => string)>> = {
  invalid_request: 'itself',
  invalid_thread_key: 'ours',
  invalid_schedule: 'itself',
  ambiguous_schedule: 'itself',
  incomplete_schedule: 'itself',
  invalid_policy: (error) => (error instanceof PolicyFault ? error.told(texts.policyFault) : error.message),
  invalid_template: (error) => texts.making.badTemplate(templateFault(error)),
  invalid_action: 'itself',
  invalid_cursor: () => texts.chat.oldButton,
  unauthorized: 'ours',
  forbidden: 'itself',
  method_not_allowed: 'ours',
  not_found: () => texts.chat.noSuchTask,
  task_not_found: () => texts.chat.noSuchTask,
  run_not_found: () => texts.chat.noSuchTask,
  task_exists: 'itself',
  run_in_progress: 'itself',
  schedule_exhausted: () => texts.edit.exhausted(null),
  nothing_to_skip: 'itself',
  nothing_to_answer: 'itself',
  nothing_to_undo: 'itself',
  nothing_to_rotate: 'ours',
  too_late: 'itself',
  not_repeatable: 'itself',
  not_attachable: 'itself',
  last_owner: 'itself',
  idempotency_mismatch: 'ours',
  idempotency_key_mismatch: 'ours',
  not_finished: 'itself',
  images_unavailable: 'ours',
  request_in_progress: 'ours',
  payload_too_large: 'itself',
  unsupported_media_type: 'ours',
  rate_limited: 'itself',
  quota_exceeded: ({ message, details }) =>
    typeof details?.['limit'] === 'number'
      ? texts.making.quota(details['quota'] === 'user' ? 'user' : 'chat', details['limit'])
      : message,
  budget_exhausted: () => texts.spending.exhausted,
  kind_paused: () => texts.server.kindNotTried,
  no_worker: 'ours',
  stopping: 'ours',
  secrets_unavailable: 'itself',
  store_unavailable: 'ours',
  internal: 'ours',
};

/** The sentence for the person, or null when the fault is not theirs. */
export function sentenceOf(error: unknown): string | null {
  if (!(error instanceof AppError)) return null;
  const words = table[error.code];
  if (words === 'ours') return null;
  return words === 'itself' ? ownSentence(error) : words(error);
}

/** The sentence for its reason, or for its code where there is one reason; a fault that the chat has no words for says its own. */
function ownSentence({ code, details, message }: AppError): string {
  const { refusal } = texts;
  return refusal[String(details?.['reason'])] ?? refusal[code] ?? message;
}

/** The fault and its place, without the advice to those who write to the API. */
export function templateFault({ message, details }: AppError): string {
  const fault = details?.['fault'];
  return typeof fault === 'string' ? fault : message;
}

/** Ends a handler: words that say why nothing is done, or an answer in the place of its own. */
export class Refused extends Error {
  readonly told: Rich | string | Answer;

  constructor(told: Rich | string | Answer) {
    super('refused');
    this.told = told;
  }
}

/** The answer of the handler; everything that is refused is told to the person here, and caught nowhere else. */
export async function answered(handle: Handler, ctx: ChatContext): Promise<Answer> {
  try {
    return await handle(ctx);
  } catch (error) {
    const told = error instanceof Refused ? error.told : sentenceOf(error);
    if (told === null) throw error;
    if (typeof told === 'object' && 'replies' in told) return told;
    return ctx.isPress ? alerted(typeof told === 'string' ? told : told.text) : turnedDown(told);
  }
}

/** Words for what `make` is refused; what is not refused passes. */
export async function triedTo<T>(
  make: () => Promise<T>,
): Promise<{ readonly made: T } | { readonly refusal: AppError }> {
  try {
    return { made: await make() };
  } catch (error) {
    if (error instanceof AppError && sentenceOf(error) !== null) return { refusal: error };
    throw error;
  }
}

/**
 * A reaction to the message of the person, where it says all that the words would; the words where the chat wants no
 * reactions, or where the message has no number.
 */
export function reactOr(
  { place, messageId }: Pick<ChatContext, 'place' | 'messageId'>,
  reaction: Reaction,
  words: Answer,
): Answer {
  const isWanted = settingsOf(place.chat.settings).reactions && messageId > 0;
  return isWanted ? { ...words, replies: [], reaction } : words;
}

/** The button that takes back what has just been done. */
export function undoRow(task: Task, entryId: string | null) {
  const data = entryId === null ? null : dataOf('undo', shortId(task.id), shortId(entryId));
  return [[button(texts.button.undo, data)]];
}
