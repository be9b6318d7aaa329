import { z } from 'zod';
import type { Draft, DraftChange } from '../../../app/ports/chats.ts';
import type { Task } from '../../../domain/task.ts';
import { dataOf, shortId } from './press.ts';
import type { Said } from '../conversation.ts';
import { putRow } from './drafts.ts';

/**
 * A command that named no task, kept until one is pressed. What is short stands on the buttons themselves; the rest waits in
 * a row of the drafts, which no other step can read.
 */
export interface Unnamed {
  readonly command: string;
  readonly words: string;
}

const keptMs = 30 * 60_000;
const stepName = 'which';
const Body = z.object({ command: z.string(), words: z.string() });

export interface Kept {
  readonly dataFor: (task: Task) => string | null;
  readonly draft: DraftChange | null;
}

export function keptFor(said: Said, { command, words }: Unnamed, { id, now }: { id: string; now: number }): Kept {
  const inline = (task: Pick<Task, 'id'>) => dataOf('which', shortId(task.id), command, words);
  // Every id is as long as this one.
  if (inline({ id }) !== null) return { dataFor: inline, draft: null };
  return {
    dataFor: (task) => dataOf('which', shortId(task.id), `@${shortId(id)}`),
    draft: putRow(said, { id, step: stepName, body: { command, words }, expiresAt: now + keptMs }),
  };
}

/** Null for what is no such row. */
export function unnamedIn(draft: Draft | null): Unnamed | null {
  const read = draft?.step === stepName ? Body.safeParse(draft.body) : null;
  return read?.success === true ? read.data : null;
}
