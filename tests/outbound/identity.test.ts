import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Identity } from '../../src/app/ports/outbound.ts';
import { anAuthority } from '../support/certificates.ts';
import { anOutbound, aRequest } from '../support/outbound.ts';
import { opened } from '../support/ports.ts';

/** Two servers of TLS that ask for a certificate, and clients that the same authority knows. */
async function aPlace(isDemanded = true) {
  const authority = anAuthority();
  const seen: {
    readonly path: string;
    readonly serial: string | null;
    readonly connection: number;
    readonly agent: string | undefined;
  }[] = [];
  const connections = new Map<unknown, number>();
  const redirects = new Map<string, string>();
  const listener: RequestListener = (incoming, outgoing) => {
    const socket = incoming.socket as TLSSocket;
    connections.set(socket, connections.get(socket) ?? connections.size);
    const { serialNumber = null } = socket.getPeerCertificate() as { serialNumber?: string };
    seen.push({
      path: incoming.url ?? '',
      serial: serialNumber,
      connection: connections.get(socket) ?? 0,
      agent: incoming.headers['user-agent'],
    });
    const location = redirects.get(incoming.url ?? '');
    if (location !== undefined) outgoing.writeHead(307, { location }).end();
    else outgoing.end('ok');
  };
  const serve = async () => {
    const own = authority.issue(['api.example.com', 'other.example.com']);
    const server = createServer(
      { ...own, ca: authority.ca, requestCert: true, rejectUnauthorized: isDemanded },
      listener,
    );
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return opened(server);
  };
  const port = await serve();
  const outbound = anOutbound({ allow: ['*.example.com'], ca: authority.ca });
  const aClient = (): Identity => ({ ...authority.issue(['client']), ca: null });
  const call = (path: string, identity?: Identity, more = {}) =>
    outbound.call(
      aRequest(`https://api.example.com:${port}${path}`, { ...(identity === undefined ? {} : { identity }), ...more }),
    );
  return {
    authority,
    seen,
    port,
    serve,
    aClient,
    call,
    outbound,
    to: (location: string, from = '/from') => redirects.set(from, location),
  };
}

describe('a request with a client certificate', () => {
  it('shows it in the handshake, without which the server ends the connection', async () => {
    const { seen, aClient, call } = await aPlace();
    expect(await call('/', aClient())).toMatchObject({ is: 'answered', status: 200 });
    expect(seen).toMatchObject([{ serial: expect.stringMatching(/^[\dA-F]+$/) as string }]);
    expect(await call('/')).toMatchObject({ is: 'failed', type: 'NETWORK' });
    expect(seen).toHaveLength(1);
  });

  it('is not tried again where the server says in the handshake that it does not take it', async () => {
    // Alerts of TLS: bad certificate, unknown authority, certificate required.
    for (const alert of [42, 48, 116]) {
      const server = createTcpServer((socket) =>
        socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert]))),
      );
      onTestFinished(() => void server.close());
      const port = await opened(server);
      expect(await anOutbound().call(aRequest(`https://api.example.com:${port}/`))).toMatchObject({
        is: 'failed',
        isFinal: true,
        error: expect.stringContaining('does not take the client certificate, or wants one') as string,
      });
    }
  });

  it('shares its connections with no request that shows another, or none', async () => {
    const { seen, aClient, call } = await aPlace(false);
    const [ada, ben] = [aClient(), aClient()];
    for (const identity of [ada, ben, undefined, ada, undefined, ben]) await call('/', identity);
    const [first, second, bare] = seen;
    expect(new Set([first, second, bare].map((one) => one?.connection)).size).toBe(3);
    expect(bare?.serial).toBeNull();
    expect(first?.serial).not.toBe(second?.serial);
    expect(seen.slice(3)).toEqual([first, bare, second]);
  });

  it('shows it again on the same origin, and to no other by a redirect', async () => {
    const { seen, serve, aClient, call, to } = await aPlace(false);
    to('/to');
    await call('/from', aClient());
    to(`https://other.example.com:${await serve()}/to`);
    await call('/from', aClient());
    expect(seen.map(({ path, serial }) => [path, serial !== null])).toEqual([
      ['/from', true],
      ['/to', true],
      ['/from', true],
      ['/to', false],
    ]);
  });

  it('does not find its way back when a redirect leads home from elsewhere', async () => {
    const { seen, port, serve, aClient, call, to } = await aPlace(false);
    to(`https://other.example.com:${await serve()}/via`);
    to(`https://api.example.com:${port}/home`, '/via');
    await call('/from', aClient());
    expect(seen.map(({ path, serial }) => [path, serial !== null])).toEqual([
      ['/from', true],
      ['/via', false],
      ['/home', false],
    ]);
  });

  it('knows the server by the authorities that it names, in place of the usual ones', async () => {
    const { port, aClient, outbound } = await aPlace();
    const stranger = anAuthority();
    const end = await outbound.call(
      aRequest(`https://api.example.com:${port}/`, { identity: { ...aClient(), ca: stranger.ca } }),
    );
    expect(end).toMatchObject({
      is: 'failed',
      isFinal: true,
      error: expect.stringContaining('certificate of') as string,
    });
  });

  it('says of what cannot be read, or does not fit together, only that', async () => {
    const { aClient, call, seen } = await aPlace();
    const [ada, ben] = [aClient(), aClient()];
    expect(await call('/', { ...ada, key: ben.key })).toMatchObject({
      is: 'failed',
      isFinal: true,
      error: expect.stringContaining('do not belong together') as string,
    });
    const broken = await call('/', { ...ada, key: 'no key at all' });
    expect(broken).toMatchObject({
      is: 'failed',
      isFinal: true,
      error: expect.stringContaining('cannot be read as PEM') as string,
    });
    expect(JSON.stringify(broken)).not.toContain('no key at all');
    expect(seen).toEqual([]);
  });

  it('judges the address before a handshake, as without one', async () => {
    const { authority, port, aClient, seen } = await aPlace();
    const outbound = anOutbound({ allow: [], ca: authority.ca });
    const end = await outbound.call(aRequest(`https://api.example.com:${port}/`, { identity: aClient() }));
    expect(end).toMatchObject({ is: 'refused' });
    expect(seen).toEqual([]);
  });

  it('works for an endless row of certificates, of which only the last are kept open', async () => {
    const { authority, outbound, port, call } = await aPlace(false);
    const key = authority.issue(['client']);
    for (let each = 0; each < 52; each += 1)
      expect(await call('/', { ...key, ca: `${authority.ca}\n${'#'.repeat(each)}` })).toMatchObject({ is: 'answered' });
    expect(await outbound.call(aRequest(`https://api.example.com:${port}/`))).toMatchObject({ is: 'answered' });
  });
});

describe('secrets and redirects', () => {
  const elsewhere = async () => {
    const place = await aPlace(false);
    place.to(`https://other.example.com:${await place.serve()}/to`);
    const holdsSecret = (text: string) => text.includes('open-sesame');
    return { ...place, call: (more: object) => place.call('/from', undefined, { holdsSecret, ...more }) };
  };

  it('lets a body with a secret go to no other origin', async () => {
    const { seen, call } = await elsewhere();
    const end = await call({ method: 'POST', body: '{"key":"open-sesame"}' });
    expect(end).toMatchObject({
      is: 'refused',
      error: expect.stringContaining('a body that holds a secret') as string,
    });
    expect(seen).toHaveLength(1);
    expect(await call({ method: 'POST', body: '{"key":"none"}' })).toMatchObject({ is: 'answered' });
  });

  it('follows no redirect that repeats a secret in its address', async () => {
    const { seen, call, to, serve } = await elsewhere();
    to(`https://other.example.com:${await serve()}/to?key=open-sesame`);
    expect(await call({})).toMatchObject({
      is: 'refused',
      error: expect.not.stringContaining('open-sesame') as string,
    });
    expect(seen).toHaveLength(1);
  });

  it('leaves out each header that holds one, whatever it is called', async () => {
    const { seen, call } = await elsewhere();
    await call({ headers: { 'user-agent': 'open-sesame', accept: 'text/plain' } });
    expect(seen.map(({ path, agent }) => [path, agent])).toEqual([
      ['/from', 'open-sesame'],
      ['/to', undefined],
    ]);
  });
});
