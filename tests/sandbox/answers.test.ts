import { request } from 'node:http';
import { expect, test } from 'vitest';
import { ada, answerOf, lab, openLab, refusal, start, token, type Lab } from './lab.ts';

const post = (root: string, path: string, body: string | FormData, type?: string) =>
  fetch(`${root}${path}`, {
    method: 'POST',
    body,
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  });

test('a token that is none, an unknown one, an unknown method and a path outside of the API have their own errors', async () => {
  const { apiRoot, outcome } = await openLab();
  const at = async (path: string) => refusal(answerOf(await fetch(`${apiRoot}${path}`)));
  expect(await at('/botnonsense/getMe')).toBe('401 Unauthorized: invalid token specified');
  expect(await at('/bot12345/getMe')).toBe('401 Unauthorized: invalid token specified');
  expect(await at('/bot12345:abc/getMe')).toBe('401 Unauthorized');
  expect(await at('/elsewhere')).toBe('404 Not Found');
  expect(await at(`/bot${token}/getMe`)).toBe('ok');
  expect(await outcome('sendMassage')).toBe('404 Not Found: method not found');
  const put = await fetch(`${apiRoot}/bot${token}/getMe`, { method: 'PUT' });
  expect(put.status).toBe(405);
});

test('an error is JSON with its code and text', async () => {
  const { apiRoot } = await openLab();
  const response = await fetch(`${apiRoot}/bot${token}/nothing`);
  expect(await response.json()).toEqual({ ok: false, error_code: 404, description: 'Not Found: method not found' });
});

test('names of methods count whatever their case, and arguments may stand in the address', async () => {
  const { apiRoot } = await openLab();
  const answer = await answerOf(await fetch(`${apiRoot}/bot${token}/SENDmessage?chat_id=${lab}&text=over%20here`));
  expect(answer.result).toMatchObject({ text: 'over here' });
});

test.each([
  ['JSON', 'application/json', JSON.stringify({ chat_id: lab, text: 'hi', reply_markup: keyboard() })],
  [
    'JSON with everything as text',
    'application/json',
    JSON.stringify({ chat_id: String(lab), text: 'hi', reply_markup: JSON.stringify(keyboard()) }),
  ],
  [
    'a form in the address style',
    'application/x-www-form-urlencoded',
    new URLSearchParams({
      chat_id: String(lab),
      text: 'hi',
      reply_markup: JSON.stringify(keyboard()),
    }).toString(),
  ],
])('%s is read alike', async (_name, type, body) => {
  const { apiRoot, world } = await openLab();
  const { status } = await post(apiRoot, `/bot${token}/sendMessage`, body, type);
  expect(status).toBe(200);
  expect(world.messages(lab).at(-1)).toMatchObject({ text: 'hi', buttons: [[{ text: 'Go', data: 'go' }]] });
});

function keyboard() {
  return { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] };
}

test('a number that cannot be read is 0, a parameter that nobody knows is ignored', async () => {
  const { call, outcome } = await openLab();
  expect(await outcome('sendMessage', { chat_id: 'Ada', text: 'x' })).toBe('400 Bad Request: chat not found');
  const thread = await call('sendMessage', { chat_id: lab, text: 'x', message_thread_id: 'General', colour: 'red' });
  expect(thread.ok).toBe(true);
  expect(thread.result).not.toHaveProperty('message_thread_id');
});

test('a body that is no JSON, or no object, is refused', async () => {
  const { apiRoot } = await openLab();
  const at = (body: string) =>
    post(apiRoot, `/bot${token}/getMe`, body, 'application/json')
      .then(answerOf)
      .then((answer) => answer.status);
  expect(await at('{"chat_id":')).toBe(400);
  expect(await at('[1]')).toBe(400);
  expect(await at('')).toBe(200);
});

test('a form whose boundary is missing, or which ends in the middle, is refused', async () => {
  const { apiRoot } = await openLab();
  const at = async (type: string) => (await post(apiRoot, `/bot${token}/getMe`, '--x\r\nnonsense', type)).status;
  expect(await at('multipart/form-data')).toBe(400);
  expect(await at('multipart/form-data; boundary=x')).toBe(400);
});

test('a body that is too large is refused before it is read', async () => {
  const { apiRoot } = await openLab();
  const status = await new Promise((resolve, reject) => {
    const sent = request(
      `${apiRoot}/bot${token}/sendDocument`,
      {
        method: 'POST',
        headers: { 'content-type': 'multipart/form-data; boundary=x', 'content-length': 100 * 1024 * 1024 },
      },
      (response) => {
        resolve(response.statusCode);
        sent.destroy();
      },
    );
    sent.once('error', reject);
    sent.flushHeaders();
  });
  expect(status).toBe(413);
});

test('the bot knows itself', async () => {
  const { call } = await openLab();
  expect((await call('getMe')).result).toEqual({
    id: 777_000_001,
    is_bot: true,
    first_name: 'Cronogram',
    username: 'cronogram_bot',
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
    can_connect_to_business: false,
    has_main_web_app: false,
    has_topics_enabled: true,
    allows_users_to_create_topics: true,
  });
});

test('calls are kept to be looked at, without the token and without polls that found nothing', async () => {
  const { call, world } = await openLab();
  await call('getUpdates');
  await call('sendMessage', { chat_id: lab, text: 'one' });
  await call('sendMessage', { chat_id: lab });
  expect(world.calls()).toMatchObject([
    {
      at: start,
      method: 'sendMessage',
      params: { chat_id: String(lab), text: 'one' },
      status: 200,
      answer: 'message 2',
    },
    { method: 'sendMessage', status: 400, answer: 'Bad Request: message text is empty', fault: null },
  ]);
  const [first] = world.calls();
  expect(world.calls(first?.seq)).toHaveLength(1);
  expect(JSON.stringify(world.calls())).not.toContain(token);
});

test('a fault of the sandbox itself is an error 500, and leaves nothing behind', async () => {
  const opened: Lab = await openLab();
  const { sandbox, log, outcome } = opened;
  await sandbox.close();
  expect(await outcome('sendMessage', { chat_id: lab, text: 'x' })).toBe('500 Internal Server Error');
  expect(log.lines.some(({ level }) => level === 'error')).toBe(true);
  expect(JSON.stringify(log.lines)).not.toContain(token);
});

test('the commands of the bot are kept by scope and language', async () => {
  const { call, world } = await openLab();
  world.say({ as: 'ada', chat: ada, text: 'hi' });
  const commands = [{ command: 'new', description: 'A new task' }];
  await call('setMyCommands', { commands });
  await call('setMyCommands', { commands: [], scope: { type: 'chat', chat_id: ada } });
  expect((await call('getMyCommands')).result).toEqual(commands);
  expect((await call('getMyCommands', { scope: { type: 'chat', chat_id: ada } })).result).toEqual([]);
  expect((await call('getMyCommands', { language_code: 'de' })).result).toEqual([]);
  await call('setMyCommands', { commands: [] });
  expect((await call('getMyCommands')).result).toEqual([]);
});

test.each([
  [[{ command: 'New!', description: 'x' }], 'BOT_COMMAND_INVALID'],
  [[{ command: 'x'.repeat(33), description: 'x' }], 'command length must not exceed 32'],
  [[{ command: 'x', description: '' }], 'command description must be non-empty'],
  [Array.from({ length: 101 }, (_, n) => ({ command: `c${n}`, description: 'x' })), 'BOT_COMMANDS_TOO_MUCH'],
])('commands that Telegram does not take are refused', async (commands, text) => {
  const { outcome } = await openLab();
  expect(await outcome('setMyCommands', { commands })).toBe(`400 Bad Request: ${text}`);
});
