import type { Chat, ChatStore } from '../../app/ports/chats.ts';
import type { OutboxStore } from '../../app/ports/outbox.ts';
import type { AckStore, QuestionStore } from '../../app/ports/questions.ts';
import type { Actor } from '../../domain/access.ts';
import { askExpiryMs } from '../../domain/limits.ts';
import type { Drawn, View } from '../../domain/shown.ts';
import type { Task } from '../../domain/task.ts';
import { aboutMoment, type Setting } from '../chat/kit/clock.ts';
import { calledOf, shortName } from '../chat/kit/rights.ts';
import { withLine, withRows } from '../chat/results/view.ts';
import { texts } from '../chat/texts.ts';

export interface OverDeps {
  readonly store: Pick<ChatStore, 'isTold' | 'unknownParts' | 'readUser'> &
    Pick<AckStore, 'readAck'> &
    Pick<QuestionStore, 'readQuestion' | 'lastAnswer'> &
    Pick<OutboxStore, 'topicNaming'>;
}

/** A word that stands in a chat, about a task. */
interface Standing {
  readonly view: View;
  readonly task: Task;
  readonly chat: Chat;
  readonly setting: Setting;
}

/**
 * What has become of the matter, in a line below the word about it, which is the same on every later day; null while all is as
 * the word says.
 */
export async function overLine(deps: OverDeps, about: Standing): Promise<string | null> {
  const { view, task, chat } = about;
  const { over } = texts.notice;
  const { store } = deps;
  switch (view.view) {
    case 'escalated':
      return doneLine(deps, about, view.occurrenceId);
    case 'autoPaused':
      return resumedLine(deps, about, view.reason);
    case 'missed':
      return answeredLine(deps, about, view.decideBy);
    case 'blocked':
      return (await store.isTold(chat.id, 'blocked', view.cause)) ? null : over.nothingWaits;
    case 'fallback':
      return (await store.isTold(chat.id, 'fallback', view.cause, task.id)) ? null : over.atHome;
    case 'notRenamed':
      return (await store.topicNaming(task.id)) === null ? over.renamed : null;
    case 'inDoubt': {
      const open = await store.unknownParts(chat.address, '');
      return open.some(({ deliveryId }) => deliveryId === view.deliveryId) ? null : over.settled;
    }
    default:
      return null;
  }
}

async function named({ store }: OverDeps, by: Actor): Promise<string> {
  return shortName(await calledOf({ store }, by));
}

async function doneLine(deps: OverDeps, { task, setting }: Standing, occurrenceId: string): Promise<string | null> {
  const { doneBy = null, doneAt = null } = (await deps.store.readAck({ taskId: task.id, occurrenceId })) ?? {};
  if (doneBy === null || doneAt === null) return null;
  return texts.reminder.doneBy(await named(deps, doneBy), aboutMoment(doneAt, setting));
}

async function resumedLine(deps: OverDeps, { task, setting }: Standing, reason: string): Promise<string | null> {
  const { over } = texts.notice;
  const { state, pausedReason, resumed } = task;
  if (state === 'deleted') return over.deleted;
  if (state === 'paused' && pausedReason === reason) return null;
  return resumed === null ? over.goesOn : over.resumed(await named(deps, resumed.by), aboutMoment(resumed.at, setting));
}

async function answeredLine(deps: OverDeps, { task, setting }: Standing, decideBy: number): Promise<string | null> {
  const { store } = deps;
  const { over } = texts.notice;
  if (task.state === 'deleted') return over.deleted;
  if ((await store.readQuestion(task.id)) !== null) return null;
  const answer = await store.lastAnswer(task.id, setting.now - askExpiryMs);
  // A pause, or a new time, has ended the question.
  if (answer === null) return decideBy <= setting.now ? texts.reminder.missedOver : over.notAsked;
  return texts.reminder.missedDecided[answer.choice](await named(deps, answer.by));
}

/** The word as it was, with what became of it, and without its buttons. */
export function withOver(shown: Drawn, line: string): Drawn {
  return withRows(withLine(shown, line) ?? shown, []);
}
