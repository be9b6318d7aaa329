import { afterEach, describe, expect, it } from 'vitest';
import { aStub } from '../support/place.ts';
import { type Bot, lab, stopBots } from './bot.ts';
import { ask, askText, aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

const url = 'https://shop.example.com/price';
const elsewhere = 'https://evil.example.com/take';
const auth = { kind: 'bearer', secret: 'SHOP_KEY' };
const key = { SECRET_SHOP_KEY: 'sesame-of-the-operator' };
const threadPath = `/v1/threads/telegram:chat:${lab}/tasks`;
const refusal =
  'The secret SHOP_KEY belongs to the operator, and only an owner of the bot can let it go to evil.example.com. Ask an owner to make this change, or have the operator name its hosts in SECRET_SHOP_KEY_HOSTS.';

const hour = 3_600_000;

/** An owner's task in a group in which Ben is an admin, and no owner of the bot. It calls with a secret of the operator. */
async function aSharedTask(env: Readonly<Record<string, string>> = key) {
  const bot = await aTalkingBot({ TELEGRAM_CHATS: String(lab), ...env });
  bot.world.setMember(lab, 'ben', 'administrator');
  await bot.press('ada', await ask(bot, ['ada', lab], `/fetch every day at 9 ${url}`), 'Create');
  expect(await askText(bot, ['ada', lab], '/edit #1 auth bearer SHOP_KEY')).toContain('now: bearer SHOP_KEY');
  const [task] = (await bot.api('GET', threadPath)).body['tasks'] as { task_id: string }[];
  return { bot, path: `/v1/tasks/${task?.task_id ?? ''}` };
}

const says = (bot: Bot, who: string, words: string) => askText(bot, [who, lab], `/edit #1 ${words}`);

async function actionOf({ bot, path }: Awaited<ReturnType<typeof aSharedTask>>) {
  return ((await bot.api('GET', path)).body['task'] as { action: object }).action;
}

/** As the bearer of a named token that may manage tasks, and not the bot. */
async function byToken(bot: Bot) {
  const made = await bot.api('POST', '/v1/tokens', { name: 'ci', scopes: ['manage'] });
  const token = String(made.body['token']);
  return async (method: string, path: string, body: unknown) => {
    const answer = await fetch(`${bot.server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as { error?: { message: string; code: string } } };
  };
}

describe("a secret of the operator without hosts, in an owner's task", () => {
  it('goes nowhere else by an edit of an admin, and may by one of an owner', async () => {
    const shared = await aSharedTask();
    const { bot } = shared;
    expect(await says(bot, 'ben', `url ${elsewhere}`)).toContain(refusal);
    expect(await actionOf(shared)).toMatchObject({ url, auth });
    expect(await says(bot, 'ben', `url ${url}?currency=eur`)).toContain('currency=eur');
    expect(await says(bot, 'ada', `url ${elsewhere}`)).toContain(elsewhere);
    expect(await actionOf(shared)).toMatchObject({ url: elsewhere, auth });
  });

  it('does not come along in two steps either, nor under the cover of one of the chat', async () => {
    const shared = await aSharedTask();
    const { bot } = shared;
    await says(bot, 'ben', 'auth none');
    expect(await says(bot, 'ben', `url ${elsewhere}`)).toContain(elsewhere);
    expect(await says(bot, 'ben', 'auth bearer SHOP_KEY')).toContain(refusal);
    expect(await actionOf(shared)).not.toHaveProperty('auth');
    const own = `/v1/secrets/SHOP_KEY?thread_key=telegram:chat:${lab}`;
    expect((await bot.api('PUT', own, { value: 'one of the chat' })).status).toBe(200);
    expect(await says(bot, 'ben', 'auth bearer SHOP_KEY')).toContain(refusal);
  });

  it('may be edited anywhere where the operator has named its hosts, which judge every call', async () => {
    const { bot } = await aSharedTask({ ...key, SECRET_SHOP_KEY_HOSTS: '*.example.com' });
    expect(await says(bot, 'ben', `url ${elsewhere}`)).toContain(elsewhere);
  });

  it('may be edited by members of a chat that the operator has allowed', async () => {
    const { bot } = await aSharedTask({ ...key, SECRET_SHOP_KEY_CHATS: String(lab) });
    expect(await says(bot, 'ben', `url ${elsewhere}`)).toContain(elsewhere);
  });

  it('is edited by the bearer of API_TOKEN, and goes nowhere else by a named token', async () => {
    const shared = await aSharedTask();
    const { bot, path } = shared;
    const ask = await byToken(bot);
    const action = { kind: 'http', url: elsewhere, auth };
    const refused = { status: 403, body: { error: { code: 'forbidden', message: refusal } } };
    expect(await ask('PATCH', path, { action })).toMatchObject(refused);
    const task = { title: 'Price', instructions: '', schedule: { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' } };
    expect(await ask('POST', threadPath, { ...task, action })).toMatchObject(refused);
    const test = { thread_key: `telegram:chat:${lab}`, action, confirm: true };
    expect(await ask('POST', '/v1/actions/test', test)).toMatchObject(refused);
    const scopes = ['action:http', 'host:shop.example.com', 'host:evil.example.com', 'secret:SHOP_KEY'];
    const taskId = path.split('/').at(-1);
    expect(await ask('POST', '/v1/grants', { task_id: taskId, scopes })).toMatchObject(refused);
    expect((await ask('PATCH', path, { action: { ...action, url: `${url}?b=2` } })).status).toBe(200);
    expect((await bot.api('PATCH', path, { action })).status).toBe(200);
    expect(await actionOf(shared)).toMatchObject({ url: elsewhere });
    expect((await bot.api('PATCH', path, { action: { ...action, url } })).status).toBe(200);
    expect(await ask('POST', `${path}/undo`, {})).toMatchObject(refused);
    expect(await actionOf(shared)).toMatchObject({ url });
  });
});

/** Somebody who is called, and writes down what each call shows. */
async function aListener() {
  const heard: (string | undefined)[] = [];
  const url = await aStub((incoming, outgoing) => {
    heard.push(incoming.headers.authorization);
    outgoing.end('taken');
  });
  return { heard, place: new URL(url).host };
}

describe('a secret of the operator without hosts, which is set after somebody else has named it', () => {
  const value = 'set-by-the-operator-later';

  /** Ada's task; Ben, an admin, points it at a server of his and names a secret that nobody has set yet. */
  async function aPair(env: Readonly<Record<string, string>> = {}) {
    const { heard, place } = await aListener();
    const own = await aTalkingBot({ TELEGRAM_CHATS: String(lab), EGRESS_ALLOW: place, ...env });
    own.world.setMember(lab, 'ben', 'administrator');
    await own.press('ada', await ask(own, ['ada', lab], `/fetch every hour ${url}`), 'Create');
    expect(await says(own, 'ben', `url http://${place}/take`)).toContain(place);
    expect(await says(own, 'ben', 'auth bearer SHOP_KEY')).toContain(`Sends the secret SHOP_KEY to ${place}`);
    return { own, heard, place };
  }

  async function endsOf(bot: Bot) {
    const [task] = (await bot.api('GET', threadPath)).body['tasks'] as { task_id: string }[];
    const runs = (await bot.api('GET', `/v1/tasks/${task?.task_id}/runs`)).body['task_runs'];
    return (runs as { status: string; reason: string | null }[]).map(({ status, reason }) => reason ?? status);
  }

  const grantOf = async (bot: Bot) =>
    ((await bot.api('GET', `/v1/grants?thread_key=telegram:chat:${lab}&state=active`)).body['grants'] as object[])[0];

  it('goes to no host of theirs, until an owner of the bot has seen and renewed that', async () => {
    const { own, heard, place } = await aPair();
    const bot = await own.restart({ env: { SECRET_SHOP_KEY: value } });
    await bot.pass(hour);
    expect(heard).toEqual([]);
    expect(await endsOf(bot)).toContain('secret_host');
    expect(bot.texts(lab).join('\n')).toContain('Who named the two together is no owner of the bot');
    expect(await grantOf(bot)).toMatchObject({ unconfirmed: [`host:${place}`, 'secret:SHOP_KEY'] });
    // Ben confirms nothing: with the right of his own the secret stays closed.
    const byBen = await ask(bot, ['ben', lab], '/grants #1');
    expect(byBen.text).toContain(`Named by no owner of the bot: host:${place}, secret:SHOP_KEY`);
    expect(JSON.stringify(byBen)).not.toContain('Renew"');
    const byAda = await ask(bot, ['ada', lab], '/grants #1');
    await bot.press('ada', byAda, 'Renew');
    expect(await grantOf(bot)).toMatchObject({ unconfirmed: [] });
    await bot.pass(hour);
    expect(heard).toEqual([`Bearer ${value}`]);
  });

  it('nor does one that is kept in the database, and an edit of something else by an owner confirms nothing', async () => {
    const { own, heard } = await aPair();
    expect((await own.api('PUT', '/v1/secrets/SHOP_KEY', { value })).status).toBe(200);
    expect(await says(own, 'ada', 'timeout 5 s')).toContain('PT5S');
    await own.pass(hour);
    expect(heard).toEqual([]);
    expect(await endsOf(own)).toContain('secret_host');
  });

  it('goes where an owner has named both, whatever an admin adds beside', async () => {
    const { heard, place } = await aListener();
    const own = await aTalkingBot({ TELEGRAM_CHATS: String(lab), EGRESS_ALLOW: place });
    own.world.setMember(lab, 'ben', 'administrator');
    await own.press('ada', await ask(own, ['ada', lab], `/fetch every hour http://${place}/price`), 'Create');
    await says(own, 'ada', 'auth bearer SHOP_KEY');
    await says(own, 'ben', 'header x-other: {{ secrets.OTHER }}');
    await own.api('PUT', `/v1/secrets/OTHER?thread_key=telegram:chat:${lab}`, { value: 'one of the chat' });
    const bot = await own.restart({ env: { SECRET_SHOP_KEY: value } });
    await bot.pass(hour);
    expect(heard).toEqual([`Bearer ${value}`]);
  });

  it('goes to them where the operator has named the host, or let the chat use it', async () => {
    const { own, heard, place } = await aPair();
    const hosted = await own.restart({ env: { SECRET_SHOP_KEY: value, SECRET_SHOP_KEY_HOSTS: place } });
    await hosted.pass(hour);
    const shared = await hosted.restart({
      env: { SECRET_SHOP_KEY: value, SECRET_SHOP_KEY_HOSTS: '', SECRET_SHOP_KEY_CHATS: String(lab) },
    });
    await shared.pass(hour);
    expect(heard).toEqual([`Bearer ${value}`, `Bearer ${value}`]);
  });

  it('goes nowhere by a task that a named token has made for the owner of the chat', async () => {
    const { heard, place } = await aListener();
    const own = await aTalkingBot({ TELEGRAM_CHATS: String(lab), EGRESS_ALLOW: place });
    const ask = await byToken(own);
    const schedule = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' };
    const action = { kind: 'http', url: `http://${place}/take`, auth };
    expect((await ask('POST', threadPath, { title: 'Price', instructions: '', schedule, action })).status).toBe(201);
    const bot = await own.restart({ env: { SECRET_SHOP_KEY: value } });
    await bot.pass(hour);
    expect(heard).toEqual([]);
    expect(await endsOf(bot)).toContain('secret_host');
    // Put off to another chat it is not confirmed either.
    const [task] = (await bot.api('GET', threadPath)).body['tasks'] as { task_id: string }[];
    await bot.api('POST', `/v1/tasks/${task?.task_id}/attach`, { thread_key: 'telegram:chat:1001' });
    await bot.pass(hour);
    expect(heard).toEqual([]);
  });
});
