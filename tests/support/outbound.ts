import { onTestFinished } from 'vitest';
import type { OutboundRequest } from '../../src/app/ports/outbound.ts';
import type { Stopwatch, Timer } from '../../src/app/ports/outside.ts';
import { readHostRule } from '../../src/domain/outbound/host-rules.ts';
import { createOutbound, type GuardedOutbound } from '../../src/outbound/outbound.ts';
import type { Resolver } from '../../src/outbound/resolver.ts';
import { systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import type { AtEnd } from './place.ts';

interface Wish {
  /** As in EGRESS_ALLOW; by default `api.example.com`. */
  readonly allow?: readonly string[];
  /** The addresses of names. Every name that is not listed leads to this computer. */
  readonly addresses?: Readonly<Record<string, readonly string[]>>;
  readonly time?: Timer & Stopwatch;
  /** In place of the addresses. */
  readonly resolver?: Resolver;
  readonly site?: string;
  readonly ca?: string;
}

/** The client of tasks, for which the names of the test lead to servers of the test. */
export function anOutbound(wish: Wish = {}, atEnd: AtEnd = onTestFinished): GuardedOutbound {
  const { allow = ['api.example.com'], addresses = {}, time, site = null, ca } = wish;
  const outbound = createOutbound({
    timer: time ?? systemTimer,
    stopwatch: time ?? systemStopwatch,
    allow: allow.flatMap((text) => readHostRule(text) ?? []),
    resolver: wish.resolver ?? { resolve: async (host) => found(host, addresses[host] ?? ['127.0.0.1']) },
    site: () => site,
    ...(ca === undefined ? {} : { ca }),
  });
  atEnd(() => outbound.close());
  return outbound;
}

/** A GET of an address with usual limits. */
export function aRequest(url: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return {
    method: 'GET',
    url,
    headers: {},
    body: null,
    timeoutMs: 30_000,
    signal: new AbortController().signal,
    narrowedTo: null,
    bodyBytesMax: 1_000_000,
    ...more,
  };
}

function found(host: string, addresses: readonly string[]): readonly string[] {
  if (addresses.length > 0) return addresses;
  throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' });
}
