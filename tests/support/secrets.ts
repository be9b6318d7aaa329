import { parseThreadKey } from '../../src/domain/thread.ts';
import { openVault } from '../../src/system/vault.ts';
import { actor, group, type Pipeline } from './pipeline.ts';

/** A vault that opens after a restart of the pipeline what it sealed before. */
export const lastingVault = () => openVault({ file: null, given: [Buffer.alloc(32, 7)] });

/** Secrets of a chat, set and deleted as people do it. */
export async function secretsOf(
  p: Pipeline,
  vault: ReturnType<typeof lastingVault>,
  given: Readonly<Record<string, string>>,
  threadKey = group,
) {
  const place = parseThreadKey(threadKey);
  const set = async (name: string, value: string, hosts?: readonly string[]) => {
    await p.rooms.secrets.set({ place, name, value, hosts, by: actor });
  };
  const value = async (name: string) => {
    const chat = await p.store.secretChat(place);
    const scene = { names: [name], chatId: chat?.chatId ?? null, ownerId: actor } as const;
    const row = (await p.store.secretScene(scene)).secrets[0];
    return row === undefined ? undefined : vault.open(row.id, row.sealed);
  };
  for (const [name, text] of Object.entries(given)) await set(name, text);
  return {
    set,
    value,
    drop: (name: string) => p.rooms.secrets.delete({ place, name, by: actor }),
    /** From now on they go to these hosts alone. */
    goTo: async (...hosts: readonly string[]) => {
      for (const { name } of await p.rooms.secrets.list(place)) await set(name, (await value(name)) ?? '', hosts);
    },
    /** The names of those that a run has opened. */
    used: async () =>
      (await p.rooms.secrets.list(place)).flatMap(({ name, lastUsedAt }) => (lastUsedAt === null ? [] : [name])),
    /** The database is away as often as a rotated value is to be written. */
    breakReplace: (times: number): void => {
      const replaceSecret = p.store.replaceSecret.bind(p.store);
      let left = times;
      Object.assign(p.store, {
        replaceSecret: (asked: Parameters<typeof replaceSecret>[0]) => {
          left -= 1;
          return left >= 0 ? Promise.reject(new Error('the database is away')) : replaceSecret(asked);
        },
      });
    },
  };
}
