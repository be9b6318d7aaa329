import type { Kinds } from '../../app/actions/kinds.ts';
import type { Chat, ChatStore } from '../../app/ports/chats.ts';
import type { OutboxStore } from '../../app/ports/outbox.ts';
import type { AckStore, QuestionStore } from '../../app/ports/questions.ts';
import type { GrantStore } from '../../app/ports/tasks.ts';
import type { Actor } from '../../domain/access.ts';
import { settingsOf } from '../../domain/chat-settings.ts';
import { grantFault } from '../../domain/grant.ts';
import { askExpiryMs } from '../../domain/limits.ts';
import { isOfSecret } from '../../domain/occurrence.ts';
import type { Drawn, View } from '../../domain/shown.ts';
import type { Task } from '../../domain/task.ts';
import { aboutMoment, type Setting } from '../chat/kit/clock.ts';
import { calledOf, shortName } from '../chat/kit/rights.ts';
import { withLine, withRows } from '../chat/results/view.ts';
import { texts } from '../chat/texts.ts';

export interface OverDeps {
  readonly kinds: Pick<Kinds, 'scopesOf'>;
  readonly store: Pick<ChatStore, 'findChat' | 'isTold' | 'unknownParts' | 'readUser' | 'isAwaited'> &
    Pick<GrantStore, 'readGrant'> &
    Pick<AckStore, 'readAck'> &
    Pick<QuestionStore, 'readQuestion' | 'lastAnswer'> &
    Pick<OutboxStore, 'topicNaming'>;
}

/** A word that stands in a chat, about a task or about the chat itself. */
interface Standing<About = Task | null> {
  readonly view: View;
  readonly task: About;
  readonly chat: Chat;
  readonly setting: Setting;
}

/**
 * The state of the matter, in a line below the word about it, which is the same on every later day; null while all is as
 * the word says.
 */
export async function overLine(deps: OverDeps, about: Standing): Promise<string | null> {
  const { view, task, chat } = about;
  const { over } = texts.notice;
  const { store } = deps;
  switch (view.view) {
    case 'blocked':
      return (await store.isTold(chat.id, 'blocked', view.cause)) ? null : over.nothingWaits;
    case 'inDoubt': {
      const open = await store.unknownParts(chat.address, '');
      return open.some(({ deliveryId }) => deliveryId === view.deliveryId) ? null : over.settled;
    }
    case 'ownerGone':
      return (await store.isAwaited(chat.id, view.ownerId)) ? null : over.nothingWaits;
    case 'notPinned':
      return (await store.isTold(chat.id, 'not_pinned', '')) ? null : over.pinned;
    case 'backlog':
      return over.nothingWaits;
    case 'chatGone':
      return backLine(deps, view.address);
    case 'oneOffs':
      return chosenLine(chat);
    default:
      return task === null ? null : overTask(deps, { ...about, task });
  }
}

async function backLine({ store }: OverDeps, address: string | undefined): Promise<string | null> {
  const lost = address === undefined ? null : await store.findChat(address);
  return lost === null || lost.state === 'gone' ? null : texts.notice.over.backThere;
}

function chosenLine({ settings }: Chat): string | null {
  return settings['oneOffs'] === undefined ? null : texts.settings.oneOffs(settingsOf(settings).oneOffs);
}

async function overTask(deps: OverDeps, about: Standing<Task>): Promise<string | null> {
  const { view, task, chat } = about;
  const { over } = texts.notice;
  const { store } = deps;
  switch (view.view) {
    case 'escalated':
      return doneLine(deps, about, view.occurrenceId);
    case 'failed':
      return task.state === 'deleted' ? over.deleted : task.counters.consecutiveFailures === 0 ? over.worksAgain : null;
    case 'approval':
      if (view.decideBy <= about.setting.now) return texts.reminder.approvalExpired;
      return overIfDeleted(task);
    case 'autoPaused':
      return resumedLine(deps, about, view.reason);
    case 'missed':
      return answeredLine(deps, about, view.decideBy);
    case 'fallback':
      return (await store.isTold(chat.id, 'fallback', view.cause, task.id)) ? null : over.atHome;
    case 'notRenamed':
      return (await store.topicNaming(task.id)) === null ? over.renamed : null;
    case 'mayNotRun':
      return mayRunLine(deps, about, view);
    case 'grantEnds':
      return grantEndLine(deps, about, view.expiresAt);
    default:
      return null;
  }
}

function overIfDeleted({ state }: Task): string | null {
  return state === 'deleted' ? texts.notice.over.deleted : null;
}

async function grantEndLine(
  { store }: OverDeps,
  { task, setting: { now } }: Standing<Task>,
  expiresAt: number,
): Promise<string | null> {
  const { over } = texts.notice;
  if (task.state === 'deleted') return over.deleted;
  const grant = await store.readGrant(task.grantId);
  if (grant === null || grant.revokedAt !== null) return over.grantTaken;
  if (grant.expiresAt !== expiresAt) return over.goesOnRight;
  return expiresAt <= now ? over.grantEnded : null;
}

async function mayRunLine(
  { store, kinds }: OverDeps,
  { task, chat, setting }: Standing<Task>,
  { reason, grantId }: Extract<View, { view: 'mayNotRun' }>,
): Promise<string | null> {
  const { over } = texts.notice;
  if (task.state === 'deleted') return over.deleted;
  if (task.state === 'completed') return over.notAsked;
  if (isOfSecret(reason))
    return (await store.isTold(chat.id, 'may_not_run', reason, task.id)) ? null : over.secretsChanged;
  const grant = reason === 'gone_kind' ? null : await store.readGrant(task.grantId);
  const needed = kinds.scopesOf(task.action);
  if (grantFault(grant, needed, setting.now) !== null) return null;
  // Of what only a run can find out nothing is known before the next one, unless the grant is another one.
  const isOpen = reason === 'grant_scope' && grantId === task.grantId && needed.some((scope) => scope.endsWith('*'));
  return isOpen ? null : over.mayRun;
}

async function named({ store }: OverDeps, by: Actor): Promise<string> {
  return shortName(await calledOf({ store }, by));
}

async function doneLine(
  deps: OverDeps,
  { task, setting }: Standing<Task>,
  occurrenceId: string,
): Promise<string | null> {
  const { doneBy = null, doneAt = null } = (await deps.store.readAck({ taskId: task.id, occurrenceId })) ?? {};
  if (doneBy === null || doneAt === null) return null;
  return texts.reminder.doneBy(await named(deps, doneBy), aboutMoment(doneAt, setting));
}

async function resumedLine(deps: OverDeps, { task, setting }: Standing<Task>, reason: string): Promise<string | null> {
  const { over } = texts.notice;
  const { state, pausedReason, resumed } = task;
  if (state === 'deleted') return over.deleted;
  if (state === 'paused' && pausedReason === reason) return null;
  return resumed === null ? over.goesOn : over.resumed(await named(deps, resumed.by), aboutMoment(resumed.at, setting));
}

async function answeredLine(
  deps: OverDeps,
  { task, setting }: Standing<Task>,
  decideBy: number,
): Promise<string | null> {
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
