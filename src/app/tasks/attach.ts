import { apiPrincipal } from '../../domain/actor.ts';
import { AppError } from '../../domain/errors.ts';
import { isDeliverable, threadKeyOf, type Thread } from '../../domain/thread.ts';
import type { Ids } from '../ports/outside.ts';
import { noChange, type TaskChange, type TaskScene } from '../ports/tasks.ts';
import { runInProgress } from './by-hand.ts';
import { noThread } from '../use-cases/messages.ts';
import { refuseDeleted } from './refusals.ts';

/** Where a task can be attached to. */
export function refuseUndeliverable(home: Thread): void {
  if (isDeliverable(home)) return;
  throw new AppError(
    'invalid_thread_key',
    'A task is attached to a chat, such as telegram:chat:-1001234: what is sent to another thread arrives nowhere.',
    { details: { thread_key: threadKeyOf(home) } },
  );
}

/**
 * Gives a task a chat, or another one: from its next run on, results go to a topic of that chat, which is made then. Within
 * its chat it can move at any time. Out of a chat it moves only while nothing of it is there, or its results would be torn
 * in two. Schedule and history stay as they are, and a slot that is due runs in the new place.
 */
export function planAttach(ids: Ids, scene: TaskScene, home: Thread): TaskChange {
  refuseDeleted(scene);
  const { task, place } = scene;
  if (place === undefined || place.is === 'here') return noChange;
  if (place.isShut) throw noThread();
  if (place.is === 'elsewhere') refuseTied(scene);
  return {
    ...noChange,
    move: { home, newChatId: ids.next(), grantId: ids.next(), standIn: apiPrincipal },
    stamp: 'updated',
    audit: {
      verb: 'attach',
      before: { thread_key: threadKeyOf(task.home), number: task.number, owner_user_key: task.ownerId },
      after: { thread_key: threadKeyOf(home) },
    },
  };
}

function refuseTied(scene: TaskScene): void {
  const { task, place } = scene;
  if (scene.live.length > 0) throw runInProgress(scene);
  // What was in a chat that can be reached no more cannot be taken away there, and nothing of it will arrive.
  if (place?.isGone === true) return;
  if (task.topicState === 'creating' || place?.isTopicInDoubt === true) {
    throw tied(
      'Its topic is being made in its chat, or nobody knows yet whether it was. Attach it once that is settled.',
    );
  }
  if (task.topicId !== null) {
    throw tied(
      'This task has a topic in its chat. Take that away first, with /topic delete in it, then attach the task.',
    );
  }
  const { openParts = 0 } = place ?? {};
  if (openParts > 0) {
    throw tied(
      'Something of this task is still to be delivered in its chat. Attach it once that has arrived or failed.',
    );
  }
}

function tied(message: string): AppError {
  return new AppError('not_attachable', message);
}
