import { expect, test } from 'vitest';
import { ada, lab, noRights, openLab, plain, realLimits } from './lab.ts';

test('one message a second goes to a chat, and the refusal says how long to wait', async () => {
  const { call, time } = await openLab({ limits: realLimits });
  const send = () => call('sendMessage', { chat_id: lab, text: 'x' });
  expect((await send()).ok).toBe(true);
  await time.advance(400);
  const refused = await send();
  expect(refused).toMatchObject({
    status: 429,
    description: 'Too Many Requests: retry after 1',
    parameters: { retry_after: 1 },
  });
  expect(refused.headers.get('retry-after')).toBe('1');
  await time.advance(599);
  expect((await send()).status).toBe(429);
  await time.advance(1);
  expect((await send()).ok).toBe(true);
});

test('20 messages a minute go to a group, counted over any 60 seconds', async () => {
  const { time, outcome } = await openLab({ limits: { ...realLimits, chatPerSecond: null } });
  const send = (chat_id: number) => outcome('sendMessage', { chat_id, text: 'x' });
  for (let n = 0; n < 20; n += 1) {
    expect(await send(lab)).toBe('ok');
    await time.advance(100);
  }
  expect(await send(lab)).toBe('429 Too Many Requests: retry after 58');
  await time.advance(57_999);
  expect(await send(lab)).toBe('429 Too Many Requests: retry after 1');
  await time.advance(1);
  expect(await send(lab)).toBe('ok');
  expect(await send(lab)).toBe('429 Too Many Requests: retry after 1');
});

test('a private chat has no limit per minute, and each group has its own', async () => {
  const { world, time, outcome } = await openLab({ limits: realLimits });
  world.say({ as: 'ada', chat: ada, text: 'hi' });
  for (let n = 0; n < 25; n += 1) {
    expect(await outcome('sendMessage', { chat_id: ada, text: 'x' })).toBe('ok');
    await time.advance(1000);
  }
  expect(await outcome('sendMessage', { chat_id: lab, text: 'x' })).toBe('ok');
  expect(await outcome('sendMessage', { chat_id: noRights, text: 'x' })).toBe('ok');
});

test('all chats together take 30 a second', async () => {
  const { time, outcome } = await openLab({
    limits: { globalPerSecond: 3, chatPerSecond: null, groupPerMinute: null },
  });
  const outcomes: string[] = [];
  for (const chat_id of [lab, noRights, plain, lab]) {
    outcomes.push(await outcome('sendMessage', { chat_id, text: 'x' }));
  }
  expect(outcomes).toEqual(['ok', 'ok', 'ok', '429 Too Many Requests: retry after 1']);
  await time.advance(1000);
  expect(await outcome('sendMessage', { chat_id: lab, text: 'x' })).toBe('ok');
});

test('edits and topics are paid for like messages, even an edit that changes nothing; the rest is free', async () => {
  const { call, world, time, outcome } = await openLab({ limits: realLimits });
  const { result } = await call('sendMessage', { chat_id: lab, text: 'x' });
  const message_id = result['message_id'];
  const edit = () => outcome('editMessageText', { chat_id: lab, message_id, text: 'x' });
  const topic = () => outcome('createForumTopic', { chat_id: lab, name: 'x' });
  expect(await edit()).toBe('429 Too Many Requests: retry after 1');
  await time.advance(1000);
  expect(await edit()).toContain('message is not modified');
  expect(await topic()).toBe('429 Too Many Requests: retry after 1');
  await time.advance(1000);
  expect(await topic()).toBe('ok');
  const { callbackId } = pressed(world, await keyed(call, time));
  const free = [
    call('answerCallbackQuery', { callback_query_id: callbackId }),
    call('getChat', { chat_id: lab }),
    call('pinChatMessage', { chat_id: lab, message_id }),
    call('setMyCommands', { commands: [] }),
    call('deleteMessage', { chat_id: lab, message_id }),
  ];
  expect((await Promise.all(free)).map(({ ok }) => ok)).toEqual(free.map(() => true));
});

type Opened = Awaited<ReturnType<typeof openLab>>;

async function keyed(call: Opened['call'], time: Opened['time']): Promise<number> {
  await time.advance(1000);
  const reply_markup = { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] };
  return Number((await call('sendMessage', { chat_id: lab, text: 'x', reply_markup })).result['message_id']);
}

function pressed(world: Opened['world'], messageId: number) {
  return world.press({ as: 'ada', chat: lab, messageId, button: 'go' });
}

test('what was refused is not counted, and a clock that is set does not matter', async () => {
  const { time, outcome } = await openLab({ limits: realLimits });
  const send = (text: string) => outcome('sendMessage', { chat_id: lab, text });
  expect(await send('')).toContain('message text is empty');
  expect(await send('x')).toBe('ok');
  time.setWall(time.now() + 3_600_000);
  expect(await send('x')).toBe('429 Too Many Requests: retry after 1');
  await time.advance(1000);
  expect(await send('x')).toBe('ok');
});
