import type { Answer, ConversationRooms, Said, SaidHandler } from '../conversation.ts';
import { answer, forAsker, silence } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { settingOf } from '../kit/clock.ts';
import { momentIn } from '../kit/days.ts';
import { impliedBy, type Implied } from '../kit/naming.ts';
import { drawn } from '../kit/rich.ts';
import { runCommand, snoozeCommand, skipCommand } from '../task/doing.ts';
import { historyCommand, whyCommand } from '../task/looking.ts';
import { texts } from '../texts.ts';
import { doneAnswer, isDoneWord } from './buttons.ts';

/**
 * Plain words as a reply to a message about a task do what the command of that name would do there. Few words are known,
 * and each must be the whole of what was said: people talk to each other under a result as well.
 */
interface Wording {
  readonly pattern: RegExp;
  readonly command: string;
  readonly handle: SaidHandler;
}

const wordings: readonly Wording[] = [
  { pattern: /^(?:snooze|later|not now)$/i, command: 'snooze', handle: snoozeCommand },
  { pattern: /^(?:skip|skip (?:it|this|next))$/i, command: 'skip', handle: skipCommand },
  { pattern: /^why$/i, command: 'why', handle: async (said, rooms) => forAsker(await whyCommand(said, rooms)) },
  { pattern: /^(?:(?:run )?(?:it )?again|once more|run|retry)$/i, command: 'run', handle: runCommand },
  {
    pattern: /^history$/i,
    command: 'history',
    handle: async (said, rooms) => forAsker(await historyCommand(said, rooms)),
  },
];

/** What a reply to a message about a task comes to; null when it is none, and may mean something else. */
export async function replied(said: Said, rooms: ConversationRooms): Promise<Answer | null> {
  const implied = await impliedBy(said, rooms);
  if (implied?.by !== 'reply') return null;
  const words = said.args.trim().replace(/[.!?\s]+$/u, '');
  if (isDoneWord(words)) return done(said, rooms, implied);
  const wording = wordings.find(({ pattern }) => pattern.test(words));
  if (wording !== undefined) return wording.handle(asCommand(said, wording.command, ''), rooms);
  const { timezone } = settingOf(implied.task, said.date);
  if (momentIn(words, { timezone, now: said.date }, '9:00') !== null) {
    return snoozeCommand(asCommand(said, 'snooze', words), rooms);
  }
  return hint(said, rooms, implied);
}

function asCommand(said: Said, command: string, args: string): Said {
  return { ...said, command, args };
}

/** The result itself says so, and needs no word beside it; who comes second is told who was first. */
async function done(said: Said, rooms: ConversationRooms, { task, occurrenceId }: Implied): Promise<Answer> {
  const occurrence = occurrenceId ?? (await lastDone(task.id, rooms));
  const { repliedTo } = said;
  if (occurrence === null || repliedTo === null) return answer(texts.history.none);
  const { messageId } = repliedTo;
  const told = await doneAnswer(said, rooms, { taskId: task.id, occurrenceId: occurrence, messageId, shown: null });
  const { toast, ...rest } = told;
  if (toast?.isAlert !== true) return { ...rest, reaction: '👍' };
  return { ...rest, replies: [...told.replies, ...answer(toast.text).replies] };
}

/** A reminder, and a card, are about the run that was the last to come. */
async function lastDone(taskId: string, { tasks }: ConversationRooms): Promise<string | null> {
  const { items } = await tasks.listRuns({ taskId, status: 'succeeded', limit: 1, cursor: null });
  return items[0]?.id ?? null;
}

const hintKeptMs = 3_600_000;

/** Told to each person once for each task in a group, where a reply may be meant for the others. */
async function hint(said: Said, rooms: ConversationRooms, { task }: Implied): Promise<Answer> {
  const { place, person } = said;
  const words = texts.reply.hint(taskName(task));
  if (place.chat.kind === 'private') return answer(words);
  const now = rooms.clock.now();
  const message = {
    id: rooms.ids.next(),
    kind: 'answer',
    thread: { provider: 'telegram', address: place.chat.address, topic: place.topic },
    taskId: null,
    shown: drawn(words),
    edits: null,
    expiresAt: now + hintKeptMs,
  } as const;
  await rooms.store.tellOnce(`reply-hint:${person.actor}:${task.id}`, message, now);
  return silence;
}
