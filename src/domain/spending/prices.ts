import type { Amount } from './usage.ts';

/**
 * Prices in millionths of the currency. A host is named as it stands in an address, or with its beginning as `*`; without a port it is
 * meant with all of its ports, as in grants and EGRESS_ALLOW.
 */
export interface PriceTable {
  readonly currency: string;
  /** The name that the operator gave it, or a digest of what it says. */
  readonly version: string;
  /** For one request. */
  readonly hosts: ReadonlyMap<string, number>;
  /** For a million tokens, by `model in` and `model out`. */
  readonly models: ReadonlyMap<string, number>;
}

/** The price of an amount in millionths, rounded up, so that what is dear in sum is never told as nothing; null where it has none. */
export function priceOf(table: PriceTable, { kind, quantity, source = '' }: Amount): number | null {
  if (kind === 'requests') {
    const price = hostPrice(table.hosts, source.toLowerCase());
    return price === undefined ? null : price * quantity;
  }
  if (kind !== 'tokens') return null;
  const perMillion = table.models.get(source);
  return perMillion === undefined ? null : Math.ceil((perMillion * quantity) / 1_000_000);
}

/** The host itself, else the longest of the beginnings under which it falls; each first with its port. */
function hostPrice(hosts: PriceTable['hosts'], source: string): number | undefined {
  const [, host = source, port = ''] = /^(.*?)(:\d+)?$/.exec(source) ?? [];
  for (let name = host; ; name = name.slice(name.indexOf('.') + 1)) {
    const written = name === host ? name : `*.${name}`;
    const price = hosts.get(`${written}${port}`) ?? hosts.get(written);
    if (price !== undefined) return price;
    if (!name.includes('.')) return hosts.get('*');
  }
}

/** Millionths of a currency; null where the amount is none, or too fine to be counted. */
export function millionths(amount: number): number | null {
  const whole = Math.round(amount * 1_000_000);
  const isExact = Math.abs(amount * 1_000_000 - whole) < Math.max(1e-6, 1e-15 * whole);
  return Number.isFinite(amount) && amount >= 0 && isExact && Number.isSafeInteger(whole) ? whole : null;
}
