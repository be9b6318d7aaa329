import { describe, expect, it } from 'vitest';
import type { ActionSpec } from '../../../../src/domain/task.ts';
import { anOutbound } from '../../../support/outbound.ts';
import { hour, texts } from '../../../support/pipeline.ts';
import { lastingVault, secretsOf } from '../../../support/secrets.ts';
import { type Answer, caller, json } from './caller.ts';

const values = { KEY: 'k&y "7"/ü!', OTHER: 'another-value', PASSWORD: 'sesame-street' };

async function withSecrets(answer: Answer = json({ ok: true }), given: Readonly<Record<string, string>> = values) {
  const vault = lastingVault();
  const made = await caller(answer, { vault, outbound: anOutbound({ allow: ['*.example.com'] }) });
  const { p } = made;
  const secrets = await secretsOf(p, vault, given);
  /** All that any table holds, as one text. */
  const kept = () => {
    const tables = p.database.prepare("select name from sqlite_master where type = 'table'").all() as {
      name: string;
    }[];
    return tables.map(({ name }) => JSON.stringify(p.database.prepare(`select * from "${name}"`).all())).join('\n');
  };
  return { ...made, secrets, kept };
}

describe('a secret in a call', () => {
  it('is written as each part of the call writes it, and its value stands in no row and in no log', async () => {
    const { seen, pass, fetching, kept, p, secrets, base } = await withSecrets();
    const task = await fetching({
      url: `${base}/in/{{ secrets.KEY }}/path`,
      query: { key: 'a {{secrets.KEY}}', plain: '{{ task.title }}' },
      headers: { 'x-key': '{{- secrets.OTHER -}}' },
      body: { deep: ['{{ secrets.KEY }} and {{ secrets.OTHER }}'] },
    });
    await pass(hour);
    const encoded = encodeURIComponent(values.KEY);
    expect(seen).toMatchObject([{ method: 'POST', headers: { 'x-key': values.OTHER } }]);
    expect(seen[0]?.url).toBe(`/in/${encoded}/path?key=a+${encoded}&plain=Price`);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ deep: [`${values.KEY} and ${values.OTHER}`] });
    expect(await secrets.used()).toEqual(['KEY', 'OTHER']);
    expect(await p.history(task.id)).toMatchObject([{ status: 'succeeded' }]);
    for (const text of [kept(), JSON.stringify(p.log)]) {
      expect(text).not.toContain(values.OTHER);
      expect(text).not.toContain('k&y');
    }
    expect(kept()).toContain('{{ secrets.KEY }}');
  });

  it('stays within its quotes in a text that is JSON, and is percent-encoded in a form', async () => {
    const { seen, pass, fetching } = await withSecrets();
    await fetching({ body: '{"key": "{{ secrets.KEY }}"}' });
    await fetching(
      { body: 'key={{ secrets.KEY }}', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { title: 'Form' },
    );
    await fetching(
      { body: { key: '{{ secrets.KEY }}' }, headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      { title: 'Form of JSON' },
    );
    await fetching({ body: 'plain {{ secrets.KEY }}' }, { title: 'Text' });
    await pass(hour);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({ key: values.KEY });
    for (const index of [1, 2]) expect(new URLSearchParams(seen[index]?.body).get('key')).toBe(values.KEY);
    expect(seen[3]?.body).toBe(`plain ${values.KEY}`);
  });

  it('is opened only where the call really names it', async () => {
    const { secrets, seen, pass, fetching } = await withSecrets();
    await fetching({
      headers: { 'x-key': '{% if context.isNew %}{{ secrets.KEY }}{% else %}{{ secrets.OTHER }}{% endif %}' },
    });
    await pass(hour);
    expect(await secrets.used()).toEqual(['OTHER']);
    expect(seen[0]?.headers['x-key']).toBe(values.OTHER);
  });

  it('may be named by the context, within the rights of the task', async () => {
    const { seen, pass, fetching, p } = await withSecrets(json({}), {
      CUSTOMER_7: 'the key of seven',
      ADMIN: 'the key of all',
    });
    const context = { customer: { keyRef: 'CUSTOMER_7' } };
    const task = await fetching({ headers: { 'x-key': '{{ secrets[context.customer.keyRef] }}' } }, { context });
    await pass(hour);
    // The grant that came with the task names no secret that a context may choose.
    expect(await p.history(task.id)).toMatchObject([{ status: 'skipped', reason: 'grant_scope' }]);
    p.database.prepare(`update grants set scopes = json_insert(scopes, '$[#]', 'secret:CUSTOMER_*')`).run();
    await pass(hour);
    expect(seen.map(({ headers }) => headers['x-key'])).toEqual(['the key of seven']);
    const other = await fetching(
      { headers: { 'x-key': '{{ secrets[context.customer.keyRef] }}' } },
      { title: 'Other', context: { customer: { keyRef: 'nothing like a name' } } },
    );
    await pass(hour);
    expect(await p.history(other.id)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('context.customer.keyRef') as string },
    ]);
  });

  it('that is gone, or must not go there, skips the slot with its reason, and the schedule goes on', async () => {
    const { secrets, seen, base, pass, fetching, p } = await withSecrets();
    const task = await fetching({ headers: { 'x-key': '{{ secrets.KEY }}' } });
    await secrets.drop('KEY');
    await pass(hour);
    await secrets.set('KEY', 'once more', ['other.example.com']);
    await pass(hour);
    await secrets.goTo(new URL(base).host);
    await pass(hour);
    expect((await p.history(task.id)).map(({ status, reason }) => [status, reason])).toEqual([
      ['skipped', 'secret_missing'],
      ['skipped', 'secret_host'],
      ['succeeded', null],
    ]);
    expect(seen.map(({ headers }) => headers['x-key'])).toEqual(['once more']);
  });

  it('with a line break goes into no header, and the word about it holds no value', async () => {
    const { seen, pass, fetching, p } = await withSecrets(json({}), { KEY: 'first line\nsecond line' });
    const task = await fetching({ headers: { 'x-key': '{{ secrets.KEY }}' } });
    await pass(hour);
    const [run] = await p.history(task.id);
    expect(run).toMatchObject({ status: 'failed', error: expect.stringContaining('the value of KEY') as string });
    expect(JSON.stringify(run)).not.toContain('second line');
    expect(seen).toEqual([]);
  });
});

describe('what comes back', () => {
  const secret = values.PASSWORD;
  const base64 = Buffer.from(`ada:${secret}`).toString('base64');
  const echo: Answer = (response, { headers }) => {
    response.setHeader('x-echo', `you sent ${secret}`);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        plain: headers.authorization,
        hex: Buffer.from(secret).toString('hex'),
        percent: encodeURIComponent(`${secret}!`),
        inBase64: base64,
        parts: ['sesame', '-street'],
        [secret]: 'as a name',
      }),
    );
  };

  it('is masked before it is kept, shown, selected or compared', async () => {
    const { pass, fetching, kept, p, lastOutput } = await withSecrets(echo);
    const task = await fetching({
      auth: { kind: 'bearer', secret: 'PASSWORD' },
      select: 'plain & " " & $join(parts)',
      template: '{{ value }} | {{ headers["x-echo"] }} | {{ body.hex }}',
      watch: { on: 'body', first: 'send' },
    });
    await pass(hour);
    expect(texts(p).join()).toContain('[secret]');
    expect(JSON.stringify(await lastOutput(task.id))).toContain('[secret]');
    for (const form of [
      secret,
      Buffer.from(secret).toString('hex'),
      base64,
      Buffer.from(secret).toString('base64').slice(0, -3),
    ])
      expect(kept()).not.toContain(form);
  });

  it('is masked in the word about a failure, and in one that did not come about', async () => {
    const { pass, fetching, kept, p } = await withSecrets((response) =>
      response.writeHead(403).end(`${secret} is not enough`),
    );
    const task = await fetching({ headers: { 'x-key': '{{ secrets.PASSWORD }}' } });
    await pass(hour);
    expect(await p.history(task.id)).toMatchObject([
      { error: expect.stringContaining('answered 403: [secret] is not enough') as string },
    ]);
    expect(kept()).not.toContain(secret);
  });

  it('is masked where tags, entities or another charset keep the value apart', async () => {
    const { pass, fetching, kept, p } = await withSecrets((response) =>
      response
        .setHeader('content-type', 'text/html; charset=utf-16le')
        .end(Buffer.from(`<p>ses<b>ame</b>-str&#101;et</p>`, 'utf16le')),
    );
    await fetching({ headers: { 'x-key': '{{ secrets.PASSWORD }}' } });
    await pass(hour);
    expect(texts(p)).toEqual(['[secret]']);
    expect(kept()).not.toContain(secret);
  });

  it('is not kept at all where a file repeats it, and masked in a small one', async () => {
    const large = Buffer.concat([Buffer.alloc(300_000, 1), Buffer.from(secret), Buffer.alloc(100_000, 2)]);
    const bodies = [large, Buffer.from(`PK\x03\x04 ${secret}`), Buffer.alloc(400_000, 3)];
    const { pass, fetching, p } = await withSecrets((response) =>
      response.setHeader('content-type', 'application/octet-stream').end(bodies.shift()),
    );
    const task = await fetching({ headers: { 'x-key': '{{ secrets.PASSWORD }}' } });
    for (let each = 0; each < 3; each += 1) await pass(hour);
    const runs = await p.history(task.id);
    expect(runs.map(({ status }) => status)).toEqual(['failed', 'succeeded', 'succeeded']);
    expect(runs[0]).toMatchObject({ error: expect.stringContaining('repeats a secret') as string });
    const chunks = p.database.prepare('select bytes from blob_chunks').all() as { bytes: Buffer }[];
    expect(chunks.some(({ bytes }) => bytes.includes(secret))).toBe(false);
    expect(chunks.some(({ bytes }) => bytes.includes('[secret]'))).toBe(true);
  });

  it('goes to no host that is named by it, and is masked in what is said of that, in whatever letters', async () => {
    const hosts: string[] = ['Sesame-Street.example.com', 'sesame-street.example.com'];
    const { pass, fetching, kept, p, seen } = await withSecrets(
      (response) => response.writeHead(302, { location: `http://${hosts.shift()}/` }).end(),
      { PASSWORD: 'Sesame-Street' },
    );
    const task = await fetching({ auth: { kind: 'bearer', secret: 'PASSWORD' } });
    await pass(hour);
    await pass(hour);
    const words = expect.stringContaining('It redirects to another host with a secret in the address') as string;
    expect(await p.history(task.id)).toMatchObject([{ error: words }, { error: words }]);
    expect(kept().toLowerCase()).not.toContain('sesame');
    expect(seen).toHaveLength(2);
  });

  it('goes on to no other host when it is a body with a secret', async () => {
    const { seen, base, pass, fetching, p } = await withSecrets((response, { url }) =>
      url === '/price'
        ? response.writeHead(307, { location: `${base.replace('api.', 'other.')}/elsewhere` }).end()
        : response.end('there'),
    );
    const body = await fetching({ body: { key: '{{ secrets.KEY }}' } });
    const bearer = await fetching({ auth: { kind: 'bearer', secret: 'OTHER' } }, { title: 'Bearer' });
    await pass(hour);
    expect(await p.history(body.id)).toMatchObject([
      { status: 'failed', error: expect.stringContaining('a body that holds a secret') as string },
    ]);
    expect(await p.history(bearer.id)).toMatchObject([{ status: 'succeeded' }]);
    const there = seen.filter(({ url }) => url === '/elsewhere');
    expect(there.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });
});

describe('a secret is refused', () => {
  const refusals: readonly (readonly [string, Omit<ActionSpec, 'kind'>, RegExp])[] = [
    ['behind a filter', { headers: { 'x-key': '{{ secrets.KEY | upcase }}' } }, /no filter/],
    ['in a condition', { body: '{% if secrets.KEY %}yes{% endif %}' }, /no filter, no condition/],
    ['in a variable', { body: '{% assign key = secrets.KEY %}{{ key }}' }, /no variable/],
    ['as a whole', { body: '{{ secrets }}' }, /do nothing else with it/],
    [
      'beside a capture',
      { body: '{% capture x %}{{ secrets.KEY }}{% endcapture %}{{ x | upcase }}' },
      /beside a capture/,
    ],
    ['by a name that is none', { body: '{{ secrets.lower }}' }, /capital letters/],
    ['in the template of the answer', { template: '{{ secrets.KEY }}' }, /action\.template names a secret/],
    ['in an expression', { select: '"{{ secrets.KEY }}"' }, /action\.select names a secret/],
    ['as a value in auth', { auth: { kind: 'bearer', secret: 'sk-live-1234' } }, /never holds its value/],
    ['where it names the host', { url: 'https://{{ secrets.KEY }}.example.com/' }, /names its host by a secret/],
  ];

  it.each(refusals)('%s, with the way out', async (_where, action, words) => {
    const { fetching } = await withSecrets();
    await expect(fetching(action)).rejects.toMatchObject({
      code: 'invalid_action',
      message: expect.stringMatching(words) as string,
    });
  });

  it('in the text of a message, in the instructions of a call and in a title', async () => {
    const { p, fetching } = await withSecrets();
    await expect(p.create({ instructions: 'Hello {{ secrets.KEY }}' })).rejects.toMatchObject({
      code: 'invalid_action',
    });
    await expect(fetching({ method: 'POST' }, { instructions: '{{ secrets.KEY }}' })).rejects.toMatchObject({
      code: 'invalid_action',
    });
    await expect(fetching({}, { title: 'Price {{ secrets.KEY }}' })).rejects.toMatchObject({ code: 'invalid_action' });
    // A plain text is no template.
    await expect(
      p.create({ instructions: '{{ secrets.KEY }}', action: { kind: 'message', plain: true } }),
    ).resolves.toBeDefined();
  });
});
