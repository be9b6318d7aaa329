import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { Timer } from '../app/ports/outside.ts';
import { type IpAddress, readIp } from '../domain/outbound/addresses.ts';
import { notReached } from '../domain/outbound/targets.ts';
import type { Resolver } from './resolver.ts';

/** The rules do not let an address through. The message is for people. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

/** No connection came about. The cause says why; null when it took too long. */
export class NotConnected extends Error {
  override readonly name = 'NotConnected';
}

interface ConnectorDeps {
  readonly resolver: Resolver;
  readonly timer: Timer;
  /** The kind of an address that must not be reached, in words; null for one that may. */
  readonly closed: (ip: IpAddress, port: number) => string | null;
  /** Certificates of authorities in place of those that Node knows. */
  readonly ca?: string | undefined;
  /** The client certificate of these connections, with the authorities of the server. */
  readonly identity?: SecureContext | undefined;
}

/** Names, connection and handshake together. A host that cannot be reached is known by then. */
export const connectMs = 10_000;
/** So long one address of several is waited for before the next is tried. */
const addressMs = 1000;

/**
 * Makes the connections of undici, which asks a lookup for names only, and so lets literal addresses past it. Here every
 * address is judged: those of a name before one of them is called, and the one that was reached before a byte is sent.
 */
export function createConnector(deps: ConnectorDeps): buildConnector.connector {
  return (options, callback) => {
    const attempt = new AbortController();
    let isOver = false;
    const finish = (error: Error | null, socket: Socket | null) => {
      if (isOver) {
        socket?.destroy();
        return;
      }
      isOver = true;
      callOff();
      if (socket === null) {
        attempt.abort();
        callback(error ?? new NotConnected(), null);
      } else callback(null, socket);
    };
    const callOff = deps.timer.after(connectMs, () => finish(new NotConnected(), null));
    open(deps, options, attempt.signal).then(
      (socket) => finish(null, socket),
      (cause: unknown) => finish(cause instanceof TargetRefused ? cause : new NotConnected('', { cause }), null),
    );
  };
}

async function open(deps: ConnectorDeps, options: buildConnector.Options, signal: AbortSignal): Promise<Socket> {
  const { hostname, protocol } = options;
  const isSecure = protocol === 'https:';
  const port = Number(options.port || (isSecure ? 443 : 80));
  const addresses = isIP(hostname) === 0 ? await deps.resolver.resolve(hostname) : [hostname];
  for (const address of addresses) judge(deps, { hostname, address, port });
  signal.throwIfAborted();
  const plain = connectPlain({
    host: hostname,
    port,
    lookup: givenAddresses(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressMs,
    noDelay: true,
    signal,
  });
  await event(plain, 'connect');
  try {
    judge(deps, { hostname, address: plain.remoteAddress ?? '', port });
    if (!isSecure) return plain;
    const secure = connectTls({
      socket: plain,
      host: hostname,
      servername: isIP(hostname) === 0 ? hostname : '',
      ALPNProtocols: ['http/1.1'],
      ...(deps.ca === undefined ? {} : { ca: deps.ca }),
      ...(deps.identity === undefined ? {} : { secureContext: deps.identity }),
    });
    await event(secure, 'secureConnect');
    return secure;
  } catch (error) {
    plain.destroy();
    throw error;
  }
}

/** An address that cannot be read is none that could be judged, so it is not reached. */
function judge(
  { closed }: ConnectorDeps,
  { hostname, address, port }: { readonly hostname: string; readonly address: string; readonly port: number },
): void {
  const ip = readIp(address);
  const kind = ip === null ? 'an address that cannot be read' : closed(ip, port);
  if (kind === null) return;
  throw new TargetRefused(`${hostname} leads to ${kind}, ${notReached}.`);
}

/** Those that were judged, and no second look at what a name means by now. */
function givenAddresses(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all: wantsAll }, callback) => {
    const [first = { address: '', family: 4 }] = all;
    if (wantsAll === true) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

function event(socket: Socket, name: 'connect' | 'secureConnect'): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(name, () => resolve());
    // It stays, so that a fault between the connection and its first request ends no process.
    socket.on('error', reject);
    socket.once('close', () => reject(new Error('closed')));
  });
}
