import { type Actor, apiPrincipal } from '../access.ts';
import { invalid } from '../errors.ts';
import { allows } from '../grant.ts';
import { readIp } from '../outbound/addresses.ts';
import { hostRulesExample, readHostRule, ruleMatches } from '../outbound/host-rules.ts';

/** Secrets: a name, a value that nobody is shown, and where it may go. */

export const secretNameExample = 'WEATHER_KEY';

/** As it is written in templates, grants and variables of the environment. */
const nameShape = /^[A-Z][A-Z0-9_]{0,63}$/;

/** In the environment `SECRET_A_HOSTS` says something about the secret A, so no secret has such a name. */
const settingOfAnother = /_(?:FILE|HOSTS|CHATS)$/;

/** A shorter value stands in texts that have nothing to do with it, so it could not be masked there. */
export const secretBytesMin = 4;
/** Room for a certificate with its key. */
const secretBytesMax = 8192;
/** More than a chat has services to call. */
export const secretsPerChatMax = 100;
const secretHostsMax = 50;

/** The fault of a name; null for a sound one. */
export function nameFault(name: string): string | null {
  if (!nameShape.test(name)) return 'has up to 64 capital letters, digits and underscores, and begins with a letter';
  const [ending] = settingOfAnother.exec(name) ?? [];
  return ending === undefined ? null : `must not end in ${ending}, which is a setting of another secret`;
}

export function secretName(text: string, field = 'name'): string {
  const fault = nameFault(text);
  if (fault === null) return text;
  throw invalid(field, `${field}: the name of a secret ${fault}. Example: ${secretNameExample}`);
}

/** The fault of a value, without the value; null for a sound one. */
export function valueFault(value: string): string | null {
  const bytes = Buffer.byteLength(value);
  if (bytes < secretBytesMin || bytes > secretBytesMax)
    return `has ${bytes} bytes; it needs ${secretBytesMin} to ${secretBytesMax}`;
  return /[\0\p{Surrogate}]/u.test(value) ? 'holds a character that is no text' : null;
}

export function secretValue(value: string): string {
  const fault = valueFault(value);
  if (fault === null) return value;
  throw invalid('value', `value: it ${fault}. Example: the key as the service showed it, without quotes.`);
}

/** Hosts as EGRESS_ALLOW writes them. */
export function secretHosts(hosts: readonly string[]): readonly string[] {
  const unread = hosts.find((host) => readHostRule(host) === null);
  if (unread !== undefined)
    throw invalid(
      'hosts',
      `hosts: ${unread.slice(0, 60)} is no host, host:port, *.suffix, address or range. Example: ${hostRulesExample}`,
    );
  if (hosts.length > secretHostsMax) throw invalid('hosts', `hosts: there are at most ${secretHostsMax} of them.`);
  return [...new Set(hosts.map((host) => host.trim().toLowerCase()))];
}

/** Addresses of chats of Telegram, such as -1001234567890. */
export function secretChats(addresses: readonly string[]): readonly string[] {
  const unread = addresses.find((address) => !/^-?[1-9]\d{0,15}$/.test(address));
  if (unread === undefined) return [...new Set(addresses)];
  throw invalid('chats', `chats: ${unread.slice(0, 60)} is no number of a chat. Example: -1001234567890`);
}

/** One of the operator, as far as it decides who may use it and where it may go. */
export interface OperatorRules {
  readonly hosts: readonly string[];
  readonly chats: readonly string[];
}

/** A secret of the environment. */
export interface OperatorSecret extends OperatorRules {
  readonly name: string;
  readonly value: string;
}

/** A run that wants it. */
export interface Wanting {
  readonly ownerId: Actor;
  /** The owner of its task is one of the bot. */
  readonly isOwner: boolean;
  /** All addresses that its chat ever had. */
  readonly addresses: readonly string[];
}

/** Owners of the bot may use all secrets of the operator, and so may chats that the operator has named. */
export function mayUse(rules: OperatorRules, { ownerId, isOwner, addresses }: Wanting): boolean {
  return isOwner || ownerId === apiPrincipal || isForChat(rules, addresses);
}

/** The operator has let everybody use it there. */
export function isForChat({ chats }: OperatorRules, addresses: Wanting['addresses']): boolean {
  return addresses.some((address) => chats.includes(address));
}

/** The host is one of those that were named for it. `host` is written as in URLs. */
export function isAmong(rules: readonly string[], host: string): boolean {
  const ports = portsOf(host);
  const name = nameOf(host);
  const ip = readIp(name);
  return rules
    .flatMap((rule) => readHostRule(rule) ?? [])
    .some((rule) => ports.some((port) => ruleMatches(rule, { host: name, ip, port })));
}

/**
 * Where nobody has named hosts, the grant does: each by its whole name. A scope for many hosts was given for what a template
 * or a model chooses, and that must not choose where a secret of the operator goes.
 */
export function isGranted(scopes: readonly string[], host: string): boolean {
  const whole = scopes.filter((scope) => !scope.endsWith('*'));
  return [host, nameOf(host)].some((name) => allows(whole, `host:${name}`));
}

function nameOf(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1');
}

/** An address without a port has that of its protocol, which is one of two. */
function portsOf(host: string): readonly number[] {
  const [, port] = /:(\d+)$/.exec(host) ?? [];
  return port === undefined ? [443, 80] : [Number(port)];
}

/** A key of 32 bytes, as 64 hex digits or in base64; null for anything else. */
export function keyBytes(text: string): Buffer | null {
  const written = text.trim();
  if (/^[\da-f]{64}$/i.test(written)) return Buffer.from(written, 'hex');
  if (!/^[\w+/-]{43}=?$/.test(written)) return null;
  const bytes = Buffer.from(written, 'base64');
  return bytes.length === 32 ? bytes : null;
}
