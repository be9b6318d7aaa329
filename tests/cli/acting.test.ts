import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ActionForm } from '../../src/app/actions/form.ts';
import { forms as known } from '../../src/app/actions/forms.ts';
import { httpForm } from '../../src/app/actions/http/form.ts';
import { actionFlags, readAction } from '../../src/cli/verbs/acting.ts';
import { actionWords } from '../../src/cli/views/task.ts';
import { stopBots } from '../e2e/bot.ts';
import { aFolder } from '../support/place.ts';
import { aPlace } from './place.ts';

afterEach(stopBots);

const lamp: ActionForm = {
  kind: 'lamp',
  words: { name: 'lamp', menu: 'Switch a lamp', ask: '', tries: [], when: '', examples: [], notes: [] },
  fields: [{ name: 'lamp', is: 'text', does: 'Which one.', example: 'hall', flag: '--lamp <name>', names: true }],
  text: 'note',
  example: { kind: 'lamp' },
};
const among = [...Object.values<ActionForm>(known).filter(({ kind }) => kind !== 'http'), httpForm, lamp];
const terminal = { read: async () => 'from the input\n' } as never;
const read = (options: object, before?: { readonly kind: string }) =>
  readAction({ terminal }, options, { among, ...(before === undefined ? {} : { before }) });

const url = 'https://example.com/hook';

describe('an action in flags', () => {
  it('has a flag for each setting of each kind, and one for all of it', () => {
    const flags = actionFlags(among).map((one) => one.flags);
    expect(flags).toEqual(expect.arrayContaining(['--action <json>', '--http-url <url>', '--header <name:value>']));
    expect(flags).toContain('--lamp <name>');
    expect(new Set(flags).size).toBe(flags.length);
    expect(httpForm.fields.filter((field) => !('flag' in field))).toEqual([]);
  });

  it('is read from its flags, each in the form of its setting', async () => {
    const typed = {
      httpUrl: url,
      method: 'post',
      header: ['accept: text/plain', 'x-team:a:b'],
      body: '{"text":"hi"}',
      httpTimeout: '10s',
      query: ['tag=a', 'tag=b', 'mode=off', 'at=10:30'],
      expectStatus: '200, 404',
      watch: 'body',
      select: 'rates.EUR',
      template: '-',
    };
    expect(await read(typed)).toEqual({
      kind: 'http',
      url,
      method: 'POST',
      headers: { accept: 'text/plain', 'x-team': 'a:b' },
      body: { text: 'hi' },
      timeout: 'PT10S',
      query: { tag: ['a', 'b'], mode: 'off', at: '10:30' },
      expect_status: [200, 404],
      watch: { on: 'body' },
      select: 'rates.EUR',
      template: 'from the input',
    });
  });

  it('keeps a body that only looks like JSON as it stands', async () => {
    expect(await read({ httpUrl: url, method: 'PUT', body: '{{ context.id }}' })).toMatchObject({
      body: '{{ context.id }}',
    });
  });

  it('changes the settings that are named, and takes away those without a value', async () => {
    const before = { kind: 'http', url, method: 'POST', template: 'x' };
    expect(await read({ template: '', method: 'PUT' }, before)).toEqual({ kind: 'http', url, method: 'PUT' });
    const called = { kind: 'http', url, headers: { accept: 'text/plain' }, query: { a: '1' } };
    expect(await read({ header: [''], expectStatus: '404' }, called)).toEqual({
      kind: 'http',
      url,
      query: { a: '1' },
      expect_status: 404,
    });
    expect(await read({ lamp: 'hall' }, before)).toEqual({ kind: 'lamp', lamp: 'hall' });
    expect(await read({}, before)).toBeUndefined();
  });

  it('is read from a file', async () => {
    const path = join(aFolder(), 'call.json');
    writeFileSync(path, JSON.stringify({ kind: 'http', url }));
    expect(await read({ action: `@${path}` })).toEqual({ kind: 'http', url });
  });

  it.each([
    [{ method: 'GET' }, '--method goes with --http-url or --lamp'],
    [{ lamp: 'hall', method: 'GET' }, '--method goes with --http-url or --lamp'],
    [{ httpUrl: url, query: ['nothing'] }, '--query nothing: write its name and its value, such as currency=EUR'],
    [{ httpUrl: url, header: ['nothing'] }, '--header nothing: write its name and its value'],
    [{ action: '{"url":"x"}' }, '--action needs the kind of the action'],
    [{ action: '{"kind":"http"}', method: 'GET' }, 'leave --method out'],
    [{ action: '@/no/such/file' }, '/no/such/file cannot be read'],
  ])('is refused where it makes no sense: %j', async (options, words) => {
    await expect(read(options)).rejects.toThrow(words);
  });

  it('is told in short, without what is secret', () => {
    const action = {
      kind: 'http',
      method: 'POST',
      url,
      headers: { authorization: 'Bearer abc' },
      template: '{{ body }}',
    };
    expect(actionWords(action, among)).toBe(`POST ${url}; headers: authorization: •••; template: {{ body }}`);
    expect(actionWords({ kind: 'lamp', lamp: 'hall' }, among)).toBe('lamp; lamp: hall');
    expect(actionWords({ kind: 'message' }, among)).toBeNull();
  });
});

describe('on a server', () => {
  it('kinds of actions are listed, and one is tried out without a task', async () => {
    const { well, type } = await aPlace();
    expect((await well('task actions')).out).toMatch(/^message +Send a text on time/);
    const tested = await well(`task test --action '{"kind":"message"}' --text "Hello there"`);
    expect(tested.out).toContain('The test succeeded');
    expect(tested.out).toContain('Hello there');
    expect((await well('task list')).out).toContain('No tasks');
    expect(await type('task test')).toMatchObject({ code: 2 });
    const hook = 'task test --http-url https://example.com/hook --method POST';
    expect((await type(hook)).err).toContain('This may change something where it calls. Call it now?');
  });

  it('tells with a dry run what a call would reach and cost', async () => {
    const { well } = await aPlace();
    const made = '--cron "*/10 8-17 * * *" --timezone UTC --http-url https://example.com/price --policy missed=all';
    const { out } = await well(`task create ${made} --dry-run`);
    expect(out).toMatch(/does +GET https:\/\/example.com\/price/);
    expect(out).toMatch(/reaches +example.com/);
    expect(out).toMatch(/requests +about 60 a day, 1800 a month, up to \d+ at once after an outage/);
    expect(out).toMatch(/tries +up to 3, within /);
  });

  it('exports carry the action, and an import that says the same changes nothing', async () => {
    const { well } = await aPlace();
    const path = join(aFolder(), 'tasks.yaml');
    await well('task create --cron "0 9 * * *" --timezone UTC --http-url https://example.com/price --watch body');
    await well(`export --output ${path}`);
    expect(readFileSync(path, 'utf8')).toContain('url: https://example.com/price');
    expect((await well(`import ${path} --yes`)).out).toMatch(/0 to create, 0 to update, 1 as they should be/);
  });
});
