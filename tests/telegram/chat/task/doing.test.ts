import { describe, expect, test } from 'vitest';
import { buttons } from '../../../../src/telegram/chat/chat.ts';
import { commands } from '../../../../src/telegram/chat/commands.ts';
import { misspeltOf, nearest } from '../../../../src/telegram/chat/kit/nearest.ts';
import { hour, minute } from '../../../support/pipeline.ts';
import { aTalk, bob, dataBehind, labels, root, tasksIn, type Talk } from '../talk.ts';

async function made(talk: Talk, text: string, by = {}): Promise<void> {
  const message = await talk.ask(`/new ${text}`, by);
  await talk.press(message, 'Create', by);
}

async function withTask(text = 'every day at 12 Lunch'): Promise<Talk> {
  const talk = await aTalk();
  await made(talk, text);
  return talk;
}

const only = async (talk: Talk) => {
  const task = (await tasksIn(talk)).find(({ number }) => number === 1);
  if (task === undefined) throw new Error('there is no task');
  return task;
};

describe('which task is meant', () => {
  test('outside of a topic by #3 or 3, and nothing else is a number', async () => {
    const talk = await withTask();
    for (const text of ['/pause #1', '/pause 1', '/pause # 1']) {
      expect((await talk.ask(text)).shown.text).toMatch(/^(Paused )?#1 Lunch/);
    }
    expect((await talk.ask('/pause 1a')).shown.text).toContain('I cannot read until when.');
  });

  test('in the topic of a task it is that task, and a bare number belongs to the command', async () => {
    const talk = await withTask('every 30 minutes: Ping');
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const { topicId } = await only(talk);
    if (topicId === null) throw new Error('no topic was made');
    const skipped = await talk.ask('/skip 2', { topic: topicId });
    expect(skipped.shown.text).toMatch(
      /^Left out of #1 Ping: Wed 18 Nov 09:30, Wed 18 Nov 10:00 \(UTC\)\.\nNext: Wed 18 Nov 10:30/,
    );
    await made(talk, 'every day at 8 Other');
    expect((await talk.ask('/task #2', { topic: topicId })).shown.text).toMatch(/^#2 Other\n/);
    expect((await talk.ask('/task', { topic: topicId })).shown.text).toMatch(/^#1 Ping\n/);
  });

  test('without a number a short list asks, and each of its buttons does it', async () => {
    const talk = await withTask();
    await made(talk, 'every day at 13 Tea');
    const list = await talk.ask('/pause');
    expect(list.shown.text).toBe('Which task? Press one, or name it: /pause #1');
    expect(labels(list)).toEqual([['#1 Lunch', '#2 Tea']]);
    await talk.press(list, '#2 Tea');
    expect(list.shown.text).toMatch(/^#2 Tea\nPaused by Ada on Wed 18 Nov 09:00\n/);
    expect((await tasksIn(talk)).find(({ number }) => number === 2)?.state).toBe('paused');
  });

  test('a number that does not exist is told with what there is', async () => {
    const talk = await withTask();
    const message = await talk.ask('/run 9');
    expect(message.shown.text).toBe('There is no task #9 in this chat.\n\nThese are here:');
    expect(labels(message)).toEqual([['#1 Lunch']]);
    const empty = await aTalk();
    expect((await empty.ask('/run 9')).shown.text).toContain('There are no tasks in this chat yet.');
    expect((await empty.ask('/pause')).shown.text).toBe('There are no tasks in this chat yet. /new makes one.');
  });

  test('tasks of another chat do not exist, not even for somebody who knows their ids', async () => {
    const talk = await withTask();
    const foreign = await talk.pipeline.create({}, { threadKey: 'telegram:chat:-100999' });
    const list = await talk.ask('/tasks');
    expect(list.shown.text).not.toContain('Stand up!');
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
  test('/pause, /resume and their Undo say what comes next', async () => {
    const talk = await withTask();
    const paused = await talk.ask('/pause 1');
    expect(paused.shown.text).toBe('Paused #1 Lunch.');
    expect(labels(paused)).toEqual([
      ['Resume', 'Undo'],
      ['Until tomorrow', 'Until Monday', 'Pick…'],
    ]);
    expect((await talk.ask('/pause 1')).shown.text).toBe(
      '#1 Lunch is paused already, since Wed 18 Nov 09:00 by Ada, until somebody resumes it.',
    );
    await talk.press(paused, 'Resume');
    expect(paused.shown.text).toBe(
      '#1 Lunch goes on.\nNext: Wed 18 Nov 12:00, Thu 19 Nov 12:00, Fri 20 Nov 12:00 (UTC)',
    );
    const again = await talk.ask('/pause 1');
    await talk.press(again, 'Undo');
    expect(again.shown.text).toMatch(/^Undone: the pause of #1 by Ada at 09:00\.\nNext: /);
    expect((await only(talk)).state).toBe('active');
  });

  test('/pause takes an end in plain words and refuses what it cannot read', async () => {
    const talk = await withTask();
    const message = await talk.ask('/pause 1 until friday at 9:00');
    expect(message.shown.text).toBe('Paused #1 Lunch until Fri 20 Nov 09:00 (UTC).');
    expect((await only(talk)).resumeAt).toBe(Date.UTC(2026, 10, 20, 9));
    expect((await talk.ask('/pause 1 for 2 hours')).shown.text).toBe('Paused #1 Lunch until Wed 18 Nov 11:00 (UTC).');
    expect((await talk.ask('/pause 1 until the cows come home')).shown.text).toContain('I cannot read until when.');
    expect((await talk.ask('/pause 1 every day at 9')).shown.text).toContain('I cannot read until when.');
  });

  test('/pause all and /resume all mean all tasks for an admin, and the own ones for a member', async () => {
    const talk = await withTask();
    await made(talk, 'every day at 13 Tea', { person: bob });
    expect((await talk.ask('/pause all', { person: bob })).shown.text).toBe('Paused 1 task.');
    expect((await tasksIn(talk)).map(({ state }) => state).toSorted()).toEqual(['active', 'paused']);
    expect((await talk.ask('/pause all')).shown.text).toBe('Paused 1 task.');
    expect((await talk.ask('/resume all')).shown.text).toBe('Resumed 2 tasks.');
  });

  test('/run starts the task, and a double press of Run now starts it once', async () => {
    const talk = await withTask();
    expect((await talk.ask('/run 1')).shown.text).toBe('Started #1 Lunch. The result comes in its topic.');
    await talk.pipeline.settle();
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Run now');
    expect((await talk.send(card, data)).toast).toBe('Started');
    expect(card.shown.text).toContain('\nStarted Wed 18 Nov 09:00; the result comes in its topic\n');
    await talk.pipeline.settle();
    await talk.send(card, data);
    await talk.pipeline.settle();
    const { id } = await only(talk);
    expect(await talk.pipeline.history(id)).toHaveLength(2);
    // The card was drawn anew, so this press is another one.
    await talk.press(card, 'Run now');
    await talk.pipeline.settle();
    expect(await talk.pipeline.history(id)).toHaveLength(3);
  });

  test('/skip leaves out as many as were named, and a double press of Skip next one', async () => {
    const talk = await withTask();
    expect((await talk.ask('/skip 1 2')).shown.text).toBe(
      'Left out of #1 Lunch: Wed 18 Nov 12:00, Thu 19 Nov 12:00 (UTC).\nNext: Fri 20 Nov 12:00, Sat 21 Nov 12:00, Sun 22 Nov 12:00 (UTC)',
    );
    expect((await talk.ask('/skip 1 0')).shown.text).toContain('a number from 1 to 100');
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Skip next');
    expect((await talk.send(card, data)).toast).toBe('Left out: Fri 20 Nov 12:00');
    expect((await talk.send(card, data)).toast).toBe('That run was skipped already');
    expect((await only(talk)).nextAt).toBe(Date.UTC(2026, 10, 21, 12));
  });

  test('/snooze reads spans and moments, and alone offers buttons', async () => {
    const talk = await withTask();
    expect((await talk.ask('/snooze 1 1h')).shown.text).toBe('Snoozed: #1 Lunch comes again Wed 18 Nov 10:00 (UTC).');
    expect((await talk.ask('/snooze 1 10 min')).shown.text).toContain('Wed 18 Nov 09:10');
    expect((await talk.ask('/snooze 1 tomorrow')).shown.text).toContain('Thu 19 Nov 09:00');
    expect((await talk.ask('/snooze 1 until 18:30')).shown.text).toContain('Wed 18 Nov 18:30');
    expect((await talk.ask('/snooze 1 sometime')).shown.text).toContain('I cannot read that as a moment.');
    const menu = await talk.ask('/snooze 1');
    expect(labels(menu)).toEqual([
      ['10 min', '1 h'],
      ['Tonight', 'Tomorrow', 'Pick…'],
    ]);
    await talk.press(menu, 'Tonight');
    expect(menu.shown.text).toBe('Snoozed: #1 Lunch comes again Wed 18 Nov 20:00 (UTC).');
    const snoozes = (await talk.pipeline.history((await only(talk)).id)).filter(({ status }) => status === 'pending');
    expect(snoozes.map(({ slotAt }) => slotAt)).toEqual([Date.UTC(2026, 10, 18, 20)]);
  });

  test('/edit changes the time, the text, the title and the zone, with what was before and Undo', async () => {
    const talk = await withTask();
    const time = await talk.ask('/edit 1 every day at 10');
    expect(time.shown.text).toBe(
      [
        'Changed: #1 Lunch',
        '',
        'Time:',
        '  before: every day at 12:00 (UTC)',
        '  now: every day at 10:00 (UTC)',
        '',
        'Next runs before: Wed 18 Nov 12:00, Thu 19 Nov 12:00, Fri 20 Nov 12:00 (UTC)',
        'Next: Wed 18 Nov 10:00, Thu 19 Nov 10:00, Fri 20 Nov 10:00 (UTC)',
      ].join('\n'),
    );
    await talk.press(time, 'Undo');
    expect((await only(talk)).schedule).toMatchObject({ cron: '0 12 * * *' });
    expect((await talk.ask('/edit 1 title Big lunch')).shown.text).toContain('before: Lunch');
    expect((await talk.ask('/edit 1 text Eat\nsomething')).shown.text).toContain('now: Eat something');
    expect((await talk.ask('/edit 1 zone Madrid')).shown.text).toContain('now: every day at 12:00 (Europe/Madrid)');
    expect(await only(talk)).toMatchObject({ title: 'Big lunch', instructions: 'Eat\nsomething' });
    expect((await talk.ask('/edit 1 zone Nowhere')).shown.text).toContain('is not a time zone that I know');
    expect((await talk.ask('/edit 1 text {{ braces')).shown.text).toContain(
      'Mend it, or write it without those signs.',
    );
    expect((await talk.ask('/edit 1 every whenever')).shown.text).toContain('These can be read:');
    expect((await talk.ask('/edit 1 title Big lunch')).shown.text).toContain('Nothing to change');
  });

  test('the Edit menu takes the next plain message, and Cancel leaves everything as it was', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    await talk.press(card, 'Edit');
    expect(labels(card)).toEqual([['Time', 'Text', 'Title'], ['Zone', 'More'], ['Back']]);
    await talk.press(card, 'Time');
    expect((await talk.ask('some day')).shown.text).toContain('These can be read:');
    expect((await talk.ask('every day at 10')).shown.text).toMatch(/^Changed: #1 Lunch\n/);
    expect(await talk.say('every day at 11')).toBeNull();
    const other = await talk.ask('/edit 1');
    await talk.press(other, 'Title');
    await talk.press(other, 'Cancel');
    expect(other.shown.text).toBe('Cancelled. Nothing was changed.');
    expect(await talk.say('Not a title')).toBeNull();
    expect(await only(talk)).toMatchObject({ title: 'Lunch', schedule: { cron: '0 10 * * *' } });
  });

  test('/delete can be undone for a day; after that the task does not exist', async () => {
    const talk = await withTask();
    const message = await talk.ask('/delete 1');
    expect(message.shown.text).toBe('Deleted #1 Lunch. It can be brought back within 24 hours.');
    expect((await talk.ask('/task 1')).shown.text).toBe('#1 Lunch is deleted. It can still be brought back.');
    await talk.press(message, 'Undo');
    expect(message.shown.text).toMatch(/^#1 Lunch\nActive\n/);
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Delete');
    await talk.send(card, data);
    expect((await talk.send(card, data)).toast).toBe('Deleted');
    await talk.pipeline.time.advance(24 * hour + 1);
    expect(await talk.press(card, 'Undo')).toMatchObject({ isAlert: true });
    expect((await talk.ask('/task 1')).shown.text).toContain('There is no task #1 in this chat.');
  });

  test('/cancel 1 stops what runs', async () => {
    const talk = await withTask();
    expect((await talk.ask('/cancel 1')).shown.text).toBe('Nothing of #1 Lunch runs at the moment.');
    await talk.ask('/run 1');
    expect((await talk.ask('/cancel 1')).shown.text).toBe('Stopping what #1 Lunch runs now.');
  });

  test('a command that is handled again after a crash has one effect', async () => {
    const talk = await withTask();
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    await talk.again();
    await talk.pipeline.settle();
    expect(await talk.pipeline.history((await only(talk)).id)).toHaveLength(1);
    await talk.ask('/snooze 1 1h');
    await talk.pipeline.time.advance(minute);
    await talk.again();
    await talk.ask('/edit 1 title Supper');
    await talk.again();
    expect((await only(talk)).title).toBe('Supper');
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
    expect(await repeated()).toMatchObject([
      { text: expect.stringMatching(/^Changed: #1 Supper\n\nNext: /) as string, buttons: edited.shown.buttons },
    ]);
    await talk.press(edited, 'Undo');
    expect(await repeated()).toEqual([edited.shown]);
    expect(edited.shown.text).toMatch(/^Undone: the change of the title of #1 by Ada/);
  });
});

describe('rights', () => {
  test('members read everything, change their own, and are told whose the others are', async () => {
    const talk = await withTask();
    await made(talk, 'every day at 13 Tea', { person: bob });
    expect((await talk.ask('/task 1', { person: bob })).shown.text).toMatch(/^#1 Lunch\n/);
    for (const text of ['/pause 1', '/run 1', '/delete 1', '/skip 1', '/snooze 1 1h', '/edit 1 title x', '/cancel 1']) {
      expect((await talk.ask(text, { person: bob })).shown.text).toBe('Only Ada or an admin may do that.');
    }
    expect((await talk.ask('/pause 2', { person: bob })).shown.text).toBe('Paused #2 Tea.');
    expect((await talk.ask('/resume 2')).shown.text).toMatch(/^#2 Tea goes on\./);
  });

  test('the presser of a button is asked for, not the one for whom it was shown', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    const before = card.shown.text;
    for (const label of ['Run now', 'Pause', 'Edit', 'Skip next', 'Delete']) {
      expect(await talk.press(card, label, { person: bob })).toMatchObject({
        toast: 'Only Ada or an admin may do that.',
        isAlert: true,
      });
    }
    expect(card.shown.text).toBe(before);
    await talk.press(card, 'History', { person: bob });
    expect(card.shown.text).toBe('History of #1 Lunch\n\nIt has not run yet.');
  });
});

describe('a task that is over', () => {
  test('says so, can be snoozed and run again, and goes on with a new time', async () => {
    const talk = await withTask('in 20 minutes Take the pizza out');
    await talk.pipeline.pass(30 * minute);
    const card = await talk.ask('/task 1');
    expect(card.shown.text.split('\n')[1]).toBe('Completed: nothing is left to run');
    expect(labels(card)).toEqual([
      ['Run now', 'Edit'],
      ['History', 'Delete'],
    ]);
    expect((await talk.ask('/pause 1')).shown.text).toContain('is completed, so there is nothing to pause.');
    expect((await talk.ask('/resume 1')).shown.text).toContain('Give it a new time first');
    expect((await talk.ask('/skip 1')).shown.text).toContain('There is no coming run to skip');
    expect((await talk.ask('/snooze 1 5 min')).shown.text).toContain('comes again Wed 18 Nov 09:35');
    expect((await talk.ask('/edit 1 tomorrow at 9')).shown.text).toContain('Next: Thu 19 Nov 09:00 (UTC)');
    expect((await only(talk)).state).toBe('active');
  });
});

describe('the card', () => {
  test('shows the new state after each press, in words', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    await talk.press(card, 'Pause');
    expect(card.shown.text.split('\n')[1]).toBe('Paused by Ada on Wed 18 Nov 09:00');
    expect(labels(card)).toEqual([
      ['Run now', 'Resume', 'Edit'],
      ['History', 'Delete'],
    ]);
    await talk.press(card, 'Resume');
    expect(card.shown.text.split('\n')[1]).toBe('Active');
    await talk.press(card, 'History');
    await talk.press(card, 'Back');
    expect(card.shown.text).toMatch(/^#1 Lunch\n/);
    await talk.press(card, 'Delete');
    expect(labels(card)).toEqual([['Undo']]);
  });

  test('links to the topic once there is one, and tells the last run', async () => {
    const talk = await withTask();
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const card = await talk.ask('/task 1');
    const { topicId } = await only(talk);
    expect(card.shown.text).toContain('\nLast: ok Wed 18 Nov 09:00, 1 run so far\n');
    expect(card.shown.entities?.find(({ type }) => type === 'text_link')?.url).toBe(`https://t.me/c/1234/${topicId}`);
  });
});

describe('buttons that nobody knows', () => {
  test('are answered, and the newest view is drawn below', async () => {
    const talk = await withTask();
    const old = await talk.ask('/help');
    for (const data of ['v1:frobnicate:1', 'nonsense', 'v1:', 'v9:run:1']) {
      const { toast, messages } = await talk.send(old, data);
      expect(toast).toBe('This button is from another time. Here is how things stand now.');
      expect(messages[0]?.shown.text).toMatch(/^Tasks in this chat: 1\n/);
    }
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const { topicId } = await only(talk);
    const inTopic = await talk.ask('/help', { topic: topicId });
    const { messages } = await talk.send(inTopic, 'v1:frobnicate');
    expect(messages[0]?.shown.text).toMatch(/^#1 Lunch\n/);
  });

  test('whatever a client makes up, nothing breaks and nothing of another task is done', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    const task = await only(talk);
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
    expect(await only(talk)).toMatchObject({ state, schedule, nextAt });
  });
});

describe('an unknown command', () => {
  test('gets the nearest one', async () => {
    const talk = await aTalk();
    expect((await talk.ask('/puase 1')).shown.text).toBe('I do not know /puase. Did you mean /pause?');
    expect((await talk.ask('/frobnicate')).shown.text).toBe('I do not know /frobnicate. /help shows what I know.');
    expect((await talk.ask('/alow')).shown.text).not.toContain('/allow');
    expect((await talk.ask('/alow', { person: root })).shown.text).toContain('/allow');
  });

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

test('a date of another year is told with its year', async () => {
  const talk = await aTalk();
  const message = await talk.ask('/new 2027-01-31 09:00 Taxes');
  expect(message.shown.text).toContain('Next: Sun 31 Jan 2027 09:00');
});
