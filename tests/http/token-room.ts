import type { Tokens, TokenView } from '../../src/app/use-cases/tokens.ts';

const namedToken: TokenView = {
  id: 'token-1',
  name: 'ci',
  prefix: 'abcdefgh',
  scopes: ['read'],
  threads: null,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
  revokedBy: null,
  createdAt: Date.UTC(2026, 10, 18, 9),
  createdBy: 'system:api',
};

/** The named tokens behind the door: one, which nobody bears. */
export const tokenRoom: Tokens = {
  list: async () => ({ items: [namedToken], next: 'more' }),
  create: async () => ({ token: namedToken, text: 'cgm_text', entryId: '17', tasks: 0 }),
  revoke: async () => ({ token: namedToken, entryId: '17', tasks: 2 }),
  judge: async () => ({ is: 'wrong' }),
};
