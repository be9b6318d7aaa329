import type { DraftChange, NewMessage, StoredUpdate } from '../../../app/chat-store.ts';
import type { Ids } from '../../../app/ports.ts';
import type { Thread } from '../../../domain/thread.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer } from '../conversation.ts';
import type { Toast } from './errands.ts';
import type { FromUpdate } from './payload.ts';

/** A stored update that is being handled; `read` is null when it cannot be read. */
export interface Taken {
  readonly stored: StoredUpdate;
  readonly read: FromUpdate | null;
}

/** What handling an update came to. It is written down together with the update being done. */
export interface Handled {
  readonly status: 'done' | 'failed';
  readonly error: string | null;
  readonly messages: readonly NewMessage[];
  readonly draft: DraftChange | null;
  /** For a press. */
  readonly toast: Toast | null;
}

export const nothingToSay: Handled = { status: 'done', error: null, messages: [], draft: null, toast: null };

/** An answer that comes an hour late answers a question that nobody remembers. */
const answerKeptMs = 3_600_000;

export interface Writing {
  readonly ids: Ids;
  readonly now: number;
  readonly thread: Thread;
}

function messageOf({ ids, now, thread }: Writing, shown: Drawn, edits: number | null = null): NewMessage {
  return { id: ids.next(), kind: 'answer', thread, taskId: null, shown, edits, expiresAt: now + answerKeptMs };
}

export function handledBy(writing: Writing, { replies, draft, toast }: Answer): Handled {
  const messages = replies.map((reply) =>
    messageOf(writing, reply.shown, reply.is === 'edit' ? reply.messageId : null),
  );
  return { ...nothingToSay, messages, draft: draft ?? null, toast: toast ?? null };
}

/** One sentence: in a toast for a press, as a message otherwise. */
export function saying(writing: Writing, text: string, isPress = false): Handled {
  if (isPress) return { ...nothingToSay, toast: { text, isAlert: true } };
  return { ...nothingToSay, messages: [messageOf(writing, { text })] };
}

export function telegramThread(address: string, topic: number | null): Thread {
  return { provider: 'telegram', address, topic };
}
