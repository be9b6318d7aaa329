import { createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

/** A certificate with its key, as PEM. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
}

export interface Authority {
  readonly ca: string;
  issue(names: readonly string[]): Certified;
}

/** An authority of a test's own, written by hand because Node reads certificates and makes none. */
export function anAuthority(): Authority {
  const key = newKey();
  const ca = certificate({ subject: 'Test authority', key, issuer: 'Test authority', issuerKey: key, names: null });
  return {
    ca,
    issue: (names) => {
      const own = newKey();
      const cert = certificate({ subject: 'Test server', key: own, issuer: 'Test authority', issuerKey: key, names });
      return { cert, key: own.export({ type: 'pkcs8', format: 'pem' }).toString() };
    },
  };
}

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

interface Wish {
  readonly subject: string;
  readonly key: KeyObject;
  readonly issuer: string;
  readonly issuerKey: KeyObject;
  /** Null for an authority. */
  readonly names: readonly string[] | null;
}

let serial = 0;

function certificate({ subject, key, issuer, issuerKey, names }: Wish): string {
  const signedBy = sequence(oid([42, 134, 72, 206, 61, 4, 3, 2]));
  const body = sequence(
    tagged(0xa0, integer(2)),
    integer((serial += 1)),
    signedBy,
    nameOf(issuer),
    sequence(tagged(0x18, Buffer.from('20000101000000Z')), tagged(0x18, Buffer.from('21000101000000Z'))),
    nameOf(subject),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(names === null ? ofAuthority : ofServer(names))),
  );
  const signature = tagged(0x03, Buffer.from([0]), sign('sha256', body, issuerKey));
  const lines =
    sequence(body, signedBy, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]) => tagged(0x30, ...parts);
const integer = (value: number) => tagged(0x02, Buffer.from([value]));
const oid = (bytes: readonly number[]) => tagged(0x06, Buffer.from(bytes));
const nameOf = (name: string) => sequence(tagged(0x31, sequence(oid([85, 4, 3]), tagged(0x0c, Buffer.from(name)))));

const yes = tagged(0x01, Buffer.from([255]));
const ofAuthority = sequence(oid([85, 29, 19]), yes, tagged(0x04, sequence(yes)));
const ofServer = (names: readonly string[]) =>
  sequence(oid([85, 29, 17]), tagged(0x04, sequence(...names.map(alternative))));

function alternative(name: string): Buffer {
  if (isIP(name) === 4) return tagged(0x87, Buffer.from(name.split('.').map(Number)));
  return tagged(0x82, Buffer.from(name));
}
