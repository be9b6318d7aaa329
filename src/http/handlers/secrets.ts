import { wire } from '../../api/wire.ts';
import type { ShownSecret } from '../../app/use-cases/secrets.ts';
import { AppError, missing } from '../../domain/errors.ts';
import { holdsScope } from '../../domain/principal.ts';
import type { Thread } from '../../domain/thread.ts';
import type { Handlers, HttpRooms } from '../serving.ts';
import { byOf, threadOf } from './wire.ts';

/** Secrets: what goes in is sealed, and only names come out. */
export const secretHandlers = {
  listSecrets: async ({ query }, rooms) => ({
    secrets: (await rooms.secrets.list(await placeFor(rooms, query.thread_key))).map(wireSecret),
  }),
  setSecret: async ({ params, query, body, ...asked }, rooms) => {
    const { actor: by, traceId } = byOf(asked, rooms);
    const place = await placeFor(rooms, query.thread_key);
    return { secret: wireSecret(await rooms.secrets.set({ place, ...params, ...body, by, traceId })) };
  },
  deleteSecret: async ({ params, query, ...asked }, rooms) => {
    const { actor: by, traceId } = byOf(asked, rooms);
    await rooms.secrets.delete({ place: await placeFor(rooms, query.thread_key), ...params, by, traceId });
    return { deleted: true as const };
  },
  rotateSecrets: async ({ query: { after = null } }, { secrets }) => secrets.rotate(after),
} satisfies Partial<Handlers>;

/** Those of the operator are for whoever looks after the server; to a token for some chats the others do not exist. */
async function placeFor(
  { principal, access }: Pick<HttpRooms, 'principal' | 'access'>,
  threadKey: string | undefined,
): Promise<Thread | null> {
  const thread = threadOf(threadKey);
  if (thread === null && !(holdsScope(principal, 'admin') && principal.chats === null)) {
    const words = 'The secrets of the operator need a token with the scope admin. Name a chat: thread_key.';
    throw new AppError('forbidden', words, { details: { scope: 'admin', field: 'thread_key' } });
  }
  if (thread === null || principal.chats === null) return thread;
  const { items } = await access.threads({ of: thread, limit: 1, cursor: null });
  if (items.length === 0) throw missing('thread');
  return thread;
}

function wireSecret({ usedBy, from, ...secret }: ShownSecret) {
  const { name, hosts, chats, setBy, updatedAt, lastUsedAt } = secret;
  return {
    ...wire({ name, setBy, updatedAt, lastUsedAt }),
    from,
    hosts: [...hosts],
    chats: [...chats],
    used_by: usedBy.map(({ taskId }) => taskId),
  };
}
