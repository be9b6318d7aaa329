import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AppError } from '../../../../src/domain/errors.ts';
import { signatures } from '../../../../src/system/signature.ts';
import { anAuthority } from '../../../support/certificates.ts';
import { anOutbound } from '../../../support/outbound.ts';
import { hour, hourly } from '../../../support/pipeline.ts';
import { opened } from '../../../support/ports.ts';
import { lastingVault, secretsOf } from '../../../support/secrets.ts';
import { caller, json } from './caller.ts';

async function withSecrets(given: Readonly<Record<string, string>>, outbound = anOutbound()) {
  const vault = lastingVault();
  const made = await caller(json({ ok: true }), { vault, outbound });
  await secretsOf(made.p, vault, given);
  return made;
}

describe('auth', () => {
  it('sends a token, a name with a password, or a key in a header of its own', async () => {
    const { seen, pass, fetching } = await withSecrets({ TOKEN: 'tok-123', PASSWORD: 'pass:wörd' });
    await fetching({ auth: { kind: 'bearer', secret: 'TOKEN' } });
    await fetching({ auth: { kind: 'basic', username: 'ada', secret: 'PASSWORD' } }, { title: 'Basic' });
    await fetching({ auth: { kind: 'header', header: 'X-Api-Key', secret: 'TOKEN' } }, { title: 'Header' });
    await pass(hour);
    expect(seen.map(({ headers }) => headers.authorization ?? headers['x-api-key'])).toEqual([
      'Bearer tok-123',
      `Basic ${Buffer.from('ada:pass:wörd').toString('base64')}`,
      'tok-123',
    ]);
  });

  it('signs the body as it leaves, with its secrets, and with both keys while one is replaced', async () => {
    const { seen, pass, fetching, p } = await withSecrets({ SIGN: 'signing key', OLD: 'key before', KEY: 'k"ey' });
    await fetching({ body: { key: '{{ secrets.KEY }}' }, auth: { kind: 'hmac', secret: 'SIGN', previous: 'OLD' } });
    await fetching({ auth: { kind: 'hmac', secret: 'SIGN' } }, { title: 'No body' });
    await pass(hour);
    const [posted, bare] = seen.toSorted((a, b) => b.body.length - a.body.length);
    const header = String(posted?.headers['x-schedule-signature']);
    const signed = { body: posted?.body ?? '', now: p.time.now(), toleranceMs: 1000 };
    expect(header).toMatch(new RegExp(`^t=${p.time.now() / 1000},v1=[\\da-f]{64},v1=[\\da-f]{64}$`));
    for (const secret of ['signing key', 'key before'])
      expect(signatures.verify(header, { ...signed, secrets: [secret] })).toBe('valid');
    expect(JSON.parse(signed.body)).toEqual({ key: 'k"ey' });
    const empty = { body: '', secrets: ['signing key'], now: p.time.now(), toleranceMs: 0 };
    expect(signatures.verify(String(bare?.headers['x-schedule-signature']), empty)).toBe('valid');
  });

  it('may take the name of its secret from the context', async () => {
    const { seen, pass, fetching, p } = await withSecrets({ CUSTOMER_7: 'token of seven' });
    await fetching(
      { auth: { kind: 'bearer', secret: '{{ context.tokenRef }}' } },
      { context: { tokenRef: 'CUSTOMER_7' } },
    );
    p.database.prepare(`update grants set scopes = json_insert(scopes, '$[#]', 'secret:CUSTOMER_*')`).run();
    await pass(hour);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer token of seven']);
  });

  it('shows a client certificate in the handshake, to the host that is named alone', async () => {
    const authority = anAuthority();
    const client = authority.issue(['client']);
    const subjects: unknown[] = [];
    const server = createServer(
      {
        ...authority.issue(['api.example.com', 'other.example.com']),
        ca: authority.ca,
        requestCert: true,
        rejectUnauthorized: false,
      },
      (incoming, outgoing) => {
        const socket = incoming.socket as TLSSocket;
        subjects.push(socket.authorized ? socket.getPeerCertificate().subject.CN : undefined);
        if (incoming.url === '/away')
          outgoing.writeHead(302, { location: `https://other.example.com:${port}/there` }).end();
        else outgoing.end('ok');
      },
    );
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const port = await opened(server);
    const outbound = anOutbound({ allow: ['*.example.com'], ca: authority.ca });
    const { pass, fetching, p, settle } = await withSecrets({ CERT: client.cert, CERT_KEY: client.key }, outbound);
    const auth = { kind: 'mtls', cert: 'CERT', key: 'CERT_KEY' };
    const task = await fetching({ url: `https://api.example.com:${port}/`, auth });
    await fetching({ url: `https://api.example.com:${port}/away`, auth }, { title: 'Away' });
    await pass(hour);
    await settle();
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
    expect(subjects).toHaveLength(3);
    expect(subjects.filter((one) => one === 'Test server')).toHaveLength(2);
    expect(subjects).toContain(undefined);
  });

  it('shows the names of secrets and where they go before there is a task, and never a value', async () => {
    const { p } = await withSecrets({ TOKEN: 'tok-123' });
    const spec = {
      kind: 'http',
      url: 'https://api.example.com/{{ secrets.PATH_KEY }}',
      auth: { kind: 'oauth2', token_url: 'https://login.example.com/token', client_id: 'shop', secret: 'TOKEN' },
    };
    expect(p.rooms.kinds.outlook(spec, { schedule: hourly, policies: {}, now: p.time.now() })).toMatchObject({
      reaches: ['api.example.com', 'login.example.com'],
      secrets: [
        { name: 'PATH_KEY', host: 'api.example.com', use: 'send' },
        { name: 'TOKEN', host: 'login.example.com', use: 'send' },
      ],
    });
    expect(p.rooms.kinds.scopesOf(spec)).toEqual([
      'action:http',
      'host:api.example.com',
      'host:login.example.com',
      'secret:PATH_KEY',
      'secret:TOKEN',
    ]);
  });
});

describe('auth is refused', () => {
  const oauth = { kind: 'oauth2', token_url: 'https://api.example.com/token', client_id: 'shop' };
  const refusals: readonly (readonly [string, object, RegExp, object?])[] = [
    ['of no kind', { secret: 'TOKEN' }, /auth\.kind is one of bearer/],
    [
      'with a part of another kind',
      { kind: 'bearer', secret: 'TOKEN', username: 'ada' },
      /username is not a part of bearer/,
    ],
    ['without its secret', { kind: 'bearer' }, /auth\.secret is missing/],
    ['with a colon in the name', { kind: 'basic', username: 'a:b', secret: 'TOKEN' }, /no colon/],
    [
      'beside a header of its own',
      { kind: 'hmac', secret: 'TOKEN' },
      /Authorization is set by auth/,
      { headers: { Authorization: 'x' } },
    ],
    [
      'for a header that is chosen twice',
      { kind: 'header', header: 'x-key', secret: 'TOKEN' },
      /X-Key is set by auth/,
      { headers: { 'X-Key': 'x' } },
    ],
    ['for a header that is ours', { kind: 'header', header: 'Idempotency-Key', secret: 'TOKEN' }, /cannot be chosen/],
    ['of a certificate without TLS', { kind: 'mtls', cert: 'A', key: 'B' }, /action\.url begins with https/],
    [
      'of OAuth with a template in its address',
      { ...oauth, token_url: 'https://{{ context.x }}/token', secret: 'TOKEN' },
      /token_url is sent as it stands, and is no template/,
    ],
    [
      'of OAuth at a host that nobody reaches',
      { ...oauth, token_url: 'http://127.0.0.1/token', secret: 'TOKEN' },
      /EGRESS_ALLOW/,
    ],
    ['of OAuth without a secret', oauth, /auth\.secret is missing/],
    [
      'of OAuth with a refresh token and another grant',
      { ...oauth, secret: 'TOKEN', grant: 'client_credentials', refresh_token: 'R' },
      /refresh_token/,
    ],
    ['of OAuth with half a certificate', { ...oauth, method: 'mtls', cert: 'A' }, /auth\.key/],
    [
      'of OAuth with a parameter that is ours',
      { ...oauth, secret: 'TOKEN', parameters: { grant_type: 'x' } },
      /is set for every request/,
    ],
    [
      'of OAuth with no parameters at all',
      { ...oauth, secret: 'TOKEN', parameters: null },
      /auth\.parameters is an object/,
    ],
    [
      'of OAuth with a parameter that is no text',
      { ...oauth, secret: 'TOKEN', parameters: { resource: 7 } },
      /auth\.parameters\.resource is a text/,
    ],
    ['of OAuth with an empty scope', { ...oauth, secret: 'TOKEN', scope: ' ' }, /auth\.scope is a text/],
    [
      'of OAuth with a scope of two lines',
      { ...oauth, secret: 'TOKEN', scope: 'a\nb' },
      /auth\.scope .* no line break/,
    ],
    ...(['scope', 'audience', 'client_id'] as const).map(
      (part) =>
        [
          `of OAuth with a template as ${part}`,
          { ...oauth, secret: 'TOKEN', [part]: '{{ context.x }}' },
          new RegExp(`auth\\.${part} is sent as it stands`),
        ] as const,
    ),
    [
      'with a template as the name of a person',
      { kind: 'basic', username: '{{ secrets.NAME }}', secret: 'TOKEN' },
      /auth\.username is sent as it stands/,
    ],
    ['of OAuth with a long skew', { ...oauth, secret: 'TOKEN', skew: 'P1D' }, /at most an hour/],
    [
      'by a bare place in the context',
      { kind: 'bearer', secret: 'context.tokenRef' },
      /is written \{\{ context\.tokenRef \}\}/,
    ],
  ];

  const cases = refusals.map(([what, auth, words, more = {}]) => ({ what, auth, words, more }));

  it.each(cases)('$what, with an example', async ({ auth, words, more }) => {
    const { fetching } = await withSecrets({});
    const refusal = (await fetching({ auth, ...more }).catch((error: unknown) => error)) as AppError;
    expect(refusal).toMatchObject({
      code: 'invalid_action',
      message: expect.stringMatching(words) as string,
    });
    // A part of auth is named whole; of headers, whose names people choose, the setting.
    const [said = ''] = /^[\w.]+/.exec(refusal.message) ?? [];
    expect(said.startsWith(String(refusal.details?.['field']))).toBe(true);
    if (said.startsWith('action.auth')) expect(refusal.details).toMatchObject({ field: said });
  });
});
