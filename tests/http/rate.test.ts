import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/domain/errors.ts';
import { addressesMax, callerOf, createBucket, createGuesses, guessesMax } from '../../src/http/token.ts';
import { manualTime } from '../support/fakes.ts';
import { aDoor, bearer, told, type Door } from './door.ts';

const minute = 60_000;
const hour = 60 * minute;

describe('a bucket', () => {
  it('gives a burst, and then as much as has come in', async () => {
    const time = manualTime(0);
    const bucket = createBucket({ perSecond: 10, burst: 3 }, time);
    expect([1, 2, 3, 4].map(() => bucket.take())).toEqual([
      { waitMs: 0, left: 2 },
      { waitMs: 0, left: 1 },
      { waitMs: 0, left: 0 },
      { waitMs: 100, left: 0 },
    ]);
    await time.advance(50);
    expect(bucket.waitMs()).toBeCloseTo(50);
    await time.advance(50);
    expect(bucket.take().waitMs).toBe(0);
    await time.advance(hour);
    expect(bucket.take()).toEqual({ waitMs: 0, left: 2 });
  });

  it('goes by the clock that nobody sets', async () => {
    const time = manualTime(hour);
    const bucket = createBucket({ perSecond: 1, burst: 1 }, time);
    bucket.take();
    time.setWall(5 * hour);
    expect(bucket.waitMs()).toBe(1000);
    time.setWall(0);
    expect(bucket.waitMs()).toBe(1000);
  });
});

describe('requests', () => {
  it('are answered at the rate that is set, and refused beyond it', async () => {
    const time = manualTime(0);
    const door = aDoor({}, { stopwatch: time, apiRate: 5 });
    const ask = () => door.ask('GET', '/v1/tasks/task-1');
    for (let asked = 0; asked < 10; asked += 1) {
      const { status, headers } = await ask();
      expect(status).toBe(200);
      expect(['limit', 'remaining', 'reset'].map((name) => headers.get(`ratelimit-${name}`))).toEqual([
        '10',
        String(9 - asked),
        String(Math.ceil((asked + 1) / 5)),
      ]);
    }
    const { status, json, headers } = await ask();
    expect([
      status,
      json.error.code,
      json.error.details,
      headers.get('retry-after'),
      headers.get('ratelimit-remaining'),
    ]).toEqual([429, 'rate_limited', { retry_after_seconds: 1 }, '1', '0']);
    // Whether the server is well, and how it is asked, does not depend on how much it is asked.
    for (const open of ['/livez', '/readyz', '/healthz', '/version', '/openapi.json', '/docs']) {
      expect((await door.app.request(open)).status, open).toBe(200);
    }
    await time.advance(200);
    expect((await ask()).status).toBe(200);
    expect((await ask()).status).toBe(429);
  });

  it('are not counted where no rate is set', async () => {
    const door = aDoor({}, { apiRate: 0 });
    for (let asked = 0; asked < 50; asked += 1) {
      const { status, headers } = await door.ask('GET', '/v1/tasks/task-1');
      expect([status, headers.get('ratelimit-limit')]).toEqual([200, null]);
    }
  });

  it('without the token cost those who have it nothing', async () => {
    const door = aDoor({}, { stopwatch: manualTime(0), apiRate: 1 });
    for (let asked = 0; asked < 5; asked += 1) await door.app.request('/v1/tasks/task-1');
    expect((await door.ask('GET', '/v1/tasks/task-1')).status).toBe(200);
  });
});

/** A request over a connection from this address. */
async function from(door: Door, remoteAddress: string, headers: Readonly<Record<string, string>>) {
  const env = { incoming: { socket: { remoteAddress } } };
  return told(await door.app.request('/v1/tasks/task-1', { headers }, env));
}

const wrong = { authorization: 'Bearer not-the-token' };

describe('wrong tokens', () => {
  it('are refused from an address that has sent too many, before they are looked at', async () => {
    const time = manualTime(0);
    const door = aDoor({}, { stopwatch: time });
    for (let guess = 0; guess < guessesMax; guess += 1) {
      expect((await from(door, '127.0.0.1', wrong)).json.error.code).toBe('unauthorized');
    }
    const { status, json, headers } = await from(door, '127.0.0.1', wrong);
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
    // A guess that happens to be right must not be told from the others.
    expect((await from(door, '127.0.0.1', bearer)).status).toBe(429);
    expect((await from(door, '::ffff:127.0.0.1', bearer)).status).toBe(429);
    expect((await from(door, '10.0.0.1', bearer)).status).toBe(200);
    // Whoever sends no token at all has not guessed.
    expect((await from(door, '127.0.0.1', {})).status).toBe(401);
    await time.advance(60_000 / guessesMax);
    expect((await from(door, '127.0.0.1', wrong)).status).toBe(401);
    expect((await from(door, '127.0.0.1', wrong)).status).toBe(429);
    await time.advance(60_000 / guessesMax);
    expect((await from(door, '127.0.0.1', bearer)).status).toBe(200);
  });

  it('do not lock out who has shown the right one from there within the hour', async () => {
    const time = manualTime(0);
    const door = aDoor({}, { stopwatch: time });
    expect((await from(door, '127.0.0.1', bearer)).status).toBe(200);
    for (let guess = 0; guess < guessesMax + 5; guess += 1) await from(door, '127.0.0.1', wrong);
    expect((await from(door, '127.0.0.1', wrong)).status).toBe(429);
    expect((await from(door, '127.0.0.1', bearer)).status).toBe(200);
    await time.advance(hour);
    for (let guess = 0; guess < guessesMax + 5; guess += 1) await from(door, '127.0.0.1', wrong);
    expect((await from(door, '127.0.0.1', bearer)).status).toBe(429);
  });

  it('are remembered for so many addresses and no more', () => {
    const guesses = createGuesses(manualTime(0));
    const refused = (address: string) => {
      try {
        guesses.wrong(address);
        return false;
      } catch (error) {
        return error instanceof AppError && error.code === 'rate_limited';
      }
    };
    for (let guess = 0; guess < guessesMax; guess += 1) refused('10.0.0.1');
    for (let address = 0; address < addressesMax - 1; address += 1) refused(`other-${address}`);
    expect(refused('10.0.0.1')).toBe(true);
    for (let address = 0; address < addressesMax; address += 1) refused(`another-${address}`);
    expect(refused('10.0.0.1')).toBe(false);
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::1', '0:0:0:0'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    [undefined, 'here'],
  ])('from %s are those of %s', (address, caller) => {
    expect(callerOf(address)).toBe(caller);
  });
});
