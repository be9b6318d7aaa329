import type { HttpRooms } from '../../src/http/serving.ts';

const now = Date.UTC(2026, 10, 18, 9);

/** Answers about secrets as their use cases give them. */
const secret = {
  name: 'K',
  from: 'stored',
  hosts: [],
  chats: [],
  setBy: null,
  updatedAt: 0,
  lastUsedAt: 0,
  usedBy: [],
} as const;
const rotate = async () => ({ sealed: 1, unreadable: 0, left: 0, next: null });
export const secretRoom = { list: async () => [secret], set: async () => secret, delete: async () => {}, rotate };

/** Kinds of actions, as a door pauses them. */
export const kindRoom: Pick<HttpRooms['kindPauses'], 'pause' | 'resume'> = {
  pause: async (kind) => ({ pause: { kind, since: now, by: 'telegram:user:7' }, entryId: '17' }),
  resume: async () => ({ pause: null, entryId: '17' }),
};

const counts = { scheduled: 1, started: 1, deliveries: 1, reminders: 0 };
export const ticked = { ...counts, more: false, failed: [], elsewhere: false };
