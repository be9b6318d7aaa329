import { http, HttpResponse } from 'msw';
import { expect, it } from 'vitest';
import { aRequest } from '../support/outbound.ts';
import { thirdParties } from '../support/third-parties.ts';

const hosts = ['api.example.com', 'login.example.org'];

const handlers = [
  http.get('https://api.example.com/price', ({ request }) =>
    HttpResponse.json({ of: new URL(request.url).searchParams.get('of'), cents: 420 }),
  ),
  http.post('https://login.example.org/token', async ({ request }) => {
    const form = new URLSearchParams(await request.text());
    return form.get('grant_type') === 'client_credentials'
      ? HttpResponse.json({ access_token: 'abc', expires_in: 60 })
      : new HttpResponse('unsupported_grant_type', { status: 400 });
  }),
  http.get(
    'http://api.example.com/moved',
    () => new HttpResponse(null, { status: 308, headers: { location: '/here' } }),
  ),
  http.get('http://api.example.com/here', () => HttpResponse.text('here')),
  http.get('http://api.example.com/broken', () => HttpResponse.error()),
];

it('meets third parties at the addresses that they have, over TLS', async () => {
  const { outbound, at } = await thirdParties({ hosts, handlers });
  const price = await outbound.fetch(at('https://api.example.com/price?of=tea'));
  expect(await price.json()).toEqual({ of: 'tea', cents: 420 });
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  const token = await outbound.fetch(at('https://login.example.org/token'), { method: 'POST', body });
  expect(await token.json()).toEqual({ access_token: 'abc', expires_in: 60 });
});

it('meets their redirects, their faults and what they do not know', async () => {
  const { outbound, at } = await thirdParties({ hosts, handlers });
  const call = (url: string) => outbound.call(aRequest(at(url)));
  expect(await call('http://api.example.com/moved')).toMatchObject({
    status: 200,
    url: at('http://api.example.com/here'),
  });
  expect(await call('http://api.example.com/broken')).toMatchObject({ is: 'failed', type: 'NETWORK' });
  expect(await call('https://api.example.com/nothing')).toMatchObject({ status: 501 });
  expect(await call('https://other.example.com/')).toMatchObject({ is: 'refused' });
});
