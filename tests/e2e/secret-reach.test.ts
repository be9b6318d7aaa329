import { afterEach, describe, expect, it } from 'vitest';
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
