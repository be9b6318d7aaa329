import { describe, expect, test } from 'vitest';
import { buttons } from '../../../../src/telegram/chat/chat.ts';
import { commands } from '../../../../src/telegram/chat/commands.ts';
import { misspeltOf, nearest } from '../../../../src/telegram/chat/kit/nearest.ts';
import { hour, minute } from '../../../support/pipeline.ts';
import { aTalk, bob, dataBehind, labels, root, taskIn, tasksIn, withTask } from '../talk.ts';

describe('which task is meant', () => {
  test('outside of a topic by #3 or 3, and nothing else is a number', async () => {
    const talk = await withTask();
    for (const text of ['/pause #1', '/pause 1', '/pause # 1']) {
      expect(await talk.tells(text)).toMatch(/^(Paused )?#1 Lunch/);
    }
    expect(await talk.tells('/pause 1a')).toContain('I cannot read until when.');
  });

  test('in the topic of a task it is that task, and a bare number belongs to the command', async () => {
    const talk = await withTask('every 30 minutes: Ping');
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const { topicId } = await taskIn(talk);
    if (topicId === null) throw new Error('no topic was made');
    const skipped = await talk.ask('/skip 2', { topic: topicId });
    expect(skipped.text).toMatch(
      /^Left out of #1 Ping: Wed 18 Nov 09:30, Wed 18 Nov 10:00 \(UTC\)\.\nNext: Wed 18 Nov 10:30/,
    );
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
    expect(list.text).toMatch(/^#2 Tea\nPaused by Ada on Wed 18 Nov 09:00\n/);
    expect((await tasksIn(talk)).find(({ number }) => number === 2)?.state).toBe('paused');
  });

  test('a number that does not exist is told with what there is', async () => {
    const talk = await withTask();
    const message = await talk.ask('/run 9');
    expect(message.text).toBe('There is no task #9 in this chat.\n\nThese are here:');
    expect(labels(message)).toEqual([['#1 Lunch']]);
    const empty = await aTalk();
    expect(await empty.tells('/run 9')).toContain('There are no tasks in this chat yet.');
    expect(await empty.tells('/pause')).toBe('There are no tasks in this chat yet. /new makes one.');
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
  test('/pause, /resume and their Undo say what comes next', async () => {
    const talk = await withTask();
    const paused = await talk.ask('/pause 1');
    expect(paused.text).toBe('Paused #1 Lunch.');
    expect(labels(paused)).toEqual([
      ['Resume', 'Undo'],
      ['Until tomorrow', 'Until Monday', 'Pick…'],
    ]);
    expect(await talk.tells('/pause 1')).toMatchSnapshot('/pause 1');
    await talk.press(paused, 'Resume');
    expect(paused.text).toBe('#1 Lunch goes on.\nNext: Wed 18 Nov 12:00, Thu 19 Nov 12:00, Fri 20 Nov 12:00 (UTC)');
    const again = await talk.ask('/pause 1');
    await talk.press(again, 'Undo');
    expect(again.text).toMatch(/^Undone: the pause of #1 by Ada at 09:00\.\nNext: /);
    expect((await taskIn(talk)).state).toBe('active');
  });

  test('/pause takes an end in plain words and refuses what it cannot read', async () => {
    const talk = await withTask();
    const message = await talk.ask('/pause 1 until friday at 9:00');
    expect(message.text).toBe('Paused #1 Lunch until Fri 20 Nov 09:00 (UTC).');
    expect((await taskIn(talk)).resumeAt).toBe(Date.UTC(2026, 10, 20, 9));
    expect(await talk.tells('/pause 1 for 2 hours')).toBe('Paused #1 Lunch until Wed 18 Nov 11:00 (UTC).');
    expect(await talk.tells('/pause 1 until the cows come home')).toContain('I cannot read until when.');
    expect(await talk.tells('/pause 1 every day at 9')).toContain('I cannot read until when.');
  });

  test('/pause all and /resume all mean all tasks for an admin, and the own ones for a member', async () => {
    const talk = await withTask();
    await talk.make('every day at 13 Tea', { person: bob });
    expect(await talk.tells('/pause all', { person: bob })).toBe('Paused 1 task.');
    expect((await tasksIn(talk)).map(({ state }) => state).toSorted()).toEqual(['active', 'paused']);
    expect(await talk.tells('/pause all')).toBe('Paused 1 task.');
    expect(await talk.tells('/resume all')).toBe('Resumed 2 tasks.');
  });

  test('/run starts the task, and a double press of Run now starts it once', async () => {
    const talk = await withTask();
    expect(await talk.tells('/run 1')).toBe('Started #1 Lunch. The result comes in its topic.');
    await talk.pipeline.settle();
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Run now');
    expect((await talk.send(card, data)).toast).toBe('Started');
    expect(card.text).toContain('\nStarted Wed 18 Nov 09:00; the result comes in its topic\n');
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

  test('/skip leaves out as many as were named, and a double press of Skip next one', async () => {
    const talk = await withTask();
    expect(await talk.tells('/skip 1 2')).toMatchSnapshot('/skip 1 2');
    expect(await talk.tells('/skip 1 0')).toContain('a number from 1 to 100');
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Skip next');
    expect((await talk.send(card, data)).toast).toBe('Left out: Fri 20 Nov 12:00');
    expect((await talk.send(card, data)).toast).toBe('That run was skipped already');
    expect((await taskIn(talk)).nextAt).toBe(Date.UTC(2026, 10, 21, 12));
  });

  test('/snooze reads spans and moments, and alone offers buttons', async () => {
    const talk = await withTask();
    expect(await talk.tells('/snooze 1 1h')).toBe('Snoozed: #1 Lunch comes again Wed 18 Nov 10:00 (UTC).');
    expect(await talk.tells('/snooze 1 10 min')).toContain('Wed 18 Nov 09:10');
    expect(await talk.tells('/snooze 1 tomorrow')).toContain('Thu 19 Nov 09:00');
    expect(await talk.tells('/snooze 1 until 18:30')).toContain('Wed 18 Nov 18:30');
    expect(await talk.tells('/snooze 1 sometime')).toContain('I cannot read that as a moment.');
    const menu = await talk.ask('/snooze 1');
    expect(labels(menu)).toEqual([
      ['10 min', '1 h'],
      ['Tonight', 'Tomorrow', 'Pick…'],
    ]);
    await talk.press(menu, 'Tonight');
    expect(menu.text).toBe('Snoozed: #1 Lunch comes again Wed 18 Nov 20:00 (UTC).');
    const snoozes = (await talk.pipeline.history((await taskIn(talk)).id)).filter(({ status }) => status === 'pending');
    expect(snoozes.map(({ slotAt }) => slotAt)).toEqual([Date.UTC(2026, 10, 18, 20)]);
  });

  test('/edit changes the time, the text, the title and the zone, with what was before and Undo', async () => {
    const talk = await withTask();
    const time = await talk.ask('/edit 1 every day at 10');
    expect(time.text).toMatchSnapshot('time');
    await talk.press(time, 'Undo');
    expect((await taskIn(talk)).schedule).toMatchObject({ cron: '0 12 * * *' });
    expect(await talk.tells('/edit 1 title Big lunch')).toContain('before: Lunch');
    expect(await talk.tells('/edit 1 text Eat\nsomething')).toContain('now: Eat something');
    expect(await talk.tells('/edit 1 zone Madrid')).toContain('now: every day at 12:00 (Europe/Madrid)');
    expect(await taskIn(talk)).toMatchObject({ title: 'Big lunch', instructions: 'Eat\nsomething' });
    expect(await talk.tells('/edit 1 zone Nowhere')).toContain('is not a time zone that I know');
    expect(await talk.tells('/edit 1 text {{ braces')).toContain('Mend it, or write it without those signs.');
    expect(await talk.tells('/edit 1 every whenever')).toContain('These can be read:');
    expect(await talk.tells('/edit 1 title Big lunch')).toContain('Nothing to change');
  });

  test('the Edit menu takes the next plain message, and Cancel leaves everything as it was', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    await talk.press(card, 'Edit');
    expect(labels(card)).toEqual([['Time', 'Text', 'Title'], ['Zone', 'More'], ['Back']]);
    await talk.press(card, 'Time');
    expect(await talk.tells('some day')).toContain('These can be read:');
    expect(await talk.tells('every day at 10')).toMatch(/^Changed: #1 Lunch\n/);
    expect(await talk.say('every day at 11')).toBeNull();
    const other = await talk.ask('/edit 1');
    await talk.press(other, 'Title');
    await talk.press(other, 'Cancel');
    expect(other.text).toBe('Cancelled. Nothing was changed.');
    expect(await talk.say('Not a title')).toBeNull();
    expect(await taskIn(talk)).toMatchObject({ title: 'Lunch', schedule: { cron: '0 10 * * *' } });
  });

  test('/delete can be undone for a day; after that the task does not exist', async () => {
    const talk = await withTask();
    const message = await talk.ask('/delete 1');
    expect(message.text).toBe('Deleted #1 Lunch. It can be brought back within 24 hours.');
    expect(await talk.tells('/task 1')).toBe('#1 Lunch is deleted. It can still be brought back.');
    await talk.press(message, 'Undo');
    expect(message.text).toMatch(/^#1 Lunch\nActive\n/);
    const card = await talk.ask('/task 1');
    const data = dataBehind(card, 'Delete');
    await talk.send(card, data);
    expect((await talk.send(card, data)).toast).toBe('Deleted');
    await talk.pipeline.time.advance(24 * hour + 1);
    expect(await talk.press(card, 'Undo')).toMatchObject({ isAlert: true });
    expect(await talk.tells('/task 1')).toContain('There is no task #1 in this chat.');
  });

  test('/cancel 1 stops what runs', async () => {
    const talk = await withTask();
    expect(await talk.tells('/cancel 1')).toBe('Nothing of #1 Lunch runs at the moment.');
    await talk.ask('/run 1');
    expect(await talk.tells('/cancel 1')).toBe('Stopping what #1 Lunch runs now.');
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
    expect(edited.text).toMatch(/^Undone: the change of the title of #1 by Ada/);
  });
});

describe('rights', () => {
  test('members read everything, change their own, and are told whose the others are', async () => {
    const talk = await withTask();
    await talk.make('every day at 13 Tea', { person: bob });
    expect(await talk.tells('/task 1', { person: bob })).toMatch(/^#1 Lunch\n/);
    for (const text of ['/pause 1', '/run 1', '/delete 1', '/skip 1', '/snooze 1 1h', '/edit 1 title x', '/cancel 1']) {
      expect(await talk.tells(text, { person: bob })).toBe('Only Ada or an admin may do that.');
    }
    expect(await talk.tells('/pause 2', { person: bob })).toBe('Paused #2 Tea.');
    expect(await talk.tells('/resume 2')).toMatch(/^#2 Tea goes on\./);
  });

  test('the presser of a button is asked for, not the one for whom it was shown', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    const before = card.text;
    for (const label of ['Run now', 'Pause', 'Edit', 'Skip next', 'Delete']) {
      expect(await talk.press(card, label, { person: bob })).toMatchObject({
        toast: 'Only Ada or an admin may do that.',
        isAlert: true,
      });
    }
    expect(card.text).toBe(before);
    await talk.press(card, 'History', { person: bob });
    expect(card.text).toBe('History of #1 Lunch\n\nIt has not run yet.');
  });
});

describe('a task that is over', () => {
  test('says so, can be snoozed and run again, and goes on with a new time', async () => {
    const talk = await withTask('in 20 minutes Take the pizza out');
    await talk.pipeline.pass(30 * minute);
    const card = await talk.ask('/task 1');
    expect(card.text.split('\n')[1]).toBe('Completed: nothing is left to run');
    expect(labels(card)).toEqual([
      ['Run now', 'Edit'],
      ['History', 'Delete'],
    ]);
    expect(await talk.tells('/pause 1')).toContain('is completed, so there is nothing to pause.');
    expect(await talk.tells('/resume 1')).toContain('Give it a new time first');
    expect(await talk.tells('/skip 1')).toContain('There is no coming run to skip');
    expect(await talk.tells('/snooze 1 5 min')).toContain('comes again Wed 18 Nov 09:35');
    expect(await talk.tells('/edit 1 tomorrow at 9')).toContain('Next: Thu 19 Nov 09:00 (UTC)');
    expect((await taskIn(talk)).state).toBe('active');
  });
});

describe('the card', () => {
  test('shows the new state after each press, in words', async () => {
    const talk = await withTask();
    const card = await talk.ask('/task 1');
    await talk.press(card, 'Pause');
    expect(card.text.split('\n')[1]).toBe('Paused by Ada on Wed 18 Nov 09:00');
    expect(labels(card)).toEqual([
      ['Run now', 'Resume', 'Edit'],
      ['History', 'Delete'],
    ]);
    await talk.press(card, 'Resume');
    expect(card.text.split('\n')[1]).toBe('Active');
    await talk.press(card, 'History');
    await talk.press(card, 'Back');
    expect(card.text).toMatch(/^#1 Lunch\n/);
    await talk.press(card, 'Delete');
    expect(labels(card)).toEqual([['Undo']]);
  });

  test('links to the topic once there is one, and tells the last run', async () => {
    const talk = await withTask();
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const card = await talk.ask('/task 1');
    const { topicId } = await taskIn(talk);
    expect(card.text).toContain('\nLast: ok Wed 18 Nov 09:00, 1 run so far\n');
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
  test('gets the nearest one', async () => {
    const talk = await aTalk();
    expect(await talk.tells('/puase 1')).toBe('I do not know /puase. Did you mean /pause?');
    expect(await talk.tells('/frobnicate')).toBe('I do not know /frobnicate. /help shows what I know.');
    expect(await talk.tells('/alow')).not.toContain('/allow');
    expect(await talk.tells('/alow', { person: root })).toContain('/allow');
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
  expect(message.text).toContain('Next: Sun 31 Jan 2027 09:00');
});
