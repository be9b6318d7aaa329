import { type IpAddress, isWithin, readIp, readRange, type IpRange } from './addresses.ts';

/** Hosts that somebody named: one host, all below a suffix, or a range of addresses; of one port, or of all. */
export type HostRule = { readonly port: number | null } & (
  | { readonly is: 'host'; readonly host: string }
  | { readonly is: 'suffix'; readonly suffix: string }
  | { readonly is: 'range'; readonly range: IpRange }
);

export const hostRulesExample = 'nas.example.com,printer:631,*.corp.example,10.1.0.0/16';

/** A rule as people write it: `host`, `host:port`, `*.suffix`, an address, or a range; null when it is none of these. */
export function readHostRule(text: string): HostRule | null {
  const written = text.trim().toLowerCase();
  const bare = readRange(written.replace(/^\[(.*)\]$/, '$1'));
  if (bare !== null) return { is: 'range', range: bare, port: null };
  const [, name = '', digits] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(written) ?? [];
  const port = digits === undefined ? null : Number(digits);
  if (port !== null && (port < 1 || port > 65_535)) return null;
  const range = readRange(name.replace(/^\[(.*)\]$/, '$1'));
  if (range !== null) return { is: 'range', range, port };
  const isSuffix = name.startsWith('*.');
  const host = hostName(isSuffix ? name.slice(2) : name);
  if (host === null) return null;
  return isSuffix ? { is: 'suffix', suffix: `.${host}`, port } : { is: 'host', host, port };
}

/** A name as URLs write it, in ASCII; null for what is no name, or is an address. */
function hostName(text: string): string | null {
  if (/[\s/?#@%\\[\]:]/.test(text) || !URL.canParse(`http://${text}/`)) return null;
  const { hostname } = new URL(`http://${text}/`);
  return isName(hostname) && readIp(hostname) === null ? hostname : null;
}

const nameLengthMax = 253;

export function isName(host: string): boolean {
  return host.length <= nameLengthMax && host.split('.').every((label) => /^(?!-)[a-z\d_-]{1,63}(?<!-)$/.test(label));
}

export interface Host {
  readonly host: string;
  /** Null for a name. */
  readonly ip: IpAddress | null;
  readonly port: number;
}

export function ruleMatches(rule: HostRule, { host, ip, port }: Host): boolean {
  if (rule.port !== null && rule.port !== port) return false;
  if (rule.is === 'range') return ip !== null && isWithin(ip, rule.range);
  return rule.is === 'host' ? rule.host === host : host.endsWith(rule.suffix);
}
