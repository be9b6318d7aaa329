import { networkInterfaces } from 'node:os';
import type { Dispatcher } from 'undici';
import type { TokenServer } from '../app/ports/credentials.ts';
import type {
  Egress,
  Identity,
  Outbound,
  OutboundEnd,
  OutboundRequest,
  TrustedOutbound,
} from '../app/ports/outbound.ts';
import type { Stopwatch, Timer } from '../app/ports/outside.ts';
import { readIp } from '../domain/outbound/addresses.ts';
import { type HostRule, readHostRule } from '../domain/outbound/host-rules.ts';
import { followed, type Hop, redirectsMax } from '../domain/outbound/redirects.ts';
import { closedAddress, type EgressRules, judgeTarget } from '../domain/outbound/targets.ts';
import { createAgents } from './agents.ts';
import { createConnector } from './connector.ts';
import { acceptEncoding, type Bounds, decoded, exchange, type Held, type Received, tooLarge } from './exchange.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { createTokenServer } from './token-server.ts';

export interface OutboundDeps {
  readonly timer: Timer;
  readonly stopwatch: Stopwatch;
  /** EGRESS_ALLOW. */
  readonly allow: readonly HostRule[];
  /** The address below which this server itself may be reached; null where there is none. */
  readonly site?: () => string | null;
  readonly resolver?: Resolver;
  readonly ca?: string;
  /** Whether this process may still do what tasks want; absent where nobody can take over from it. */
  readonly isHeld?: () => boolean;
}

export interface GuardedOutbound extends Outbound, Egress, TrustedOutbound {
  readonly tokenServer: TokenServer;
  /** For libraries that make requests by themselves. */
  readonly fetch: typeof fetch;
  /** Ends what is under way. */
  close(): Promise<void>;
}

const unheld: OutboundEnd = {
  is: 'failed',
  type: 'NETWORK',
  error: 'this process was away, and another may have taken over',
  isUnsent: true,
};

/** Requests of tasks. */
export function createOutbound(deps: OutboundDeps): GuardedOutbound {
  const { timer, stopwatch, allow, site = () => null, ca, isHeld = () => true } = deps;
  const rules: EgressRules = { allow, site, isOwn: ownAddresses(stopwatch) };
  const resolver = deps.resolver ?? createResolver({ stopwatch });
  const agents = createAgents({
    ca,
    connector: (via, identity) =>
      createConnector({
        resolver,
        timer,
        ca,
        identity,
        closed: (ip, port) => (via === null ? null : closedAddress(ip, { port, via }, rules)),
      }),
  });
  const held = { bytes: 0 };
  const openFor =
    (narrowed: readonly HostRule[] | null): Open =>
    (text, identity) => {
      const judged = judgeTarget(text, rules, narrowed);
      if (judged.is === 'refused') return judged;
      const agent = agents.of(judged.via, identity);
      return 'fault' in agent ? { is: 'unusable', error: agent.fault } : { is: 'open', url: judged.url, agent };
    };
  const callOpen = async (request: OutboundRequest): Promise<OutboundEnd> => (isHeld() ? callNow(request) : unheld);
  const callNow = (request: OutboundRequest) =>
    call(request, { timer, held, follows: request.staysThere !== true, open: openFor(narrowing(request.narrowedTo)) });
  return {
    judge: (url, narrowedTo) => {
      const judged = judgeTarget(url, rules, narrowing(narrowedTo));
      return judged.is === 'open' ? { is: 'open', host: judged.host } : judged;
    },
    call: callOpen,
    tokenServer: createTokenServer({ call: callOpen }),
    fetch: guardedFetch(callOpen),
    callTrusted: (request, follows) => {
      const { origin } = new URL(request.url);
      const openTrusted: Open = (text, identity) => {
        const url = new URL(text);
        if (url.origin !== origin) return openFor(null)(text, identity);
        const agent = agents.of(null, identity);
        return 'fault' in agent ? { is: 'unusable', error: agent.fault } : { is: 'open', url, agent };
      };
      return call(request, { timer, held, follows, open: openTrusted });
    },
    close: () => agents.destroy(),
  };
}

type Opened =
  | { readonly is: 'open'; readonly url: URL; readonly agent: Dispatcher }
  | { readonly is: 'refused'; readonly reason: string }
  /** The certificate that is to be shown there cannot be. */
  | { readonly is: 'unusable'; readonly error: string };

type Open = (text: string, identity: Identity | undefined) => Opened;

function narrowing(narrowedTo: readonly string[] | null): readonly HostRule[] | null {
  // A rule that cannot be read opens nothing.
  return narrowedTo?.flatMap((text) => readHostRule(text) ?? []) ?? null;
}

interface Manner {
  readonly timer: Timer;
  readonly held: Held;
  readonly follows: boolean;
  readonly open: Open;
}

async function call(request: OutboundRequest, { timer, held, follows, open }: Manner): Promise<OutboundEnd> {
  const { method, body, timeoutMs, bodyBytesMax, holdsSecret, identity } = request;
  const target = open(request.url, identity);
  if (target.is !== 'open') return unopened(target, 'The address');
  const time = new AbortController();
  const callOff = timer.after(timeoutMs, () => time.abort());
  const way = {
    signal: AbortSignal.any([request.signal, time.signal]),
    late: () => (time.signal.aborted ? `${timeoutMs / 1000} s` : null),
    bytesMax: bodyBytesMax,
    held,
    follows,
    open,
  };
  const hop = { method, body, url: target.url, headers: ownHeaders(request.headers), holdsSecret };
  try {
    return await send(way, { hop, agent: target.agent, identity }, redirectsMax);
  } finally {
    callOff();
  }
}

type Way = Pick<Manner, 'open'> & Bounds;

interface Sending {
  readonly hop: Hop;
  readonly agent: Dispatcher;
  readonly identity: Identity | undefined;
}

/** Sends a request, and those that redirects ask for in its place. */
async function send(way: Way, { hop, agent, identity }: Sending, left: number): Promise<OutboundEnd> {
  const end = await exchange(agent, hop, way);
  if (end.is !== 'received') return end;
  const step = way.follows ? followed(hop, end.status, end.headers['location']) : null;
  if (step === null) return answered(end, hop, way.bytesMax);
  const { hostname } = hop.url;
  if ('fault' in step) return { is: 'refused', error: `${hostname}: ${step.fault}` };
  if (left === 0) return tooManyRedirects(hostname);
  // A certificate is for the origin that was named, also when a later redirect leads back to it.
  const shown = step.to.url.origin === hop.url.origin ? identity : undefined;
  const next = way.open(step.to.url.href, shown);
  if (next.is !== 'open') return unopened(next, `${hostname} redirects to an address that`);
  return send(way, { hop: step.to, agent: next.agent, identity: shown }, left - 1);
}

function unopened(end: Exclude<Opened, { is: 'open' }>, what: string): OutboundEnd {
  if (end.is === 'refused') return { is: 'refused', error: `${what} ${end.reason}.` };
  return { is: 'failed', type: 'NETWORK', error: `${end.error}.`, isFinal: true };
}

function tooManyRedirects(host: string): OutboundEnd {
  const error = `${host} redirects more than ${redirectsMax} times.`;
  return { is: 'failed', type: 'NETWORK', error, isFinal: true };
}

/** Names that the connection itself sets. */
const notOurs = ['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'expect'];

function ownHeaders(given: OutboundRequest['headers']): Hop['headers'] {
  const headers = Object.entries(given).filter(([name]) => !notOurs.includes(name));
  return {
    accept: '*/*',
    'user-agent': 'Cronogram',
    'accept-encoding': acceptEncoding,
    ...Object.fromEntries(headers),
  };
}

async function answered(end: Received, { method, url }: Hop, bytesMax: number): Promise<OutboundEnd> {
  const { status, headers } = end;
  const encoding = method === 'HEAD' ? '' : (headers['content-encoding'] ?? '');
  const plain = await decoded(end.body, encoding, bytesMax);
  if (plain.is === 'plain') return { is: 'answered', status, headers, body: plain.body, url: url.href };
  if (plain.is === 'tooLarge') return tooLarge(`The answer of ${url.hostname} unpacks to`, plain.bytesMax);
  const error = `The answer of ${url.hostname} cannot be unpacked (${encoding.slice(0, 40)}).`;
  return { is: 'failed', type: 'NETWORK', error };
}

/** More than any answer that a program reads whole, and little enough for the memory. */
const fetchBytesMax = 10_485_760;
const fetchMs = 60_000;

/** Answers that have no body by their status. */
const bodiless: readonly number[] = [204, 205, 304];

/**
 * The form in which libraries want it. It goes where requests of tasks may go, within the same limits, and gives an answer
 * when it is there as a whole. Like every fetch it throws a TypeError where there is none.
 */
function guardedFetch(call: (request: OutboundRequest) => Promise<OutboundEnd>): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const body = request.body === null ? null : new Uint8Array(await request.arrayBuffer());
    const { method, url, signal, headers } = request;
    const end = await call({
      method,
      url,
      signal,
      body,
      headers: Object.fromEntries(headers),
      timeoutMs: fetchMs,
      narrowedTo: null,
      bodyBytesMax: fetchBytesMax,
    });
    signal.throwIfAborted();
    if (end.is !== 'answered') throw new TypeError(end.error);
    const { status } = end;
    return new Response(bodiless.includes(status) ? null : new Uint8Array(end.body), { status, headers: end.headers });
  };
}

/** So long the addresses of this computer are taken to stay. */
const ownFreshMs = 10_000;

function ownAddresses(stopwatch: Stopwatch): EgressRules['isOwn'] {
  let seen = { at: -Infinity, addresses: new Set<string>() };
  return ({ bits, width }) => {
    if (stopwatch.elapsed() - seen.at >= ownFreshMs) {
      const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
      const ips = addresses.flatMap(({ address }) => readIp(address) ?? []);
      seen = { at: stopwatch.elapsed(), addresses: new Set(ips.map((ip) => `${ip.width} ${ip.bits}`)) };
    }
    return seen.addresses.has(`${width} ${bits}`);
  };
}
