/** An IP address as the number that it is. */
export interface IpAddress {
  readonly bits: bigint;
  readonly width: 32 | 128;
}

/** All addresses that begin with the same `prefix` bits. */
export interface IpRange extends IpAddress {
  readonly prefix: number;
}

/** The plain form of each family alone, as URLs, resolvers and sockets write it; null for anything else. */
export function readIp(text: string): IpAddress | null {
  if (text.includes(':')) return readIp6(text);
  const bits = readIp4(text);
  return bits === null ? null : { bits, width: 32 };
}

function readIp4(text: string): bigint | null {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (parts === undefined || parts.some((part) => part > 255)) return null;
  return BigInt(parts.reduce((bits, part) => bits * 256 + part, 0));
}

const groups6 = 8;

function readIp6(text: string): IpAddress | null {
  // A socket names its interface behind the address.
  const [plain = ''] = text.split('%', 1);
  const halves = withoutDots(plain)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')));
  const [head = [], rest = []] = halves;
  const left = groups6 - head.length - rest.length;
  if (halves.length > 2 || (halves.length === 2 ? left < 1 : left !== 0)) return null;
  const groups = [...head, ...Array.from({ length: left }, () => '0'), ...rest];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return null;
  return { bits: BigInt(`0x${groups.map((group) => group.padStart(4, '0')).join('')}`), width: 128 };
}

/** The last two groups may be written as an IPv4 address. */
function withoutDots(text: string): string {
  const [, front = '', last = ''] = /^(.*:)(\d[\d.]*\.[\d.]*)$/.exec(text) ?? [];
  const tail = readIp4(last);
  return tail === null ? text : `${front}${(tail >> 16n).toString(16)}:${(tail & 0xffffn).toString(16)}`;
}

/** `10.0.0.0/8`, or one address, which is a range by itself. */
export function readRange(text: string): IpRange | null {
  const [, address = '', size] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const ip = readIp(address);
  const prefix = size === undefined ? ip?.width : Number(size);
  if (ip === null || prefix === undefined || prefix > ip.width) return null;
  return { ...ip, prefix };
}

export function isWithin({ bits, width }: IpAddress, range: IpRange): boolean {
  if (width !== range.width) return false;
  const rest = BigInt(width - range.prefix);
  return bits >> rest === range.bits >> rest;
}

/** A kind of address that is not on the public internet, with its name for people. */
export interface Closed {
  readonly kind: 'metadata' | 'own' | 'loopback' | 'other';
  readonly name: string;
}

/** Where machines of a cloud ask for their credentials. One of them stands among public addresses. */
const metadata = [
  '169.254.169.254',
  '169.254.169.253',
  '169.254.170.2',
  '169.254.170.23',
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd00:ec2::253',
  'fd00:ec2::23',
  'fd20:ce::254',
];

/** The special-purpose registries of IANA: the first that holds an address names it. */
const special: readonly (readonly [string, readonly string[]])[] = [
  ['a private address', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10']],
  ['a link-local address', ['169.254.0.0/16', 'fe80::/10']],
  ['an address of a shared network (carrier-grade NAT)', ['100.64.0.0/10']],
  ['a broadcast address', ['255.255.255.255']],
  ['a multicast address', ['224.0.0.0/4', 'ff00::/8']],
  ['an address of documentation', ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20']],
  ['an address of benchmarks', ['198.18.0.0/15', '2001:2::/48']],
  ['an unspecified address', ['0.0.0.0/8', '::']],
  ['an IPv4 address inside of IPv6', ['::ffff:0:0/96', '::ffff:0:0:0/96', '::/96']],
  ['an address of NAT64', ['64:ff9b::/96', '64:ff9b:1::/48']],
  ['an address of 6to4', ['2002::/16', '192.88.99.0/24']],
  ['an address of Teredo', ['2001::/32']],
  ['a reserved address', ['192.0.0.0/24', '240.0.0.0/4', '2001::/23']],
];

const ranged = (texts: readonly string[]): readonly IpRange[] =>
  texts.flatMap((text) => {
    const range = readRange(text);
    return range === null ? [] : [range];
  });

const metadataRanges = ranged(metadata);
const loopbackRanges = ranged(['127.0.0.0/8', '::1']);
const specialRanges = special.map(([name, texts]) => ({ name, ranges: ranged(texts) }));
/** IPv6 is given out from here alone. */
const public6 = ranged(['2000::/3']);

/** Null for an address of the public internet. */
export function closedIp(ip: IpAddress): Closed | null {
  const isIn = (ranges: readonly IpRange[]) => ranges.some((range) => isWithin(ip, range));
  if (isIn(metadataRanges)) return { kind: 'metadata', name: 'an address where clouds keep credentials' };
  if (isIn(loopbackRanges)) return { kind: 'loopback', name: 'a loopback address' };
  const found = specialRanges.find(({ ranges }) => isIn(ranges));
  if (found !== undefined) return { kind: 'other', name: found.name };
  const isReserved = ip.width === 128 && !isIn(public6);
  return isReserved ? { kind: 'other', name: 'a reserved address' } : null;
}
