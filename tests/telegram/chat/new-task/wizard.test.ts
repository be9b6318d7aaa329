import { describe, expect, test } from 'vitest';
import { minute } from '../../../support/pipeline.ts';
import { ada, aTalk, bob, dataBehind, labels, tasksIn, type Message, type Talk } from '../talk.ts';

const press = async (talk: Talk, message: Message, ...path: readonly string[]) => {
  for (const label of path) await talk.press(message, label);
};

const made = async (talk: Talk, message: Message) => {
  await talk.press(message, 'Create');
  const task = (await tasksIn(talk)).at(-1);
  if (task === undefined) throw new Error('nothing was made');
  return task;
};

/** Chooses the time by buttons, says the text, and answers the schedule of the task that is made. */
const scheduleBy = async (...path: readonly string[]) => {
  const talk = await aTalk();
  const message = await talk.ask('/new');
  await press(talk, message, ...path);
  const preview = await talk.ask('Water the plants', reply);
  expect(preview.shown.text).toMatch(/^New task: Water the plants\n/);
  return (await made(talk, preview)).schedule;
};

/** In a group, words are meant for the bot when they answer it. */
const reply = { repliesTo: 1 };

describe('the buttons of /new', () => {
  test('ask for one thing after the other, all in one message, up to a preview', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    expect(labels(message)).toEqual([
      ['Every day', 'Weekdays'],
      ['Every week', 'Every 2 weeks'],
      ['Every month', 'Once'],
      ['Cron'],
      ['Templates', 'Cancel'],
    ]);
    await talk.press(message, 'Every week');
    expect(message.shown.text).toBe(
      'On which days?\nPress one or more and then Next, or reply to this message with them: monday and thursday',
    );
    await press(talk, message, 'Thu', 'Mon');
    expect(labels(message)).toEqual([
      ['✓ Mon', 'Tue', 'Wed', '✓ Thu'],
      ['Fri', 'Sat', 'Sun'],
      ['Next'],
      ['Back', 'Cancel'],
    ]);
    await talk.press(message, 'Next');
    expect(message.shown.text).toMatch(/^Every Monday and Thursday, at what time\?\nChoose the hour, or reply/);
    await talk.press(message, '18:00');
    expect(labels(message)[0]).toEqual(['18:00', '18:10', '18:15', '18:20']);
    await talk.press(message, '18:30');
    expect(message.shown.text).toBe(
      'Every Monday and Thursday at 18:30 (UTC). What should I say?\n\nReply to this message with the text, or a picture or another file.',
    );
    expect(labels(message)).toEqual([['Templates', 'Back', 'Cancel']]);
    const preview = await talk.ask('Take the bins out', { repliesTo: message.id });
    expect(preview.shown.text).toBe(
      'New task: Take the bins out\nEvery Monday and Thursday at 18:30\nZone: UTC\nNext: Thu 19 Nov 18:30, Mon 23 Nov 18:30, Thu 26 Nov 18:30',
    );
    expect(labels(preview)).toEqual([['Create', 'Change time', 'Cancel'], ['Change text']]);
    expect(await made(talk, preview)).toMatchObject({ number: 1, title: 'Take the bins out' });
  });

  test.each([
    [['Every day', '09:00', '09:15'], 'cron', '15 9 * * *'],
    [['Weekdays', '07:00', '07:00'], 'cron', '0 7 * * 1-5'],
    [['Every week', 'Sun', 'Next', '20:00', '20:00'], 'cron', '0 20 * * 0'],
    [['Every month', '1', '09:00', '09:00'], 'cron', '0 9 1 * *'],
  ] as const)('%j makes a cron schedule', async (path, kind, cron) => {
    expect(await scheduleBy(...path)).toMatchObject({ kind, cron });
  });

  test.each([
    [
      ['Every 2 weeks', 'Mon', 'Next', '10:00', '10:00', 'Next week: Mon 23 Nov'],
      /:20261123T.*\s.*FREQ=WEEKLY;INTERVAL=2;.*BYDAY=MO/,
    ],
    [
      ['Every 2 weeks', 'Mon', 'Next', '10:00', '10:00', 'In 2 weeks: Mon 30 Nov'],
      /:20261130T.*\s.*FREQ=WEEKLY;INTERVAL=2;.*BYDAY=MO/,
    ],
    [['Every 2 weeks', 'Mon', 'Thu', 'Next', '10:00', '10:00', 'This week: Thu 19 Nov'], /:20261119T/],
    [['Every 2 weeks', 'Mon', 'Thu', 'Next', '10:00', '10:00', 'Next week: Mon 23 Nov'], /:20261123T/],
    [['Every month', 'Last day', '18:00', '18:00'], /FREQ=MONTHLY.*BYMONTHDAY=-1/],
    [['Every month', 'First Monday, last Friday ...', 'Last', 'Friday', '17:00', '17:00'], /BYDAY=-1FR|BYSETPOS=-1/],
    [['Every month', 'First Monday, last Friday ...', 'Third', 'Tuesday', '17:00', '17:40'], /BYDAY=3TU|BYSETPOS=3/],
  ] as const)('%j makes a rule', async (path, rule) => {
    const schedule = await scheduleBy(...path);
    expect(schedule).toMatchObject({ kind: 'rrule', rrule: expect.stringMatching(rule) as string });
  });

  test.each([
    [['Once', 'Tomorrow', '09:00', '09:30'], Date.UTC(2026, 10, 19, 9, 30)],
    [['Once', 'Mon 23 Nov', '20:00', '20:00'], Date.UTC(2026, 10, 23, 20)],
    [['Once', 'In 20 minutes'], Date.UTC(2026, 10, 18, 9, 20)],
  ] as const)('%j makes a task that runs once', async (path, onceAt) => {
    expect(await scheduleBy(...path)).toMatchObject({ kind: 'once', onceAt });
  });

  test('Cron asks for the five fields', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Cron');
    expect(message.shown.text).toContain('five fields');
    const wrong = await talk.ask('0 99 * * *', reply);
    expect(wrong.shown.text).toContain('Which cron expression?');
    const asked = await talk.ask('30 6 * * 1-5', reply);
    expect(asked.shown.text).toMatch(/^Every weekday at 06:30 \(UTC\)\. What should I say\?/);
    expect((await talk.ask('Up!', reply)).shown.text).toMatch(/^New task: Up!\nEvery weekday at 06:30/);
  });

  test('Back leads through every step to the first one, and keeps what was chosen', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await press(talk, message, 'Every month', 'First Monday, last Friday ...', 'Second', 'Monday', '09:00', '09:00');
    const seen: string[] = [];
    for (let step = 0; step < 6; step += 1) {
      seen.push(message.shown.text.split('\n')[0] ?? '');
      await talk.press(message, 'Back');
    }
    expect(seen).toEqual([
      'On the second Monday of the month at 09:00, starting Mon 14 Dec (UTC). What should I say?',
      'Every month on the second Monday, at what time?',
      'Every month on the second Monday, at what time?',
      'The second what of each month?',
      'Which one of the month?',
      'On which day of the month?',
    ]);
    expect(message.shown.text).toMatch(/^When shall it come\?/);
  });

  test('Cancel is there at every step and makes nothing', async () => {
    const paths = [
      [],
      ['Every week'],
      ['Every month'],
      ['Once'],
      ['Every day'],
      ['Every day', '09:00'],
      ['Cron'],
      ['Templates'],
    ];
    for (const path of paths) {
      const talk = await aTalk();
      const message = await talk.ask('/new');
      await press(talk, message, ...path);
      await talk.press(message, 'Cancel');
      expect(message.shown).toEqual({ text: 'Cancelled. Nothing was made.' });
      expect(await talk.say('Stand up')).toBeNull();
    }
  });

  test('a time that is over is refused in a window, and the step stays', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await press(talk, message, 'Once', 'Today', '06:00');
    const pressed = await talk.press(message, '06:30');
    expect(pressed).toMatchObject({
      isAlert: true,
      toast: expect.stringMatching(/already passed|in the past|is over/) as string,
    });
    await press(talk, message, 'Back', '21:00', '21:00');
    expect(message.shown.text).toContain('What should I say?');
  });

  test('Next without a day says that one is missing', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Every week');
    expect(await talk.press(message, 'Next')).toMatchObject({ isAlert: true, toast: 'Choose at least one day.' });
  });

  test('warnings of a preview are shown for what was chosen as well', async () => {
    const talk = await aTalk({ timezone: 'Europe/Berlin' });
    const message = await talk.ask('/new');
    await press(talk, message, 'Every month', '31', '09:00', '09:00');
    expect((await talk.ask('Close the books', reply)).shown.text).toMatch(/\nNote: .*31/);
  });
});

describe('buttons that were pressed before', () => {
  test('two quick presses of two days both count, and two of the same do no harm', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Every week');
    const [monday, friday] = [dataBehind(message, 'Mon'), dataBehind(message, 'Fri')];
    await talk.send(message, monday);
    await talk.send(message, friday);
    await talk.send(message, monday);
    expect(labels(message).slice(0, 2)).toEqual([
      ['✓ Mon', 'Tue', 'Wed', 'Thu'],
      ['✓ Fri', 'Sat', 'Sun'],
    ]);
  });

  test('a button of an earlier step changes nothing and shows the step that is open', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    const old = [dataBehind(message, 'Once'), dataBehind(message, 'Templates')];
    await talk.press(message, 'Every day');
    old.push(dataBehind(message, '09:00'));
    await press(talk, message, '10:00', '10:00');
    const open = message.shown;
    for (const data of old.filter((each) => !each.endsWith('templates'))) {
      await talk.send(message, data);
      expect(message.shown).toEqual(open);
    }
    expect((await talk.ask('Stand up', reply)).shown.text).toMatch(/^New task: Stand up\nEvery day at 10:00/);
  });

  test('data of somebody’s own making does nothing', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await press(talk, message, 'Every day', '09:00');
    const open = message.shown;
    const stem = dataBehind(message, '09:15').replace(/:t:15$/, '');
    for (const end of [
      't:99',
      't:-1',
      't:',
      'h:7',
      'd:0:1',
      'm:31',
      'nonsense',
      'constructor',
      '__proto__:x',
      'use:pill',
      '',
    ]) {
      await talk.send(message, `${stem}:${end}`);
      expect(message.shown).toEqual(open);
    }
  });

  test('they work after a restart, in the middle of it', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Every week');
    await talk.press(message, 'Tue');
    const later = talk.restart();
    await press(later, message, 'Next', '08:00', '08:00');
    const afterwards = later.restart();
    const preview = await afterwards.ask('Bins', reply);
    expect(preview.shown.text).toMatch(/^New task: Bins\nEvery Tuesday at 08:00/);
  });

  test('a press that is handled again comes to the same', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Every day');
    const first = message.shown;
    const again = await talk.again();
    expect(again.replies).toMatchObject([{ is: 'edit', shown: first }]);
  });

  test('only the person who began may press, and two people do not disturb each other', async () => {
    const talk = await aTalk();
    const hers = await talk.ask('/new');
    const his = await talk.ask('/new', { person: bob });
    expect(await talk.press(hers, 'Every day', { person: bob })).toMatchObject({ isAlert: true });
    await talk.press(hers, 'Every day');
    await talk.press(his, 'Once', { person: bob });
    await talk.press(hers, '09:00');
    await talk.press(his, 'Tomorrow', { person: bob });
    expect(hers.shown.text).toMatch(/^Every day, at what time/);
    expect(his.shown.text).toMatch(/^Thu 19 Nov, at what time/);
    await talk.press(hers, '09:00');
    expect((await talk.ask('Hers', reply)).shown.text).toMatch(/^New task: Hers\nEvery day at 09:00/);
    expect((await talk.ask('18:00', { person: bob })).shown.text).toMatch(/^Once on Thu 19 Nov at 18:00/);
  });

  test('after 30 minutes a press tells that it is over', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await talk.press(message, 'Every day');
    await talk.pipeline.time.advance(31 * minute);
    await talk.press(message, '09:00');
    expect(message.shown.text).toContain('has waited for more than 30 minutes and is over');
  });
});

describe('Change time', () => {
  test('opens the clock again where the days were chosen, and keeps the text', async () => {
    const talk = await aTalk();
    const message = await talk.ask('/new');
    await press(talk, message, 'Weekdays', '09:00', '09:00');
    const preview = await talk.ask('Stand up', reply);
    await talk.press(preview, 'Change time');
    expect(preview.shown.text).toMatch(/^Every weekday, at what time\?/);
    await press(talk, preview, '10:00', '10:30');
    expect(preview.shown.text).toMatch(/^New task: Stand up\nEvery weekday at 10:30/);
    expect((await made(talk, preview)).schedule).toMatchObject({ cron: '30 10 * * 1-5' });
  });

  test('of a task in words takes words or buttons, and Back leads to the preview', async () => {
    const talk = await aTalk();
    const preview = await talk.ask('/new every weekday at 9 Stand up');
    const shown = preview.shown;
    await talk.press(preview, 'Change time');
    expect(labels(preview)).toContainEqual(['Every day', 'Weekdays']);
    await talk.press(preview, 'Back');
    expect(preview.shown).toEqual(shown);
    await talk.press(preview, 'Change time');
    await press(talk, preview, 'Every day', '11:00', '11:00');
    expect(preview.shown.text).toMatch(/^New task: Stand up\nEvery day at 11:00/);
  });
});

test('whoever may not make tasks may not press either', async () => {
  const talk = await aTalk();
  const message = await talk.ask('/new', { person: bob });
  const { id, settings } = await talk.chat();
  await talk.pipeline.store.changeChat(id, { settings: { ...settings, create: 'admins' } }, 1);
  expect(await talk.press(message, 'Every day', { person: bob })).toMatchObject({
    isAlert: true,
    toast: 'Only an admin of this chat may do that.',
  });
  expect(await talk.press(await talk.ask('/new', { person: ada }), 'Every day')).toMatchObject({ isAlert: false });
});
