import { wire } from '../../api/wire.ts';
import type { ShownSecret } from '../../app/use-cases/secrets.ts';
import type { Handlers } from '../serving.ts';
import { byOf, threadOf } from './wire.ts';

/** Secrets: what goes in is sealed, and only names come out. */
export const secretHandlers = {
  listSecrets: async ({ query }, { secrets }) => ({
    secrets: (await secrets.list(threadOf(query.thread_key))).map(wireSecret),
  }),
  setSecret: async ({ params, query, body, ...asked }, rooms) => {
    const { actor: by, traceId } = byOf(asked, rooms);
    const place = threadOf(query.thread_key);
    return { secret: wireSecret(await rooms.secrets.set({ place, ...params, ...body, by, traceId })) };
  },
  deleteSecret: async ({ params, query, ...asked }, rooms) => {
    const { actor: by, traceId } = byOf(asked, rooms);
    await rooms.secrets.delete({ place: threadOf(query.thread_key), ...params, by, traceId });
    return { deleted: true as const };
  },
  rotateSecrets: async ({ query: { after = null } }, { secrets }) => secrets.rotate(after),
} satisfies Partial<Handlers>;

function wireSecret({ usedBy, from, ...secret }: ShownSecret) {
  const { name, hosts, chats, setBy, updatedAt, lastUsedAt } = secret;
  return {
    ...wire({ name, setBy, updatedAt, lastUsedAt }),
    ...{ from, hosts: [...hosts], chats: [...chats], used_by: usedBy.map(({ taskId }) => taskId) },
  };
}
