import { promises as dns } from 'node:dns';
import { readFileSync } from 'node:fs';
import type { Stopwatch } from '../app/ports/outside.ts';

/** Finds the addresses of a name. */
export interface Resolver {
  /** Throws an error with the code of DNS when there is none. */
  resolve(host: string): Promise<readonly string[]>;
}

interface ResolverDeps {
  readonly stopwatch: Stopwatch;
  /** Servers in place of those that the system names, as `address:port`. */
  readonly servers?: readonly string[];
}

/** How long one server is waited for, and how often it is asked. */
const lookup = { timeout: 2000, tries: 2 };
/** So long what the system says of names and servers is taken to hold: a laptop changes its network. */
const freshMs = 10_000;
const hostsFile = '/etc/hosts';

/**
 * Asks DNS by itself. The lookup of the system occupies a thread of the few that all of the process shares, for seconds
 * when a server does not answer; a hundred names of such servers would hold up every file that is read.
 */
export function createResolver({ stopwatch, servers }: ResolverDeps): Resolver {
  let system = { at: -Infinity, resolver: new dns.Resolver(lookup), hosts: new Map<string, readonly string[]>() };
  const fresh = () => {
    if (stopwatch.elapsed() - system.at < freshMs) return system;
    const resolver = new dns.Resolver(lookup);
    if (servers !== undefined) resolver.setServers(servers);
    system = { at: stopwatch.elapsed(), resolver, hosts: readHosts() };
    return system;
  };
  return {
    resolve: async (host) => {
      const { resolver, hosts } = fresh();
      const known = hosts.get(host) ?? (host === 'localhost' ? ['127.0.0.1', '::1'] : undefined);
      if (known !== undefined) return known;
      const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const [first] = answers;
      if (found.length === 0 && first.status === 'rejected') throw first.reason;
      return found;
    },
  };
}

function readHosts(): Map<string, readonly string[]> {
  const hosts = new Map<string, readonly string[]>();
  for (const line of hostLines()) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    for (const name of names) hosts.set(name.toLowerCase(), [...(hosts.get(name.toLowerCase()) ?? []), address]);
  }
  return hosts;
}

function hostLines(): readonly string[] {
  try {
    return readFileSync(hostsFile, 'utf8').split('\n');
  } catch {
    // Without the file there are no such names.
    return [];
  }
}
