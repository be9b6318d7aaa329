import { describe, expect, it } from 'vitest';
import { may, type AccessRefusal, type Deed, type Rights, type Actor } from '../../src/domain/access.ts';
import { settingsOf } from '../../src/domain/chat-settings.ts';

const me: Actor = 'telegram:user:1001';
const other: Actor = 'telegram:user:1002';

const roles = {
  owner: { actor: me, isOwner: true, isAdmin: true },
  admin: { actor: me, isOwner: false, isAdmin: true },
  member: { actor: me, isOwner: false, isAdmin: false },
} satisfies Record<string, Rights>;

const scenes = {
  none: null,
  mine: { ownerId: me, chatId: 'here' },
  theirs: { ownerId: other, chatId: 'here' },
  elsewhere: { ownerId: me, chatId: 'there' },
};

type Outcome = 'yes' | AccessRefusal['is'];

const outcome = (person: Rights, deed: Deed, of: keyof typeof scenes, settings = {}): Outcome => {
  const verdict = may(person, deed, { chat: { id: 'here', settings }, task: scenes[of] });
  return verdict.ok ? 'yes' : verdict.refusal.is;
};

/** For each deed and task: what an owner, an admin and a member hear. */
const matrix: readonly (readonly [Deed, keyof typeof scenes, Outcome, Outcome, Outcome])[] = [
  ['read', 'none', 'yes', 'yes', 'yes'],
  ['read', 'mine', 'yes', 'yes', 'yes'],
  ['read', 'theirs', 'yes', 'yes', 'yes'],
  ['read', 'elsewhere', 'unseen', 'unseen', 'unseen'],
  ['create', 'none', 'yes', 'yes', 'yes'],
  ['change', 'mine', 'yes', 'yes', 'yes'],
  ['change', 'theirs', 'yes', 'yes', 'not_theirs'],
  ['change', 'elsewhere', 'unseen', 'unseen', 'unseen'],
  ['change', 'none', 'yes', 'yes', 'admins_only'],
  ['manage', 'none', 'yes', 'yes', 'admins_only'],
  ['manage', 'mine', 'yes', 'yes', 'admins_only'],
  ['approve', 'none', 'yes', 'owners_only', 'owners_only'],
];

describe.each(matrix)('to %s with the task "%s"', (deed, of, ...expected) => {
  it.each([
    ['owner', expected[0]],
    ['admin', expected[1]],
    ['member', expected[2]],
  ] as const)('an %s hears: %s', (role, said) => {
    expect(outcome(roles[role], deed, of)).toBe(said);
  });
});

it('lets only admins create where the chat says so', () => {
  const settings = { create: 'admins' };
  expect(outcome(roles.member, 'create', 'none', settings)).toBe('admins_only');
  expect(outcome(roles.admin, 'create', 'none', settings)).toBe('yes');
  expect(outcome(roles.owner, 'create', 'none', settings)).toBe('yes');
  expect(outcome(roles.member, 'change', 'mine', settings)).toBe('yes');
});

it('closes rather than opens on a setting that nobody knows', () => {
  expect(settingsOf({ create: 'everyone' }).create).toBe('admins');
  expect(settingsOf({ create: 7 }).create).toBe('admins');
  expect(settingsOf({}).create).toBe('members');
});

it('names the owner of the task in the refusal', () => {
  const verdict = may(roles.member, 'change', { chat: { id: 'here', settings: {} }, task: scenes.theirs });
  expect(verdict).toEqual({ ok: false, refusal: { is: 'not_theirs', ownerId: other } });
});
