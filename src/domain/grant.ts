import type { Actor } from './access.ts';
import type { Reason } from './occurrence.ts';

/**
 * The durable right under which a task's runs act. It is given once, at creation, by the owner's rights at that time, can
 * expire, and can be revoked; it never holds a secret. A scope is exact (`action:message`) or ends in `*`.
 */
export interface Grant {
  readonly id: string;
  readonly ownerId: Actor;
  readonly chatId: string;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** The questions to a right before anything is done under it. */
type Given = Pick<Grant, 'scopes' | 'expiresAt' | 'revokedAt'>;

export type GrantFault = Extract<Reason, `grant_${string}`>;

/**
 * Says why the grant stands no more. A run that was admitted is held to this alone: its scope was checked when its slot was
 * taken up, and a task that does something else by now has a grant for that.
 */
export function grantEnded(grant: Given | null, now: number): GrantFault | null {
  if (grant === null) return 'grant_missing';
  // Its instant does not matter: a clock that is set back gives nobody a right back.
  if (grant.revokedAt !== null) return 'grant_revoked';
  return grant.expiresAt !== null && grant.expiresAt <= now ? 'grant_expired' : null;
}

/** Null when the grant allows the scope now. Only these four faults may turn a slot into `skipped`; others are retried. */
export function grantFault(grant: Given | null, scope: string, now: number): GrantFault | null {
  const ended = grantEnded(grant, now);
  if (ended !== null || grant === null) return ended;
  return allows(grant.scopes, scope) ? null : 'grant_scope';
}

export function actionScope(actionKind: string): string {
  return `action:${actionKind}`;
}

export function allows(scopes: readonly string[], wanted: string): boolean {
  return scopes.some((given) => covers(given, wanted));
}

function covers(given: string, wanted: string): boolean {
  return given.endsWith('*') ? wanted.startsWith(given.slice(0, -1)) : given === wanted;
}
