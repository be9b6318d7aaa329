import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { signatures } from '../../src/system/signature.ts';

const now = Date.parse('2026-11-18T09:00:00.400Z');
const t = Math.floor(now / 1000);
const signed = { body: '{"a":1}', secrets: ['new secret'], now, toleranceMs: 300_000 };
const hex = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

describe('a signature', () => {
  it('is the HMAC of the time and the body, as anybody can compute it', () => {
    const header = signatures.sign(signed.body, ['new secret'], now);
    expect(header).toBe(`t=${t},v1=${hex('new secret', `${t}.{"a":1}`)}`);
    expect(signatures.verify(header, signed)).toBe('valid');
  });

  it('is made with both secrets while one is replaced, and taken by whoever knows either', () => {
    const header = signatures.sign(signed.body, ['new secret', 'old secret'], now);
    expect(header.match(/v1=/g)).toHaveLength(2);
    for (const secrets of [['new secret'], ['old secret'], ['third', 'old secret']])
      expect(signatures.verify(header, { ...signed, secrets })).toBe('valid');
  });

  it('is not taken for another body, another secret, another time or no secret at all', () => {
    const header = signatures.sign(signed.body, ['new secret'], now);
    expect(signatures.verify(header, { ...signed, body: '{"a":2}' })).toBe('wrong');
    expect(signatures.verify(header, { ...signed, secrets: ['other'] })).toBe('wrong');
    expect(signatures.verify(header, { ...signed, secrets: [] })).toBe('wrong');
    expect(signatures.verify(header.replace(`t=${t}`, `t=${t + 1}`), signed)).toBe('wrong');
  });

  it('is stale outside of the tolerance, to either side', () => {
    const header = signatures.sign(signed.body, ['new secret'], now);
    const at = (ms: number) => signatures.verify(header, { ...signed, now: t * 1000 + ms });
    expect([at(300_000), at(-300_000), at(300_001), at(-300_001)]).toEqual(['valid', 'valid', 'stale', 'stale']);
  });

  it('is refused in any other form', () => {
    const v1 = hex('new secret', `${t}.{"a":1}`);
    for (const header of [
      '',
      `v1=${v1}`,
      `t=${t}`,
      `t=${t},t=${t},v1=${v1}`,
      `t=x,v1=${v1}`,
      `t=${t},v1=${v1.slice(1)}`,
    ])
      expect(signatures.verify(header, signed)).toBe('malformed');
    // Further schemes and spaces around commas are no fault.
    expect(signatures.verify(`t=${t}, v0=abc, v1=${v1.toUpperCase()}`, signed)).toBe('valid');
  });
});
