import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Signatures, Signed } from '../app/ports/credentials.ts';

/** Secrets and signatures that are looked at; a rotation needs two. */
const signaturesMax = 5;

/**
 * The signature of everything that leaves or comes in signed: `t=<unix seconds>,v1=<hex>`, an HMAC-SHA256 over `<t>.<body>`. The
 * time is signed too, so that a call that was overheard cannot be sent again later.
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
