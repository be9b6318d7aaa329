import { describe, expect, it } from 'vitest';
import { apiOperator } from '../../src/app/use-cases/tokens.ts';
import { createBucket, guessesMax } from '../../src/http/token.ts';
import { manualTime, hour } from '../support/fakes.ts';
import { aDoor } from './door.ts';
import { tokenRoom } from './token-room.ts';

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
    expect(bucket.take().waitMs).toBeCloseTo(50);
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
    expect(bucket.take().waitMs).toBe(1000);
    time.setWall(0);
    expect(bucket.take().waitMs).toBe(1000);
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

  it('of one token leave those of another as they are', async () => {
    const judge = async (text: string) =>
      ({ is: 'holds', principal: { ...apiOperator, actor: `api:token:${text}` } }) as const;
    const door = aDoor({}, { stopwatch: manualTime(0), apiRate: 1, tokens: { ...tokenRoom, judge } });
    const statuses = async (token: string) => {
      const ask = () => door.ask('GET', '/v1/tasks/task-1', undefined, { authorization: `Bearer ${token}` });
      return [(await ask()).status, (await ask()).status, (await ask()).status];
    };
    expect([await statuses('one'), await statuses('two')]).toEqual([
      [200, 200, 429],
      [200, 200, 429],
    ]);
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

describe('wrong tokens', () => {
  it('are refused past a rate, whoever sends them, and the right one never is', async () => {
    const time = manualTime(0);
    const door = aDoor({}, { stopwatch: time });
    const ask = (authorization: string) => door.ask('GET', '/v1/tasks/task-1', undefined, { authorization });
    for (let guess = 0; guess < guessesMax; guess += 1) {
      expect((await ask('Bearer not-the-token')).json.error.code).toBe('unauthorized');
    }
    const { status, json, headers } = await ask('Bearer not-the-token');
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
    expect((await door.ask('GET', '/v1/tasks/task-1')).status).toBe(200);
    // A request without a token has not guessed.
    expect((await ask('')).status).toBe(401);
    await time.advance(60_000 / guessesMax);
    expect((await ask('Bearer not-the-token')).status).toBe(401);
    expect((await ask('Bearer not-the-token')).status).toBe(429);
  });
});
