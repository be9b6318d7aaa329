import { expect, test } from 'vitest';
import { aStub } from '../support/place.ts';
import { ada, ben, lab, openLab, refusal, until, type Fields } from './lab.ts';

interface Push {
  readonly secret: string | undefined;
  readonly update: Fields;
}

type Respond = (push: Push) => { readonly status: number; readonly headers?: Record<string, string> } | null;

/** The bot's server. Its answer is decided for each push; null lets the push wait. */
async function openBot(respond: Respond = () => ({ status: 200 })) {
  const pushes: Push[] = [];
  const waiting: (() => void)[] = [];
  const root = await aStub((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const update = JSON.parse(Buffer.concat(chunks).toString()) as Fields;
      const secret = incoming.headers['x-telegram-bot-api-secret-token'];
      const push = { update, secret: typeof secret === 'string' ? secret : undefined };
      pushes.push(push);
      const answer = respond(push);
      if (answer === null) waiting.push(() => outgoing.writeHead(200).end());
      else outgoing.writeHead(answer.status, answer.headers).end();
    });
  });
  return { url: `${root}/hook`, pushes, release: () => waiting.splice(0).forEach((end) => end()) };
}

const textOf = ({ update }: Push): unknown => update['message']?.['text'];

test('updates are pushed with the secret, and confirmed by any 2xx', async () => {
  const { call, world } = await openLab();
  const { url, pushes } = await openBot(() => ({ status: 204 }));
  world.say({ as: 'ada', chat: ada, text: 'before' });
  const set = await call('setWebhook', { url, secret_token: 'only-us_1' });
  expect(set).toMatchObject({ ok: true, description: 'Webhook was set' });
  await until(() => !world.hasOpenUpdates());
  world.say({ as: 'ada', chat: ada, text: 'after' });
  await until(() => !world.hasOpenUpdates());
  expect(pushes.map((push) => [textOf(push), push.secret])).toEqual([
    ['before', 'only-us_1'],
    ['after', 'only-us_1'],
  ]);
});

test('while a webhook is set nobody polls, and whoever polls is ended', async () => {
  const { call, timers } = await openLab();
  const { url } = await openBot();
  const poll = call('getUpdates', { timeout: 30 });
  await until(() => timers.waiting === 1);
  await call('setWebhook', { url });
  expect(await refusal(poll)).toBe('409 Conflict: terminated by setWebhook request');
  const second = await openLab();
  await second.call('setWebhook', { url });
  expect(await second.outcome('getUpdates')).toBe(
    "409 Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
  );
  expect((await second.call('deleteWebhook')).description).toBe('Webhook was deleted');
  expect((await second.call('deleteWebhook')).description).toBe('Webhook is already deleted');
  expect(await second.outcome('getUpdates')).toBe('ok');
});

test('what is not confirmed is pushed again, after pauses that grow', async () => {
  const { call, world, time, timers } = await openLab();
  const bot = await openBot(() => ({ status: bot.pushes.length < 4 ? 500 : 200 }));
  await call('setWebhook', { url: bot.url });
  world.say({ as: 'ada', chat: ada, text: 'hello' });
  for (const [pushes, pause] of [
    [1, 1000],
    [2, 2000],
    [3, 4000],
  ] as const) {
    await until(() => bot.pushes.length === pushes && timers.waiting === 1 && timers.set === 2 * pushes);
    await time.advance(pause - 1);
    expect(timers.waiting).toBe(1);
    await time.advance(1);
  }
  await until(() => !world.hasOpenUpdates());
  expect(bot.pushes.map(textOf)).toEqual(['hello', 'hello', 'hello', 'hello']);
  const { result } = await call('getWebhookInfo');
  expect(result).toMatchObject({
    url: bot.url,
    pending_update_count: 0,
    max_connections: 40,
    last_error_message: 'Wrong response from the webhook: 500 Internal Server Error',
  });
});

test("a pause that the bot's server names is kept", async () => {
  const { call, world, time, timers } = await openLab();
  const bot = await openBot(() =>
    bot.pushes.length === 1 ? { status: 503, headers: { 'retry-after': '30' } } : { status: 200 },
  );
  await call('setWebhook', { url: bot.url });
  world.say({ as: 'ada', chat: ada, text: 'hello' });
  await until(() => timers.set === 2 && timers.waiting === 1);
  await time.advance(29_999);
  expect(bot.pushes).toHaveLength(1);
  await time.advance(1);
  await until(() => !world.hasOpenUpdates());
  expect(bot.pushes).toHaveLength(2);
});

test('each chat has one push under way, and chats do not wait for each other', async () => {
  const { call, world } = await openLab();
  const bot = await openBot(({ update }) =>
    update['message']?.['chat']?.['id'] === (ada as never) ? null : { status: 200 },
  );
  await call('setWebhook', { url: bot.url });
  world.say({ as: 'ada', chat: ada, text: 'one' });
  world.say({ as: 'ada', chat: ada, text: 'two' });
  world.say({ as: 'ben', chat: ben, text: 'three' });
  world.say({ as: 'ben', chat: ben, text: 'four' });
  await until(() => bot.pushes.length === 3);
  expect(new Set(bot.pushes.map(textOf))).toEqual(new Set(['four', 'one', 'three']));
  bot.release();
  await until(() => bot.pushes.length === 4);
  expect(bot.pushes.map(textOf).at(-1)).toBe('two');
  bot.release();
  await until(() => !world.hasOpenUpdates());
});

test('a webhook that Telegram does not take is refused', async () => {
  const { outcome } = await openLab();
  const set = (params: Readonly<Record<string, unknown>>) => outcome('setWebhook', params);
  expect(await set({ url: 'nowhere' })).toBe('400 Bad Request: invalid webhook URL specified');
  expect(await set({ url: 'http://example.org/' })).toBe(
    '400 Bad Request: bad webhook: An HTTPS URL must be provided for webhook',
  );
  expect(await set({ url: 'https://example.org/', secret_token: 'no space' })).toBe(
    '400 Bad Request: secret token contains unallowed characters',
  );
  expect(await set({ url: 'https://example.org/', secret_token: 'x'.repeat(257) })).toBe(
    '400 Bad Request: secret token is too long',
  );
});

test('it is set once a second at most, and waiting updates are dropped on demand', async () => {
  const { call, world, time, outcome } = await openLab();
  const { url, pushes } = await openBot();
  world.say({ as: 'ada', chat: lab, text: 'forget this' });
  expect((await call('setWebhook', { url, drop_pending_updates: true })).description).toBe('Webhook was set');
  expect(await outcome('setWebhook', { url })).toBe('429 Too Many Requests: retry after 1');
  await time.advance(1000);
  expect((await call('setWebhook', { url })).description).toBe('Webhook is already set');
  expect(world.hasOpenUpdates()).toBe(false);
  expect(pushes).toEqual([]);
});
