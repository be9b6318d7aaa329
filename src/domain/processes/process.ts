import type { Actor } from '../access.ts';

/**
 * Processes: each lives under an id, its boot id, which the rows that it holds carry. Several share a database on Postgres,
 * and each holds a lease there: one that does not renew it in time is ended by another, which lets its rows go.
 */

export const roles = ['all', 'bot', 'worker', 'api'] as const;
export type Role = (typeof roles)[number];

/** A part of the work, which a process of some roles does. */
export type Duty =
  /** Hears what people say and press, and answers. */
  | 'intake'
  /** Takes up slots, does runs, and keeps the place in order. */
  | 'work'
  /** Delivers what is ready. Whoever hears people does that too, so that they are answered while nobody works. */
  | 'deliver'
  /** Serves the API. */
  | 'api';

const duties: Readonly<Record<Role, readonly Duty[]>> = {
  all: ['intake', 'work', 'deliver', 'api'],
  bot: ['intake', 'deliver'],
  worker: ['work', 'deliver'],
  api: ['api'],
};

export function does(role: Role, duty: Duty): boolean {
  return duties[role].includes(duty);
}

/** A process as its row tells of it. */
export interface ProcessView {
  readonly id: string;
  readonly role: Role;
  readonly release: string;
  /** The kinds of actions that it does; none where it does no runs. */
  readonly kinds: readonly string[];
  readonly host: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly seenAt: number;
  readonly leaseUntil: number;
  /** Null while it lives. */
  readonly endedAt: number | null;
  /** Connections to the database that it may open; null for one of an earlier release, and where the database has none. */
  readonly connections: number | null;
}

/** A kind of actions of which nothing begins for now, in any process. */
export interface KindPause {
  readonly kind: string;
  readonly since: number;
  readonly by: Actor;
}

/** Why nothing of a kind begins for now: no process works, or an operator has paused the kind. */
export type Standstill =
  | { readonly is: 'no_worker'; readonly since: number }
  | ({ readonly is: 'kind_paused' } & KindPause);

/** Kinds of actions that a process does, and how many runs of each at once. */
export interface KindRules {
  /** Null where only the share of each kind bounds it. */
  readonly limits: ReadonlyMap<string, number | null>;
  /** Whether those that are not named are done as well. */
  readonly others: boolean;
}

export const everyKind: KindRules = { limits: new Map(), others: true };

export function takesKind({ limits, others }: KindRules, kind: string): boolean {
  return others || limits.has(kind);
}
