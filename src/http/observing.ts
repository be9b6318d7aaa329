import type { Meter } from '../app/ports/meter.ts';

/** The page that tells what was measured. */
export interface PageOfMetrics {
  readonly contentType: string;
  page(): Promise<string>;
}

export interface Served {
  readonly method: string;
  /** The pattern of the route, or `none`. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** An earlier request with the same key had the effect. */
  readonly isReplay: boolean;
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'PUT', 'OPTIONS']);

/** Whatever a client sends, there are only so many series: methods of a closed list, and patterns of our own. */
export function countServed(meter: Meter, { method, route, status, ms, isReplay }: Served): void {
  const known = methods.has(method) ? method : 'other';
  meter.count('http_requests_total', { method: known, route, status: String(status) });
  meter.took('http_request_duration_seconds', { route }, ms);
  if (isReplay) meter.count('requests_deduplicated_total', { via: 'http' });
}
