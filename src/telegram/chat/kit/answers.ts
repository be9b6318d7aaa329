import type { Drawn } from '../../../domain/shown.ts';
import type { Rows } from './press.ts';
import type { Answer, Pressed } from '../conversation.ts';
import { drawn } from './drawing.ts';
import { shortened, type Rich } from './rich.ts';

/** The platform shows at most 200 characters there. */
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
export function redrawn(pressed: Pressed, shown: Drawn, toast: string | null = null): Answer {
  return {
    replies: [{ is: 'edit', messageId: pressed.messageId, shown }],
    toast: toast === null ? null : { text: shortened(toast, toastMax), isAlert: false },
  };
}

export function toasted(text: string): Answer {
  return { replies: [], toast: { text: shortened(text, toastMax), isAlert: false } };
}

/** In a window that must be closed: for what was refused. */
export function alerted(text: string): Answer {
  return { replies: [], toast: { text: shortened(text, toastMax), isAlert: true } };
}
