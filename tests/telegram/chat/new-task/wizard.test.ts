import { describe, expect, test } from 'vitest';
import { ada, bob, dataBehind, labels, type Message, type Talk, afterAsking } from '../talk.ts';

const press = async (talk: Talk, message: Message, ...path: readonly string[]) => {
  for (const label of path) await talk.press(message, label);
};

/** As another version of the program left it. */
const leaveDraft = async (talk: Talk, step: string, body: Readonly<Record<string, unknown>>) => {
  const { store, time } = talk.pipeline;
  const draft = await store.openDraft((await talk.chat()).id, ada.actor, null, time.now());
  if (draft === null) throw new Error('there is no draft');
  const update = { id: 90_000, payload: '{}', address: null, messageId: null, lane: null };
  await store.receiveUpdates([update], time.now());
  await store.beginUpdate(update.id, 'boot');
  const change = { is: 'put', draft: { ...draft, step, body } } as const;
  await store.endUpdate({
    id: update.id,
    status: 'done',
    error: null,
    messages: [],
    draft: change,
    at: time.now(),
    bootId: 'boot',
  });
};

/** In a group, words are meant for the bot when they answer it. */
const reply = { repliesTo: 1 };

const noon = { words: 'every day at 12', at: 0, schedule: { kind: 'cron', cron: '0 12 * * *', timezone: 'UTC' } };
/** A time as older versions kept it: in the fields of a request. */
const inFields = (schedule: Readonly<Record<string, string>>) => ({
  words: 'later',
  at: 0,
  schedule: { ...schedule, timezone: 'UTC' },
});
const everyHour = { kind: 'interval', interval: 'PT1H', start_at: '2030-11-20T12:00:00.000Z' };

describe('the buttons of /new', () => {
  test('Cancel is there at every step and makes nothing', async () => {
    const paths = [[], ['Every week'], ['Every month'], ['Once'], ['Every day'], ['Every day', '09:00']];
    for (const path of paths) {
      const { talk, message } = await afterAsking('/new');
      await press(talk, message, ...path);
      await talk.press(message, 'Cancel');
      expect(message.shown).toEqual({ text: 'Cancelled. Nothing was made.' });
      expect(await talk.say('Stand up')).toBeNull();
    }
  });
});

describe('buttons that were pressed before', () => {
  test('two quick presses of two days both count, and two of the same do no harm', async () => {
    const { talk, message } = await afterAsking('/new');
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
    const { talk, message } = await afterAsking('/new');
    const old = [dataBehind(message, 'Once')];
    await talk.press(message, 'Every day');
    old.push(dataBehind(message, '09:00'));
    await press(talk, message, '10:00', '10:00');
    const open = message.shown;
    for (const data of old) {
      await talk.send(message, data);
      expect(message.shown).toEqual(open);
    }
    expect(await talk.tells('Stand up', reply)).toMatch(/^New task: Stand up\nEvery day at 10:00/);
  });

  test.each([
    'r:cron',
    'r:fortnight',
    'm:nth',
    'o:last',
    'w:1',
    'b:2026-11-23',
    'ym:5',
    'yd:12',
    'templates',
    'use:pill',
  ])('%s was a button once: it says what to write, and what is known stays', async (action) => {
    const { talk, message } = await afterAsking('/new');
    await talk.press(message, 'Once');
    await talk.ask('Water the plants', reply);
    const asked = await talk.ask('Water the big plants', reply);
    await talk.send(asked, `${dataBehind(asked, 'Back').replace(/:back$/, '')}:${action}`);
    expect(asked.text).toMatch(/^Write it instead, for example:\n/);
    const tries = asked.text.split('\n').slice(2, 6);
    for (const words of tries) {
      const preview = await talk.ask(words, reply);
      expect(preview.text).toMatch(/^New task: Water the big plants\n/);
      await talk.press(preview, 'Change time');
    }
  });

  test.each([
    [{ step: 'cron', body: { plan: { rhythm: 'cron', days: [] } } }, /^When should I send it/],
    [{ step: 'week', body: { plan: { rhythm: 'fortnight', days: ['monday'], weeks: [] } } }, /^When should I send it/],
    [{ step: 'templates', body: {} }, /^When should I send it/],
    [{ step: 'templates', body: { when: noon } }, /What should I say/],
    [
      { step: 'preview', body: { when: noon, plan: { rhythm: 'fortnight', days: [] }, text: 'Lunch' } },
      /^New task: Lunch/,
    ],
    [
      {
        step: 'preview',
        body: { when: inFields({ kind: 'once', once_at: '2030-11-20T12:00:00.000Z' }), text: 'Lunch' },
      },
      /^New task: Lunch\nOnce on Wed 20 Nov/,
    ],
    [
      { step: 'preview', body: { when: inFields({ ...everyHour, from: 'start' }), text: 'Stretch' } },
      /^New task: Stretch\nEvery hour/,
    ],
  ] as const)('a draft of an older version goes on: %j', async ({ step, body }, shown) => {
    const { talk, message } = await afterAsking('/new');
    await leaveDraft(talk, step, body);
    await talk.send(message, `${dataBehind(message, 'Once').replace(/:r:once$/, '')}:nonsense`);
    expect(message.text).toMatch(shown);
  });

  test('data of somebody’s own making does nothing', async () => {
    const { talk, message } = await afterAsking('/new');
    await press(talk, message, 'Every day', '09:00');
    const open = message.shown;
    const stem = dataBehind(message, '09:15').replace(/:t:15$/, '');
    for (const end of ['t:99', 't:-1', 't:', 'h:7', 'd:0:1', 'm:31', 'nonsense', 'constructor', '__proto__:x', '']) {
      await talk.send(message, `${stem}:${end}`);
      expect(message.shown).toEqual(open);
    }
  });

  test('they work after a restart, in the middle of it', async () => {
    const { talk, message } = await afterAsking('/new');
    await talk.press(message, 'Every week');
    await talk.press(message, 'Tue');
    const later = talk.restart();
    await press(later, message, 'Next', '08:00', '08:00');
    const afterwards = later.restart();
    const preview = await afterwards.ask('Bins', reply);
    expect(preview.text).toMatch(/^New task: Bins\nEvery Tuesday at 08:00/);
  });

  test('a press that is handled again comes to the same', async () => {
    const { talk, message } = await afterAsking('/new');
    await talk.press(message, 'Every day');
    const first = message.shown;
    const again = await talk.again();
    expect(again.replies).toMatchObject([{ is: 'edit', shown: first }]);
  });

  test('only the person who began may press, and two people do not disturb each other', async () => {
    const { talk, message: hers } = await afterAsking('/new');
    const his = await talk.ask('/new', { person: bob });
    expect(await talk.press(hers, 'Every day', { person: bob })).toMatchObject({ isAlert: true });
    await talk.press(hers, 'Every day');
    await talk.press(his, 'Once', { person: bob });
    await talk.press(hers, '09:00');
    await talk.press(his, 'Tomorrow', { person: bob });
    expect(hers.text).toMatch(/^Every day, at what time/);
    expect(his.text).toMatch(/^Thu 19 Nov, at what time/);
    await talk.press(hers, '09:00');
    expect(await talk.tells('Hers', reply)).toMatch(/^New task: Hers\nEvery day at 09:00/);
    expect(await talk.tells('18:00', { person: bob })).toMatch(/^Once on Thu 19 Nov at 18:00/);
  });
});

test('whoever may not make tasks may not press either', async () => {
  const { talk, message } = await afterAsking('/new', { person: bob });
  const { id, settings } = await talk.chat();
  await talk.pipeline.store.changeChat(id, { settings: { ...settings, create: 'admins' } }, 1);
  expect(await talk.press(message, 'Every day', { person: bob })).toMatchObject({
    isAlert: true,
    toast: 'Only an admin of this chat may do that.',
  });
  expect(await talk.press(await talk.ask('/new', { person: ada }), 'Every day')).toMatchObject({ isAlert: false });
});
