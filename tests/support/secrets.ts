import type { RunSecrets } from '../../src/app/ports/secrets.ts';
import { allows, secretScope } from '../../src/domain/grant.ts';

interface Held {
  value: string;
  version: number;
}

/** Secrets of a run in the memory of a test, with what was asked of them. */
export function secretsInMemory(given: Readonly<Record<string, string>>) {
  let version = 0;
  const held = new Map<string, Held>(
    Object.entries(given).map(([name, value]) => [name, { value, version: (version += 1) }]),
  );
  const asked: { readonly host: string; readonly names: readonly string[] }[] = [];
  let hosts: readonly string[] | null = null;
  let broken = 0;
  const runSecrets: RunSecrets = {
    reveal: async ({ names, scopes, host }) => {
      asked.push({ host: host.replace(/:\d+$/, ''), names });
      for (const name of names) {
        const refused = { is: 'refused', name } as const;
        if (!allows(scopes, secretScope(name)))
          return { ...refused, reason: 'grant_scope', error: `no right to ${name}` };
        if (!held.has(name)) return { ...refused, reason: 'secret_missing', error: `There is no secret ${name}` };
        if (hosts !== null && !hosts.includes(host.replace(/:\d+$/, '')))
          return { ...refused, reason: 'secret_host', error: `The secret ${name} must not be sent to ${host}` };
      }
      return {
        is: 'revealed',
        values: new Map(names.map((name) => [name, { ...(held.get(name) ?? { value: '', version: 0 }) }])),
      };
    },
    replace: async ({ name, version: before, value }) => {
      if (broken > 0) {
        broken -= 1;
        throw new Error('the database is away');
      }
      if (held.get(name)?.version !== before || before === 0) return false;
      held.set(name, { value, version: (version += 1) });
      return true;
    },
  };
  return {
    runSecrets,
    asked,
    value: (name: string) => held.get(name)?.value,
    set: (name: string, value: string) => void held.set(name, { value, version: (version += 1) }),
    drop: (name: string) => void held.delete(name),
    ofEnvironment: (name: string, value: string) => void held.set(name, { value, version: 0 }),
    goTo: (...names: string[]) => (hosts = names),
    breakReplace: (times: number) => (broken = times),
  };
}
