import { describe, expect, it } from 'vitest';
import { closedIp, readIp, readRange } from '../../../src/domain/outbound/addresses.ts';
import { readHostRule } from '../../../src/domain/outbound/host-rules.ts';
import { closedAddress, type EgressRules, judgeTarget } from '../../../src/domain/outbound/targets.ts';

const rule = (text: string) => {
  const read = readHostRule(text);
  if (read === null) throw new Error(`no rule: ${text}`);
  return read;
};

function rules(allow: readonly string[] = [], own: readonly string[] = [], site: string | null = null): EgressRules {
  return {
    allow: allow.map(rule),
    isOwn: (ip) => own.some((text) => readIp(text)?.bits === ip.bits),
    site: () => site,
  };
}

const reasonOf = (url: string, given = rules(), narrowed: readonly string[] | null = null) => {
  const judged = judgeTarget(url, given, narrowed?.map(rule) ?? null);
  return judged.is === 'refused' ? judged.reason : 'open';
};

describe('an address of the public internet is open', () => {
  it.each([
    'https://api.example.com/price?of=tea#now',
    'HTTPS://API.Example.COM/',
    'http://8.8.8.8:8080/',
    'http://[2606:4700:4700::1111]/',
    'https://münchen.de/',
    'https://xn--mnchen-3ya.de/',
    'https://президент.рф/',
    'https://日本語ドメイン.jp/',
    'https://a_b.example.com/',
    'http://172.32.0.1/',
    'http://100.128.0.1/',
    'http://192.0.1.1/',
    'http://11.0.0.1/',
  ])('%s', (url) => {
    expect(reasonOf(url)).toBe('open');
  });

  it('and is told with its host as the wire writes it', () => {
    expect(judgeTarget('https://MÜNCHEN.de/a', rules())).toMatchObject({ is: 'open', host: 'xn--mnchen-3ya.de' });
  });
});

describe('what is no address of the public internet is refused, with its kind', () => {
  it.each([
    ['http://127.0.0.1/', 'a loopback address'],
    ['http://127.255.255.254/', 'a loopback address'],
    ['http://[::1]/', 'a loopback address'],
    ['http://10.0.0.1/', 'a private address'],
    ['http://172.16.0.1/', 'a private address'],
    ['http://172.31.255.255/', 'a private address'],
    ['http://192.168.1.1/', 'a private address'],
    ['http://[fd00::1]/', 'a private address'],
    ['http://[fc00::1]/', 'a private address'],
    ['http://[fec0::1]/', 'a private address'],
    ['http://169.254.1.1/', 'a link-local address'],
    ['http://[fe80::1]/', 'a link-local address'],
    ['http://100.64.0.1/', 'carrier-grade NAT'],
    ['http://255.255.255.255/', 'a broadcast address'],
    ['http://224.0.0.1/', 'a multicast address'],
    ['http://[ff02::1]/', 'a multicast address'],
    ['http://192.0.2.1/', 'documentation'],
    ['http://198.51.100.7/', 'documentation'],
    ['http://203.0.113.9/', 'documentation'],
    ['http://[2001:db8::1]/', 'documentation'],
    ['http://[3fff::1]/', 'documentation'],
    ['http://198.18.0.1/', 'benchmarks'],
    ['http://198.19.255.255/', 'benchmarks'],
    ['http://0.0.0.0/', 'an unspecified address'],
    ['http://[::]/', 'an unspecified address'],
    ['http://240.0.0.1/', 'a reserved address'],
    ['http://192.0.0.1/', 'a reserved address'],
    ['http://[4000::1]/', 'a reserved address'],
    ['http://169.254.169.254/latest/meta-data/', 'credentials'],
    ['http://168.63.129.16/', 'credentials'],
    ['http://100.100.100.200/', 'credentials'],
    ['http://[fd00:ec2::254]/', 'credentials'],
    ['http://[::ffff:127.0.0.1]/', 'inside of IPv6'],
    ['http://[::ffff:7f00:1]/', 'inside of IPv6'],
    ['http://[::127.0.0.1]/', 'inside of IPv6'],
    ['http://[::ffff:8.8.8.8]/', 'inside of IPv6'],
    ['http://[64:ff9b::7f00:1]/', 'NAT64'],
    ['http://[64:ff9b:1::10.0.0.1]/', 'NAT64'],
    ['http://[2002:7f00:1::]/', '6to4'],
    ['http://[2001:0:4136:e378::1]/', 'Teredo'],
    ['http://localhost:8787/', 'a name of an inner network'],
    ['http://a.localhost/', 'a name of an inner network'],
    ['http://printer.local/', 'a name of an inner network'],
    ['http://metadata.google.internal/computeMetadata/v1/', 'a name of an inner network'],
    ['http://router/', 'a name without a dot'],
  ])('%s is %s', (url, kind) => {
    expect(reasonOf(url)).toContain(kind);
    expect(reasonOf(url)).toContain('EGRESS_ALLOW');
  });

  it('among them every address of this computer', () => {
    expect(reasonOf('http://8.8.4.4/', rules([], ['8.8.4.4']))).toContain('an address of this server');
  });
});

describe('a form that only some readers know is refused', () => {
  it.each([
    ['http://2130706433/', 'odd form of 127.0.0.1'],
    ['http://0x7f.1/', 'odd form of 127.0.0.1'],
    ['http://0177.0.0.1/', 'odd form of 127.0.0.1'],
    ['http://127.1/', 'odd form of 127.0.0.1'],
    ['http://0x08080808/', 'odd form of 8.8.8.8'],
    ['http://134744072/', 'odd form of 8.8.8.8'],
    ['http://8.8.8.8./', 'odd form of 8.8.8.8'],
    ['http://１２７.0.0.1/', 'odd form of 127.0.0.1'],
    ['http://ⓔxample.com/', 'odd form of example.com'],
    ['http://example。com/', 'odd form of example.com'],
    ['http://example.com./', 'ends with a dot'],
    ['http://ada:secret@example.com/', 'user name or a password'],
    ['http://example.com@127.0.0.1/', 'user name or a password'],
    ['http://@example.com/', 'user name or a password'],
    ['http://%31%32%37.0.0.1/', 'percent signs'],
    ['http://[fe80::1%25eth0]/', 'cannot be read'],
    ['http://аpple.com/', 'several scripts'],
    ['http:\\\\127.0.0.1/', 'backslash'],
    ['http://127.0.0.1\\@example.com/', 'backslash'],
    ['http://exa\tmple.com/', 'cannot be seen'],
    ['http://exa\u200bmple.com/', 'cannot be seen'],
    [' http://example.com/', 'a space'],
    ['http:///example.com/', 'does not begin with'],
    ['http:example.com', 'does not begin with'],
    ['//example.com/', 'does not begin with'],
    ['file:///etc/passwd', 'does not begin with'],
    ['ftp://example.com/', 'does not begin with'],
    ['gopher://127.0.0.1:25/', 'does not begin with'],
    ['http://256.1.1.1/', 'cannot be read'],
    ['http://1.2.3.4.5/', 'cannot be read'],
    ['http://example.com:99999/', 'cannot be read'],
    ['http://-a.example.com/', 'no name'],
    [`http://${'a'.repeat(64)}.com/`, 'no name'],
    [`http://example.com/${'a'.repeat(9000)}`, 'characters'],
  ])('%s', (url, reason) => {
    expect(reasonOf(url)).toContain(reason);
  });
});

describe('EGRESS_ALLOW', () => {
  it.each([
    ['localhost', 'http://localhost:3000/'],
    ['localhost:3000', 'http://localhost:3000/'],
    ['nas', 'https://NAS/'],
    ['*.corp.example', 'http://wiki.corp.example/'],
    ['*.local', 'http://printer.local:631/'],
    ['10.0.0.5', 'http://10.0.0.5/'],
    ['10.0.0.5:8080', 'http://10.0.0.5:8080/'],
    ['10.0.0.0/8', 'http://10.9.8.7/'],
    ['[fd00::1]:80', 'http://[fd00::1]/'],
    ['fd00::/8', 'http://[fd00:1::2]/'],
    ['169.254.169.254', 'http://169.254.169.254/'],
    ['bücher.example', 'http://xn--bcher-kva.example/'],
  ])('%s opens %s', (allowed, url) => {
    expect(reasonOf(url, rules([allowed]))).toBe('open');
  });

  it.each([
    ['localhost:3000', 'http://localhost:3001/'],
    ['*.corp.example', 'http://localhost/'],
    ['10.0.0.5:8080', 'http://10.0.0.5/'],
    ['10.0.0.0/8', 'http://11.0.0.1.localhost/'],
    ['169.254.0.0/16', 'http://169.254.169.254/'],
    ['127.0.0.1', 'http://[::ffff:127.0.0.1]/'],
    ['127.0.0.1', 'http://2130706433/'],
  ])('%s does not open %s', (allowed, url) => {
    expect(reasonOf(url, rules([allowed]))).not.toBe('open');
  });

  it.each(['', '*', '*.', 'http://a.example', 'a b', 'a/b', '10.0.0.0/33', 'a:0', 'a:70000', 'a@b', '999.1.1.1'])(
    'does not take %j',
    (text) => {
      expect(readHostRule(text)).toBeNull();
    },
  );

  it('opens what an allowed name leads to, but for the credentials of clouds', () => {
    const given = rules(['*.corp.example']);
    const judged = (address: string, via: 'allowed' | 'public') => {
      const ip = readIp(address);
      if (ip === null) throw new Error(address);
      return closedAddress(ip, { port: 80, via }, given);
    };
    expect(judged('10.0.0.5', 'allowed')).toBeNull();
    expect(judged('10.0.0.5', 'public')).toBe('a private address');
    expect(judged('169.254.169.254', 'allowed')).toContain('credentials');
    expect(judged('8.8.8.8', 'public')).toBeNull();
  });
});

describe('a chat that narrows its tasks', () => {
  it('keeps them to its hosts', () => {
    expect(reasonOf('https://api.example.com/', rules(), ['*.example.com'])).toBe('open');
    expect(reasonOf('https://api.example.org/', rules(), ['*.example.com'])).toContain('this chat');
    expect(reasonOf('https://api.example.org/', rules(), [])).toContain('this chat');
  });

  it('opens nothing by that', () => {
    expect(reasonOf('http://10.0.0.5/', rules(), ['10.0.0.5'])).toContain('a private address');
  });
});

describe('the place of this server that tasks may reach', () => {
  const given = rules([], [], 'http://127.0.0.1:8787/sandbox/site');

  it.each([
    'http://127.0.0.1:8787/sandbox/site',
    'http://localhost:8787/sandbox/site/price',
    'http://[::1]:8787/sandbox/site/a?b',
  ])('is open at %s', (url) => {
    expect(reasonOf(url, given)).toBe('open');
  });

  it.each([
    'http://127.0.0.1:8787/v1/tasks',
    'http://127.0.0.1:8787/sandbox/siteless',
    'http://127.0.0.1:8787/sandbox/site/../control/say',
    'http://127.0.0.1:8787/sandbox/site/%2e%2e/control/say',
    'http://127.0.0.1:8788/sandbox/site',
    'https://127.0.0.1:8787/sandbox/site',
    'http://127.0.0.2:8787/sandbox/site',
  ])('is closed at %s', (url) => {
    expect(reasonOf(url, given)).not.toBe('open');
  });

  it('leads to loopback addresses alone', () => {
    const at = (address: string) =>
      closedAddress(readIp(address) ?? { bits: 0n, width: 32 }, { port: 1, via: 'site' }, given);
    expect(at('127.0.0.1')).toBeNull();
    expect(at('10.0.0.1')).toBe('a private address');
  });
});

describe('the reader of addresses', () => {
  it.each([
    ['1.2.3.4', 0x01020304n],
    ['::1', 1n],
    ['fe80::1%eth0', 0xfe80n * 2n ** 112n + 1n],
    ['::ffff:1.2.3.4', 0xffff01020304n],
    ['1:2:3:4:5:6:7:8', 0x00010002000300040005000600070008n],
    ['1::', 2n ** 112n],
  ])('reads %s', (text, bits) => {
    expect(readIp(text)?.bits).toBe(bits);
  });

  it.each(['', '1.2.3', '1.2.3.256', '1:2', '1::2::3', ':::', '1:2:3:4:5:6:7:8:9', 'g::1', '::1.2.3', '12345::'])(
    'refuses %j',
    (text) => {
      expect(readIp(text)).toBeNull();
    },
  );

  it('knows the ends of every range', () => {
    for (const [first, last, before, after] of [
      ['10.0.0.0', '10.255.255.255', '9.255.255.255', '11.0.0.0'],
      ['172.16.0.0', '172.31.255.255', '172.15.255.255', '172.32.0.0'],
      ['100.64.0.0', '100.127.255.255', '100.63.255.255', '100.128.0.0'],
      ['198.18.0.0', '198.19.255.255', '198.17.255.255', '198.20.0.0'],
    ] as const) {
      const isClosed = (text: string) => closedIp(readIp(text) ?? { bits: 0n, width: 32 }) !== null;
      expect([first, last, before, after].map(isClosed)).toEqual([true, true, false, false]);
    }
    expect(readRange('10.0.0.0/8')?.prefix).toBe(8);
    expect(readRange('10.0.0.0/x')).toBeNull();
  });
});
