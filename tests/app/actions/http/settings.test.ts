import { describe, expect, it } from 'vitest';
import { judgeTarget, readSettings } from '../../../../src/app/actions/http/settings.ts';
import { requestTexts, writtenIn } from '../../../../src/app/actions/http/written.ts';

const url = 'https://api.example.com/price';
const read = (spec: object) => readSettings({ kind: 'http', url, ...spec });

describe('the settings of an http action', () => {
  it('are few: an address is enough', () => {
    expect(read({})).toEqual({
      method: 'GET',
      url,
      host: 'api.example.com',
      query: [],
      headers: {},
      auth: null,
      timeoutMs: null,
      expects: null,
      select: null,
      template: null,
      watch: null,
    });
  });

  it('are read with everything that there is', () => {
    const body = { name: 'Ada', list: [1, { deep: '{{ context.x }}' }] };
    const given = {
      method: 'put',
      query: { q: 'a b', n: 2, yes: true, many: ['x', 'y'] },
      headers: { 'X-Api-Key': ' secret ', Accept: 'text/plain' },
      body,
      timeout: 'PT2.5S',
      expect_status: [200, 404],
      select: 'items[0]',
      template: '{{ value }}',
      watch: { on: 'value' },
    };
    expect(read(given)).toEqual({
      method: 'PUT',
      url,
      host: 'api.example.com',
      query: [
        ['q', 'a b'],
        ['n', '2'],
        ['yes', 'true'],
        ['many', 'x'],
        ['many', 'y'],
      ],
      headers: { 'x-api-key': 'secret', accept: 'text/plain' },
      body,
      auth: null,
      timeoutMs: 2500,
      expects: [200, 404],
      select: 'items[0]',
      template: '{{ value }}',
      watch: { on: 'value', first: 'silent' },
    });
  });

  it('post what has a body and names no method', () => {
    expect(read({ body: '' }).method).toBe('POST');
    expect(read({ body: null })).toMatchObject({ method: 'POST', body: null });
  });

  it.each([
    ['url', { url: undefined }, 'is missing'],
    ['url', { url: '  ' }, 'is missing'],
    ['url', { url: 7 }, 'is missing'],
    ['url', { url: '/price' }, 'begins with http:// or https://'],
    ['url', { url: 'ftp://example.com' }, 'begins with http:// or https://'],
    ['url', { url: 'file:///etc/passwd' }, 'begins with http:// or https://'],
    ['url', { url: 'javascript:{{ context.x }}' }, 'begins with http:// or https://'],
    ['url', { url: 'http://' }, 'begins with http:// or https://'],
    ['url', { url: 'https://ada:pw@example.com/' }, 'name or a password'],
    ['url', { url: `https://example.com/${'x'.repeat(4100)}` }, 'at most 4096 characters'],
    ['method', { method: 'TRACE' }, 'is one of GET, HEAD, POST, PUT, PATCH, DELETE'],
    ['method', { method: 7 }, 'is one of'],
    ['body', { method: 'GET', body: 'x' }, 'does not go with GET'],
    ['body', { method: 'head', body: {} }, 'does not go with HEAD'],
    ['query', { query: 'a=1' }, 'is an object'],
    ['query', { query: { a: { b: 1 } } }, 'action.query.a is a text'],
    ['query', { query: { a: null } }, 'action.query.a is a text'],
    ['query', { query: { a: 'x'.repeat(5000) } }, 'at most 4096 characters'],
    ['query', { query: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, 1])) }, 'at most 50 names'],
    ['headers', { headers: ['a'] }, 'is an object'],
    ['headers', { headers: { 'bad name': 'x' } }, 'action.headers.bad name is no name of a header'],
    ['headers', { headers: { '': 'x' } }, 'is no name of a header'],
    ['headers', { headers: { a: 7 } }, 'action.headers.a is a text'],
    ['headers', { headers: { a: 'x\r\nhost: evil' } }, 'no header may hold'],
    ['headers', { headers: { a: 'x', A: 'y' } }, 'stands there twice'],
    ['timeout', { timeout: 30 }, 'is a duration'],
    ['timeout', { timeout: '10s' }, 'is a duration'],
    ['timeout', { timeout: 'P1M' }, 'is a duration'],
    ['timeout', { timeout: 'PT0S' }, 'out of range'],
    ['timeout', { timeout: 'P2D' }, 'out of range'],
    ['expect_status', { expect_status: '200' }, 'is a status'],
    ['expect_status', { expect_status: [] }, 'is a status'],
    ['expect_status', { expect_status: [200, 99] }, 'is a status'],
    ['select', { select: '' }, 'is a text'],
    ['select', { select: 'x'.repeat(4097) }, 'at most 4096 characters'],
    ['template', { template: {} }, 'is a text'],
    ['watch', { watch: true }, 'is an object'],
    ['watch', { watch: { on: 'status' } }, 'action.watch.on is "body" or "value"'],
    ['watch', { watch: { on: 'value' } }, 'beside a select'],
    ['watch', { watch: { on: 'body', first: 'loud' } }, 'action.watch.first is "silent" or "send"'],
    ['watch', { watch: { on: 'body', every: 1 } }, 'action.watch.every is not a part of watch'],
    ['auth.kind', { auth: { kind: 'token', secret: 'X' } }, 'is one of bearer, basic'],
    ['retries', { retries: 3 }, 'is not a setting of "http"; known are kind, method, url'],
  ])('refuse what cannot work, by field, reason and example: %s %j', (field, spec, reason) => {
    const refusal = () => read(spec);
    expect(refusal).toThrow(expect.objectContaining({ code: 'invalid_action' }) as Error);
    expect(refusal).toThrow(reason);
    expect(refusal).toThrow('Example: ');
    expect(refusal).toThrow(
      expect.objectContaining({
        details: expect.objectContaining({ field: `action.${field}`, example: expect.any(String) as string }) as object,
      }) as Error,
    );
  });

  it.each([
    'Idempotency-Key',
    'X-Schedule-Id',
    'x-schedule-anything',
    'Host',
    'Content-Length',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Expect',
  ])('refuse the header %s by its name', (name) => {
    expect(() => read({ headers: { [name]: 'x' } })).toThrow(`action.headers.${name} `);
  });

  it('name the host of the call, unless a template decides about it', () => {
    expect(read({ url: 'https://API.example.com:8443/{{ context.x }}?a={{ context.y }}' }).host).toBe(
      'api.example.com:8443',
    );
    expect(read({ url: 'https://{{ context.host }}/x' }).host).toBeNull();
    expect(read({ url: '{{ context.url }}' }).host).toBeNull();
  });

  it('are refused where no call may go, as far as that is known', () => {
    const judged: string[] = [];
    const judge = (spec: object, reason: string | null) => {
      judgeTarget(
        read(spec),
        {
          judge: (target) => {
            judged.push(target);
            return reason === null ? { is: 'open', host: 'x' } : { is: 'refused', reason };
          },
        },
        null,
      );
    };
    expect(() => judge({ url: 'http://127.0.0.1/x' }, 'is an address of this computer')).toThrow(
      'action.url is an address of this computer. Example:',
    );
    judge({ url: 'https://example.com/{{ context.x }}' }, null);
    judge({ url: '{{ context.url }}' }, 'never asked');
    expect(judged).toEqual(['http://127.0.0.1/x', 'https://example.com']);
  });
});

describe('the texts that are tried', () => {
  it('are each template of the request, leaf by leaf, and those of the answer', () => {
    const settings = read({
      method: 'POST',
      url: 'https://example.com/{{ context.a }}',
      query: { q: '{{ context.b }}', plain: 'x' },
      headers: { 'x-c': '{% if true %}c{% endif %}' },
      body: { d: ['plain', '{{ context.d }}'], e: { f: '{{ context.f }}' } },
      select: 'price',
      template: '{{ value }}',
    });
    expect(
      writtenIn(settings, '{{ not.looked.at }}').map(({ language, field, text }) => [language, field, text]),
    ).toEqual([
      ['liquid', 'action.url', 'https://example.com/{{ context.a }}'],
      ['liquid', 'action.query.q.0', '{{ context.b }}'],
      ['liquid', 'action.headers.x-c', '{% if true %}c{% endif %}'],
      ['liquid', 'action.body.d.1', '{{ context.d }}'],
      ['liquid', 'action.body.e.f', '{{ context.f }}'],
      ['jsonata', 'action.select', 'price'],
      ['liquid', 'action.template', '{{ value }}'],
    ]);
  });

  it('are the instructions as well, where the envelope carries them', () => {
    const text = 'Hello {{ context.name }}';
    expect(requestTexts(read({ method: 'POST' }), text)).toEqual([{ field: 'instructions', text }]);
    expect(requestTexts(read({ method: 'GET' }), text)).toEqual([]);
    expect(requestTexts(read({ method: 'POST', body: 'own' }), text)).toEqual([]);
  });

  it('are a bounded number', () => {
    const body = Array.from({ length: 51 }, (_, n) => `{{ context.x${n} }}`);
    expect(() => writtenIn(read({ body }), '')).toThrow('at most 50 templates');
  });
});
