import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { readIp } from '../../../src/domain/outbound/addresses.ts';
import { createOutbound } from '../../../src/outbound/outbound.ts';
import { createResolver } from '../../../src/outbound/resolver.ts';
import { systemStopwatch, systemTimer } from '../../../src/system/clock.ts';
import { serveDns } from '../../support/dns.ts';
import { hostileTargets, leadingNames } from './targets.ts';

/**
 * Runs in a network namespace in which every address there is leads to this process. So whatever the guard lets through is
 * reached, and is seen here by the address at which it arrived.
 */

/** The public internet of the namespace. */
const good = '93.184.215.14';
const rounds = 40;

/** Words that the test is told. */
export interface Account {
  readonly targets: number;
  /** Without the guard: which of some addresses answered, to show that they are there. */
  readonly reachable: readonly string[];
  /** Connections at addresses that no task may reach, and targets that were answered. */
  readonly through: readonly string[];
  /** Ends of calls to public addresses, to show that the guard lets those through. */
  readonly good: readonly string[];
  /** Ends of calls to a name that leads elsewhere each time it is asked for. */
  readonly rebound: { readonly answered: number; readonly refused: number };
  readonly dnsQuestions: number;
}

const arrived: string[] = [];

async function listen(server: Server | ReturnType<typeof createTcpServer>, port: number): Promise<void> {
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    arrived.push((socket.localAddress ?? '').replace('::ffff:', ''));
  });
  await new Promise<void>((resolve) => server.listen(port, '::', resolve));
}

let rebinds = 0;
const rebinding: Readonly<Record<string, readonly string[]>> = {
  'good.example.com': [good],
  'six.example.com': ['2606:2800::1'],
};

function zone(name: string): readonly string[] | null {
  if (name !== 'rebind.evil.example') return rebinding[name] ?? leadingNames[name] ?? null;
  // The public address for the one who judges, and the inner one for the one who connects.
  rebinds += 1;
  return rebinds % 3 === 1 ? [good] : ['169.254.169.254'];
}

async function answersAt(address: string): Promise<string[]> {
  return new Promise((resolve) => {
    const socket = connect(80, address);
    socket.once('connect', () => {
      socket.destroy();
      resolve([address]);
    });
    socket.once('error', () => resolve([]));
  });
}

const web = createServer((incoming, outgoing) => {
  // So each call asks for the name anew.
  outgoing.setHeader('connection', 'close');
  const to = new URL(incoming.url ?? '/', 'http://good.example.com').searchParams.get('to');
  if (to === null) outgoing.end('reached');
  // A header holds bytes, and no end of a line.
  else outgoing.writeHead(302, { location: Buffer.from(to.replaceAll('\n', '')).toString('latin1') }).end();
});
const plain = [443, 8080].map((port) => ({ port, server: createTcpServer((socket) => socket.end()) }));
await listen(web, 80);
for (const { port, server } of plain) await listen(server, port);
const dns = await serveDns({ address: '127.0.0.53', port: 53 }, zone);

const resolver = createResolver({ stopwatch: systemStopwatch, servers: [dns.server] });
const outbound = createOutbound({ timer: systemTimer, stopwatch: systemStopwatch, allow: [], resolver });
const call = (url: string) =>
  outbound.call({
    url,
    method: 'GET',
    headers: {},
    body: null,
    timeoutMs: 5000,
    signal: new AbortController().signal,
    narrowedTo: null,
    bodyBytesMax: 1000,
  });

const reachable = (
  await Promise.all(['169.254.169.254', '10.0.0.1', 'fd00::1', '127.0.0.1', good].map(answersAt))
).flat();

const ends: string[] = [];
for (const url of ['http://good.example.com/', 'http://six.example.com/', `http://${good}/`, 'http://[2606:2800::1]/'])
  ends.push((await call(url)).is);

arrived.length = 0;
const through: string[] = [];
const targets = hostileTargets();
for (const target of targets) {
  const redirect = `http://good.example.com/?to=${encodeURIComponent(target)}`;
  for (const url of [target, redirect]) {
    const end = await call(url);
    // A redirect without a host stays where it is.
    if (end.is === 'answered' && new URL(end.url).hostname !== 'good.example.com')
      through.push(`${url} was answered by ${end.url}`);
  }
}

const rebound = { answered: 0, refused: 0 };
for (let round = 0; round < rounds; round += 1) {
  const end = await call('http://rebind.evil.example/');
  if (end.is === 'answered') rebound.answered += 1;
  else if (end.is === 'refused') rebound.refused += 1;
}

for (const address of arrived)
  if (readIp(address) === null || ![good, '2606:2800::1'].includes(address)) through.push(`a connection at ${address}`);

const account: Account = {
  targets: targets.length,
  reachable,
  through,
  good: ends,
  rebound,
  dnsQuestions: dns.asked(),
};
process.stdout.write(`${JSON.stringify(account)}\n`);
await outbound.close();
dns.close();
web.closeAllConnections();
web.close();
for (const { server } of plain) server.close();
