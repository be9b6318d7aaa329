import { execFileSync } from 'node:child_process';
import { connect } from 'node:net';
import type { Fault } from '../../../src/sandbox/world/world.ts';
import type { Boot } from '../program.ts';
import type { TelegramApart } from './telegram.ts';

/** A server under load, to which a fault is done. */
export interface Soaked {
  readonly telegram: TelegramApart;
  readonly boot: Boot;
  readonly url: string;
  /** `kill -9`, and the next process. */
  readonly killOnce: () => Promise<void>;
}

/** A fault that goes on until what `begin` answers is called. A new one is one entry in a table below. */
interface LastingFault {
  readonly name: string;
  readonly begin: (soaked: Soaked) => Promise<() => Promise<void>>;
}

const countMax = 1_000_000_000;

function ofTelegram(
  name: string,
  faults: (forums: readonly number[]) => readonly Omit<Fault, 'count'>[],
): LastingFault {
  return {
    name,
    begin: async ({ telegram }) => {
      for (const fault of faults(telegram.forums)) await telegram.fault({ count: countMax, ...fault });
      return () => telegram.clearFaults();
    },
  };
}

const simply = (kind: Fault['kind'], more: Partial<Fault> = {}) =>
  ofTelegram(kind, () => [{ kind, method: '*', ...more }]);

const stopped: LastingFault = {
  name: 'SIGSTOP',
  begin: async ({ boot }) => {
    process.kill(boot.pid, 'SIGSTOP');
    return async () => void process.kill(boot.pid, 'SIGCONT');
  },
};

/** No file of the process may grow: what SQLite gets then is what it gets from a full disk. */
const fullDisk: LastingFault = {
  name: 'full disk',
  begin: async ({ boot }) => {
    const limit = (bytes: string) => execFileSync('prlimit', ['--pid', String(boot.pid), `--fsize=${bytes}:`]);
    limit('1');
    return async () => void limit('unlimited');
  },
};

const slowClientsCount = 200;
const dripEveryMs = 1000;

/** Clients that send a header a byte a second and never end it. */
const slowClients: LastingFault = {
  name: 'slow clients',
  begin: async ({ url }) => {
    const { hostname, port } = new URL(url);
    const sockets = Array.from({ length: slowClientsCount }, () => {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => socket.destroy());
      socket.write('GET /v1/tasks HTTP/1.1\r\nhost: soak\r\nx-slow: ');
      return socket;
    });
    const drip = setInterval(
      () => sockets.forEach((socket) => void (socket.writable && socket.write('x'))),
      dripEveryMs,
    );
    return async () => {
      clearInterval(drip);
      for (const socket of sockets) socket.destroy();
    };
  },
};

const stepBackMs = 300_000;

const clockBack: LastingFault = {
  name: 'clock set back',
  begin: async ({ boot }) => {
    await boot.send({ offsetMs: -stepBackMs });
    return async () => void (await boot.send({ offsetMs: 0 }));
  },
};

const killed: LastingFault = {
  name: 'kill -9',
  begin: async ({ killOnce }) => {
    await killOnce();
    return async () => {};
  },
};

/** Those after which a process or its clock is another one, so that they come before anything is measured. */
export const firstFaults: readonly LastingFault[] = [killed, clockBack];

export const faultsInTurn: readonly LastingFault[] = [
  simply('429', { retryAfter: 2 }),
  simply('500'),
  simply('bad_gateway_html'),
  simply('hang'),
  simply('reset_before'),
  simply('reset_after'),
  simply('answer_lost'),
  simply('late', { delayMs: 1500 }),
  ofTelegram('misroute', ([forum]) => [
    { kind: 'misroute', method: 'send', ...(forum === undefined ? {} : { chat: forum }) },
  ]),
  simply('wrong_shape'),
  stopped,
  fullDisk,
  slowClients,
];
