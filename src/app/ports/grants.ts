import type { Actor } from '../../domain/actor.ts';
import type { Thread } from '../../domain/thread.ts';

/** The rights under which tasks run, as whoever keeps them in order sees them. They change only with their tasks. */

export interface GrantView {
  readonly id: string;
  /** The tasks that run under it; none once another one has taken its place. */
  readonly taskIds: readonly string[];
  readonly ownerId: Actor;
  /** The base thread of the chat in which it holds. */
  readonly thread: Thread;
  readonly scopes: readonly string[];
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  /** A person or a token, or why the product took it away by itself. */
  readonly revokedBy: string | null;
  readonly createdAt: number;
  readonly createdBy: Actor;
}

export type GrantState = 'active' | 'revoked' | 'expired';

export interface GrantQuery {
  /** A base thread stands for its whole chat, a topic for the tasks that were asked for in it. */
  readonly thread: Thread | null;
  readonly ownerId: string | null;
  readonly taskId: string | null;
  readonly state: GrantState | null;
  readonly now: number;
  readonly limit: number;
  readonly cursor: string | null;
}

export interface GrantPage {
  readonly items: readonly GrantView[];
  readonly next: string | null;
}

export interface GrantStore {
  /** Newest first. */
  listGrants(query: GrantQuery): Promise<GrantPage>;
  readGrant(grantId: string): Promise<GrantView | null>;
}
