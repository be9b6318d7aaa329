import { describe, expect, test } from 'vitest';
import { buttons } from '../../../../src/telegram/chat/chat.ts';
import { commands } from '../../../../src/telegram/chat/commands.ts';
import { misspeltOf, nearest } from '../../../../src/telegram/chat/kit/nearest.ts';
import { day, minute } from '../../../support/pipeline.ts';
import { bob, dataBehind, labels, root, taskIn, tasksIn, withTask } from '../talk.ts';

describe('which task is meant', () => {
  test('in the topic of a task it is that task, and a bare number belongs to the command', async () => {
    const talk = await withTask('every 30 minutes: Ping');
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const { topicId } = await taskIn(talk);
    if (topicId === null) throw new Error('no topic was made');
    const skipped = await talk.ask('/skip 2', { topic: topicId });
    expect(skipped.text).toMatch(/^Skipped: #1 Ping on Wed 18 Nov 09:30, 10:00 \(UTC\)\.\nNext: Wed 18 Nov 10:30/);
    await talk.make('every day at 8 Other');
    expect(await talk.tells('/task #2', { topic: topicId })).toMatch(/^#2 Other\n/);
    expect(await talk.tells('/task', { topic: topicId })).toMatch(/^#1 Ping\n/);
  });

  test('without a number a short list asks, and each of its buttons does it', async () => {
    const talk = await withTask();
    await talk.make('every day at 13 Tea');
    const list = await talk.ask('/pause');
    expect(list.text).toBe('Which task? Press one, or name it: /pause #1');
    expect(labels(list)).toEqual([['#1 Lunch', '#2 Tea']]);
    await talk.press(list, '#2 Tea');
    expect(list.text).toMatch(/^#2 Tea\n⏸ Paused by Ada on Wed 18 Nov 09:00\n/);
    expect((await tasksIn(talk)).find(({ number }) => number === 2)?.state).toBe('paused');
  });

  test('tasks of another chat do not exist, not even for somebody who knows their ids', async () => {
    const talk = await withTask();
    const foreign = await talk.pipeline.create({}, { threadKey: 'telegram:chat:-100999' });
    const list = await talk.ask('/tasks');
    expect(list.text).not.toContain('Stand up!');
    for (const data of [`v1:task:${foreign.id}`, `v1:run:${foreign.id}:x`, `v1:delete:${foreign.id}`]) {
      for (const person of [bob, root]) {
        expect(await talk.send(list, data, { person })).toMatchObject({
          toast: 'There is no such task here.',
          isAlert: true,
        });
      }
    }
    expect((await talk.pipeline.rooms.tasks.get(foreign.id)).state).toBe('active');
  });
});

describe('commands that do something', () => {
  test('/run starts the task, and a double press of Run now starts it once', async () => {
    const talk = await withTask();
    expect(await talk.tells('/run 1')).toBe('Started #1 Lunch. The result comes in its topic.');
    await talk.pipeline.settle();
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Run now');
    expect((await talk.send(card, data)).toast).toBe('Started');
    expect(card.text).toContain('\nStarted Wed 18 Nov 09:00; the result comes in its topic');
    await talk.pipeline.settle();
    await talk.send(card, data);
    await talk.pipeline.settle();
    const { id } = await taskIn(talk);
    expect(await talk.pipeline.history(id)).toHaveLength(2);
    // The card was drawn anew, so this press is another one.
    await talk.press(card, 'Run now');
    await talk.pipeline.settle();
    expect(await talk.pipeline.history(id)).toHaveLength(3);
  });

  test('/run of a one-off says that its result comes in Reminders where they share that', async () => {
    const talk = await withTask('tomorrow at 9 Lunch');
    await talk.ask('/settings oneoffs together');
    expect(await talk.tells('/run 1')).toBe('Started #1 Lunch. The result comes in Reminders.');
  });

  test.each(['/undo', 'Undo'])('%s takes back /pause all for all tasks, and so it does /resume all', async (way) => {
    const talk = await withTask();
    await talk.press(await talk.ask('/new every day at 13 Tea'), 'Create');
    const states = async () => (await tasksIn(talk)).map(({ state }) => state);
    for (const [word, before, after] of [
      ['/pause all', 'active', 'paused'],
      ['/resume all', 'paused', 'active'],
    ] as const) {
      if (before === 'paused') await talk.ask('/pause all');
      const told = await talk.ask(word);
      expect(await states()).toEqual([after, after]);
      const undo = dataBehind(told, 'Undo');
      if (way === 'Undo') await talk.press(told, 'Undo');
      else await talk.ask('/undo');
      expect(await states()).toEqual([before, before]);
      if (way === 'Undo') expect((await talk.send(told, undo)).toast).toBe('Already undone');
    }
  });

  test('/skip leaves out as many as were named, and a double press of Skip next one', async () => {
    const talk = await withTask();
    expect(await talk.tells('/skip 1 2')).toMatchSnapshot('/skip 1 2');
    expect(await talk.tells('/skip 1 0')).toContain('a number from 1 to 100');
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Skip next');
    expect((await talk.send(card, data)).toast).toBe('Skipped: Fri 20 Nov 12:00');
    expect((await talk.send(card, data)).toast).toBe('That run was skipped already');
    expect((await taskIn(talk)).nextAt).toBe(Date.UTC(2026, 10, 21, 12));
    // What the button names is over by then, whatever became of it.
    await talk.pipeline.pass(4 * 24 * 60 * 60_000);
    expect((await talk.send(card, data)).toast).toBe('Nothing skipped: the run of Fri 20 Nov 12:00 is over');
  });

  test('a command that is handled again after a crash has one effect', async () => {
    const talk = await withTask();
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    await talk.again();
    await talk.pipeline.settle();
    expect(await talk.pipeline.history((await taskIn(talk)).id)).toHaveLength(1);
    await talk.ask('/snooze 1 1h');
    await talk.pipeline.time.advance(minute);
    await talk.again();
    await talk.ask('/edit 1 title Supper');
    await talk.again();
    expect((await taskIn(talk)).title).toBe('Supper');
  });

  test('a command that is handled again after a crash has the answer of the first time, with its way back', async () => {
    const talk = await withTask();
    const repeated = async () =>
      (await talk.again()).replies.flatMap((reply) => ('shown' in reply ? [reply.shown] : []));
    for (const text of ['/pause 1', '/resume 1', '/skip 1', '/snooze 1 1h']) {
      const first = await talk.ask(text);
      expect(await repeated()).toEqual([first.shown]);
    }
    const edited = await talk.ask('/edit 1 title Supper');
    expect(await repeated()).toEqual([edited.shown]);
    await talk.press(edited, 'Undo');
    expect(await repeated()).toEqual([edited.shown]);
    expect(edited.text).toMatch(/^Undone: 09:00 \(UTC\), Ada changed the title of #1/);
  });
});

describe('a day that was left out', () => {
  test('a day ahead does not run, and those around it do', async () => {
    const talk = await withTask();
    await talk.ask('/skip 1 friday');
    for (let days = 0; days < 4; days += 1) await talk.pipeline.pass(day);
    const runs = await talk.pipeline.history((await taskIn(talk)).id);
    const ended = runs
      .filter(({ status }) => status === 'succeeded')
      .map(({ slotAt }) => new Date(slotAt).getUTCDate());
    expect(ended.toSorted((a, b) => a - b)).toEqual([18, 19, 21]);
    expect(runs.filter(({ status }) => status === 'skipped')).toMatchObject([{ slotAt: Date.UTC(2026, 10, 20, 12) }]);
  });
});

describe('the card', () => {
  test('links to the topic once there is one, and tells the last run', async () => {
    const talk = await withTask();
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const card = await talk.ask('/task 1');
    await talk.press(card, 'More');
    const { topicId } = await taskIn(talk);
    expect(card.text).toContain('\nLast: delivered Wed 18 Nov 09:00 (1 run)\n');
    expect(card.shown.entities?.find(({ type }) => type === 'text_link')?.url).toBe(`https://t.me/c/1234/${topicId}`);
  });
});

describe('buttons that nobody knows', () => {
  test('are answered, and the newest view is drawn below', async () => {
    const talk = await withTask();
    const old = await talk.ask('/help');
    for (const data of ['v1:frobnicate:1', 'nonsense', 'v1:', 'v9:run:1']) {
      const { toast, messages } = await talk.send(old, data);
      expect(toast).toBe('This button is old. Here is how things stand now.');
      expect(messages[0]?.shown.text).toMatch(/^Tasks in this chat: 1\n/);
    }
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const { topicId } = await taskIn(talk);
    const inTopic = await talk.ask('/help', { topic: topicId });
    const { messages } = await talk.send(inTopic, 'v1:frobnicate');
    expect(messages[0]?.shown.text).toMatch(/^#1 Lunch\n/);
  });

  test('whatever a client makes up, nothing breaks and nothing of another task is done', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    const task = await taskIn(talk);
    const { state, schedule, nextAt } = task;
    const odd = [
      '',
      ':',
      'x',
      ':x:y:z',
      `:${task.id}`,
      `:${task.id}:`,
      `:${task.id}::::`,
      `:${task.id}:NaN:%`,
      ':-1',
      ':__proto__',
    ];
    const acting = ['run', 'pause', 'skip', 'delete', 'later', 'editwhat'];
    const harmless = [...buttons.keys()].filter((verb) => !acting.includes(verb));
    for (const verb of harmless) {
      for (const rest of odd) await talk.send(card, `v1:${verb}${rest}`);
    }
    expect(await taskIn(talk)).toMatchObject({ state, schedule, nextAt });
  });
});

describe('an unknown command', () => {
  test('by letters that are missing, swapped, wrong or too many, and by a clear beginning', () => {
    const names = commands.map(({ name }) => name);
    expect(nearest('snoze', names)).toBe('snooze');
    expect(nearest('tsaks', names)).toBe('tasks');
    expect(nearest('histori', names)).toBe('history');
    expect(nearest('hist', names)).toBe('history');
    expect(nearest('xyzzy', names)).toBeNull();
    expect(misspeltOf('snoze', names)).toBe('snooze');
    expect(misspeltOf('hist', names)).toBeNull();
  });
});

test('/undo that is handled twice takes back one change', async () => {
  const talk = await withTask();
  for (const text of ['/edit #1 title Brunch', '/pause #1']) {
    await talk.ask(text);
    await talk.pipeline.time.advance(minute);
  }
  expect(await talk.tells('/undo')).toContain('paused #1');
  expect(JSON.stringify(await talk.again())).toContain('paused #1');
  expect((await tasksIn(talk))[0]).toMatchObject({ title: 'Brunch', state: 'active' });
});

test('/undo twice takes back two changes, at whatever instant each is written', async () => {
  const talk = await withTask();
  for (const text of ['/edit #1 title Brunch', '/pause #1']) await talk.ask(text);
  expect(await talk.tells('/undo')).toContain('paused #1');
  expect(await talk.tells('/undo')).toContain('the title of #1');
  expect((await tasksIn(talk))[0]).toMatchObject({ title: 'Lunch', state: 'active' });
});

describe('a run by hand that does not begin', () => {
  test.each([
    ['queue', 'This run starts when'],
    ['replace', 'I am stopping that run'],
    ['skip', 'has not ended'],
  ] as const)('behind another one is told as what it is: overlap %s', async (overlap, words) => {
    const talk = await withTask();
    const task = await taskIn(talk);
    await talk.pipeline.rooms.tasks.edit({ taskId: task.id, actor: 'telegram:user:1001' }, { policies: { overlap } });
    const card = await talk.ask('/task 1');
    expect(await talk.tells('/run 1')).toContain('Started #1 Lunch');
    expect(await talk.tells('/run 1')).toContain(words);
    // A run that was stopped makes room at once.
    if (overlap === 'replace') return;
    expect((await talk.press(card, 'Run now')).toast).toContain(words);
    expect(card.text).not.toContain('Started');
  });

  test('in a chat whose topics cannot be made is told with its result, which waits', async () => {
    const talk = await withTask();
    talk.pipeline.database.exec(`update tasks set topic_state = 'blocked', topic_cause = 'topics_off'`);
    expect(await talk.tells('/run 1')).toContain('Its result waits');
  });
});
