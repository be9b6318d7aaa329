import { apiPrincipal, isPerson, type Actor } from '../../domain/access.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import { allows, grantFault, lackingScope, type ScopesOf } from '../../domain/grant.ts';
import { scopeLengthMax, scopesMax } from '../../domain/limits.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { ownerGonePause, type Definition } from '../../domain/task.ts';
import { isDeliverable, threadKeyOf, type Thread } from '../../domain/thread.ts';
import type { Ids } from '../ports/outside.ts';
import {
  noChange,
  type Changed,
  type GivenGrant,
  type GrantView,
  type TaskChange,
  type TaskScene,
} from '../ports/tasks.ts';
import { noThread } from '../use-cases/messages.ts';
import { runInProgress } from './by-hand.ts';
import type { Rules } from './definition.ts';
import { type VerbScene, goingOn, isUnreadable, openNext, refuseDeleted } from './verbs.ts';

/** The right under which the runs of a task act, given anew or taken away. Slots that were due before keep what they had. */

export interface GrantWish {
  /** Without scopes: those that the action of the task needs. */
  readonly scopes: readonly string[] | null;
  readonly expiresAt: number | null;
}

export interface GrantChanged extends Pick<Changed, 'entryId' | 'replayed'> {
  readonly grant: GrantView;
}

/** The right that is wanted, under the id that it gets. */
interface Given extends GrantWish {
  readonly scopesOf: ScopesOf;
  readonly id: string;
  readonly actor: Actor;
}

/**
 * A fresh grant in the place of the one that the task has, which is revoked. A person gives of their own right, so the task
 * is theirs from then on. A program gives none away: the owner stays, as long as they are there. A task that waited for
 * its owner goes on.
 */
export function planGrant({ scene, claims, now }: VerbScene, { scopesOf, id, actor, ...wish }: Given): TaskChange {
  refuseDeleted(scene);
  const { task, grant } = scene;
  const needed = scopesOf(task.action);
  const scopes = wish.scopes ?? needed;
  checkScopes(scopes, needed);
  const { expiresAt } = wish;
  if (expiresAt !== null && expiresAt <= now) {
    throw invalid('expires_at', 'A grant expires in the future. To take it away now, revoke it.');
  }
  const owner: Pick<GivenGrant, 'ownerId' | 'standIn'> = isPerson(actor)
    ? { ownerId: actor, standIn: null }
    : { ownerId: task.ownerId, standIn: apiPrincipal };
  const waits = task.state === 'paused' && task.pausedReason === ownerGonePause;
  return {
    ...noChange,
    claims,
    grant: { is: 'given', id, scopes, expiresAt, ...owner },
    set: waits ? goingOn(openNext(scene, now)) : {},
    stamp: waits ? 'resumed' : 'updated',
    audit: {
      verb: 'grant',
      before: { grant_id: grant?.id ?? null, owner_user_key: task.ownerId },
      after: { grant_id: id, scopes, expires_at: expiresAt === null ? null : iso(expiresAt) },
    },
  };
}

/** The same where the task has no right to run; where it has one, somebody was faster. */
export function planRenew(scene: VerbScene, given: Pick<Given, 'scopesOf' | 'id' | 'actor'>): TaskChange {
  const { task, grant } = scene.scene;
  const fault = grantFault(grant, given.scopesOf(task.action), scene.now);
  if (fault === null) return { ...noChange, claims: scene.claims };
  return planGrant(scene, { ...given, scopes: null, expiresAt: null });
}

/**
 * A person who may edit a task may let it do something else; the grant follows, or every later slot would be refused. What only the old
 * action needed goes, and what somebody gave beside that stays.
 */
export function scopesFor(
  { actions: { scopesOf } }: Pick<Rules, 'actions'>,
  { task, grant }: Pick<TaskScene, 'task' | 'grant'>,
  fresh: Pick<Definition, 'action'>,
): readonly string[] | null {
  const isReadable = !isUnreadable(task);
  if (isReadable && JSON.stringify(task.action) === JSON.stringify(fresh.action)) return null;
  const old = isReadable ? scopesOf(task.action) : [];
  const kept = (grant?.scopes ?? []).filter((scope) => !old.includes(scope));
  const needed = scopesOf(fresh.action).filter((scope) => !allows(kept, scope));
  return [...needed, ...kept].slice(0, scopesMax);
}

const scopeShape = /^[a-z]+:(?:\*\.)?[^\s*]*\*?$/;

function checkScopes(scopes: readonly string[], needed: readonly string[]): void {
  if (scopes.length === 0 || scopes.length > scopesMax)
    throw invalid('scopes', `A grant has 1 to ${scopesMax} scopes.`);
  const misshapen = scopes.some((scope) => scope.length > scopeLengthMax || !scopeShape.test(scope));
  if (misshapen) throw invalid('scopes', 'A scope looks like action:message, or action:* for all actions.');
  const lacking = lackingScope(scopes, needed);
  if (lacking === null) return;
  throw invalid('scopes', `This task needs ${lacking}; under these scopes each of its runs would be skipped.`);
}

/** From then on its slots are skipped, and a run that has not begun does not begin; what runs goes on to its end. */
export function planRevoke({ scene, claims }: VerbScene, grantId: string): TaskChange {
  // Meanwhile another grant has taken its place, which nobody has asked to take away.
  if (scene.grant?.id !== grantId) return { ...noChange, claims };
  return {
    ...noChange,
    claims,
    grant: { is: 'revoked', id: grantId },
    audit: { verb: 'revoke', before: { grant_id: grantId }, after: null },
  };
}

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
  // Messages in a chat that can be reached no more cannot be taken away there, and nothing more will arrive there.
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
