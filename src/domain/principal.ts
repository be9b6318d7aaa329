import type { Actor } from './access.ts';

/**
 * A principal asks for something at a door of the server: the bearer of a token, a script, an assistant, a session of the
 * console. What it may do is said by its scopes, where it may do it by its chats; what belongs to another chat does not exist.
 */
export interface Principal {
  readonly actor: Actor;
  readonly scopes: readonly TokenScope[];
  /** Ids of chats; null stands for all of them, and for what belongs to no chat. */
  readonly chats: Reach;
  /** The instant from which on it may do nothing; null where there is none. */
  readonly endsAt: number | null;
}

export type Reach = readonly string[] | null;

/** Each includes those before it: look; run what is there and say something; change tasks; and do what concerns the server. */
export const tokenScopes = ['read', 'run', 'manage', 'admin'] as const;
export type TokenScope = (typeof tokenScopes)[number];

export function holdsScope({ scopes }: Pick<Principal, 'scopes'>, needed: TokenScope): boolean {
  return scopes.some((scope) => tokenScopes.indexOf(scope) >= tokenScopes.indexOf(needed));
}
