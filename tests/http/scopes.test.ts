import { describe, expect, it } from 'vitest';
import type { Operation } from '../../src/api/operation.ts';
import { operations } from '../../src/api/operations.ts';
import { holdsScope, tokenScopes } from '../../src/domain/principal.ts';

const all: readonly (readonly [string, Operation])[] = Object.entries(operations);

/** They are asked for with a body, and change nothing. */
const calculations = ['previewAction', 'previewSchedule'];

describe('a scope', () => {
  it('includes those before it, and none behind it', () => {
    const held = tokenScopes.map((scope) => tokenScopes.filter((needed) => holdsScope({ scopes: [scope] }, needed)));
    expect(held).toEqual([['read'], ['read', 'run'], ['read', 'run', 'manage'], ['read', 'run', 'manage', 'admin']]);
    expect(holdsScope({ scopes: [] }, 'read')).toBe(false);
  });

  it.each(all)('is named by %s, in keeping with what it does', (id, { scope, method, path }) => {
    if (!path.startsWith('/v1/')) return expect(scope).toBe('open');
    const looks = method === 'get' || calculations.includes(id);
    expect(looks ? ['read', 'admin'] : ['run', 'manage', 'admin']).toContain(scope);
    if (method === 'delete' || method === 'put' || method === 'patch') expect(scope).not.toBe('run');
  });
});
