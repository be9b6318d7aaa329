import { AppError } from '../../domain/errors.ts';
import { actionScope, allows } from '../../domain/grant.ts';
import { scopeLengthMax, scopesMax } from '../../domain/limits.ts';
import type { GrantView } from '../ports/grants.ts';
import { noChange, type Changed, type TaskChange } from '../ports/tasks.ts';
import { refuseDeleted } from './refusals.ts';
import type { VerbScene } from './verbs.ts';

/** The right under which the runs of a task act, given anew or taken away. Slots that were due before keep what they had. */

export interface GrantWish {
  /** Those that the action of the task needs, without them. */
  readonly scopes: readonly string[] | null;
  readonly expiresAt: number | null;
}

export interface GrantChanged extends Pick<Changed, 'entryId' | 'replayed'> {
  readonly grant: GrantView;
}

/** A fresh grant in the place of the one that the task has, which is revoked. */
export function planGrant({ scene, claims, now }: VerbScene, id: string, wish: GrantWish): TaskChange {
  refuseDeleted(scene);
  const { task, grant } = scene;
  const needed = actionScope(task.action.kind);
  const scopes = wish.scopes ?? [needed];
  checkScopes(scopes, needed);
  const { expiresAt } = wish;
  if (expiresAt !== null && expiresAt <= now) {
    throw bad('expires_at', 'A grant expires in the future. To take it away now, revoke it.');
  }
  const until = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return {
    ...noChange,
    claims,
    grant: { is: 'given', id, scopes, expiresAt },
    audit: {
      verb: 'grant',
      before: { grant_id: grant?.id ?? null },
      after: { grant_id: id, scopes, expires_at: until },
    },
  };
}

const scopeShape = /^[a-z]+:[\w.-]*\*?$/;

function checkScopes(scopes: readonly string[], needed: string): void {
  if (scopes.length === 0 || scopes.length > scopesMax) throw bad('scopes', `A grant has 1 to ${scopesMax} scopes.`);
  const misshapen = scopes.some((scope) => scope.length > scopeLengthMax || !scopeShape.test(scope));
  if (misshapen) throw bad('scopes', 'A scope looks like action:message, or action:* for all actions.');
  if (allows(scopes, needed)) return;
  throw bad('scopes', `This task needs ${needed}; under these scopes each of its runs would be skipped.`);
}

function bad(field: string, message: string): AppError {
  return new AppError('invalid_request', message, { details: { field } });
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
