/** Addresses that no task may reach, each of another kind or of another place. */
const closed4 = [
  '127.0.0.1',
  '127.255.255.254',
  '10.0.0.1',
  '10.255.255.254',
  '172.16.0.1',
  '172.31.255.254',
  '192.168.0.1',
  '192.168.1.254',
  '169.254.169.254',
  '169.254.170.2',
  '100.64.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '0.0.0.0',
  '192.0.0.192',
  '198.18.0.1',
  '192.0.2.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '93.184.215.99',
];

const closed6 = [
  '::1',
  '::',
  'fd00::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fdff:ffff::1',
  'fc00::1',
  'fe80::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '2001::1',
  '2001:10::1',
  '3fff::1',
  '100::1',
  '5f00::1',
  '4000::1',
];

const parts = (address: string) => address.split('.').map(Number);
const whole = (address: string) => parts(address).reduce((sum, part) => sum * 256 + part, 0);
const hexPair = (address: string) => {
  const [a = 0, b = 0, c = 0, d = 0] = parts(address);
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
};

/** Ways to write one address that some reader or other takes for it. */
const forms: readonly ((address: string) => string)[] = [
  (address) => address,
  (address) => String(whole(address)),
  (address) => `0x${whole(address).toString(16)}`,
  (address) => `0${whole(address).toString(8)}`,
  (address) =>
    parts(address)
      .map((part) => `0x${part.toString(16)}`)
      .join('.'),
  (address) =>
    parts(address)
      .map((part) => `0${part.toString(8)}`)
      .join('.'),
  (address) => `${parts(address)[0] ?? 0}.${whole(address) % 2 ** 24}`,
  (address) => `[::ffff:${address}]`,
  (address) => `[::ffff:${hexPair(address)}]`,
  (address) => `[::${address}]`,
  (address) => `[64:ff9b::${hexPair(address)}]`,
  (address) => `[64:ff9b:1::${hexPair(address)}]`,
  (address) => `[2002:${hexPair(address)}::1]`,
  (address) => `${address}.`,
  (address) => `example.com@${address}`,
  (address) => address.replace('.', '%2e'),
  (address) => address.replaceAll(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (address) => address.replaceAll('.', '\u3002'),
];

/** Names that lead where no task may go; the DNS of the namespace knows them. */
export const leadingNames: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(closed4.map((address) => [`v4-${address.replaceAll('.', '-')}.evil.example`, [address]])),
  ...Object.fromEntries(closed6.map((address) => [`v6-${address.replaceAll(':', 'x')}.evil.example`, [address]])),
  'mapped.evil.example': ['::ffff:127.0.0.1'],
  'nat64.evil.example': ['64:ff9b::a9fe:a9fe'],
  'first-good.evil.example': ['93.184.215.14', '10.0.0.1'],
  'last-good.evil.example': ['169.254.169.254', '93.184.215.14'],
  'both-families.evil.example': ['93.184.215.14', 'fd00::1'],
};

const innerNames = [
  'localhost',
  'a.localhost',
  'ip6-localhost',
  'metadata',
  'metadata.google.internal',
  'router.local',
];

const others = [
  'http://[fe80::1%25lo]/',
  'http://[fe80::1%lo]/',
  'http://127.1/',
  'http://127.0.1/',
  'http://0/',
  'http://①②⑦.⓪.⓪.①/',
  'http://127.0.0.1\\@example.com/',
  'http://example.com\\@127.0.0.1/',
  'http:\\\\127.0.0.1\\',
  'http:/127.0.0.1/',
  'http:127.0.0.1',
  '//127.0.0.1/',
  'http://127.0.0.1\t/',
  'http://127.0.0\n.1/',
  ' http://127.0.0.1/',
  'http://ⓛocalhost/',
  'http://loc\u00adalhost/',
  'http://LOCALHOST./',
  'gopher://127.0.0.1:80/_GET%20/',
  'file:///etc/passwd',
  'ftp://127.0.0.1/',
  'data:text/plain,hi',
  'unix:/var/run/docker.sock',
  'http://127.0.0.1:80@127.0.0.1:80/',
  'http://127.0.0.1:0/',
  'http://127.0.0.1:443/',
  'https://127.0.0.1/',
  'https://10.0.0.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[fd00::1]/',
  'http://169.254.169.254/latest/meta-data/iam/security-credentials/',
];

/** Every target of the corpus, and each must stay unreached. */
export function hostileTargets(): readonly string[] {
  return [
    ...closed4.flatMap((address) => forms.map((form) => `http://${form(address)}/`)),
    ...closed6.map((address) => `http://[${address}]/`),
    ...Object.keys(leadingNames).map((name) => `http://${name}/`),
    ...innerNames.map((name) => `http://${name}/`),
    ...others,
  ];
}
