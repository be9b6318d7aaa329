import type { Actor } from './access.ts';
import type { Reason } from './occurrence.ts';
import type { ActionSpec } from './task.ts';

/**
 * The durable right under which a task's runs act. It is given once, at creation, by the owner's rights at that time, can
 * expire, and can be revoked; it never holds a secret. A scope is exact (`action:message`, `host:api.example.com`), ends in
 * `*` (`secret:CUSTOMER_*`), or names all hosts below a domain (`host:*.example.com`).
 */
export interface Grant {
  readonly id: string;
  readonly ownerId: Actor;
  readonly chatId: string;
  readonly scopes: readonly string[];
  /**
   * Those for hosts and secrets that somebody else than its owner has named, and no owner of the bot since: a secret of the operator that
   * names no hosts itself does not go by them, so that nobody leads one away who may not use it, before it is set or after.
   */
  readonly unconfirmed: readonly string[];
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly createdAt: number;
}

/** The owner of a grant is told so long before it ends; of one that holds for less than twice that, once half of it is over. */
export const grantNoticeMs = 3 * 86_400_000;

/** The questions to a right before anything is done under it. */
type Given = Pick<Grant, 'scopes' | 'expiresAt' | 'revokedAt'>;

export type GrantFault = Extract<Reason, `grant_${string}`>;

/** The scopes that a run of an action needs, as far as its settings tell. */
export type ScopesOf = (spec: ActionSpec) => readonly string[];

/** Says why the grant stands no more. */
function grantEnded(grant: Given | null, now: number): GrantFault | null {
  if (grant === null) return 'grant_missing';
  // Its instant does not matter: a clock that is set back gives nobody a right back.
  if (grant.revokedAt !== null) return 'grant_revoked';
  return grant.expiresAt !== null && grant.expiresAt <= now ? 'grant_expired' : null;
}

/** The instant from which on nothing runs under it; null where it has no end. What was taken away has never been there for what is to come. */
export function rightEnd(grant: Pick<Given, 'expiresAt' | 'revokedAt'> | null): number | null {
  return grant === null || grant.revokedAt !== null ? 0 : grant.expiresAt;
}

/** Null when the grant allows all of the scopes now. Only these four faults may turn a slot into `skipped`; others are retried. */
export function grantFault(grant: Given | null, scopes: readonly string[], now: number): GrantFault | null {
  const ended = grantEnded(grant, now);
  if (ended !== null || grant === null) return ended;
  return lackingScope(grant.scopes, scopes) === null ? null : 'grant_scope';
}

/**
 * The same for work that was admitted at an instant. Under a grant from before that its scopes were checked then; the task may have been
 * edited since, and its grant with it, which takes nothing from what was due already.
 */
export function admittedFault(
  grant: (Given & Pick<Grant, 'createdAt'>) | null,
  scopes: readonly string[],
  { admittedAt, now }: { readonly admittedAt: number; readonly now: number },
): GrantFault | null {
  const wasThere = grant !== null && grant.createdAt <= admittedAt;
  return wasThere ? grantEnded(grant, now) : grantFault(grant, scopes, now);
}

/** The first of the scopes that nothing which was given allows. */
export function lackingScope(given: readonly string[], wanted: readonly string[]): string | null {
  return wanted.find((one) => !allows(given, one)) ?? null;
}

/** Whether its end is near enough that people are told of it, and may renew it. */
export function endsSoon({ expiresAt, createdAt }: Pick<Grant, 'expiresAt' | 'createdAt'>, now: number): boolean {
  if (expiresAt === null) return false;
  const leftMs = expiresAt - now;
  return leftMs <= grantNoticeMs && leftMs * 2 <= expiresAt - createdAt;
}

/** The end of a grant that takes the place of another: as long as the chat lets grants hold, else as long again. */
export function renewedEnd(
  old: Pick<Grant, 'expiresAt' | 'createdAt'> | null,
  { now, lastsMs }: { readonly now: number; readonly lastsMs: number | null },
): number | null {
  if (lastsMs !== null) return now + lastsMs;
  const heldMs = old === null || old.expiresAt === null ? 0 : old.expiresAt - old.createdAt;
  return heldMs <= 0 ? null : now + heldMs;
}

/** The unconfirmed scopes of a grant that gets these. Whoever vouches sees what they add, and where it would go. */
export function unconfirmedIn(
  before: Pick<Grant, 'scopes' | 'unconfirmed'> | null,
  scopes: readonly string[],
  { vouches, isFresh }: { readonly vouches: boolean; readonly isFresh: boolean },
): readonly string[] {
  const leading = scopes.filter((scope) => /^(?:host|secret):/.test(scope));
  const added = leading.filter((scope) => before?.scopes.includes(scope) !== true);
  if (vouches && (isFresh || added.length > 0)) return [];
  return leading.filter((scope) => before?.unconfirmed.includes(scope) === true || added.includes(scope));
}

export function actionScope(actionKind: string): string {
  return `action:${actionKind}`;
}

/** The host as URLs write it, with its port where that is not the usual one; `*` where only a run knows it. */
export function hostScope(host: string): string {
  return `host:${host}`;
}

export function secretScope(name: string): string {
  return `secret:${name}`;
}

/**
 * Whether a scope that was given covers the one that is wanted. Of a wanted scope that ends in `*` only a run knows the rest: there it is
 * enough that something could be allowed, and the run asks once more with what it has found.
 */
export function allows(scopes: readonly string[], wanted: string): boolean {
  const prefix = wanted.endsWith('*') ? wanted.slice(0, -1) : null;
  return coversAll(scopes, wanted) || (prefix !== null && scopes.some((given) => given.startsWith(prefix)));
}

/** The same with all that a run may find out. */
export function coversAll(scopes: readonly string[], wanted: string): boolean {
  return scopes.some((given) => covers(given, wanted));
}

const below = 'host:*.';

function covers(given: string, wanted: string): boolean {
  if (given.endsWith('*')) return wanted.startsWith(given.slice(0, -1));
  if (given === wanted) return true;
  if (!given.startsWith('host:') || !wanted.startsWith('host:')) return false;
  // A host that is named without a port is meant with all of its ports, as in EGRESS_ALLOW.
  const host = hasPort(given) ? wanted : withoutPort(wanted);
  return given.startsWith(below) ? host.endsWith(given.slice(below.length - 1)) : host === given;
}

const port = /:\d+$/;

function hasPort(scope: string): boolean {
  return port.test(scope);
}

function withoutPort(scope: string): string {
  return scope.replace(port, '');
}
