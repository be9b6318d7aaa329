import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

/**
 * Hosts on this computer, each in a network namespace of its own and with one link to a switch, at which the test, the database and
 * Telegram stand. A link that is down swallows what is sent, as a cable that was pulled does.
 */
export interface Network {
  /** The address of everything that is no host of the network. */
  readonly gateway: string;
  /** All addresses of the network, for servers that must let them in. */
  readonly range: string;
  join(name: string): Promise<Host>;
  close(): Promise<void>;
}

export interface Host {
  readonly address: string;
  /** What a command begins with to run there. */
  readonly within: readonly string[];
  cut(): Promise<void>;
  mend(): Promise<void>;
}

const run = promisify(execFile);
const ip = (line: string) => run('ip', line.split(' '));

/** Null where this account may make no namespaces, with the reason. */
export async function openNetwork(): Promise<Network | { readonly reason: string }> {
  // Several runs on one computer have a network each.
  const own = process.pid % 250;
  const [prefix, bridge] = [`10.77.${own}`, `crono${own}`];
  const close = guard(bridge);
  let hosts = 0;
  try {
    await ip(`link add ${bridge} type bridge`);
    await ip(`addr add ${prefix}.1/24 dev ${bridge}`);
    await ip(`link set ${bridge} up`);
  } catch (error) {
    await close();
    return { reason: String((error as { stderr?: unknown }).stderr ?? error).trim() };
  }
  return {
    gateway: `${prefix}.1`,
    range: `${prefix}.0/24`,
    close,
    join: async (name) => {
      const [space, link, peer] = [`${bridge}-${name}`, `cr${own}n${hosts}`, `cr${own}p${hosts}`];
      const address = `${prefix}.${hosts + 2}`;
      hosts += 1;
      await ip(`netns add ${space}`);
      await ip(`link add ${link} type veth peer name ${peer} netns ${space}`);
      await ip(`link set ${link} master ${bridge}`);
      await ip(`link set ${link} up`);
      for (const line of [`addr add ${address}/24 dev ${peer}`, `link set ${peer} up`, 'link set lo up'])
        await ip(`-n ${space} ${line}`);
      return {
        address,
        within: ['ip', 'netns', 'exec', space],
        cut: async () => void (await ip(`link set ${link} down`)),
        mend: async () => void (await ip(`link set ${link} up`)),
      };
    },
  };
}

const takeDown = `cat
for space in $(ip netns list | cut -d ' ' -f 1 | grep "^$1-"); do ip netns del "$space"; done
ip link del "$1"`;

/** Whatever way this process ends, its end of the pipe closes, and what was made of the network is taken down. */
function guard(bridge: string): () => Promise<void> {
  const guardian = spawn('sh', ['-c', takeDown, 'guardian', bridge], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guardian.unref();
  return async () => {
    guardian.ref();
    const gone = once(guardian, 'exit');
    guardian.stdin.end();
    await gone;
  };
}
