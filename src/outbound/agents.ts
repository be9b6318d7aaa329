import { hash } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import { Agent, type buildConnector, type Dispatcher } from 'undici';
import type { Identity } from '../app/ports/outbound.ts';
import { faultCodeOf } from '../domain/errors.ts';
import type { Via } from '../domain/outbound/targets.ts';

/**
 * The clients of requests. There is one for each way in which addresses are judged, and for each client certificate, so that no
 * request uses a connection that was opened for another kind: a connection with a certificate speaks for whoever holds that.
 */
export interface Agents {
  /** Null judges no address. A certificate that cannot be used is told in words for people. */
  of(via: Via | null, identity: Identity | undefined): Dispatcher | { readonly fault: string };
  destroy(): Promise<void>;
}

interface AgentsDeps {
  readonly ca: string | undefined;
  readonly connector: (via: Via | null, context: SecureContext | undefined) => buildConnector.connector;
}

/** The status line and all headers of an answer. */
const headerBytesMax = 16_384;
/** Certificates whose connections stay open; the one that was used longest ago goes first. */
const identitiesMax = 50;

export function createAgents({ ca, connector }: AgentsDeps): Agents {
  const make = (via: Via | null, context?: SecureContext) =>
    new Agent({
      connect: connector(via, context),
      allowH2: false,
      maxHeaderSize: headerBytesMax,
      // The time of the whole call bounds both; the timers of the client are coarse.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  const plain = { public: make('public'), allowed: make('allowed'), site: make('site') };
  const operators = make(null);
  const certified = new Map<string, Agent>();
  const certifiedOf = (via: Via | null, identity: Identity): Agent | { readonly fault: string } => {
    const key = hash('sha256', JSON.stringify([via, identity.cert, identity.key, identity.ca]));
    const known = certified.get(key);
    if (known !== undefined) {
      certified.delete(key);
      certified.set(key, known);
      return known;
    }
    const context = contextOf(identity, ca);
    if ('fault' in context) return context;
    const agent = make(via, context);
    certified.set(key, agent);
    const [oldest] = certified;
    if (certified.size > identitiesMax && oldest !== undefined) {
      certified.delete(oldest[0]);
      // Requests that are under way end first.
      void oldest[1].close();
    }
    return agent;
  };
  return {
    of: (via, identity) => {
      if (identity !== undefined) return certifiedOf(via, identity);
      return via === null ? operators : plain[via];
    },
    destroy: async () => {
      const all = [...Object.values(plain), operators, ...certified.values()];
      await Promise.all(all.map((agent) => agent.destroy()));
    },
  };
}

function contextOf({ cert, key, ca }: Identity, usual: string | undefined): SecureContext | { readonly fault: string } {
  const authorities = ca ?? usual;
  try {
    return createSecureContext({ cert, key, ...(authorities === undefined ? {} : { ca: authorities }) });
  } catch (error) {
    // The words of OpenSSL may repeat a part of what they could not read.
    const code = faultCodeOf(error) || 'unreadable';
    const why = code.includes('MISMATCH') ? 'do not belong together' : 'cannot be read as PEM';
    return { fault: `The client certificate and its key ${why} (${code})` };
  }
}
