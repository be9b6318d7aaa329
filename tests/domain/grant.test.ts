import { describe, expect, it } from 'vitest';
import {
  admittedFault,
  allows,
  grantFault,
  lackingScope,
  secretScope,
  type Grant,
  unconfirmedIn,
} from '../../src/domain/grant.ts';

const grant: Grant = {
  id: 'g',
  ownerId: 'telegram:user:1',
  chatId: 'c',
  scopes: ['action:http', 'host:api.example.com'],
  unconfirmed: [],
  expiresAt: null,
  revokedAt: null,
  createdAt: 1,
};
const needed = ['action:http', 'host:api.example.com'];

describe('a grant', () => {
  it.each([
    ['allows its scopes', grant, null],
    ['allows by wildcard', { ...grant, scopes: ['action:*', 'host:*'] }, null],
    ['is missing', null, 'grant_missing'],
    ['is revoked', { ...grant, revokedAt: 10 }, 'grant_revoked'],
    ['is revoked rather than expired', { ...grant, revokedAt: 10, expiresAt: 9 }, 'grant_revoked'],
    ['expires at its instant', { ...grant, expiresAt: 10 }, 'grant_expired'],
    ['is still good before it expires', { ...grant, expiresAt: 11 }, null],
    ['lacks one of two scopes', { ...grant, scopes: ['action:http'] }, 'grant_scope'],
    ['is not fooled by a prefix without a star', { ...grant, scopes: ['action:ht', 'host:*'] }, 'grant_scope'],
  ] as const)('%s', (_name, given, fault) => {
    expect(grantFault(given, needed, 10)).toBe(fault);
  });

  it.each([
    ['under a grant from before it, whatever an edit has made of that', { scopes: ['action:message'] }, 5, null],
    [
      'and under one that came after it, what that names',
      { scopes: ['action:message'], createdAt: 6 },
      5,
      'grant_scope',
    ],
    ['but under none that has ended', { revokedAt: 7 }, 5, 'grant_revoked'],
  ] as const)('lets work that was admitted go on %s', (_name, facts, admittedAt, fault) => {
    expect(admittedFault({ ...grant, ...facts }, needed, { admittedAt, now: 10 })).toBe(fault);
  });

  it('says which scope is lacking', () => {
    expect(lackingScope(['action:*'], needed)).toBe('host:api.example.com');
    expect(lackingScope(grant.scopes, needed)).toBeNull();
  });
});

describe('a scope', () => {
  it.each([
    ['host:api.example.com', 'host:api.example.com', true],
    ['host:api.example.com', 'host:api.example.com:8443', true],
    ['host:api.example.com:8443', 'host:api.example.com:8443', true],
    ['host:api.example.com:8443', 'host:api.example.com', false],
    ['host:api.example.com:8443', 'host:api.example.com:8444', false],
    ['host:api.example.com', 'host:www.api.example.com', false],
    ['host:*.example.com', 'host:api.example.com', true],
    ['host:*.example.com', 'host:a.b.example.com:8080', true],
    ['host:*.example.com:8080', 'host:api.example.com:8080', true],
    ['host:*.example.com:8080', 'host:api.example.com', false],
    ['host:*.example.com', 'host:example.com', false],
    ['host:*.example.com', 'host:evilexample.com', false],
    ['host:*.example.com', 'host:example.com.evil.net', false],
    ['host:*', 'host:anything.example', true],
    ['host:[::1]', 'host:[::1]:8080', true],
    ['secret:CUSTOMER_*', secretScope('CUSTOMER_7'), true],
    ['secret:CUSTOMER_*', 'secret:CUSTOMER', false],
    ['secret:TOKEN', 'secret:TOKEN:80', false],
    ['secret:*', 'host:api.example.com', false],
    ['script:report', 'script:report', true],
    ['model:*', 'model:gpt', true],
    // Only a run knows the host: one that could be allowed is enough until then.
    ['host:*.example.com', 'host:*', true],
    ['host:api.example.com', 'host:*', true],
    ['secret:TOKEN', 'host:*', false],
  ] as const)('%s and %s: %s', (given, wanted, isAllowed) => {
    expect(allows(['action:message', given], wanted)).toBe(isAllowed);
  });
});

describe('what nobody has vouched for', () => {
  const before = {
    scopes: ['action:http', 'host:a.example.com', 'secret:KEY'],
    unconfirmed: ['host:a.example.com', 'secret:KEY'],
  };
  const added = [...before.scopes, 'host:b.example.com'];
  const [others, owner] = [{ vouches: false }, { vouches: true }];

  it.each([
    ['all hosts and secrets of a new grant', null, before.scopes, { ...others, isFresh: true }, before.unconfirmed],
    ['nothing of one that an owner gives', null, before.scopes, { ...owner, isFresh: true }, []],
    ['what was open before, and what is added', before, added, { ...others, isFresh: false }, added.slice(1)],
    [
      'only what is added to what was confirmed',
      { ...before, unconfirmed: [] },
      added,
      { ...others, isFresh: false },
      added.slice(3),
    ],
    [
      'what was open before, where an owner adds nothing',
      before,
      before.scopes,
      { ...owner, isFresh: false },
      before.unconfirmed,
    ],
    ['nothing where an owner adds something', before, added, { ...owner, isFresh: false }, []],
    [
      'nothing that the grant holds no more',
      before,
      ['action:http', 'secret:KEY'],
      { ...others, isFresh: false },
      ['secret:KEY'],
    ],
    [
      'the same under a fresh grant that others give',
      before,
      before.scopes,
      { ...others, isFresh: true },
      before.unconfirmed,
    ],
  ])('is %s', (_what, old, scopes, how, expected) => {
    expect(unconfirmedIn(old, scopes, how)).toEqual(expected);
  });
});
