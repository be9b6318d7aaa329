import { describe, expect, test } from 'vitest';
import { shortId } from '../../../../src/telegram/chat/kit/press.ts';
import { hour, minute } from '../../../support/pipeline.ts';
import { ada, aTalk, bob, labels, type Message, type Talk, tasksIn } from '../talk.ts';

interface Scene {
  readonly talk: Talk;
  readonly topic: number;
  /** The number of the message that is the result of the first run. */
  readonly result: number;
  readonly reply: (text: string, by?: object) => Promise<Message | null>;
}

/** A task that has run once, so that there is a result to answer. */
async function aScene(kind: 'private' | 'supergroup' = 'supergroup'): Promise<Scene> {
  const talk = await aTalk({ kind });
  await talk.make('every day at 12 Lunch');
  await talk.make('every day at 13 Tea');
  await talk.ask('/run #1');
  await talk.pipeline.settle();
  const [task] = await tasksIn(talk);
  const { items } = await talk.pipeline.rooms.tasks.listRuns({
    taskId: task?.id ?? '',
    status: null,
    limit: 1,
    cursor: null,
  });
  const result = items[0]?.deliveries[0]?.messageId ?? 0;
  const topic = task?.topicId ?? 0;
  const reply = (text: string, by = {}) => talk.say(text, { topic, repliesTo: result, ...by });
  return { talk, topic, result, reply };
}

const text = (message: Message | null) => message?.shown.text ?? null;
describe('a reply to a result', () => {
  test.each([
    ['10m', 10 * minute],
    ['in 2 hours', 2 * hour],
    ['2 hours', 2 * hour],
    ['tomorrow 9', 24 * hour],
    ['Tomorrow at 9.', 24 * hour],
    ['monday', 5 * 24 * hour],
  ])('%s puts it off', async (words, ms) => {
    const scene = await aScene();
    expect(text(await scene.reply(words))).toMatch(/^Snoozed: #1 Lunch comes again \w+ \d+ Nov \d\d:\d\d \(UTC\)\.$/);
    const [task] = await tasksIn(scene.talk);
    const until = (await scene.talk.pipeline.store.snoozesOf([task?.id ?? ''])).get(task?.id ?? '')?.[0]?.at ?? 0;
    expect(Math.round((until - scene.talk.pipeline.time.now()) / minute)).toBe(ms / minute);
  });

  test.each([
    ['later', /^When should #1 Lunch come again\?$/],
    ['skip', /^Skipped: #1 Lunch on Wed 18 Nov 12:00 \(UTC\)\.\nNext: Thu 19 Nov 12:00/],
    ['why?', /^Why, for #1 Lunch\n\n.*09:00/],
    ['history', /^History of #1 Lunch/],
  ])('%s is understood', async (words, answer) => {
    const scene = await aScene();
    expect(text(await scene.reply(words))).toMatch(answer);
  });

  test.each(['again', 'Run it again'])('%s is answered by a sign, and by the result', async (words) => {
    const scene = await aScene();
    expect(await scene.reply(words)).toBeNull();
    expect((await scene.talk.again()).reaction).toBe('👀');
    await scene.talk.pipeline.settle();
    const [task] = await tasksIn(scene.talk);
    expect(await scene.talk.pipeline.history(task?.id ?? '')).toHaveLength(2);
  });

  test('a command needs no number there, in the base thread neither', async () => {
    const { talk, result } = await aScene();
    const by = { topic: null, repliesTo: result };
    expect(text(await talk.say('/snooze 2 hours', by))).toContain('Snoozed: #1 Lunch comes again Wed 18 Nov 11:00');
    expect(text(await talk.say('/skip 2', by))).toContain('Skipped: #1 Lunch on ');
    expect(text(await talk.say('/why', by))).toMatch(/^Why, for #1 Lunch\n\n.*09:00/);
    expect(text(await talk.say('/history', by))).toMatch(/^History of #1 Lunch/);
    expect(text(await talk.say('/run', by))).toContain('Started #1 Lunch');
    expect(text(await talk.say('/task', by))).toMatch(/^#1 Lunch\n/);
    expect(text(await talk.say('/edit title Brunch', by))).toContain('now: Brunch');
    expect(text(await talk.say('/cancel', by))).toMatch(/#1 Brunch/);
    expect(text(await talk.say('/undo', by))).toContain('Ada changed the title of #1');
  });

  test('a number that is named wins, and a bare one belongs to the command', async () => {
    const { talk, result } = await aScene();
    const by = { topic: null, repliesTo: result };
    expect(text(await talk.say('/task #2', by))).toMatch(/^#2 Tea\n/);
    expect(text(await talk.say('/run 2', by))).toContain('Here /run alone means #1 Lunch');
  });

  test('what changes the task is refused to whoever may not', async () => {
    const { reply } = await aScene();
    const by = { person: bob };
    for (const words of ['10m', 'skip', 'again', 'later']) {
      expect(text(await reply(words, by))).toBe('Only Ada or an admin may do that.');
    }
    expect(text(await reply('why?', by))).toMatch(/^Why, for #1 Lunch/);
  });

  test.each(['what a nice lunch', 'in 2 hours we meet, done?', '2', '/', 'every day at 9', 'x'.repeat(4000)])(
    'in a group %.20s is answered each time, to whoever said it',
    async (words) => {
      const { talk, reply } = await aScene();
      for (const person of [ada, bob, bob]) {
        expect(text(await reply(words, { person }))).toMatch(/You can say:|To change when/);
        expect((await talk.again()).replies).toMatchObject([{ is: 'message', isForAsker: true }]);
      }
    },
  );

  test.each([
    ['pause', /^Paused #1 Lunch/],
    ['tomorrow 9', /^Snoozed: #1 Lunch/],
  ])(
    'in a group, %s in the topic counts with our name and without it, and in no answer to a person',
    async (words, told) => {
      const { talk, topic } = await aScene();
      expect(await talk.say(words, { topic, about: { text: 'When?' } })).toBeNull();
      expect(await talk.tells(words, { topic })).toMatch(told);
      expect(await talk.tells(`${words}.`, { topic, isAddressed: true })).toContain('#1 Lunch');
    },
  );

  test('words of somebody else order nothing', async () => {
    const { talk, topic } = await aScene('private');
    for (const words of ['pause', 'done', 'tomorrow 9']) {
      expect(await talk.tells(words, { topic, isOfAnother: true })).not.toContain('#1 Lunch');
    }
    expect((await tasksIn(talk)).map(({ state }) => state)).toEqual(['active', 'active']);
  });

  test('whoever answers a message of ours that is about no task is told so', async () => {
    const { talk } = await aScene();
    const list = await talk.ask('/tasks');
    expect(await talk.tells('nice', { repliesTo: list.id })).toContain('which task you mean');
  });

  test('talk that answers nobody of us is left alone', async () => {
    const scene = await aScene();
    expect(await scene.talk.say('done', { topic: scene.topic })).toBeNull();
    expect(await scene.talk.say('tomorrow 9', { topic: scene.topic, about: { text: 'When?' } })).toBeNull();
  });
});

describe('a reply to an answer of ours', () => {
  test('means the task that the answer is about', async () => {
    const { talk } = await aScene();
    const card = await talk.ask('/task #2');
    expect(text(await talk.say('/pause', { repliesTo: card.id }))).toContain('Paused #2 Tea.');
    const menu = await talk.ask('/snooze #2');
    expect(text(await talk.say('tomorrow 9', { repliesTo: menu.id }))).toContain('Snoozed: #2 Tea comes Thu 19');
  });

  test('means none where it is about several', async () => {
    const { talk } = await aScene();
    const list = await talk.ask('/tasks');
    expect(text(await talk.say('/pause', { repliesTo: list.id }))).toBe('Which task? Press one, or name it: /pause #1');
    expect(text(await talk.say('10m', { repliesTo: list.id }))).toContain('which task you mean');
  });

  test('a draft that waits for a word goes first', async () => {
    const { talk } = await aScene();
    const menu = await talk.ask('/edit #2');
    await talk.press(menu, 'Title');
    expect(text(await talk.say('10m', { repliesTo: menu.id, person: ada }))).toContain('now: 10m');
  });
});

test('the snooze menu picks a day and then an hour', async () => {
  const { talk } = await aScene();
  const menu = await talk.ask('/snooze #1');
  expect(labels(menu)).toEqual([
    ['10 min', '1 h'],
    ['Tonight', 'Tomorrow', 'Pick…'],
  ]);
  await talk.press(menu, 'Pick…');
  expect(labels(menu).flat()).toEqual([
    'Today',
    'Tomorrow',
    'Fri 20 Nov',
    'Sat 21 Nov',
    'Sun 22 Nov',
    'Mon 23 Nov',
    'Tue 24 Nov',
    'Back',
  ]);
  expect(menu.text).toContain('or reply with a time: tomorrow 9');
  await talk.press(menu, 'Today');
  expect(labels(menu).flat().slice(0, 2)).toEqual(['10:00', '11:00']);
  await talk.press(menu, 'Back');
  await talk.press(menu, 'Mon 23 Nov');
  await talk.press(menu, '16:00');
  expect(menu.text).toBe('Snoozed: #1 Lunch comes again Mon 23 Nov 16:00 (UTC).');
  expect(await talk.tells('/task #1')).toContain('\nSnoozed to Mon 23 Nov 16:00\n');
  expect(await talk.tells('/tasks')).toContain('snoozed to Mon 23 Nov 16:00');
  await talk.press(menu, 'Undo');
  expect(await talk.tells('/task #1')).not.toContain('Snoozed to');
});

describe('a Done that ends a snooze', () => {
  const gone = 'Done, and it will not come again Fri 20 Nov 09:00';

  test.each(['i did it', '👍', '👍🏽'])('said as %s names the time that is gone', async (words) => {
    const { talk, reply } = await aScene();
    await reply('friday');
    expect(await reply(words)).toBeNull();
    expect(talk.changed()?.text).toMatch(/\n\n— Done by Ada, .*, and it will not come again Fri 20 Nov 09:00$/);
    expect(await talk.tells('/tasks')).not.toContain('snoozed to');
    expect(await reply('done')).toBeNull();
  });

  test('says so to whoever presses as well', async () => {
    const { talk, reply, result } = await aScene();
    await reply('friday');
    const [task] = await tasksIn(talk);
    const about = await talk.pipeline.store.messageAt((await talk.chat()).address, result);
    const data = `v1:done:${shortId(task?.id ?? '')}:${shortId(about?.occurrenceId ?? '')}`;
    const menu = await talk.ask('/task #1');
    expect((await talk.send(menu, data)).toast).toBe(gone);
  });
});

test('a thumb in the topic of a task says Done', async () => {
  const { talk, topic } = await aScene('private');
  await talk.say('👍', { topic });
  expect(talk.reaction()).toBe('👍');
});

test('a task that has run for the last time and is snoozed stays among the current ones', async () => {
  const { talk } = await aScene();
  await talk.make('in 1 minute Haircut');
  await talk.pipeline.pass(2 * minute);
  expect(await talk.tells('/tasks')).not.toContain('Haircut');
  await talk.say('/snooze haircut tomorrow 10');
  expect(await talk.tells('/tasks')).toMatch(/🟢 snoozed to Thu 19 Nov 10:00/);
  await talk.pipeline.pass(26 * 60 * minute);
  expect(await talk.tells('/tasks')).not.toContain('Haircut');
});

test.each([
  'v1:pick:ID::-1',
  'v1:pick:ID::999999',
  'v1:pick:ID::x',
  'v1:later:ID:@',
  'v1:later:ID:@0',
  'v1:later:ID:@zzzzzzzz',
])('the made up button %s does nothing', async (data) => {
  const { talk } = await aScene();
  const menu = await talk.ask('/snooze #1');
  const [task] = await tasksIn(talk);
  const pressed = await talk.send(menu, data.replace('ID', task?.id ?? ''));
  expect(pressed.isAlert).toBe(true);
  expect(await talk.pipeline.store.snoozesOf([task?.id ?? ''])).toEqual(new Map());
});
