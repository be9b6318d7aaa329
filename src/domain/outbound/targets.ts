import { type Closed, closedIp, type IpAddress, readIp } from './addresses.ts';
import { type Host, type HostRule, isName, ruleMatches } from './host-rules.ts';

/** Decides where requests of tasks may go. An address is judged twice: as it is written, and as it is reached. */
export interface EgressRules {
  /** EGRESS_ALLOW: hosts that the operator opens although they are not on the public internet. */
  readonly allow: readonly HostRule[];
  /** Whether an address is one of this computer. */
  readonly isOwn: (ip: IpAddress) => boolean;
  /** A place of this server itself that tasks may reach: all below this address. Null where there is none. */
  readonly site: () => string | null;
}

/** The reason for which a target is open: it decides what its addresses may be. */
export type Via = 'public' | 'allowed' | 'site';

export type Judged =
  | { readonly is: 'open'; readonly url: URL; readonly host: string; readonly via: Via }
  /** The reason goes on after "the address". */
  | { readonly is: 'refused'; readonly reason: string };

const targetLengthMax = 8192;

/** Names that mean something inside of a network alone. */
const insideNames = /(?:^|\.)(?:localhost|local|localdomain|internal|home\.arpa)$/;
export const notReached = 'which tasks do not reach; who runs this server can open it with EGRESS_ALLOW';

/** Judges an address by what is written. A name that is open here is judged again by the addresses to which it leads. */
export function judgeTarget(text: string, rules: EgressRules, narrowedTo: readonly HostRule[] | null = null): Judged {
  const read = readTarget(text);
  if ('fault' in read) return refused(read.fault);
  const { url, target } = read;
  const open = { is: 'open', url, host: target.host } as const;
  if (isBelow(url, rules.site())) return { ...open, via: 'site' };
  const isAllowed = rules.allow.some((rule) => ruleMatches(rule, target));
  const closed = closedHost(target, rules, isAllowed);
  if (closed !== null) return refused(`names ${target.host}, ${closed}, ${notReached}`);
  if (narrowedTo !== null && !narrowedTo.some((rule) => ruleMatches(rule, target)))
    return refused(`names ${target.host}, which is none of the hosts to which this chat keeps its tasks`);
  return { ...open, via: isAllowed ? 'allowed' : 'public' };
}

function closedHost(target: Host, rules: EgressRules, isAllowed: boolean): string | null {
  if (target.ip !== null) return closedAddress(target.ip, { port: target.port, via: 'public' }, rules);
  if (isAllowed) return null;
  if (insideNames.test(target.host)) return 'a name of an inner network';
  return target.host.includes('.') ? null : 'a name without a dot';
}

/** Null when an address may be reached for a target that is open; else its kind, in words. */
export function closedAddress(
  ip: IpAddress,
  { port, via }: { readonly port: number; readonly via: Via },
  rules: EgressRules,
): string | null {
  const closed: Closed | null =
    closedIp(ip) ?? (rules.isOwn(ip) ? { kind: 'own', name: 'an address of this server' } : null);
  if (closed === null) return null;
  // A name can be led anywhere by whoever holds it, so credentials of clouds are opened by their own address alone.
  const opens = (rule: HostRule) =>
    rule.is === 'range' && (closed.kind !== 'metadata' || rule.range.prefix === ip.width);
  const isOpened = rules.allow.some((rule) => opens(rule) && ruleMatches(rule, { host: '', ip, port }));
  if (isOpened || (via === 'allowed' && closed.kind !== 'metadata')) return null;
  return via === 'site' && closed.kind === 'loopback' ? null : closed.name;
}

type Read = { readonly url: URL; readonly target: Host } | { readonly fault: string };

/** Reads an address, and refuses what different readers take for different hosts. */
function readTarget(text: string): Read {
  if (text.length > targetLengthMax) return { fault: `has more than ${targetLengthMax} characters` };
  if (/[\s\p{Cc}\p{Cf}\\]/u.test(text)) return { fault: 'holds a space, a backslash or a sign that cannot be seen' };
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(text) ?? [];
  if (authority === undefined) return { fault: 'does not begin with http:// or https://' };
  if (authority.includes('@')) return { fault: 'holds a user name or a password before its host' };
  if (!URL.canParse(text)) return { fault: 'cannot be read' };
  const url = new URL(text);
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const fault = oddity(authority.replace(/:\d*$/, '').toLowerCase(), url.hostname);
  return fault === null ? { url, target: { host, ip: readIp(host), port } } : { fault };
}

/** Forms that only some readers know, or that look like something else to people. */
function oddity(written: string, hostname: string): string | null {
  if (hostname.startsWith('[')) return null;
  if (written.includes('%')) return 'writes its host with percent signs';
  if (readIp(hostname) !== null)
    return hostname === written ? null : `writes its host in an odd form of ${hostname}: name it in full`;
  if (hostname.endsWith('.')) return 'has a host that ends with a dot';
  if (!isName(hostname)) return 'has a host that is no name and no address';
  const hasOtherDots = written.split('.').length !== hostname.split('.').length;
  if (hasOtherDots || written.normalize('NFKC') !== written) return `writes its host in an odd form of ${hostname}`;
  return written.split('.').some(isMixed) ? 'has a host that mixes letters of several scripts' : null;
}

/** Scripts with letters that look like those of another; a label with two of them is there to look like something else. */
const lookalikes = ['Latn', 'Cyrl', 'Grek', 'Armn', 'Cher', 'Copt'].map(
  (name) => new RegExp(`\\p{Script=${name}}`, 'u'),
);

function isMixed(label: string): boolean {
  return lookalikes.filter((script) => script.test(label)).length > 1;
}

function isBelow(url: URL, site: string | null): boolean {
  if (site === null) return false;
  const { port, pathname, protocol } = new URL(site);
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (!isHere || url.protocol !== protocol || url.port !== port) return false;
  return url.pathname === pathname || url.pathname.startsWith(`${pathname}/`);
}

function refused(reason: string): Judged {
  return { is: 'refused', reason };
}
