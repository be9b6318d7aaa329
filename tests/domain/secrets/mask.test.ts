import { describe, expect, it } from 'vitest';
import { byteMasker, masker } from '../../../src/domain/secrets/mask.ts';

const value = 'tök/en+"1\\2"%41 &<z>';
const mask = masker([value]);

/** Every byte in its percent form. */
const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const units = (text: string) =>
  Array.from(
    { length: text.length },
    (_each, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
const html = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

describe('a mask', () => {
  it.each([
    ['as it stands', value],
    ['in an address', encodeURIComponent(value)],
    ['in an address, in small letters', encodeURIComponent(value).replaceAll(/%../g, (code) => code.toLowerCase())],
    ['in an address within an address', encodeURIComponent(encodeURIComponent(value))],
    ['in the body of a form', new URLSearchParams({ v: value }).toString().slice(2)],
    ['with each byte encoded', percent(value)],
    ['in JSON', JSON.stringify(value).slice(1, -1)],
    ['in JSON within JSON', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    ['in JSON with each unit encoded', units(value)],
    ['in JSON within an address', encodeURIComponent(JSON.stringify(value).slice(1, -1))],
    ['in an address within JSON', JSON.stringify(encodeURIComponent(value)).slice(1, -1)],
    ['in HTML', html(value)],
    ['in hex', Buffer.from(value).toString('hex')],
    ['in hex, in capitals', Buffer.from(value).toString('hex').toUpperCase()],
  ])('finds a value %s, and leaves what is around it', (_how, written) => {
    expect(mask(`before ${written} after, and ${written}.`)).toBe('before [secret] after, and [secret].');
  });

  const surroundings = ['', 'a', 'ab', 'abc', 'user:'].flatMap((before) =>
    ['', 'y', 'yz', '\n', ':rest of it'].map((after) => ({ before, after })),
  );

  it.each(surroundings)('finds a value between "$before" and "$after" in base64, for addresses as well', (around) => {
    const { before, after } = around;
    for (const form of ['base64', 'base64url'] as const) {
      const written = Buffer.from(`${before}${value}${after}`).toString(form);
      for (const text of [written, encodeURIComponent(written), JSON.stringify({ written })]) {
        const [word = '', ...others] = decodeURIComponent(mask(text)).match(/[\w+/=-]*\[secret\][\w+/=-]*/g) ?? [];
        expect(others).toEqual([]);
        // What is left tells at most what stood around it.
        const left = word.replace('[secret]', '').replaceAll('=', '');
        expect(left.length).toBeLessThanOrEqual(Math.ceil(((before + after).length * 4) / 3));
        expect(word).toContain('[secret]');
      }
    }
  });

  it('finds a sign of two units, and a value of the shortest length', () => {
    expect(masker(['😀ab'])('x \\ud83d\\ude00ab y')).toBe('x [secret] y');
    expect(masker(['k3y!'])('x azN5IQ== k3y! 6b337921')).toBe('x [secret]== [secret] [secret]');
  });

  it('finds each line of a key', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\n9w0BAQEFAASCBKcwggSj\n-----END PRIVATE KEY-----\n';
    const masked = masker([key])('line 2 is 9w0BAQEFAASCBKcwggSj, of a -----BEGIN PRIVATE KEY-----');
    expect(masked).toBe('line 2 is [secret], of a -----BEGIN PRIVATE KEY-----');
    expect(masker([key])(JSON.stringify({ key }))).toBe('{"key":"[secret]"}');
  });

  it('hides a value that holds another as a whole, and two that overlap', () => {
    expect(masker(['abcd', 'abcd-efgh'])('x abcd-efgh abcd')).toBe('x [secret] [secret]');
    expect(masker(['abcdef', 'defghi'])('x abcdefghi y')).toBe('x [secret] y');
  });

  it('leaves a text without a value as it is, lone surrogates included, and takes no value of less than four bytes', () => {
    const text = 'a %zz \\u12 \\q &nope; &#99999999; 100% \ud800';
    expect(mask(text)).toBe(text);
    expect(masker(['abc', ''])('abc')).toBe('abc');
  });

  it('leaves JSON that can be read, also where a value begins within an escape', () => {
    const text = masker(['nabc'])(JSON.stringify({ a: 'x\nabc', b: 'x\\nabc', c: 'nabc' }));
    expect(JSON.parse(text)).toEqual({ a: 'x[secret]', b: 'x\\[secret]', c: '[secret]' });
  });

  it('masks bytes that are no text', () => {
    const around = Buffer.from([0xff, 0x00, 0xfe]);
    const masked = byteMasker(['sësame'])(Buffer.concat([around, Buffer.from('sësame'), around]));
    expect(masked).toEqual(Buffer.concat([around, Buffer.from('[secret]'), around]));
    expect(byteMasker(['sësame'])(around)).toBe(around);
  });

  const hostile = [
    JSON.stringify(JSON.stringify({ path: 'C:\\dir\\"file"' })),
    '%252525',
    '\\u0041',
    '\\',
    '&',
    '&#x26;amp;amp;',
    'another secret,',
    'another%20secret,',
    `k-${'q'.repeat(3999)}!`,
    'q',
  ].map((piece) => piece.repeat(Math.ceil(262_144 / piece.length)));

  it.each(hostile)('goes through 256 kB of %.12s without holding up anybody', (text) => {
    const hide = byteMasker([
      value,
      'another secret',
      `k-${'q'.repeat(4000)}`,
      'q'.repeat(8000),
      `${'q'.repeat(7000)}!`,
    ]);
    const bytes = Buffer.from(text);
    const times = Array.from({ length: 8 }, () => {
      // The time of the processor, because others may have much to do on the same machine.
      const before = process.cpuUsage();
      hide(bytes);
      return process.cpuUsage(before).user / 1000;
    });
    // Some 5 ms; the rest is for slow machines.
    expect(Math.min(...times)).toBeLessThan(50);
  });

  it('reads escapes that stand for little as no value of their own', () => {
    expect(masker(['&#65;'])('A &#65; AA')).toBe('A [secret] AA');
  });
});
