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
