import { describe, expect, test } from 'vitest';
import { minute } from '../../../support/pipeline.ts';
import { ada, afterAsking, aTalk, bob, dataBehind, labels, tasksIn, type Talk } from '../talk.ts';

const privately = { kind: 'private' } as const;
const photo = { kind: 'photo', fileId: 'AgAC-1' } as const;

/** Titles and moments of the tasks that were made. */
async function made(talk: Talk) {
  return (await tasksIn(talk)).map(({ title, nextAt }) => [
    title,
    nextAt === null ? null : new Date(nextAt).toISOString(),
  ]);
}

describe('a text without a time', () => {
  test.each([
    ['In 1 hour', '2026-11-18T10:00:00.000Z'],
    ['Tonight 20:00', '2026-11-18T20:00:00.000Z'],
    ['Tomorrow 09:00', '2026-11-19T09:00:00.000Z'],
  ])('is asked when to send it, and %s answers', async (label, at) => {
    const { talk, message } = await afterAsking('call mum', {}, privately);
    await talk.press(message, label);
    await talk.press(message, 'Create');
    expect(await made(talk)).toEqual([['call mum', at]]);
  });

  test.each(['tomorrow at 9', 'tomorrow 9'])('is answered in words: %s', async (words) => {
    const { talk } = await afterAsking('/new call mum', {}, privately);
    await talk.press(await talk.ask(words), 'Create');
    expect(await made(talk)).toEqual([['call mum', '2026-11-19T09:00:00.000Z']]);
  });

  test('leads by Pick… to the buttons of the wizard', async () => {
    const { talk, message } = await afterAsking('call mum', {}, privately);
    for (const label of ['Pick…', 'Once', 'Tomorrow', '10:00', '10:30', 'Create']) await talk.press(message, label);
    expect(await made(talk)).toEqual([['call mum', '2026-11-19T10:30:00.000Z']]);
  });

  test('may be the caption of a picture', async () => {
    const { talk, message } = await afterAsking('our cat', { media: photo }, privately);
    await talk.press(message, 'Tomorrow 09:00');
    expect(message.text).toMatch(/^New task: our cat\n[^]*With a photo$/);
    await talk.press(message, 'Create');
    expect(await tasksIn(talk)).toMatchObject([{ action: { media: { kind: 'photo', file_id: 'AgAC-1' } } }]);
  });

  test('is no answer to the question before it, which stays with its buttons', async () => {
    const { talk, message: first } = await afterAsking('call mum', {}, privately);
    const second = await talk.ask('buy milk');
    await talk.press(first, 'Tomorrow 09:00');
    await talk.press(second, 'Tonight 20:00');
    for (const message of [first, second]) await talk.press(message, 'Create');
    expect(new Set((await made(talk)).map(([title]) => title))).toEqual(new Set(['call mum', 'buy milk']));
  });

  test('with a whole task behind it is not mixed with that', async () => {
    const { talk } = await afterAsking('call mum', {}, privately);
    expect(await talk.tells('tomorrow at 9 buy milk')).toMatch(/^New task: buy milk\n/);
  });

  test('is asked again where the answer is no time of a clock', async () => {
    const { talk } = await afterAsking('call mum', {}, privately);
    const again = await talk.ask('at 25');
    expect(labels(again)).toContainEqual(['Tomorrow 09:00']);
    expect(await talk.tells('tomorrow at 8')).toMatch(/^New task: call mum/);
  });

  test('at night is not offered for tonight', async () => {
    const talk = await aTalk(privately);
    await talk.pipeline.time.advance(11 * 60 * minute);
    expect(labels(await talk.ask('call mum'))).toEqual([
      ['In 1 hour', 'Tomorrow 09:00'],
      ['Pick…', 'Cancel'],
    ]);
  });

  test.each(['hello', 'Thanks a lot!', '…'])('that is small talk is answered, and asks nothing: %s', async (words) => {
    const talk = await aTalk(privately);
    const told = await talk.say(words);
    expect(told === null ? [] : labels(told)).toEqual([]);
    expect((await talk.again()).draft ?? null).toBeNull();
  });

  test('is none where it is "done": it is asked what is done', async () => {
    const talk = await aTalk(privately);
    for (const words of ['done', 'Done!']) expect((await talk.ask(words)).text).toMatch(/done/);
    await talk.ask('call mum');
    expect((await talk.ask('done')).text).not.toContain('When should');
    await talk.ask('/new every day at 9');
    expect(await talk.tells('done')).toMatch(/^New task: done/);
  });

  test('in a group belongs to the one who asked, and replies to the question answer it', async () => {
    const { talk, message } = await afterAsking('/new call mum');
    expect(await talk.press(message, 'Tomorrow 09:00', { person: bob })).toMatchObject({ isAlert: true });
    const told = await talk.tells('tomorrow at 9', { person: bob, repliesTo: message.id });
    expect(told).toMatch(/^Only the person who started/);
    await talk.ask('/new every day at 7 Run');
    expect(await talk.tells('tomorrow at 9', { repliesTo: message.id })).toMatch(/^New task: call mum/);
    expect(await talk.say('buy milk')).toBeNull();
  });

  test('takes no buttons that are not there', async () => {
    const { talk, message } = await afterAsking('call mum', {}, privately);
    const stem = dataBehind(message, 'In 1 hour').replace(/0$/, '');
    const { text } = message;
    for (const end of ['9', '-1', '', 'x']) await talk.send(message, `${stem}${end}`);
    expect(message.text).toBe(text);
  });
});

describe('yes in words', () => {
  test.each(['yes', 'OK', 'create', 'y', '👍', 'Yes please!'])(
    'creates what the newest preview shows: %s',
    async (yes) => {
      const { talk } = await afterAsking('/new every day at 7 First', {}, privately);
      const second = await talk.ask('/new every day at 8 Second');
      await talk.say(yes);
      expect(second.text).toMatch(/^#1 Second/);
      expect((await tasksIn(talk)).map(({ title }) => title)).toEqual(['Second']);
    },
  );

  test('as a reply creates the preview that it answers', async () => {
    const { talk, message: first } = await afterAsking('/new every day at 7 First', {}, privately);
    await talk.ask('/new every day at 8 Second');
    await talk.say('yes', { repliesTo: first.id });
    expect((await tasksIn(talk)).map(({ title }) => title)).toEqual(['First']);
  });

  test.each([
    ['said to nobody in a group', {}],
    ['to another message', { repliesTo: 1 }],
    ['of somebody else', { person: bob }],
  ])('creates nothing %s', async (_how, by) => {
    const { talk } = await afterAsking('/new every day at 7 First');
    await talk.say('yes', by);
    expect(await tasksIn(talk)).toEqual([]);
  });

  test('to a wait that is over counts on from now', async () => {
    const { talk } = await afterAsking('in 1 minute Tea', {}, privately);
    await talk.pipeline.time.advance(90_000);
    await talk.say('yes');
    const [task] = await tasksIn(talk);
    const ahead = (task?.nextAt ?? 0) - talk.pipeline.time.now();
    expect([ahead > 0, ahead <= 120_000]).toEqual([true, true]);
  });

  test('to a time of day that is over makes nothing, and is no thumb up', async () => {
    const { talk, message } = await afterAsking('today at 9:05 Tea', {}, privately);
    await talk.pipeline.time.advance(10 * 60_000);
    await talk.say('yes');
    expect([await tasksIn(talk), talk.reaction()]).toEqual([[], null]);
    expect(message.text).toContain('I cannot create this');
  });

  test('twice makes one task', async () => {
    const { talk } = await afterAsking('/new every day at 7 First', {}, privately);
    await talk.say('yes');
    await talk.say('yes');
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test.each(['no', 'cancel', '/cancel'])('%s ends it, and its message says so', async (no) => {
    const { talk, message } = await afterAsking('/new every day at 7 First', {}, privately);
    await talk.say(no);
    expect(message.shown).toEqual({ text: 'Cancelled. Nothing was made.' });
  });

  test('is the text where the text is asked for', async () => {
    const { talk } = await afterAsking('/new every day at 7', {}, privately);
    expect(await talk.tells('yes')).toMatch(/^New task: yes\n/);
  });
});

describe('words that are edited', () => {
  test('change the preview that came of them, in its place', async () => {
    const { talk, message } = await afterAsking('/new tomorrow at 9 cal mum');
    expect(await talk.edit('/new tomorrow at 10 call mum')).toBe(message);
    await talk.press(message, 'Create');
    expect(await made(talk)).toEqual([['call mum', '2026-11-19T10:00:00.000Z']]);
  });

  test('change the question, and keep the time that answered it', async () => {
    const { talk, message } = await afterAsking('cal mum', {}, privately);
    await talk.edit('cal my mum');
    expect(message.text).toContain('cal my mum');
    await talk.press(message, 'Tomorrow 09:00');
    await talk.edit('call my mum');
    await talk.press(message, 'Create');
    expect(await made(talk)).toEqual([['call my mum', '2026-11-19T09:00:00.000Z']]);
  });

  test('offer the change of the task that was made of them', async () => {
    const { talk, message } = await afterAsking('/new in 20 minutes teh pizza');
    await talk.press(message, 'Create');
    await talk.pipeline.time.advance(5 * minute);
    const offer = await talk.edit('/new in 20 minutes the pizza');
    if (offer === null) throw new Error('nothing is offered');
    expect(await talk.press(offer, 'Change it', { person: bob })).toMatchObject({ isAlert: true });
    await talk.press(offer, 'Change it');
    // The wait counts from when it was asked for.
    expect(await made(talk)).toEqual([['the pizza', '2026-11-18T09:20:00.000Z']]);
  });

  test.each(['/new every day at 9 Run', '/purge', 'every day at 10 Run', '/new every day at 9 Run  '])(
    'do nothing to it where nothing is different, or it became another command: %s',
    async (words) => {
      const { talk, message } = await afterAsking('/new every day at 9 Run');
      await talk.press(message, 'Create');
      expect(await talk.edit(words)).toBeNull();
    },
  );
});

describe('several previews', () => {
  test('are created each for itself, and a second press of each finds its task', async () => {
    const { talk, message: first } = await afterAsking('/new every day at 7 First');
    const second = await talk.ask('/new every day at 8 Second');
    const data = [dataBehind(first, 'Create'), dataBehind(second, 'Create')];
    await talk.press(first, 'Create');
    await talk.press(second, 'Create');
    expect(await talk.send(first, data[0] ?? '')).toMatchObject({ toast: 'Already created: #1', isAlert: false });
    expect(await talk.send(second, data[1] ?? '')).toMatchObject({ toast: 'Already created: #2', isAlert: false });
    expect(await tasksIn(talk)).toHaveLength(2);
  });

  test('leave a task that is being changed alone', async () => {
    const { talk, message } = await afterAsking('/new every day at 7 First', {}, privately);
    await talk.press(message, 'Create');
    await talk.press(message, 'Edit');
    await talk.press(message, 'Text');
    await talk.ask('/new every day at 8 Second');
    await talk.ask('buy milk');
    expect(await tasksIn(talk)).toMatchObject([{ instructions: 'First', ownerId: ada.actor }]);
  });
});

describe('words with several readings', () => {
  test.each([
    ['next friday 3pm haircut', 'Fri 27 Nov', 'haircut', '2026-11-27T15:00:00.000Z'],
    ['30 minutes laundry', 'Once, in 30 minutes', 'laundry', '2026-11-18T09:30:00.000Z'],
    ['today at 8 run', 'Tomorrow 08:00', 'run', '2026-11-19T08:00:00.000Z'],
  ])('%s is asked about, and %s answers', async (words, label, title, at) => {
    const { talk, message } = await afterAsking(words, {}, privately);
    expect(await tasksIn(talk)).toEqual([]);
    await talk.press(message, label);
    await talk.press(message, 'Create');
    expect(await made(talk)).toEqual([[title, at]]);
  });

  test.each([
    ['next friday 3pm haircut', '27 nov', 'haircut', '2026-11-27T15:00:00.000Z'],
    ['next friday 3pm haircut', 'saturday at 10', 'haircut', '2026-11-21T10:00:00.000Z'],
    ['30m laundry', 'every 30 minutes', 'laundry', '2026-11-18T09:30:00.000Z'],
    ['every 2 weeks standup', 'monday', 'standup', '2026-11-23T09:00:00.000Z'],
  ])('%s is answered in words: %s', async (words, answer, title, at) => {
    const { talk } = await afterAsking(words, {}, privately);
    await talk.press(await talk.ask(answer), 'Create');
    expect(await made(talk)).toEqual([[title, at]]);
  });

  test('stay a question when the answer says nothing about them, and leave other words alone', async () => {
    const { talk } = await afterAsking('next friday 3pm haircut', {}, privately);
    expect(labels(await talk.ask('later'))).toContainEqual(['Fri 20 Nov', 'Fri 27 Nov']);
    expect(await talk.tells('today at 8 run far away')).not.toContain('haircut');
  });

  test('are asked about within the buttons of the wizard, whose days stay', async () => {
    const { talk, message } = await afterAsking('/new', {}, privately);
    await talk.press(message, 'Every day');
    const asked = await talk.ask('half nine');
    await talk.press(asked, '9:30');
    expect(await talk.tells('Stand up')).toMatch(/^New task: Stand up\nEvery day at 09:30/);
  });
});

describe('a part that was assumed', () => {
  test('is told, and its button leads to the other reading and back', async () => {
    const { talk, message } = await afterAsking('dentist tuesday at 3', {}, privately);
    expect(message.text).toContain('\nAssumed: 15:00\n');
    await talk.press(message, 'Change text');
    await talk.ask('see the dentist');
    const preview = await talk.ask('dentist tuesday at 3');
    for (const [label, clock] of [
      ['03:00', '03:00'],
      ['15:00', '15:00'],
      ['03:00', '03:00'],
    ] as const) {
      await talk.press(preview, label);
      expect(preview.text).toContain(`Tue 24 Nov at ${clock}`);
    }
    expect(preview.text).not.toContain('Assumed');
    await talk.press(preview, 'Create');
    expect(await made(talk)).toEqual([['dentist', '2026-11-24T03:00:00.000Z']]);
  });

  test('keeps a text that was changed meanwhile', async () => {
    const { talk, message } = await afterAsking('dentist tuesday at 3', {}, privately);
    await talk.press(message, 'Change text');
    const preview = await talk.ask('see the dentist');
    await talk.press(preview, '03:00');
    expect(preview.text).toMatch(/^New task: see the dentist\nOnce on Tue 24 Nov at 03:00/);
  });

  test('takes no button that is not there', async () => {
    const { talk, message } = await afterAsking('dentist tuesday at 3', {}, privately);
    const stem = dataBehind(message, '03:00').replace(/0$/, '');
    const { text } = message;
    for (const end of ['1', '-1', '', 'x']) await talk.send(message, `${stem}${end}`);
    expect(message.text).toBe(text);
  });
});

test('a name at the beginning is for whom it is: the message begins with it, and the title does not', async () => {
  const { talk, message } = await afterAsking('@ben tomorrow at 17:00 bring the keys', {}, privately);
  expect(message.text).toContain('\nFor @ben');
  await talk.press(message, 'Create');
  expect(await tasksIn(talk)).toMatchObject([{ title: 'bring the keys', instructions: '@ben: bring the keys' }]);
});

describe('an answer in words', () => {
  test.each([
    ['next friday haircut', 'the second one', 'haircut', '2026-11-27T09:00:00.000Z'],
    ['next friday at 9 haircut', 'the second', 'haircut', '2026-11-27T09:00:00.000Z'],
    ['next friday at 9 haircut', 'the former', 'haircut', '2026-11-20T09:00:00.000Z'],
    ['30 minutes laundry', 'once', 'laundry', '2026-11-18T09:30:00.000Z'],
    ['in a few minutes tea', '5', 'tea', '2026-11-18T09:05:00.000Z'],
    ['pizza in 20', 'tomorrow', 'pizza', '2026-11-19T09:00:00.000Z'],
    ['3 times a day pills', '8, 13 and 20', 'pills', '2026-11-18T13:00:00.000Z'],
    ['remind me about taxes', 'tomorrow', 'taxes', '2026-11-19T09:00:00.000Z'],
    ['call mum', '2h', 'call mum', '2026-11-18T11:00:00.000Z'],
    ['call mum', '30 minutes', 'call mum', '2026-11-18T09:30:00.000Z'],
  ])('is the piece that %s lacks: %s', async (words, answer, title, at) => {
    const { talk } = await afterAsking(words, {}, privately);
    await talk.press(await talk.ask(answer), 'Create');
    expect(await made(talk)).toEqual([[title, at]]);
  });

  test('that is none of the days in question asks once more', async () => {
    const { talk } = await afterAsking('next friday haircut', {}, privately);
    expect(labels(await talk.ask('3 april'))).toContainEqual(['Fri 20 Nov', 'Fri 27 Nov']);
  });

  test.each([
    ['next friday haircut', '3/4/2027 x', 'Sat 3 Apr 2027'],
    ['tomorrow at 9', 'next week call sarah', 'Monday'],
    ['tomorrow at 9', '@ben tomorrow 17:00 keys', 'Create'],
    ['tomorrow at 9 keys', 'every weekday at 9 deploy until done', 'Create', 'Change time'],
  ])('that has a time and a text of its own is another task: %s, %s', async (words, answer, label, pressed = '') => {
    const { talk, message } = await afterAsking(words, {}, privately);
    if (pressed !== '') await talk.press(message, pressed);
    const { text } = message;
    expect(labels(await talk.ask(answer)).flat()).toContain(label);
    expect(message.text).toBe(text);
  });

  test('to the question for the text may be another time', async () => {
    const { talk } = await afterAsking('tomorrow at 9', {}, privately);
    await talk.ask('friday');
    await talk.press(await talk.ask('Lunch'), 'Create');
    expect(await made(talk)).toEqual([['Lunch', '2026-11-20T09:00:00.000Z']]);
  });

  test.each(['weekly report', '10 minutes of yoga', 'monday’s report', 'the plan for friday', '7'])(
    'to the question for the text is the text: %s',
    async (words) => {
      const { talk } = await afterAsking('tomorrow at 9', {}, privately);
      await talk.press(await talk.ask(words), 'Create');
      expect(await made(talk)).toEqual([[words, '2026-11-19T09:00:00.000Z']]);
    },
  );

  test.each(['tomorrow at 9', '9:30'])('that ends the rhythm in question asks once more: %s', async (words) => {
    const { talk } = await afterAsking('every week bins', {}, privately);
    expect(labels(await talk.ask(words)).flat()).toContain('Wednesday');
  });

  test('to “remind me” is no part of the text', async () => {
    const { talk } = await afterAsking('remind me', {}, privately);
    for (const words of ['30 minutes', 'once']) await talk.ask(words);
    await talk.press(await talk.ask('tea'), 'Create');
    expect(await made(talk)).toEqual([['tea', '2026-11-18T09:30:00.000Z']]);
  });

  test.each([
    ['tomorrow at 9 in Tokyo sushi', '10', '2026-11-19T01:00:00.000Z'],
    ['tomorrow at 9 sushi', '10:30', '2026-11-19T10:30:00.000Z'],
    ['every monday at 9 sushi', '10', '2026-11-23T10:00:00.000Z'],
  ])('with an hour alone keeps the day and the zone of %s: %s', async (words, answer, at) => {
    const { talk, message } = await afterAsking(words, {}, privately);
    await talk.press(message, 'Change time');
    await talk.press(await talk.ask(answer), 'Create');
    expect(await made(talk)).toEqual([['sushi', at]]);
  });
});
