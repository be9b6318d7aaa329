import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { aStub } from '../support/place.ts';
import { day, hour, lab, minute, stopBots, type Bot } from './bot.ts';
import { aTask, opened, rowsOf, threadOf } from './deliveries.ts';
import { ask, askText, aTalkingBot } from './dialogue.ts';
import { leaksIn, leftOf } from './leaks.ts';

afterEach(stopBots);

interface Seen {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A target on this computer, which notes who calls. */
async function aTarget(answer: (response: ServerResponse, seen: Seen) => void = (response) => response.end('ok')) {
  const seen: Seen[] = [];
  const url = await aStub((incoming, response) => {
    void text(incoming).then((body) => {
      const one = { url: incoming.url ?? '', headers: incoming.headers, body };
      seen.push(one);
      answer(response, one);
    });
  });
  return { seen, url, place: new URL(url).host, tokens: () => seen.map(({ headers }) => headers.authorization) };
}

async function inPrivate(bot: Bot, name: string, value: string): Promise<void> {
  await bot.say('ada', 1001, `/secrets set ${name}`);
  await bot.say('ada', 1001, value);
}

async function slotsOf(bot: Bot, id: string) {
  const { body } = await bot.api('GET', `/v1/tasks/${id}/runs`);
  return (body['task_runs'] as readonly { status: string; reason: string | null }[]).map(
    ({ status, reason }) => reason ?? status,
  );
}

const toldOfLacks = (bot: Bot) => rowsOf(bot, 'notice').filter(({ content }) => content.includes('mayNotRun'));
const calling = (url: string, auth: object, more: object = {}) => ({ action: { kind: 'http', url, auth, ...more } });
const bearing = (secret: string) => ({ kind: 'bearer', secret });
const cron = '0 * * * *';
const mine = threadOf(1001);

describe('a secret of a chat', () => {
  it('that is not there skips the slots, is told once, and works as soon as it is set', async () => {
    const { tokens, url, place } = await aTarget();
    const bot = await aTalkingBot({ EGRESS_ALLOW: place });
    await opened(bot, 1001);
    const id = await aTask(bot, { title: 'Price', thread: mine, cron, more: calling(url, bearing('SHOP_KEY')) });
    for (let each = 0; each < 6; each += 1) await bot.pass(hour);
    expect(await slotsOf(bot, id)).toEqual(Array.from({ length: 6 }, () => 'secret_missing'));
    expect((await bot.api('GET', `/v1/tasks/${id}`)).body).toMatchObject({ task: { state: 'active' } });
    expect(toldOfLacks(bot)).toHaveLength(1);
    const words = () => bot.texts(1001).find((one) => one.includes('/secrets set SHOP_KEY'));
    expect(words()).toMatch(/Price cannot run, because a secret that it names is not there\./);
    expect(words()).not.toMatch(/Renew|Over/);
    await inPrivate(bot, 'SHOP_KEY', 'open sesame');
    await bot.pass(hour);
    expect(tokens()).toEqual(['Bearer open sesame']);
    expect(words()).toContain('Over: a secret has been set since');
    // Gone once more, it is news once more.
    await bot.say('ada', 1001, '/secrets delete SHOP_KEY');
    await bot.pass(hour);
    await bot.pass(hour);
    expect(toldOfLacks(bot)).toHaveLength(2);
    expect((await slotsOf(bot, id)).slice(0, 3)).toEqual(['secret_missing', 'secret_missing', 'succeeded']);
  });

  it('goes to its own hosts alone, and is that of no other chat', async () => {
    const { tokens, url, place } = await aTarget();
    const bot = await aTalkingBot({ EGRESS_ALLOW: place, TELEGRAM_CHATS: String(lab) });
    await opened(bot, 1001);
    await opened(bot, lab);
    const set = (hosts: readonly string[]) =>
      bot.api('PUT', `/v1/secrets/SHOP_KEY?thread_key=${mine}`, { value: 'open sesame', hosts });
    const more = calling(url, bearing('SHOP_KEY'));
    const id = await aTask(bot, { title: 'Price', thread: mine, cron, more });
    const elsewhere = await aTask(bot, { title: 'Elsewhere', cron, more });
    await set(['shop.example.com']);
    await bot.pass(hour);
    expect([await slotsOf(bot, id), await slotsOf(bot, elsewhere)]).toEqual([['secret_host'], ['secret_missing']]);
    expect(bot.texts(1001).join('\n')).toContain(`The secret SHOP_KEY must not be sent to ${place}.`);
    await set([place]);
    await bot.pass(hour);
    expect(tokens()).toEqual(['Bearer open sesame']);
    expect(await slotsOf(bot, elsewhere)).toEqual(['secret_missing', 'secret_missing']);
  });

  it('is named with the host to which it goes, before the task is made and after it is changed', async () => {
    const { seen, url, place } = await aTarget();
    const bot = await aTalkingBot({ EGRESS_ALLOW: place });
    await opened(bot, 1001);
    await inPrivate(bot, 'SHOP_KEY', 'open sesame');
    await inPrivate(bot, 'SHOP_TOKEN', 'the token');
    const preview = await ask(bot, ['ada', 1001], `/fetch every hour ${url}/price?key={{ secrets.SHOP_KEY }}`);
    expect(preview.text).toContain(`Sends the secret SHOP_KEY to ${place}`);
    await bot.press('ada', preview, 'Create');
    const edited = await askText(bot, ['ada', 1001], '/edit #1 auth bearer SHOP_TOKEN');
    expect(edited).toMatch(/auth:\s+before: as usual\s+now: bearer SHOP_TOKEN/);
    expect(edited).toContain(`Sends the secret SHOP_TOKEN to ${place}`);
    expect(edited).not.toContain('SHOP_KEY');
    await bot.pass(hour);
    expect(seen.map(({ url: path, headers }) => [path, headers.authorization])).toEqual([
      ['/price?key=open%20sesame', 'Bearer the token'],
    ]);
  });
});

describe('what a task will do with a secret', () => {
  const says = (bot: Bot, words: string) => askText(bot, ['ada', 1001], words);

  it('is told whenever that is set, changed or brought back, by whatever setting', async () => {
    const bot = await aTalkingBot();
    await opened(bot, 1001);
    await bot.press('ada', await ask(bot, ['ada', 1001], '/fetch every hour https://api.example.com/price'), 'Create');
    expect(await says(bot, '/edit #1 header x-key: {{ secrets.KEY }}')).toContain(
      'Sends the secret KEY to api.example.com',
    );
    const moved = await says(bot, '/edit #1 url https://other.example.com/price');
    expect(moved).toContain('Sends the secret KEY to other.example.com');
    expect(await says(bot, '/edit #1 timeout 5 s')).not.toContain('Sends');
    expect(await says(bot, '/edit #1 auth hmac SIGN')).toContain(
      'Signs calls to other.example.com with the secret SIGN',
    );
    expect(await says(bot, '/edit #1 auth mtls CERT PRIVATE')).toContain(
      'Shows other.example.com a certificate by the secrets CERT, PRIVATE',
    );
    const oauth = 'oauth2 token_url=https://login.example.com/token client_id=shop secret=CLIENT';
    expect(await says(bot, `/edit #1 auth ${oauth}`)).toContain('Sends the secret CLIENT to login.example.com');
    expect(await says(bot, '/edit #1 auth none')).not.toContain('the secret');
    expect(await says(bot, '/undo')).toContain('Sends the secret CLIENT to login.example.com');
  });

  it('is told to whoever is asked for its value', async () => {
    const bot = await aTalkingBot();
    await opened(bot, 1001);
    const fetch = '/fetch every hour https://api.example.com/price';
    await bot.press('ada', await ask(bot, ['ada', 1001], `${fetch}?key={{ secrets.KEY }}`), 'Create');
    const signed = await ask(bot, ['ada', 1001], '/fetch every day at 9 https://api.example.com/stock');
    await bot.press('ada', signed, 'Create');
    await says(bot, '/edit #2 auth hmac KEY');
    const question = await says(bot, '/secrets set KEY');
    expect(question).toContain('#1 sends it to api.example.com.');
    expect(question).toContain('#2 signs calls to api.example.com with it.');
    await says(bot, '/cancel');
    expect(await says(bot, '/secrets set OTHER')).not.toContain('#1');
  });
});

describe('a secret of the operator', () => {
  const secret = { SECRET_OPS_KEY: 'of the operator' };

  it('is for tasks of owners, and for chats that are named, at hosts that are named', async () => {
    const { tokens, url, place } = await aTarget();
    const wide = { SECRET_OPS_KEY_HOSTS: place, SECRET_OPS_KEY_CHATS: String(lab) };
    const bot = await aTalkingBot({ ...secret, ...wide, TELEGRAM_CHATS: String(lab), EGRESS_ALLOW: place });
    await opened(bot, 1001);
    await opened(bot, lab);
    const owned = await aTask(bot, { title: 'Owned', thread: mine, cron, more: calling(url, bearing('OPS_KEY')) });
    const preview = await ask(bot, ['ben', lab], `/fetch every hour ${url}/?key={{ secrets.OPS_KEY }}`);
    await bot.press('ben', preview, 'Create');
    const { body } = await bot.api('GET', `/v1/tasks?thread_key=${threadOf(lab)}`);
    const [{ task_id: bens } = { task_id: '' }] = body['tasks'] as { task_id: string }[];
    await bot.pass(hour);
    const narrow = await bot.restart({ env: { SECRET_OPS_KEY_HOSTS: 'ops.example.com', SECRET_OPS_KEY_CHATS: '' } });
    await narrow.pass(hour);
    const hosted = await narrow.restart({ env: { ...wide, SECRET_OPS_KEY_CHATS: '' } });
    await hosted.pass(hour);
    expect(await slotsOf(hosted, owned)).toEqual(['succeeded', 'secret_host', 'succeeded']);
    expect(await slotsOf(hosted, bens)).toEqual(['secret_missing', 'secret_missing', 'succeeded']);
    expect(tokens().filter((token) => token !== undefined)).toEqual(Array(2).fill('Bearer of the operator'));
  });

  it('gives way to one of the chat with its name', async () => {
    const { tokens, url, place } = await aTarget();
    const bot = await aTalkingBot({ ...secret, SECRET_OPS_KEY_HOSTS: place, EGRESS_ALLOW: place });
    await opened(bot, 1001);
    await aTask(bot, { thread: mine, cron, more: calling(url, bearing('OPS_KEY')) });
    await bot.pass(hour);
    await inPrivate(bot, 'OPS_KEY', 'of the chat');
    await bot.pass(hour);
    expect(tokens()).toEqual(['Bearer of the operator', 'Bearer of the chat']);
  });
});

describe('a refresh token', () => {
  it('that rotates is kept over a start and a change of the key that seals', async () => {
    let made = 0;
    const server = await aTarget((response, { body }) => {
      const given = new URLSearchParams(body).get('refresh_token');
      const isGood = given === `refresh-token-${made}`;
      if (isGood) made += 1;
      const granted = { access_token: `access-token-${made}`, token_type: 'Bearer', expires_in: 60 };
      response
        .writeHead(isGood ? 200 : 400, { 'content-type': 'application/json' })
        .end(
          JSON.stringify(isGood ? { ...granted, refresh_token: `refresh-token-${made}` } : { error: 'invalid_grant' }),
        );
    });
    const { tokens, url, place } = await aTarget();
    const keys = ['ab'.repeat(32), 'cd'.repeat(32)];
    const bot = await aTalkingBot({ EGRESS_ALLOW: `${place},${server.place}`, SECRETS_KEY: keys[0] ?? '' });
    await opened(bot, 1001);
    await inPrivate(bot, 'CLIENT', 'client secret');
    await inPrivate(bot, 'REFRESH', 'refresh-token-0');
    const auth = {
      kind: 'oauth2',
      token_url: server.url,
      client_id: 'shop',
      secret: 'CLIENT',
      refresh_token: 'REFRESH',
    };
    const id = await aTask(bot, { thread: mine, cron, more: calling(url, auth) });
    await bot.pass(hour);
    const next = await bot.restart({ env: { SECRETS_KEY: keys[1] ?? '', SECRETS_KEY_PREVIOUS: keys[0] ?? '' } });
    expect((await next.api('POST', '/v1/rotate-secrets', {})).body).toMatchObject({ sealed: 2, left: 0 });
    const last = await next.restart({ env: { SECRETS_KEY: keys[1] ?? '', SECRETS_KEY_PREVIOUS: '' } });
    await last.pass(hour);
    expect(tokens()).toEqual(['Bearer access-token-1', 'Bearer access-token-2']);
    expect(await slotsOf(last, id)).toEqual(['succeeded', 'succeeded']);
    expect(leaksIn({ refresh: `refresh-token-${made}`, access: 'access-token-2' }, leftOf(last))).toEqual([]);
  });
});

describe('what a call sends is found nowhere', () => {
  const canaries = {
    bearer: 'CANARY-of-bearer/1+',
    basic: 'CANARY of basic~2',
    header: 'CANARY-of-header"3',
    hmac: 'CANARY-of-hmac\\4',
    client: 'CANARY-of-the-client&5',
    refresh: 'CANARY-of-refresh-6',
    template: 'CANARY/of=a template 7',
    operator: 'CANARY-of-the-operator%8',
    access: 'CANARY-access-token-9',
    rotated: 'CANARY-rotated-token-10',
  } as const;

  it('although the target and the token server repeat it in every way', async () => {
    const server = await aTarget((response, { body }) => {
      const given = new URLSearchParams(body).get('refresh_token');
      const grant = { access_token: canaries.access, token_type: 'Bearer', expires_in: 60 };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(given === null ? grant : { ...grant, refresh_token: canaries.rotated }));
    });
    let calls = 0;
    const { seen, url, place } = await aTarget((response, { url: path, headers, body }) => {
      const echo = JSON.stringify({ path, headers, body, count: (calls += 1) });
      const [, way] = /^\/(\w+)/.exec(path) ?? [];
      if (way === 'refused') response.writeHead(403).end(echo);
      else if (way === 'broken') response.writeHead(503, { 'x-echo': encodeURIComponent(echo) }).end(echo);
      else if (way === 'file') response.setHeader('content-type', 'application/zip').end(`PK\x03\x04\0${echo}`);
      else if (way === 'page') response.setHeader('content-type', 'text/html').end(`<p>${echo}</p>`);
      else response.setHeader('content-type', 'application/json').end(echo);
    });
    const bot = await aTalkingBot({
      EGRESS_ALLOW: `${place},${server.place}`,
      SECRET_OPERATOR: canaries.operator,
      SECRET_OPERATOR_HOSTS: place,
      LOG_LEVEL: 'trace',
    });
    await opened(bot, 1001);
    const answers: Record<string, string> = {};
    const told = async (method: string, path: string, body?: unknown) => {
      const answer = await bot.api(method, path, body);
      answers[`${Object.keys(answers).length} ${method} ${path}`] = JSON.stringify(answer);
      return answer;
    };
    for (const [name, value] of Object.entries(canaries).slice(0, 7))
      await bot.api('PUT', `/v1/secrets/${name.toUpperCase()}?thread_key=${mine}`, { value });
    const client = { kind: 'oauth2', token_url: server.url, client_id: 'shop', secret: 'CLIENT' };
    const auths: readonly object[] = [
      bearing('BEARER'),
      { kind: 'basic', username: 'ada', secret: 'BASIC' },
      { kind: 'header', header: 'x-key', secret: 'HEADER' },
      { kind: 'hmac', secret: 'HMAC', previous: 'BEARER' },
      client,
      { ...client, refresh_token: 'REFRESH', method: 'basic' },
      bearing('OPERATOR'),
    ];
    const named = '{{ secrets.TEMPLATE }}';
    const more = { method: 'POST', query: { key: named }, headers: { 'x-more': named }, body: { deep: [named] } };
    const ways = ['json', 'refused', 'broken', 'file', 'page'];
    const actions = auths.flatMap((auth, index) =>
      [0, 2]
        .map((step) => ways[(index + step) % ways.length] ?? '')
        .map((way) => ({
          ...calling(`${url}/${way}/${named}`, auth, more).action,
          ...(way === 'json' ? { select: 'headers', watch: { on: 'body', first: 'send' } } : {}),
        })),
    );
    const ids: string[] = [];
    for (const [index, action] of actions.entries()) {
      const policies = index % 5 === 3 ? { approval: 'required' } : {};
      const [title, twice] = [`Call ${index}`, '0 10,11 18 11 *'];
      ids.push(await aTask(bot, { title, thread: mine, cron: twice, more: { action, policies } }));
    }
    for (const action of actions.slice(0, 6))
      expect((await told('POST', '/v1/actions/test', { action, thread_key: mine, confirm: true })).status).toBe(202);
    await bot.pass(hour);
    await bot.pass(hour);
    await bot.pass(5 * minute);
    for (const id of ids) {
      const { body } = await told('GET', `/v1/tasks/${id}/runs`);
      await told('GET', `/v1/tasks/${id}/why`);
      for (const { run_id: run } of body['task_runs'] as { run_id: string | null }[])
        if (run !== null) await told('GET', `/v1/runs/${run}/result`);
    }
    for (const path of ['/v1/runs', '/v1/audit', '/v1/events?limit=100', '/v1/status', '/v1/usage', '/v1/tasks'])
      await told('GET', path);
    await bot.say('ada', 1001, '/task #1');
    await bot.say('ada', 1001, '/why #2');
    await bot.pass(day);
    for (let each = 0; each < 60 && !bot.log.lines.some(({ event }) => event === 'backup'); each += 1)
      await bot.pass(minute);
    // All of it was sent, and repeated, so there was something to find.
    const sent = JSON.stringify(seen) + JSON.stringify(server.seen);
    for (const name of ['bearer', 'access', 'refresh'] as const) expect(sent).toContain(canaries[name]);
    expect(JSON.stringify(answers)).toContain('[secret]');
    const left = leftOf(bot);
    const files = Object.keys(left).join();
    for (const file of ['cronogram.db-wal', 'backups/', 'sandbox.db']) expect(files).toContain(file);
    expect(left['blob_chunks.bytes']).toContain('[secret]');
    expect(leaksIn(canaries, answers)).toEqual([]);
    expect(leaksIn(canaries, { log: JSON.stringify(bot.log.lines), transcript: bot.world.transcript() })).toEqual([]);
    expect(leaksIn(canaries, left)).toEqual([]);
  });
});
