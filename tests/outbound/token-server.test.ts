import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { TokenAsk, TokenEnd } from '../../src/app/ports/credentials.ts';
import { createTokenServer } from '../../src/outbound/token-server.ts';
import { anOutbound } from '../support/outbound.ts';
import { aStub } from '../support/place.ts';

interface Asked {
  readonly authorization: string | undefined;
  readonly form: Readonly<Record<string, string>>;
}

type Reply = { status?: number; headers?: Record<string, string>; body: unknown } | 'drop';

async function aTokenServer(reply: (asked: Asked) => Reply, allow?: readonly string[]) {
  const asked: Asked[] = [];
  const listener: RequestListener = (incoming, outgoing) => {
    void text(incoming).then((form) => {
      const one = {
        authorization: incoming.headers.authorization,
        form: Object.fromEntries(new URLSearchParams(form)),
      };
      asked.push(one);
      const answer = reply(one);
      if (answer === 'drop') return outgoing.destroy();
      const { status = 200, headers = {}, body } = answer;
      return outgoing
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  };
  const { port } = new URL(await aStub(listener));
  const server = createTokenServer(anOutbound(allow === undefined ? {} : { allow }));
  const ask = (more: Partial<TokenAsk> = {}) =>
    server.ask({
      url: `http://api.example.com:${port}/token`,
      clientId: 'shop:1',
      client: { is: 'post', secret: 'p&ss word' },
      refreshToken: null,
      parameters: {},
      narrowedTo: null,
      timeoutMs: 10_000,
      ...more,
    });
  return { asked, ask };
}

const granted = { access_token: 'the-token', token_type: 'Bearer', expires_in: 3600 };

describe('a request for a token', () => {
  it('proves the client in the body, in the header, or not at all, and names what it wants', async () => {
    const { asked, ask } = await aTokenServer(() => ({ body: granted }));
    const parameters = { scope: 'read write', audience: 'https://api.example.com' };
    expect(await ask({ parameters })).toEqual({
      is: 'granted',
      accessToken: 'the-token',
      expiresInS: 3600,
      refreshToken: null,
      bytes: JSON.stringify(granted).length,
    });
    await ask({ client: { is: 'basic', secret: 'p&ss word' } });
    await ask({ client: { is: 'none' }, refreshToken: 'r1' });
    expect(asked).toEqual([
      {
        authorization: undefined,
        form: {
          grant_type: 'client_credentials',
          client_id: 'shop:1',
          client_secret: 'p&ss word',
          ...parameters,
        },
      },
      // Both parts are percent-encoded before they are joined, as RFC 6749 wants it.
      {
        authorization: `Basic ${Buffer.from('shop%3A1:p%26ss+word').toString('base64')}`,
        form: { grant_type: 'client_credentials' },
      },
      { authorization: undefined, form: { grant_type: 'refresh_token', client_id: 'shop:1', refresh_token: 'r1' } },
    ]);
  });

  it('brings the new refresh token, also beside a token of another kind that cannot be used', async () => {
    const strange: unknown[] = [
      { ...granted, refresh_token: 'r2' },
      { ...granted, refresh_token: 'r2', id_token: 'no.token.at.all' },
      { ...granted, refresh_token: 'r2', token_type: 'mac' },
      { refresh_token: 'r2' },
    ];
    const { ask } = await aTokenServer(() => ({ body: strange.shift() }));
    const ends: TokenEnd[] = [];
    for (let each = 0; each < 4; each += 1) ends.push(await ask({ refreshToken: 'r1' }));
    expect(ends.map(({ refreshToken }) => refreshToken)).toEqual(['r2', 'r2', 'r2', 'r2']);
    expect(ends.map(({ is }) => is)).toEqual(['granted', 'granted', 'failed', 'failed']);
  });

  it('tells a clear no from an answer that nobody understands, and from none', async () => {
    const challenge = { 'www-authenticate': 'Basic realm="x"' };
    const replies: Reply[] = [
      { status: 400, body: { error: 'invalid_grant', error_description: 'it was used before' } },
      { status: 401, headers: challenge, body: { error: 'invalid_client' } },
      { status: 400, body: { error: 'temporarily_unavailable' } },
      { status: 503, headers: { 'retry-after': '7' }, body: 'later' },
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>Please sign in' },
      { status: 404, body: 'nothing here' },
      { status: 302, headers: { location: 'https://elsewhere.example.com/' }, body: '' },
      'drop',
    ];
    const { asked, ask } = await aTokenServer(() => replies.shift() ?? 'drop');
    const ends: TokenEnd[] = [];
    for (let left = replies.length; left > 0; left -= 1) ends.push(await ask({ refreshToken: 'r1' }));
    expect(ends).toMatchObject([
      {
        is: 'denied',
        code: 'invalid_grant',
        error: expect.stringMatching(/answered invalid_grant: it was used before$/) as string,
      },
      { is: 'denied', code: 'invalid_client' },
      { is: 'failed', status: 400 },
      { is: 'failed', status: 503, afterMs: 7000 },
      { is: 'failed', status: 200, isFinal: true, error: expect.stringContaining('no answer of OAuth 2') as string },
      { is: 'failed', status: 404, isFinal: true },
      { is: 'failed', status: 302, isFinal: true },
      { is: 'failed', status: null },
    ]);
    expect([2, 3, 7].map((index) => 'isFinal' in (ends[index] ?? {}))).toEqual([false, false, false]);
    // A redirect is not followed with what proves the client.
    expect(asked).toHaveLength(8);
  });

  it('goes nowhere where requests of tasks do not go', async () => {
    const { asked, ask } = await aTokenServer(() => ({ body: granted }), []);
    expect(await ask()).toMatchObject({
      is: 'failed',
      isFinal: true,
      error: expect.stringContaining('EGRESS_ALLOW') as string,
    });
    expect(asked).toEqual([]);
  });
});
