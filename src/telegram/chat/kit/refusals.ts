import { AppError, type ErrorCode } from '../../../domain/errors.ts';
import type { Answer, Pressed, PressedHandler, Said, SaidHandler } from '../conversation.ts';
import { texts } from '../texts.ts';
import { alerted, turnedDown } from './answers.ts';

/**
 * What a fault is in a chat: its own sentence, which was written for the person who has to mend the input, other words, or
 * ours to mend. What is ours goes on to whoever runs the handler, who tries again or tells that something is broken.
 */
const table: Readonly<Record<ErrorCode, 'itself' | 'ours' | ((fault: AppError) => string)>> = {
  invalid_request: 'itself',
  invalid_thread_key: 'ours',
  invalid_schedule: 'itself',
  invalid_policy: 'itself',
  invalid_template: ({ message }) => texts.making.badTemplate(templateFault(message)),
  invalid_action: 'itself',
  invalid_cursor: () => texts.chat.oldButton,
  unauthorized: 'ours',
  method_not_allowed: 'ours',
  not_found: () => texts.chat.noSuchTask,
  task_exists: 'itself',
  run_in_progress: 'itself',
  schedule_exhausted: () => texts.edit.exhausted(null),
  nothing_to_skip: 'itself',
  nothing_to_answer: 'itself',
  nothing_to_undo: 'itself',
  too_late: 'itself',
  not_repeatable: 'itself',
  not_attachable: 'itself',
  owner_left: 'itself',
  idempotency_mismatch: 'ours',
  idempotency_key_mismatch: 'ours',
  not_finished: 'itself',
  request_in_progress: 'ours',
  payload_too_large: 'itself',
  unsupported_media_type: 'ours',
  rate_limited: 'ours',
  quota_exceeded: ({ message, details }) =>
    typeof details?.['limit'] === 'number'
      ? texts.making.quota(details['quota'] === 'user' ? 'user' : 'chat', details['limit'])
      : message,
  stopping: 'ours',
  store_unavailable: 'ours',
  internal: 'ours',
};

/** The sentence for the person, or null when the fault is not theirs. */
export function sentenceOf(error: unknown): string | null {
  if (!(error instanceof AppError)) return null;
  const words = table[error.code];
  if (words === 'ours') return null;
  return words === 'itself' ? error.message : words(error);
}

/** What is wrong and where, without the advice to those who write to the API. */
export function templateFault(message: string): string {
  return /: ([\s\S]+?)\. Mend it,/.exec(message)?.[1] ?? message;
}

/** The handler, with what it is refused said to the person. */
export function said(handler: SaidHandler): SaidHandler {
  return (one: Said, rooms) => orSentence(() => handler(one, rooms), turnedDown);
}

export function pressed(handler: PressedHandler): PressedHandler {
  return (one: Pressed, rooms) => orSentence(() => handler(one, rooms), alerted);
}

async function orSentence(handle: () => Promise<Answer>, tell: (sentence: string) => Answer): Promise<Answer> {
  try {
    return await handle();
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === null) throw error;
    return tell(sentence);
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
