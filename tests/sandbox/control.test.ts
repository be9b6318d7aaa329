import { describe, expect, test, vi } from 'vitest';
import type { World } from '../../src/sandbox/world/world.ts';
import { lab, plain } from '../support/sandbox.ts';
import { servePages, slotTravel, startAt, until, type ServedPages } from './control-server.ts';

const keys = (rows: readonly { readonly key: string }[]) => rows.map(({ key }) => key);

describe('what people say and press', () => {
  test('say puts a message into the chat and tells it back', async () => {
    const { post, get } = await servePages();
    const said = await post('say', { as: 'ada', chat: 'ada', text: '/start now' });
    expect(said.status).toBe(200);
    expect(said.json).toMatchObject({ message: { from: 'ada', text: '/start now', thread_id: null }, answers: [] });
    expect(said.json.message.entities).toMatchObject([{ type: 'bot_command', offset: 0, length: 6 }]);
    const { json } = await get('messages?chat=ada');
    expect(json).toMatchObject({ messages: [{ text: '/start now' }], has_older: false });
  });

  test('a chat answers to its id, as a number or as text, and to its short key', async () => {
    const { post } = await servePages();
    for (const chat of [lab, String(lab), 'lab', 'LAB']) {
      const { status, json } = await post('say', { as: 'ben', chat, text: 'hello' });
      expect([status, json.message.chat_id]).toEqual([200, lab]);
    }
  });

  test('say with a wait answers with what the bot sent and changed, once it is silent', async () => {
    const { post, bot, sandbox, time } = await servePages();
    await post('say', { as: 'ada', chat: 'ada', text: '/start' });
    const old = await bot('sendMessage', { chat_id: 1001, text: 'old' });
    const untouched = await bot('sendMessage', { chat_id: 1001, text: 'untouched' });
    expect([old.ok, untouched.ok]).toEqual([true, true]);
    const asked = post('say', { as: 'ada', chat: 'ada', text: 'ping', wait: 60_000 });
    await until(() => sandbox.world.messages(1001).some(({ text }) => text === 'ping'));
    await bot('sendMessage', { chat_id: 1001, text: 'pong' });
    await time.advance(200);
    await bot('editMessageText', { chat_id: 1001, message_id: old.result.message_id, text: 'older' });
    await time.advance(299);
    await bot('sendMessage', { chat_id: 1002, text: 'elsewhere' });
    await time.advance(1);
    const { json } = await asked;
    expect(json.answers.map(({ text }) => text)).toEqual(['older', 'pong']);
  });

  test('a wait ends when its time is over, and when the server stops', async () => {
    const { post, sandbox, time, stopPages } = await servePages();
    const asked = post('say', { as: 'ada', chat: 'ada', text: 'anybody?', wait: 5000 });
    await until(() => sandbox.world.messages(1001).length === 1);
    await time.advance(5000);
    expect(await asked).toMatchObject({ status: 200, json: { answers: [] } });
    const stopped = post('say', { as: 'ada', chat: 'ada', text: 'still nobody?', wait: 5000 });
    await until(() => sandbox.world.messages(1001).length === 2);
    stopPages();
    expect(await stopped).toMatchObject({ status: 200, json: { answers: [] } });
  });

  test('press without a message takes the newest one that has the button, by its text or its data', async () => {
    const { post, bot } = await servePages();
    await post('say', { as: 'ada', chat: 'ada', text: '/start' });
    const markup = (data: string) => ({ inline_keyboard: [[{ text: 'Create', callback_data: data }]] });
    await bot('sendMessage', { chat_id: 1001, text: 'first', reply_markup: markup('v1:a') });
    const second = await bot('sendMessage', { chat_id: 1001, text: 'second', reply_markup: markup('v1:b') });
    const byText = await post('press', { as: 'ada', chat: 'ada', button: 'Create' });
    expect(byText.json).toMatchObject({ message_id: second.result.message_id, callback: null, answers: [] });
    const byData = await post('press', { as: 'ada', chat: 'ada', button: 'v1:a' });
    expect(byData.json.message_id).toBe(second.result.message_id - 1);
    const none = await post('press', { as: 'ada', chat: 'ada', button: 'Delete' });
    expect(none).toMatchObject({ status: 404, json: { error: { code: 'no_button' } } });
    expect(none.json.error.message).toContain('Create');
  });

  test('press with a wait answers with the words of the callback', async () => {
    const { post, bot, time, sandbox } = await servePages();
    await post('say', { as: 'ada', chat: 'ada', text: '/start' });
    const sent = await bot('sendMessage', {
      chat_id: 1001,
      text: 'Sure?',
      reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'v1:yes' }]] },
    });
    const heard = until(() => sandbox.world.hasOpenUpdates());
    const asked = post('press', {
      as: 'ada',
      chat: 'ada',
      message_id: sent.result.message_id,
      button: 'Yes',
      wait: 60_000,
    });
    await heard;
    const callback = await pressedId(bot);
    await bot('answerCallbackQuery', { callback_query_id: callback, text: 'Done', show_alert: true });
    await bot('editMessageText', { chat_id: 1001, message_id: sent.result.message_id, text: 'Yes it is' });
    await time.advance(300);
    expect((await asked).json).toMatchObject({
      callback_id: callback,
      callback: { text: 'Done', alert: true },
      answers: [{ text: 'Yes it is' }],
    });
  });
});

test('press with a wait tells an edit that comes a while behind a callback without words', async () => {
  const { post, bot, time, sandbox } = await servePages();
  await post('say', { as: 'ada', chat: 'ada', text: '/start' });
  const markup = { inline_keyboard: [[{ text: 'Back', callback_data: 'v1:back' }]] };
  const sent = await bot('sendMessage', { chat_id: 1001, text: 'Sure?', reply_markup: markup });
  const heard = until(() => sandbox.world.hasOpenUpdates());
  const asked = post('press', { as: 'ada', chat: 'ada', button: 'Back', wait: 5000 });
  await heard;
  await bot('answerCallbackQuery', { callback_query_id: await pressedId(bot) });
  await time.advance(900);
  await bot('editMessageText', { chat_id: 1001, message_id: sent.result.message_id, text: 'As it was' });
  await time.advance(300);
  expect((await asked).json).toMatchObject({ callback: { text: null }, answers: [{ text: 'As it was' }] });
});

interface Update {
  readonly callback_query?: { readonly id: string };
}

async function pressedId(bot: ServedPages['bot']): Promise<string> {
  for (;;) {
    const { result } = await bot<readonly Update[]>('getUpdates', {});
    const id = result.findLast(({ callback_query: query }) => query !== undefined)?.callback_query?.id;
    if (id !== undefined) return id;
  }
}

const said = { as: 'ada', chat: lab, thread: null, text: 'x' };
const saying = { as: 'ada', chat: 'lab', text: 'x' };

describe('a deed', () => {
  test.for<readonly [string, object, keyof World, ...unknown[]]>([
    ['say', { ...saying, thread: 7, reply_to: 5 }, 'say', { ...said, thread: 7, replyTo: 5 }],
    ['say', { ...saying, reply_to_ephemeral: 5 }, 'say', { ...said, replyToEphemeral: 5 }],
    ['say', { ...saying, ephemeral: false }, 'say', { ...said, isEphemeral: false }],
    ['edit', { ...saying, message_id: 5 }, 'edit', { as: 'ada', chat: lab, messageId: 5, text: 'x' }],
    ['topic', { action: 'create', as: 'ada', chat: 'lab', name: 'x' }, 'createTopic', lab, 'ada', 'x'],
    ['topic', { action: 'close', as: 'ben', chat: 'lab', thread: 7 }, 'closeTopic', lab, 7, 'ben'],
    ['topic', { action: 'reopen', chat: 'lab', thread: 7 }, 'reopenTopic', lab, 7, undefined],
    ['topic', { action: 'delete', chat: 'lab', thread: 7 }, 'deleteTopic', lab, 7],
    ['forum', { chat: 'lab', on: false }, 'setForum', lab, false],
    ['member', { chat: 'lab', person: 'mallory', status: 'member' }, 'setMember', lab, 'mallory', 'member'],
    ['rights', { chat: 'lab', can_pin_messages: false }, 'setBotRights', lab, { can_pin_messages: false }],
    ['bot', { chat: 'lab', status: 'member', by: 'ada' }, 'setBotStatus', lab, 'member', 'ada'],
    ['migrate', { chat: 'plain' }, 'migrate', plain],
    ['reset', {}, 'reset'],
  ])('%s %j is handed on to %s', async ([name, body, method, ...given]) => {
    const { sandbox, post } = await servePages();
    const deed = vi.fn<(...given: unknown[]) => unknown>();
    Object.assign(sandbox.world, { [method]: deed });
    await post(name, body);
    expect(deed.mock.calls).toEqual([given]);
  });
});

describe('places', () => {
  test('a migrated group hands its short key to the supergroup', async () => {
    const { post, get } = await servePages();
    const { status, json } = await post('migrate', { chat: 'plain' });
    expect(status).toBe(200);
    const { chats } = (await get('state')).json;
    expect(keys(chats)).toEqual(expect.arrayContaining(['plain', 'plain_old']));
    expect(chats.find(({ key }) => key === 'plain')?.chat_id).toBe(json.chat_id);
    expect(chats.find(({ key }) => key === 'plain_old')?.migrated_to).toBe(json.chat_id);
  });
});

describe('the clock', () => {
  const hour = 3_600_000;

  test('jumps to the next run, by a duration, and to an instant', async () => {
    const travel = slotTravel([startAt + hour, startAt + 2 * hour, startAt + 3 * hour]);
    const { post } = await servePages({ travel });
    const next = await post('jump', { to: 'next' });
    expect(next.json).toEqual({ now: '2026-11-18T10:00:00.000Z', visited: 1, next_at: '2026-11-18T11:00:00.000Z' });
    expect((await post('jump', { to: 'PT1H' })).json).toMatchObject({ now: '2026-11-18T11:00:00.000Z', visited: 1 });
    const last = await post('jump', { to: '2026-11-19T09:00:00+01:00' });
    expect(last.json).toEqual({ now: '2026-11-19T08:00:00.000Z', visited: 1, next_at: null });
    expect(travel.asked).toEqual(['next', { byMs: hour }, { at: startAt + 23 * hour }]);
  });

  test('refuses the past, a year and more, and what is neither', async () => {
    const { post } = await servePages({ travel: slotTravel([]) });
    const past = await post('jump', { to: '2026-11-18T08:59:59Z' });
    expect(past).toMatchObject({ status: 409, json: { error: { code: 'too_late' } } });
    expect(past.json.error.message).toContain('2026-11-18T09:00:00.000Z');
    for (const to of ['P500D', '2030-01-01T00:00:00Z', 'tomorrow', '2026-11-19', '2026-11-19T09:00', '-PT1H', '']) {
      const told = await post('jump', { to });
      expect([to, told.status, told.json.error.code]).toEqual([to, 400, 'invalid_request']);
    }
  });

  test('says so when the clock is the real one, and when a jump is under way', async () => {
    const real = await servePages();
    expect((await real.post('jump', { to: 'next' })).status).toBe(409);
    expect((await real.get('state')).json.clock).toEqual({
      now: '2026-11-18T09:00:00.000Z',
      next_at: null,
      can_jump: false,
    });

    let land = () => {};
    const landed = new Promise<void>((resolve) => {
      land = resolve;
    });
    const travel = {
      ...slotTravel([]),
      jump: async () => {
        await landed;
        return { now: startAt, visited: 0 };
      },
    };
    const slow = await servePages({ travel });
    const first = slow.post('jump', { to: 'next' });
    const second = slow.post('jump', { to: 'next' });
    const refused = await Promise.race([first, second]);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'not_allowed']);
    land();
    expect((await Promise.all([first, second])).map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 409,
    ]);
  });

  test('the state is told while the store of the runs is away', async () => {
    const travel = { ...slotTravel([]), nextAt: () => Promise.reject(new Error('away')) };
    const { get, log } = await servePages({ travel });
    expect((await get('state')).json.clock).toMatchObject({ next_at: null, can_jump: true });
    expect(log.lines.map(({ event }) => event)).toContain('sandbox_clock_unread');
  });
});

describe('faults', () => {
  test('a fault is set, shown, meets a call and is used up', async () => {
    const { post, get, bot } = await servePages();
    await post('say', { as: 'ada', chat: 'ada', text: '/start' });
    const set = await post('fault', { kind: '429', method: 'sendMessage', chat: 'ada', retry_after: 7 });
    expect(set.json.fault).toMatchObject({ kind: '429', chat: 1001, count: 1, retry_after: 7 });
    expect((await get('fault')).json.faults).toMatchObject([{ id: set.json.fault.id }]);
    expect(await bot('sendMessage', { chat_id: 1001, text: 'x' })).toMatchObject({
      ok: false,
      error_code: 429,
      parameters: { retry_after: 7 },
    });
    expect((await get('fault')).json.faults).toEqual([]);
    expect((await get('calls')).json.calls.at(-1)).toMatchObject({ method: 'sendMessage', status: 429, fault: '429' });
  });

  test('one fault is taken away by its id, all of them without', async () => {
    const { post, get, ask } = await servePages();
    const { json } = await post('fault', { kind: 'hang', method: '*', count: 5 });
    await post('fault', { kind: '500', method: 'send', chance: 0.5 });
    const left = await ask('DELETE', `/control/fault?id=${json.fault.id}`);
    expect(left.json.faults).toMatchObject([{ kind: '500', chance: 0.5 }]);
    expect((await ask('DELETE', `/control/fault?id=${json.fault.id}`)).status).toBe(404);
    expect((await ask('DELETE', '/control/fault')).json.faults).toEqual([]);
    expect((await get('fault')).json.faults).toEqual([]);
  });
});

describe('what can be seen', () => {
  test('the state names people, chats, topics, the clock and other places', async () => {
    const links = [{ title: 'API', href: '/docs' }];
    const { get, post, bot } = await servePages({ travel: slotTravel([startAt + 1000]), links });
    await post('say', { as: 'ada', chat: 'ada', text: '/start' });
    await bot('setMyCommands', { commands: [{ command: 'new', description: 'Plans a task' }] });
    const { json } = await get('state');
    expect(keys(json.people)).toEqual(['ada', 'ben', 'mallory']);
    expect(keys(json.chats)).toEqual(expect.arrayContaining(['ada', 'lab', 'no_rights', 'plain']));
    expect(json.bot).toMatchObject({ username: 'cronogram_bot', commands: [{ command: 'new' }] });
    expect(json.clock).toEqual({
      now: '2026-11-18T09:00:00.000Z',
      next_at: '2026-11-18T09:00:01.000Z',
      can_jump: true,
    });
    expect(json.links).toEqual(links);
    expect(json.chats[0]).toMatchObject({ key: 'ada', last: { from: 'ada', text: '/start' } });
  });

  test('messages come in pages and by topic', async () => {
    const { post, get } = await servePages();
    const { json: topic } = await post('topic', { action: 'create', as: 'ada', chat: 'lab', name: 'Reports' });
    const ids: number[] = [];
    for (const text of ['a', 'b', 'c']) {
      ids.push((await post('say', { as: 'ada', chat: 'lab', text })).json.message.message_id);
    }
    await post('say', { as: 'ada', chat: 'lab', thread: topic.thread_id, text: 'inside' });
    const texts = async (query: string) => {
      const { json } = await get(`messages?chat=lab&${query}`);
      return [json.messages.map(({ text }) => text), json.has_older];
    };
    expect(await texts('thread=general&limit=2')).toEqual([['b', 'c'], true]);
    expect(await texts(`thread=general&limit=2&before=${ids[1]}`)).toEqual([['a'], false]);
    expect((await texts(`thread=${topic.thread_id}`))[0]).toContain('inside');
  });

  test('the calls of the bot are told without its token, the newest ones unless asked from a number on', async () => {
    const { get, bot } = await servePages();
    for (let round = 0; round < 5; round += 1) await bot('getMe', {});
    await bot('sendMessage', { chat_id: 1003, text: 'x' });
    const { text, json } = await get('calls?limit=2');
    expect(json.calls.map(({ method }) => method)).toEqual(['getMe', 'sendMessage']);
    expect(json.calls.at(-1)).toMatchObject({ status: 400, params: { text: 'x' }, fault: null });
    expect(text).not.toContain('control-test');
    const after = (await get('calls?after=0&limit=1')).json.calls;
    expect(after).toMatchObject([{ method: 'getMe' }]);
  });

  test('the transcript is the same for the same doings, as text and as JSON', async () => {
    const doings = async () => {
      const { post, get, bot } = await servePages();
      await post('say', { as: 'ada', chat: 'ada', text: '/start' });
      await bot('sendMessage', { chat_id: 1001, text: 'Hello' });
      await post('say', { as: 'ben', chat: 'lab', text: 'not for Ada' });
      return Promise.all(
        ['transcript', 'transcript?format=json', 'transcript?chat=ada'].map(async (path) => get(path)),
      );
    };
    const [one, two] = [await doings(), await doings()];
    expect(one.map(({ text }) => text)).toEqual(two.map(({ text }) => text));
    const [all, structured, ofAda] = one;
    expect(all?.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(all?.text).toContain('not for Ada');
    expect(structured?.json.transcript).toBe(all?.text);
    expect(structured?.json.chats[0]?.messages).toHaveLength(2);
    expect(ofAda?.text).toContain('Hello');
    expect(ofAda?.text).not.toContain('not for Ada');
  });

  test('a document is a download, whatever it says it is', async () => {
    const { post, get, botRoot } = await servePages();
    await post('say', { as: 'ada', chat: 'ada', text: '/start' });
    expect((await get('document?id=none')).status).toBe(404);
    const form = new FormData();
    form.set('chat_id', '1001');
    form.set('document', new File(['<script>1</script>'], 'a (ж).html', { type: 'text/html' }));
    await fetch(`${botRoot}/sendDocument`, { method: 'POST', body: form });
    const document = (await get('messages?chat=ada')).json.messages.at(-1)?.document;
    expect(document).toMatchObject({ name: 'a (ж).html', size: 18, is_photo: false });
    const { headers, text } = await get(`document?id=${encodeURIComponent(document?.file_id ?? '')}`);
    expect(text).toBe('<script>1</script>');
    expect(headers).toMatchObject({
      'content-type': 'text/html',
      'content-disposition': "attachment; filename*=UTF-8''a%20%28%D0%B6%29.html",
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    });
  });
});
