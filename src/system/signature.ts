import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Signatures, Signed } from '../app/ports/credentials.ts';

/** Secrets and signatures that are looked at; a rotation needs two. */
const signaturesMax = 5;

/**
 * The signature of everything that leaves or comes in signed, over the time and the body as it stands on the wire:
 *
 *     X-Schedule-Signature: t=1794992400,v1=<hex of HMAC-SHA256 of "1794992400." + body>
 *
 * The time is signed too, so that a call that was overheard cannot be sent again later. While a secret is replaced there is a `v1` of each:
 * the receiver takes either, so both sides may change to the new one in their own time. Schemes that come later get a name of their own,
 * and whoever reads does not stumble over them.
 */
export const signatures: Signatures = {
  sign: (body, secrets, at) => {
    const t = Math.floor(at / 1000);
    return [`t=${t}`, ...secrets.map((secret) => `v1=${digest(secret, t, body).toString('hex')}`)].join(',');
  },
  verify: (header, { body, secrets, now, toleranceMs }: Signed) => {
    const parts = header.split(',').map((part) => part.trim());
    const [time, ...more] = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? []);
    const given = parts.flatMap((part) => /^v1=([\da-f]{64})$/i.exec(part)?.[1] ?? []).slice(0, signaturesMax);
    if (time === undefined || more.length > 0 || given.length === 0) return 'malformed';
    const t = Number(time);
    // All are compared, so that the time this takes says nothing of which one was right.
    const found = secrets.map((secret) => {
      const own = digest(secret, t, body);
      return given.map((hex) => timingSafeEqual(own, Buffer.from(hex, 'hex'))).includes(true);
    });
    if (!found.includes(true)) return 'wrong';
    return Math.abs(now - t * 1000) <= toleranceMs ? 'valid' : 'stale';
  },
};

function digest(secret: string, t: number, body: string): Buffer {
  return createHmac('sha256', secret).update(`${t}.${body}`).digest();
}
