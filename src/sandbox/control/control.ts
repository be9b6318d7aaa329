import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Log, Timer } from '../../app/ports/outside.ts';
import { pageAssets } from '../page/page.ts';
import { sitePages } from '../site/site.ts';
import type { World, Travel } from '../world/world.ts';
import { fault, faultOf, read, readJson, send, type Answer } from './answers.ts';
import { eventsQuery } from './bodies.ts';
import { clearFaults, createDeeds } from './deeds.ts';
import { createEvents } from './events.ts';
import type { PageLink } from './shapes.ts';
import { createViews } from './views.ts';

export interface SandboxPagesDeps {
  readonly world: World;
  /** Null where the clock is the real one. */
  readonly travel: Travel | null;
  readonly log: Log;
  readonly timer: Timer;
  readonly clock: Clock;
  readonly links?: readonly PageLink[];
  /** Texts that are worth saying first, for an empty chat. */
  readonly starters?: () => readonly string[];
}

export interface SandboxPages {
  /** Answers one request by itself. The path is what follows `/sandbox`, without a query: ``, `/page/script/page.js`, `/control/say`. */
  readonly handle: (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => void;
  /** Ends the streams and the waits, so that a server can stop. */
  close(): void;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly query: unknown;
  readonly signal: AbortSignal;
}

const eventsPath = '/control/events';

/** Null: the answer goes on by itself. */
type Handler = (exchange: Exchange) => Promise<Answer | null> | Answer | null;

/** The control API and the chat page. They are for one person on one computer, so that nobody else is answered at all. */
export function createSandboxPages(deps: SandboxPagesDeps): SandboxPages {
  const events = createEvents(deps);
  const routes = routesOf(deps, events);
  const stop = new AbortController();

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse, path: string) => {
    const reason = foreignness(incoming);
    if (reason !== null) return fault(403, 'forbidden', reason);
    const methods = routes.get(path);
    if (methods === undefined)
      return fault(404, 'not_found', `There is nothing at this address. The page is /sandbox.`);
    // A stream has no end that a HEAD could leave out.
    const isHead = incoming.method === 'HEAD' && path !== eventsPath;
    const method = isHead ? 'GET' : (incoming.method ?? '');
    const handler = methods.get(method);
    if (handler === undefined) {
      const allow = [...methods.keys()].join(', ');
      return { ...fault(405, 'method_not_allowed', `This address takes ${allow} only.`), headers: { allow } };
    }
    const gone = new AbortController();
    outgoing.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, stop.signal]);
    return handler({ incoming, outgoing, query: queryOf(incoming), signal });
  };

  return {
    handle: (incoming, outgoing, path) => {
      answer(incoming, outgoing, path)
        .catch((error: unknown) => faultOf(error, { log: deps.log, route: routes.has(path) ? path : 'none' }))
        .then((told) => (told === null ? undefined : send(outgoing, told)))
        .catch(() => outgoing.destroy());
    },
    close: () => {
      stop.abort();
      events.close();
    },
  };
}

const firstWords = ['/start', '/new in 1 minute: it works'];

function routesOf(
  deps: SandboxPagesDeps,
  events: ReturnType<typeof createEvents>,
): ReadonlyMap<string, ReadonlyMap<string, Handler>> {
  const { world, travel, timer, log, clock, links = [], starters = () => firstWords } = deps;
  const routes = new Map<string, Map<string, Handler>>();
  const on = (method: string, path: string, handler: Handler) => {
    routes.set(path, (routes.get(path) ?? new Map<string, Handler>()).set(method, handler));
  };
  for (const [path, asset] of Object.entries(pageAssets())) on('GET', path, () => asset);
  const now = () => travel?.now() ?? clock.now();
  for (const [method, path, page] of sitePages({ now, timer })) on(method, `/site${path}`, page);
  for (const [name, view] of Object.entries(createViews({ world, travel, log, now, links, starters }))) {
    on('GET', `/control/${name}`, ({ query }) => view(query));
  }
  for (const [name, deed] of Object.entries(createDeeds({ world, travel, timer, onJump: events.clockMoved }))) {
    on('POST', `/control/${name}`, async ({ incoming, signal }) => deed(await readJson(incoming), signal));
  }
  on('DELETE', '/control/fault', ({ query }) => clearFaults(world, query));
  on('GET', eventsPath, ({ incoming, outgoing, query }) => {
    const resumed = incoming.headers['last-event-id'];
    events.open(incoming, outgoing, typeof resumed === 'string' ? resumed : read(eventsQuery, query).after);
    return null;
  });
  return routes;
}

/** A field that is given twice stays a list, which no schema takes. */
function queryOf(incoming: IncomingMessage): unknown {
  const target = incoming.url ?? '';
  const start = target.indexOf('?');
  const fields = new URLSearchParams(start < 0 ? '' : target.slice(start + 1));
  return Object.fromEntries(
    [...new Set(fields.keys())].map((key) => {
      const values = fields.getAll(key);
      return [key, values.length === 1 ? values[0] : values];
    }),
  );
}

const localPeer = /^(?:::ffff:)?127(?:\.\d{1,3}){3}$|^::1$/;
/** Headers by which proxies tell for whom they ask: the peer is the proxy then, and says nothing about the client. */
const forwarding =
  /forwarded|^via$|(?:client|real|remote|connecting|user|proxyuser)[-_]?(?:ip|addr)$|^(?:x-original|x-envoy|cf|cdn|proxy|tailscale)-/;
const localHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/**
 * The reason why a request is not from this computer; null when it is. The peer keeps other machines out, the Host keeps out names
 * that were made to point here, and Origin and Sec-Fetch-Site keep out pages of other sites in a browser of this computer.
 */
export function foreignness(incoming: IncomingMessage): string | null {
  const { host, origin, 'sec-fetch-site': site } = incoming.headers;
  if (!localPeer.test(incoming.socket.remoteAddress ?? '')) {
    return 'The sandbox answers only on the computer on which it runs. Open it there, or forward its port with ssh -L.';
  }
  // A proxy that tells nothing of its client and calls us by our own name, as nginx does unless it is told otherwise, speaks HTTP/1.0.
  if (incoming.httpVersion === '1.0' || Object.keys(incoming.headers).some((name) => forwarding.test(name))) {
    return 'The sandbox does not answer through a proxy. Open it on the computer on which it runs, or forward its port with ssh -L.';
  }
  if (host === undefined || !localHost.test(host)) {
    return 'The sandbox answers only to the hosts localhost, 127.0.0.1 and [::1]. Use one of them in the address.';
  }
  const isOtherOrigin = origin !== undefined && !isOf(origin, host);
  const isOtherSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (isOtherOrigin || isOtherSite) {
    return 'The sandbox does not answer to other sites. Type its address into the address bar instead of following a link.';
  }
  return null;
}

function isOf(origin: string, host: string): boolean {
  return origin.toLowerCase().replace(/^https?:\/\//, '') === host.toLowerCase() && /^https?:/i.test(origin);
}
