import { afterEach, describe, expect, it } from 'vitest';
import { type Bot, lab, stopBots } from './bot.ts';
import { ask, askText, aTalkingBot } from './dialogue.ts';

afterEach(stopBots);

const url = 'https://shop.example.com/price';
const ofOperator = { SECRET_SHOP_KEY: 'sesame-of-the-operator', SECRET_SHOP_KEY_HOSTS: 'shop.example.com' };
const auth = { kind: 'bearer', secret: 'SHOP_KEY' };

const aLab = (env: Readonly<Record<string, string>> = ofOperator) =>
  aTalkingBot({ TELEGRAM_CHATS: String(lab), ...env });

function called(bot: Pick<Bot, 'api'>, action: object, threadKey = `telegram:chat:${lab}`) {
  const body = {
    title: 'Price',
    action: { kind: 'http', url, ...action },
    instructions: '',
    schedule: { kind: 'cron', cron: '0 9 * * *', timezone: 'UTC' },
  };
  return bot.api('POST', `/v1/threads/${threadKey}/tasks`, body);
}

const call = (who: string, more = '') => [[who, lab], `/fetch every day at 9 ${url}${more}`] as const;

describe('a secret of the operator', () => {
  it('is refused to a member when a task is to name it, and is there for an owner of the bot', async () => {
    const bot = await aLab();
    await bot.press('ben', await ask(bot, ...call('ben')), 'Create');
    const refusal = await askText(bot, ['ben', lab], '/edit #1 auth bearer SHOP_KEY');
    expect(refusal).toContain('The secret SHOP_KEY is for tasks of owners of the bot. Set one of this chat with');
    expect(await askText(bot, call('ben')[0], `/fetch every day at 9 ${url}?key={{ secrets.SHOP_KEY }}`)).toContain(
      'have the operator allow this chat in SECRET_SHOP_KEY_CHATS',
    );
    await bot.press('ada', await ask(bot, ...call('ada', '/dear')), 'Create');
    expect(await askText(bot, ['ada', lab], '/edit #2 auth bearer SHOP_KEY')).toContain('now: bearer SHOP_KEY');
  });

  it('is there for a member of a chat that the operator allowed', async () => {
    const bot = await aLab({ ...ofOperator, SECRET_SHOP_KEY_CHATS: String(lab) });
    await bot.press('ben', await ask(bot, ...call('ben')), 'Create');
    expect(await askText(bot, ['ben', lab], '/edit #1 auth bearer SHOP_KEY')).toContain('now: bearer SHOP_KEY');
  });

  it('is refused to a host that is none of its own, with the field that names it', async () => {
    const bot = await aLab();
    expect(await called(bot, { url: 'https://other.example.com/x', auth })).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'invalid_action',
          message: expect.stringContaining('must not be sent to other.example.com') as string,
          details: { field: 'action.auth.secret', reason: 'secret_host' },
        },
      },
    });
    expect(await called(bot, { auth })).toMatchObject({ status: 201, body: { warnings: [] } });
    // Only a run knows the host, and judges it then.
    expect((await called(bot, { url: 'https://{{ context.host }}/', auth })).status).toBe(201);
  });
});

describe('a token in a chat that an owner of the bot let in', () => {
  const action = { kind: 'http', url: 'https://mine.example.net/', auth };
  const anywhere = { SECRET_SHOP_KEY: 'sesame-of-the-operator' };

  /** What a program with such a token asks. */
  async function aProgram(bot: Bot) {
    const keys = [`telegram:chat:${lab}`];
    const { body } = await bot.api('POST', '/v1/tokens', { name: 'ci', scopes: ['manage'], thread_keys: keys });
    return bot.as(String(body['token']));
  }

  it('sends no secret of the operator anywhere: not by a task, not by a change, not by a test', async () => {
    const bot = await aLab(anywhere);
    const program = await aProgram(bot);
    expect((await called(program, action)).status).toBe(403);
    const { task_id: id } = (await called(program, {})).body['task'] as { task_id: string };
    expect((await program.api('PATCH', `/v1/tasks/${id}`, { action })).status).toBe(403);
    expect((await program.api('PATCH', `/v1/tasks/${id}`, { action: { kind: 'http', url } })).status).toBe(200);
    const test = { action, thread_key: `telegram:chat:${lab}`, confirm: true };
    expect((await program.api('POST', '/v1/actions/test', test)).status).toBe(403);
  });

  it('does not turn a task of an owner into one that sends it elsewhere', async () => {
    const bot = await aLab(anywhere);
    const { task_id: id } = (await called(bot, { auth })).body['task'] as { task_id: string };
    expect((await (await aProgram(bot)).api('PATCH', `/v1/tasks/${id}`, { action })).status).toBe(403);
  });

  it('does not learn from a refusal which secrets another chat has', async () => {
    const bot = await aLab();
    const elsewhere = 'telegram:chat:1001';
    const wish = { value: 'of that chat', hosts: ['other.example.com'] };
    expect((await bot.api('PUT', `/v1/secrets/NEW_KEY?thread_key=${elsewhere}`, wish)).status).toBe(200);
    const asked = { kind: 'http', url, auth: { kind: 'bearer', secret: 'NEW_KEY' } };
    const answer = await called(await aProgram(bot), asked, elsewhere);
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
  });
});

describe('a secret that is not set yet', () => {
  const warning = { code: 'secret_missing', message: expect.stringContaining('/secrets set NEW_KEY') as string };

  it('is a warning when the task is made or changed, and none once it is set', async () => {
    const bot = await aLab();
    const headers = { 'x-key': '{{ secrets.NEW_KEY }}' };
    const made = await called(bot, { headers });
    expect(made).toMatchObject({ status: 201, body: { warning_details: [warning] } });
    const { task_id: id } = made.body['task'] as { task_id: string };
    const change = () =>
      bot.api('PATCH', `/v1/tasks/${id}`, { action: { kind: 'http', url, headers, timeout: 'PT5S' } });
    expect(await change()).toMatchObject({ status: 200, body: { warning_details: [warning] } });
    const place = `?thread_key=telegram:chat:${lab}`;
    expect((await bot.api('PUT', `/v1/secrets/NEW_KEY${place}`, { value: 'long enough' })).status).toBe(200);
    expect(await change()).toMatchObject({ status: 200, body: { warning_details: [] } });
  });

  it('is told on the card of the task that was made in a chat', async () => {
    const bot = await aLab();
    const preview = await ask(bot, ...call('ben', '?key={{ secrets.NEW_KEY }}'));
    await bot.press('ben', preview, 'Create');
    expect(bot.now(preview).text).toContain('There is no secret NEW_KEY yet');
  });
});
