import { describe, expect, it } from 'vitest';
import { effectText, settingFrom, settingLines } from '../../../../src/app/actions/form.ts';
import { authKinds, authTold } from '../../../../src/app/actions/http/auth-form.ts';
import { httpForm } from '../../../../src/app/actions/http/form.ts';
import { actionWords } from '../../../../src/cli/views/task.ts';

const field = httpForm.fields.find(({ name }) => name === 'auth') ?? expect.fail('there is no auth');
const read = (words: string) => settingFrom(field, words);

describe('auth in words', () => {
  it.each([
    ['bearer SHOP_TOKEN', { kind: 'bearer', secret: 'SHOP_TOKEN' }],
    ['Bearer {{ context.tokenRef }}', { kind: 'bearer', secret: '{{ context.tokenRef }}' }],
    ['basic ada SHOP_PASSWORD', { kind: 'basic', username: 'ada', secret: 'SHOP_PASSWORD' }],
    ['header X-Api-Key SHOP_KEY', { kind: 'header', header: 'X-Api-Key', secret: 'SHOP_KEY' }],
    ['hmac NEW OLD', { kind: 'hmac', secret: 'NEW', previous: 'OLD' }],
    ['mtls CERT KEY', { kind: 'mtls', cert: 'CERT', key: 'KEY' }],
    ['{"kind":"hmac","secret":"NEW"}', { kind: 'hmac', secret: 'NEW' }],
    ['bearer secret=SHOP_TOKEN', { kind: 'bearer', secret: 'SHOP_TOKEN' }],
    ['basic ada=x SHOP_PASSWORD', { kind: 'basic', username: 'ada=x', secret: 'SHOP_PASSWORD' }],
    [
      'oauth2 token_url=https://a.example.com/t?x=1 client_id=shop secret=CLIENT scope="read all" parameters=resource=a=b',
      {
        kind: 'oauth2',
        token_url: 'https://a.example.com/t?x=1',
        client_id: 'shop',
        secret: 'CLIENT',
        scope: 'read all',
        parameters: { resource: 'a=b' },
      },
    ],
    ['oauth2 https://a.example.com/t shop CLIENT', undefined],
    ['none', null],
    ['bearer', undefined],
    ['bearer A B', undefined],
    ['magic A', undefined],
  ])('%s is read', (words, value) => {
    expect(read(words)).toEqual(value);
  });

  it.each(authKinds.map(({ kind, example }) => ({ kind, example })))(
    'of $kind are told as they are read',
    ({ example }) => {
      expect(read(authTold(example) ?? '')).toEqual(example);
    },
  );

  it('is told by the names of its secrets, for whoever must allow a call as well', () => {
    const spec = {
      kind: 'http',
      method: 'POST',
      url: 'https://api.example.com/{{ secrets.PATH_KEY }}',
      headers: { 'x-token': '{{ secrets.KEY }}' },
    };
    const auth = { kind: 'basic', username: 'ada', secret: 'SHOP_PASSWORD' };
    expect(settingLines(httpForm, { ...spec, auth })).toContainEqual(['auth', 'basic ada SHOP_PASSWORD']);
    expect(effectText(httpForm, { ...spec, auth })).toContain('auth: basic ada SHOP_PASSWORD');
    expect(effectText(httpForm, spec)).toContain('x-token: {{ secrets.KEY }}');
    expect(actionWords({ ...spec, auth })).toContain('auth: basic ada SHOP_PASSWORD');
    const oauth = { kind: 'oauth2', token_url: 'https://login.example.com/token', client_id: 'shop', secret: 'CLIENT' };
    expect(settingLines(httpForm, { ...spec, auth: oauth })).toContainEqual([
      'auth',
      'oauth2 token_url=https://login.example.com/token client_id=shop secret=CLIENT',
    ]);
    expect(httpForm.title(spec)).toBe('api.example.com/…');
  });
});
