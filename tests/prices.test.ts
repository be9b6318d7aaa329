import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readPrices } from '../src/config/prices.ts';
import { millionths, priceOf } from '../src/domain/spending/prices.ts';
import { aFolder } from './support/place.ts';

function pricesIn(text: string) {
  const file = join(aFolder(), 'prices.yaml');
  writeFileSync(file, text);
  return readPrices(file);
}

function tableIn(text: string) {
  const table = pricesIn(text);
  if (typeof table === 'string') throw new Error(table);
  return table;
}

const hosts = `currency: EUR
hosts:
  localhost: 0.001
  api.example.com: 0.002
  api.example.com:8443: 0.003
  "*.example.com": 0.004
  "*.example.com:9000": 0.005
  "*.deep.example.com": 0.006
  президент.рф: 0.007
  "[::1]": 0.008
  10.1.0.1: 0.009
`;

it.each([
  ['localhost', 1000],
  ['localhost:18791', 1000],
  ['LOCALHOST:18791', 1000],
  ['api.example.com', 2000],
  ['api.example.com:9000', 2000],
  ['api.example.com:8443', 3000],
  ['other.example.com:8443', 4000],
  ['other.example.com:9000', 5000],
  ['a.deep.example.com:9000', 6000],
  ['xn--d1abbgf6aiiy.xn--p1ai:81', 7000],
  ['[::1]:8080', 8000],
  ['10.1.0.1:8080', 9000],
  ['example.com', null],
  ['localhost.evil.test', null],
  ['', null],
])('a price of a host without a port is that of all its ports, and the nearest name counts: %s', (source, price) => {
  expect(priceOf(tableIn(hosts), { kind: 'requests', quantity: 1, source })).toBe(price);
});

it('a price of * is that of whatever has no other', () => {
  const table = tableIn('currency: EUR\nhosts: { "*": 0.01, "localhost": 0 }');
  expect(priceOf(table, { kind: 'requests', quantity: 3, source: 'a.b.test:81' })).toBe(30_000);
  expect(priceOf(table, { kind: 'requests', quantity: 3, source: 'localhost:81' })).toBe(0);
  expect(priceOf(table, { kind: 'bytes', quantity: 3, source: 'a.b.test' })).toBeNull();
});

it('a million tokens have the price of the model, and less of them is rounded up', () => {
  const table = tableIn('currency: USD\nversion: 7\nmodels: { some-model: { in: 1.25, out: 10 } }');
  expect(table).toMatchObject({ currency: 'USD', version: '7' });
  expect(priceOf(table, { kind: 'tokens', quantity: 1_000_000, source: 'some-model in' })).toBe(1_250_000);
  expect(priceOf(table, { kind: 'tokens', quantity: 1, source: 'some-model out' })).toBe(10);
  expect(priceOf(table, { kind: 'tokens', quantity: 1, source: 'other out' })).toBeNull();
});

it.each([
  ['hosts:\n  a.b: 1', 'says no currency'],
  ['currency: EURO', 'says no currency'],
  ['currency: EUR\nprices: 1', 'names prices, which is none of version, currency, hosts, models, line 2'],
  ['currency: EUR\nhosts:\n  http://a.b: 1', 'names http://a.b, which is no host such as api.example.com'],
  ['currency: EUR\nhosts:\n  "a b": 1', 'names a b, which is no host such as api.example.com'],
  ['currency: EUR\nhosts:\n  "a.*": 1', 'names a.*, which is no host such as api.example.com'],
  ['currency: EUR\nhosts:\n  "a:99999": 1', 'names a:99999, which is no host such as api.example.com'],
  ['currency: EUR\nhosts:\n  "*.a.b:443": 1', 'names *.a.b:443; write *.a.b, which stands for every port, line 3'],
  ['currency: EUR\nhosts:\n  a.b: 1\n  A.b: 2', 'names a.b twice, line 4'],
  [
    'currency: EUR\nhosts:\n  a.b: -1',
    'has a price of a.b that is no amount from 0 on, with at most 6 decimals, line 3',
  ],
  ['currency: EUR\nhosts:\n  a.b: 0.0000001', 'has a price of a.b that is no amount'],
  ['currency: EUR\nhosts:\n  a.b: 1.0000001', 'has a price of a.b that is no amount'],
  ['currency: EUR\nhosts: [a.b]', 'has hosts that are no list of names with prices'],
  ['currency: EUR\nmodels: { m: { inn: 1 } }', 'names inn for m, where in and out are known'],
  ['currency: EUR\nmodels: { m: 1 }', 'has no prices in and out for m'],
  ['currency: [', 'is no YAML, line 1'],
  ['', 'holds no currency and no prices'],
])('a file of prices says what is wrong with it, and where: %s', (text, problem) => {
  expect(pricesIn(text)).toContain(problem);
});

it('a file of prices that is not there says so', () => {
  expect(readPrices(join(aFolder(), 'none.yaml'))).toBe('cannot be read (ENOENT): it is the path of a YAML file');
});

it('counts amounts with 6 decimals exactly, however large, and none with more', () => {
  for (const [amount, whole] of [
    [0.1, 100_000],
    [1.1, 1_100_000],
    [4.35, 4_350_000],
    [1234.567891, 1_234_567_891],
    [999_999.999999, 999_999_999_999],
    [1.0000001, null],
    [12.3456789, null],
  ] as const)
    expect(millionths(amount), String(amount)).toBe(whole);
});
