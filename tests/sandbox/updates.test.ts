import { expect, test } from 'vitest';
import { ada, lab, noRights, openLab, plain, refusal, until, type Answer, type Lab } from './lab.ts';

const terminated =
  '409 Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';

function idsOf({ result }: Answer): number[] {
  return (result as unknown as readonly { update_id: number }[]).map((update) => update.update_id);
}

function said(opened: Lab, count: number): void {
  for (let n = 1; n <= count; n += 1) opened.world.say({ as: 'ada', chat: ada, text: `message ${n}` });
}

/** A poll that waits for certain. It stands in an object because a promise cannot be handed out unanswered. */
async function polling(opened: Lab, params = {}): Promise<{ readonly answer: Promise<Answer> }> {
  const before = opened.timers.set;
  const answer = opened.call('getUpdates', { timeout: 30, ...params });
  await until(() => opened.timers.set > before);
  return { answer };
}

test('updates are told until an offset confirms them', async () => {
  const opened = await openLab();
  const { call, world } = opened;
  said(opened, 3);
  const [first = 0, second, third] = idsOf(await call('getUpdates'));
  expect([second, third]).toEqual([first + 1, first + 2]);
  expect(idsOf(await call('getUpdates', { limit: 2 }))).toEqual([first, second]);
  expect(idsOf(await call('getUpdates', { offset: second }))).toEqual([second, third]);
  expect(idsOf(await call('getUpdates'))).toEqual([second, third]);
  expect(world.hasOpenUpdates()).toBe(true);
  expect(idsOf(await call('getUpdates', { offset: first + 3 }))).toEqual([]);
  expect(world.hasOpenUpdates()).toBe(false);
});

test('a negative offset keeps that many of the newest and forgets the others', async () => {
  const opened = await openLab();
  said(opened, 5);
  const all = idsOf(await opened.call('getUpdates'));
  expect(idsOf(await opened.call('getUpdates', { offset: -2 }))).toEqual(all.slice(-2));
  expect(idsOf(await opened.call('getUpdates'))).toEqual(all.slice(-2));
});

test('an offset far ahead confirms nothing', async () => {
  const opened = await openLab();
  said(opened, 2);
  expect(idsOf(await opened.call('getUpdates', { offset: 2_000_000_000 }))).toHaveLength(2);
});

test('at most 100 are told at once, and at least one', async () => {
  const opened = await openLab();
  said(opened, 105);
  expect(idsOf(await opened.call('getUpdates', { limit: 1000 }))).toHaveLength(100);
  expect(idsOf(await opened.call('getUpdates', { limit: 0 }))).toHaveLength(1);
});

test('a long poll is answered at once when something happens, and with nothing when its time is up', async () => {
  const opened = await openLab();
  const first = await polling(opened);
  said(opened, 1);
  expect(idsOf(await first.answer)).toHaveLength(1);
  const offset = 1 + (idsOf(await opened.call('getUpdates'))[0] ?? 0);
  const second = await polling(opened, { timeout: 500, offset });
  await opened.time.advance(50_000);
  expect(idsOf(await second.answer)).toEqual([]);
});

test('a second poll that waits ends the first one with 409, and repeated conflicts are told after 3 s', async () => {
  const opened = await openLab();
  const first = await polling(opened);
  const second = await polling(opened);
  expect(await refusal(first.answer)).toBe(terminated);
  const third = await polling(opened);
  let isTold = false;
  void second.answer.then(() => (isTold = true));
  await opened.call('getMe');
  expect(isTold).toBe(false);
  await opened.time.advance(3000);
  expect(await refusal(second.answer)).toBe(terminated);
  said(opened, 1);
  expect(idsOf(await third.answer)).toHaveLength(1);
});

test('a poll whose client has gone does not stand in the way', async () => {
  const opened = await openLab();
  const gone = new AbortController();
  const url = `${opened.apiRoot}/bot777000001:test-token/getUpdates?timeout=30`;
  const lost = fetch(url, { signal: gone.signal }).catch(() => 'gone');
  await until(() => opened.timers.waiting === 1);
  gone.abort();
  expect(await lost).toBe('gone');
  await until(() => opened.timers.waiting === 0);
  const poll = await polling(opened);
  said(opened, 1);
  expect(idsOf(await poll.answer)).toHaveLength(1);
});

test('updates of more than a day ago are not told, a press not after 150 seconds', async () => {
  const opened = await openLab();
  const { call, time, world } = opened;
  said(opened, 1);
  const reply_markup = { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] };
  const { result } = await call('sendMessage', { chat_id: ada, text: 'x', reply_markup });
  world.press({ as: 'ada', chat: ada, messageId: Number(result['message_id']), button: 'Go' });
  expect(idsOf(await call('getUpdates'))).toHaveLength(2);
  await time.advance(151_000);
  expect(idsOf(await call('getUpdates'))).toHaveLength(1);
  await time.advance(86_400_000);
  expect(world.hasOpenUpdates()).toBe(false);
  expect(idsOf(await call('getUpdates'))).toEqual([]);
});

test('the bot hears of its own news, and never of its own messages', async () => {
  const { call, updates } = await openLab();
  await call('sendMessage', { chat_id: lab, text: 'x' });
  await call('createForumTopic', { chat_id: lab, name: 'Plants' });
  expect(await updates()).toMatchObject([{ message: { forum_topic_created: { name: 'Plants' } } }]);
});

test('in a group a plain member hears of commands to it, of answers to it and of news; an administrator of all', async () => {
  const { call, world, updates } = await openLab();
  const { result } = await call('sendMessage', { chat_id: noRights, text: 'hello' });
  const say = (text: string, replyTo?: number) =>
    world.say({ as: 'ben', chat: noRights, text, ...(replyTo === undefined ? {} : { replyTo }) });
  say('good morning');
  say('/new task');
  say('/new@cronogram_bot task');
  say('/new@other_bot task');
  say('well, /new');
  say('thanks', Number(result['message_id']));
  world.createTopic(noRights, 'ada', 'Plants');
  const heard = (await updates()).map(({ message }) => message?.['text'] ?? 'news');
  expect(heard).toEqual(['/new task', '/new@cronogram_bot task', 'thanks', 'news']);
  world.say({ as: 'ben', chat: lab, text: 'good morning' });
  expect(await updates()).toHaveLength(5);
});

test('an edit by a person is told with the whole message', async () => {
  const { world, updates, time } = await openLab();
  const { messageId } = world.say({ as: 'ada', chat: ada, text: '/new' });
  await time.advance(1000);
  world.edit({ as: 'ada', chat: ada, messageId, text: '/new task' });
  expect((await updates())[1]).toMatchObject({
    edited_message: { message_id: messageId, text: '/new task', edit_date: time.now() / 1000 },
  });
});

test('chat_member is told to an administrator who asked for it, and what is asked for is kept', async () => {
  const { call, world, updates } = await openLab();
  const kinds = async () => (await updates()).flatMap((update) => Object.keys(update).slice(1));
  world.setMember(lab, 'mallory', 'member');
  expect(await kinds()).toEqual(['message']);
  await call('getUpdates', { allowed_updates: ['chat_member'] });
  world.setMember(lab, 'mallory', 'administrator');
  world.setMember(noRights, 'ben', 'administrator');
  world.say({ as: 'ada', chat: lab, text: 'not heard' });
  expect(await kinds()).toEqual(['message', 'chat_member']);
  await call('getUpdates', { allowed_updates: ['inline_query'] });
  world.say({ as: 'ada', chat: lab, text: 'not heard either' });
  await call('getUpdates', { allowed_updates: ['nonsense'] });
  world.setMember(lab, 'mallory', 'left');
  expect(await kinds()).toEqual(['message', 'chat_member', 'message']);
  expect((await updates())[1]).toMatchObject({
    chat_member: { old_chat_member: { status: 'member' }, new_chat_member: { status: 'administrator' } },
  });
});

test('the bot hears of what becomes of itself', async () => {
  const { world, updates } = await openLab();
  world.setBotRights(lab, { can_pin_messages: false });
  world.setBotStatus(lab, 'kicked', 'ada');
  world.setBotStatus(plain, 'left', 'ada');
  world.setBotStatus(plain, 'member', 'ada');
  const all = await updates();
  expect(all.map((update) => Object.keys(update)[1])).toEqual([
    'my_chat_member',
    'my_chat_member',
    'my_chat_member',
    'my_chat_member',
    'message',
  ]);
  expect(all[0]).toMatchObject({
    my_chat_member: {
      from: { first_name: 'Ada' },
      old_chat_member: { status: 'administrator', can_pin_messages: true },
      new_chat_member: { status: 'administrator', can_pin_messages: false },
    },
  });
  expect(all[1]).toMatchObject({ my_chat_member: { new_chat_member: { status: 'kicked' } } });
  expect(all[4]).toMatchObject({ message: { new_chat_members: [{ is_bot: true }] } });
});

test('a kicked bot hears nothing of the chat, and gets no press', async () => {
  const { call, world, updates } = await openLab();
  const reply_markup = { inline_keyboard: [[{ text: 'Go', callback_data: 'go' }]] };
  const { result } = await call('sendMessage', { chat_id: lab, text: 'x', reply_markup });
  world.setBotStatus(lab, 'kicked', 'ada');
  world.say({ as: 'ada', chat: lab, text: '/new' });
  world.press({ as: 'ada', chat: lab, messageId: Number(result['message_id']), button: 'Go' });
  expect(await updates()).toHaveLength(1);
});

test('nothing waits when the sandbox closes', async () => {
  const opened = await openLab();
  const poll = await polling(opened);
  let isOver = false;
  void poll.answer.catch(() => (isOver = true));
  await opened.close();
  await until(() => isOver);
  expect(isOver).toBe(true);
});
