import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { OutboundRequest } from '../../src/app/ports/outbound.ts';
import { minute, second } from '../support/fakes.ts';
import { anOutbound, aRequest } from '../support/outbound.ts';
import { servePages } from './control-server.ts';

/** The site, as requests of tasks see it: by the address that they may call, and no other of this computer. */
async function aSite() {
  const { port, time, ask } = await servePages();
  const site = `http://127.0.0.1:${port}/sandbox/site`;
  const outbound = anOutbound({ allow: [], site });
  const call = async (path: string, more: Partial<OutboundRequest> = {}) => {
    const end = await outbound.call(aRequest(`${site}${path}`, more));
    if (end.is !== 'answered') throw new Error(end.error);
    const body = Buffer.from(end.body);
    return { status: end.status, headers: end.headers, body, text: body.toString() };
  };
  const post = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    call(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  return { port, time, ask, outbound, call, post };
}

const statuses: Readonly<Record<string, number>> = { 'failing?status=503': 503, account: 401, 'member-price': 401 };

describe('the site of the sandbox', () => {
  it('lists its places, and each of them is there', async () => {
    const { call, time } = await aSite();
    for (const path of ['', '/']) {
      const { text, headers } = await call(path);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      const links = [...text.matchAll(/href="\/sandbox\/site\/([^"]+)"/g)].map(([, link = '']) => link);
      expect(links.length).toBeGreaterThan(6);
      for (const link of links.filter((each) => !each.startsWith('slow')))
        expect((await call(`/${link}`)).status, link).toBe(statuses[link] ?? 200);
    }
    const answer = call('/slow?seconds=5');
    while (time.untilTimer() === null) await time.yield();
    await time.advance(5 * second);
    expect((await answer).text).toBe('{"waited_seconds":5}');
  });

  it('has a page that changes each minute, and a price that changes every five', async () => {
    const { call, time } = await aSite();
    const cents = async () => (JSON.parse((await call('/price')).text) as { readonly cents: number }).cents;
    const [news, price] = [(await call('/news')).text, await cents()];
    await time.advance(minute);
    expect((await call('/news')).text).not.toBe(news);
    expect(await cents()).toBe(price);
    await time.advance(4 * minute);
    expect(await cents()).not.toBe(price);
  });

  it('has other news and another price an hour, a day and a week later', async () => {
    const { call, time } = await aSite();
    const seen = async () => [(await call('/news')).text, (await call('/price')).text.replace(/"at":"[^"]*"/, '')];
    const before = await seen();
    for (const ms of [60 * minute, 24 * 60 * minute, 7 * 24 * 60 * minute]) {
      await time.advance(ms);
      const after = await seen();
      expect(after.filter((text, index) => text === before[index])).toEqual([]);
    }
  });

  it('fails as it is asked to, and refuses what it does not know', async () => {
    const { call } = await aSite();
    expect(await call('/failing')).toMatchObject({ status: 503, headers: { 'retry-after': '2' } });
    expect(await call('/failing?status=404')).toMatchObject({ status: 404 });
    expect(await call('/failing?status=200')).toMatchObject({ status: 400 });
    expect(await call('/nothing')).toMatchObject({ status: 404 });
  });

  it('lets in who has logged in', async () => {
    const { call, post } = await aSite();
    expect(await call('/account')).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer' } });
    expect(await post('/login', { name: 'ada', password: 'guess' })).toMatchObject({ status: 401 });
    const { token } = JSON.parse((await post('/login', { name: 'ada', password: 'sesame' })).text) as { token: string };
    const { text } = await call('/account', { headers: { authorization: `Bearer ${token}` } });
    expect(JSON.parse(text)).toEqual({ name: 'Ada', points: 120 });
  });

  it('has an image and a file', async () => {
    const { call } = await aSite();
    const { body, headers } = await call('/picture');
    expect([headers['content-type'], body.subarray(1, 4).toString()]).toEqual(['image/png', 'PNG']);
    const [width, height] = [body.readUInt32BE(16), body.readUInt32BE(20)];
    const pixels = inflateSync(body.subarray(41, 41 + body.readUInt32BE(33)));
    expect(pixels.byteLength).toBe(height * (1 + 3 * width));
    const file = await call('/report.csv');
    expect(file.headers['content-disposition']).toContain('report.csv');
    expect(file.text.split('\n')).toHaveLength(9);
  });

  it('takes an order once for each key', async () => {
    const { call, post } = await aSite();
    const key = { 'idempotency-key': 'sched:7:1' };
    expect(await post('/orders', { tea: 2 }, key)).toMatchObject({ status: 201 });
    expect(await post('/orders', { tea: 2 }, key)).toMatchObject({ status: 200 });
    expect(await post('/orders', { tea: 2 })).toMatchObject({ status: 201 });
    expect(JSON.parse((await call('/orders')).text)).toEqual({
      orders: [
        { order: 1, key: 'sched:7:1', wish: { tea: 2 } },
        { order: 2, key: null, wish: { tea: 2 } },
      ],
    });
  });

  it('is all of this server that tasks reach', async () => {
    const { port, outbound } = await aSite();
    for (const path of [
      '/sandbox/control/state',
      '/sandbox',
      '/v1/tasks',
      '/sandbox/site/../control/state',
      '/sandbox/sites',
    ])
      expect(await outbound.call(aRequest(`http://127.0.0.1:${port}${path}`)), path).toMatchObject({ is: 'refused' });
  });

  it('keeps other computers and other sites out, as all of the sandbox does', async () => {
    const { ask } = await aSite();
    expect(await ask('GET', '/site/price', { headers: { host: 'evil.example' } })).toMatchObject({ status: 403 });
  });

  it('has a token server with refresh tokens that rotate, and a price for whoever holds a token', async () => {
    const { call, time } = await aSite();
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const client = { client_id: 'cronogram', client_secret: 'sesame' };
    const ask = async (more: Record<string, string>) => {
      const body = new URLSearchParams({ ...client, ...more }).toString();
      const { status, text } = await call('/token', { method: 'POST', body, headers: form });
      return { status, ...(JSON.parse(text) as { access_token?: string; refresh_token?: string; error?: string }) };
    };
    const price = async (token = '') =>
      (await call('/member-price', { headers: { authorization: `Bearer ${token}` } })).status;
    const { access_token: token } = await ask({ grant_type: 'client_credentials' });
    expect([await price(token), await price('other')]).toEqual([200, 401]);
    await time.advance(5 * minute);
    expect(await price(token)).toBe(401);
    const refresh = (refreshToken: string) => ask({ grant_type: 'refresh_token', refresh_token: refreshToken });
    expect(await refresh('sesame-refresh-0')).toMatchObject({ status: 200, refresh_token: 'sesame-refresh-1' });
    // Whoever lost the answer asks again with the token before, for a minute.
    expect(await refresh('sesame-refresh-0')).toMatchObject({ status: 200, refresh_token: 'sesame-refresh-1' });
    await time.advance(minute + 1);
    expect(await refresh('sesame-refresh-0')).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh('sesame-refresh-1')).toMatchObject({ status: 200, refresh_token: 'sesame-refresh-2' });
    expect(await ask({ client_secret: 'wrong', grant_type: 'client_credentials' })).toMatchObject({ status: 401 });
  });
});
