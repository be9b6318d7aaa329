import { apiPrincipal, isPerson, type Actor } from '../../domain/access.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import {
  allows,
  coversAll,
  endsSoon,
  grantFault,
  lackingScope,
  renewedEnd,
  type Grant,
  type ScopesOf,
  unconfirmedIn,
} from '../../domain/grant.ts';
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
  /** Null for no end; as long as the chat lets grants hold where it is absent. */
  readonly expiresAt?: number | null | undefined;
}

export interface GrantChanged extends Pick<Changed, 'entryId' | 'replayed'> {
  readonly grant: GrantView;
}

/** The right that is wanted, under the id that it gets. */
interface Given extends GrantWish {
  readonly expiresAt: number | null;
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
  if (expiresAt !== null) refusePastEnd('expires_at', expiresAt, now);
  const owner: Pick<GivenGrant, 'ownerId' | 'standIn'> = isPerson(actor)
    ? { ownerId: actor, standIn: null }
    : { ownerId: task.ownerId, standIn: apiPrincipal };
  const waits = task.state === 'paused' && task.pausedReason === ownerGonePause;
  return {
    ...noChange,
    claims,
    grant: { is: 'given', id, scopes, unconfirmed: unconfirmedIn(grant, scopes, byAnybody), expiresAt, ...owner },
    set: waits ? goingOn(openNext(scene, now)) : {},
    stamp: waits ? 'resumed' : 'updated',
    audit: {
      verb: 'grant',
      before: { grant_id: grant?.id ?? null, owner_user_key: task.ownerId },
      after: { grant_id: id, scopes, expires_at: expiresAt === null ? null : iso(expiresAt) },
    },
  };
}

/** Nobody vouches for the scopes, until the `heed` of a reach says who does. */
const byAnybody = { vouches: false, isFresh: false };

interface Renewing extends Pick<Given, 'scopesOf' | 'id' | 'actor'> {
  /** How long the chat lets grants hold that name no end. */
  readonly lastsMs: number | null;
  /** All of what only a run finds out is asked for, because one has found that something is not covered. */
  readonly isWhole: boolean;
  /** The grant that gives way although it holds. */
  readonly of: string | null;
}

export function refusePastEnd(field: string, at: number, now: number): void {
  if (at > now) return;
  throw invalid(field, `${field}: a grant ends in the future. To take it away now, revoke it.`);
}

interface Sides {
  readonly before: unknown;
  readonly after: unknown;
}

/** Another end for the grant that a task has, told as the API tells it. A grant that has ended is renewed and not revived. */
export function grantEndIn(
  { grant }: Pick<TaskScene, 'grant'>,
  wanted: number | null | undefined,
  now: number,
): Pick<TaskChange, 'grantEnd'> & { readonly changes: Readonly<Record<string, Sides>> } {
  if (wanted === undefined || (grant !== null && grant.expiresAt === wanted)) return { grantEnd: null, changes: {} };
  if (grantFault(grant, [], now) !== null || grant === null)
    throw invalid('grant_expires_at', 'grant_expires_at: the grant of this task has ended. Renew it first.');
  if (wanted !== null) refusePastEnd('grant_expires_at', wanted, now);
  const told = (at: number | null) => (at === null ? null : iso(at));
  return {
    grantEnd: { at: wanted },
    changes: { grant_expires_at: { before: told(grant.expiresAt), after: told(wanted) } },
  };
}

export interface RenewWish {
  /** All of what only a run finds out is asked for. */
  readonly isWhole?: boolean;
  /** The grant that gives way although it holds, while the task still has it. */
  readonly of?: string | null;
}

/** A fresh right where the task has none any more, or one that ends soon; where it has one, somebody was faster. What was given beside stays. */
export function planRenew(scene: VerbScene, { lastsMs, isWhole, of, ...given }: Renewing): TaskChange {
  const { task, grant } = scene.scene;
  const needed = given.scopesOf(task.action);
  const { now } = scene;
  const lacks = (scopes: readonly string[]) =>
    needed.filter((scope) => (isWhole ? !coversAll(scopes, scope) : !allows(scopes, scope)));
  const holds = grantFault(grant, needed, now) === null && lacks(grant?.scopes ?? []).length === 0;
  if (holds && grant !== null && grant.id !== of && !endsSoon(grant, now)) return { ...noChange, claims: scene.claims };
  const kept = grant?.scopes ?? [];
  const scopes = [...lacks(kept), ...kept].slice(0, scopesMax);
  return planGrant(scene, { ...given, scopes, expiresAt: renewedEnd(grant, { now, lastsMs }) });
}

/**
 * A person who may edit a task may let it do something else; the grant follows, or every later slot would be refused. What only the old
 * action needed goes, and what somebody gave beside that stays.
 */
export function scopesFor(
  { actions: { scopesOf } }: Pick<Rules, 'actions'>,
  { task, grant }: Pick<TaskScene, 'task' | 'grant'>,
  fresh: Pick<Definition, 'action'>,
): Pick<Grant, 'scopes' | 'unconfirmed'> | null {
  const isReadable = !isUnreadable(task);
  if (isReadable && JSON.stringify(task.action) === JSON.stringify(fresh.action)) return null;
  const old = isReadable ? scopesOf(task.action) : [];
  const kept = (grant?.scopes ?? []).filter((scope) => !old.includes(scope));
  const needed = scopesOf(fresh.action).filter((scope) => !allows(kept, scope));
  const scopes = [...needed, ...kept].slice(0, scopesMax);
  return { scopes, unconfirmed: unconfirmedIn(grant, scopes, byAnybody) };
}

/** Kinds of scopes; another word is a slip of the pen, and would allow nothing. */
const scopeShape = /^(?:(?:action|host|secret|script|model|flow|graph|mcp):(?:\*|[^\s*]+\*?)|host:\*\.[^\s*]+)$/;

function checkScopes(scopes: readonly string[], needed: readonly string[]): void {
  if (scopes.length === 0 || scopes.length > scopesMax)
    throw invalid('scopes', `A grant has 1 to ${scopesMax} scopes.`);
  const misshapen = scopes.find((scope) => scope.length > scopeLengthMax || !scopeShape.test(scope));
  if (misshapen !== undefined) {
    throw invalid(
      'scopes',
      `"${misshapen.slice(0, 60)}" is no scope. One looks like action:http, action:*, host:api.example.com, host:*.example.com or secret:NAME.`,
    );
  }
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
