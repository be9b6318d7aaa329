import { z } from 'zod';
import type { Draft, DraftChange } from '../../../app/chat-store.ts';
import type { ConversationRooms, Person, Place, Pressed, Said } from '../conversation.ts';
import { longId } from '../buttons/press.ts';

/** Long enough to look something up, short enough that nobody is surprised by what becomes of their next message. */
const draftMs = 30 * 60_000;

const Schedule = z.object({
  kind: z.enum(['once', 'cron', 'rrule', 'interval']),
  once_at: z.string().optional(),
  cron: z.string().optional(),
  rrule: z.string().optional(),
  interval: z.string().optional(),
  start_at: z.string().optional(),
  from: z.enum(['start', 'completion']).optional(),
  timezone: z.string(),
});

/** What was said of the time, to read it again when the zone of the chat changes meanwhile. */
const When = z.object({ words: z.string(), at: z.number(), schedule: Schedule });
export type DraftWhen = z.output<typeof When>;

/**
 * Where the making of a task stands, and what the next plain message of the person is.
 *
 *   ask (when and what) -> text (what) -> preview -> made
 *   ask -> preview      preview -> time (when) -> preview      edit (the new value of an existing task)
 *
 * `made` stays until it expires, so that a second press finds the task that the first one made.
 */
const Step = z.discriminatedUnion('step', [
  z.object({ step: z.literal('ask'), misses: z.number() }),
  z.object({ step: z.literal('text'), when: When }),
  z.object({ step: z.literal('preview'), when: When, text: z.string() }),
  z.object({ step: z.literal('time'), text: z.string(), misses: z.number() }),
  z.object({ step: z.literal('made'), taskId: z.string() }),
  z.object({
    step: z.literal('edit'),
    taskId: z.string(),
    what: z.enum(['time', 'text', 'title']),
    misses: z.number(),
  }),
]);
export type DraftStep = z.output<typeof Step>;

export interface OpenDraft {
  readonly row: Draft;
  readonly step: DraftStep;
}

interface Writing {
  readonly place: Place;
  readonly person: Person;
}

/** The draft takes the place of the one before it. Each has an id of its own, so that buttons of older ones are over. */
export function putDraft(
  { place, person }: Writing,
  step: DraftStep,
  { id, now }: { readonly id: string; readonly now: number },
): DraftChange {
  const { step: name, ...body } = step;
  return {
    is: 'put',
    draft: {
      id,
      chatId: place.chat.id,
      userId: person.actor,
      topic: place.topic,
      step: name,
      body,
      expiresAt: now + draftMs,
    },
  };
}

/** The draft that waited for something from this person here when they said it. */
export async function draftHere(
  { place, person, date }: Writing & Pick<Said, 'date'>,
  { store }: Pick<ConversationRooms, 'store'>,
): Promise<OpenDraft | null> {
  const open = opened(await store.openDraft(place.chat.id, person.actor, place.topic, date));
  return open === null || open.step.step === 'made' ? null : open;
}

/** What was written by another version, and cannot be read by this one, is gone. */
function opened(row: Draft | null): OpenDraft | null {
  if (row === null) return null;
  const read = Step.safeParse({ ...row.body, step: row.step });
  return read.success ? { row, step: read.data } : null;
}

export type FoundDraft =
  | { readonly is: 'open'; readonly draft: OpenDraft }
  /** It has expired, was replaced by another one, or belongs to somebody else. */
  | { readonly is: 'expired' | 'gone' | 'foreign' };

/** The draft that a button belongs to. */
export async function draftOf(
  pressed: Pressed,
  short: string,
  { store }: Pick<ConversationRooms, 'store'>,
): Promise<FoundDraft> {
  const draft = opened(await store.readDraft(longId(short)));
  if (draft === null || draft.row.chatId !== pressed.place.chat.id) return { is: 'gone' };
  if (draft.row.userId !== pressed.person.actor) return { is: 'foreign' };
  if (draft.step.step !== 'made' && draft.row.expiresAt <= pressed.date) return { is: 'expired' };
  return { is: 'open', draft };
}
