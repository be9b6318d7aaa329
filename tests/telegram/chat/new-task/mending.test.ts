import { expect, test } from 'vitest';
import { afterAsking, labels, tasksIn } from '../talk.ts';

const privately = { kind: 'private' } as const;

test.each([
  ['buy milk at 18', 'at 19', 'Once on Wed 18 Nov at 19:00'],
  ['buy milk at 18', 'make it 8pm', 'Once on Wed 18 Nov at 20:00'],
  ['buy milk at 18', 'no, tomorrow', 'Once on Thu 19 Nov at 18:00'],
  ['buy milk friday', 'in the evening', 'Once on Fri 20 Nov at 19:00'],
  ['buy milk friday at 18', 'monday', 'Once on Mon 23 Nov at 18:00'],
  ['gym every tue and thu', '18:30', 'Every Tuesday and Thursday at 18:30'],
  ['gym every monday at 7', 'every friday', 'Every Friday at 07:00'],
  ['gym every monday at 7', 'every friday at 8', 'Every Friday at 08:00'],
  ['every morning coffee', 'make it 8', 'Every day at 08:00'],
  ['buy milk at 18', 'in 2 hours', 'Once on Wed 18 Nov at 11:00'],
])('a time alone is another time of the open preview: %s, %s', async (first, then, told) => {
  const { talk, message } = await afterAsking(first, {}, privately);
  const [title] = message.text.split('\n');
  expect(await talk.say(then)).toBeNull();
  const preview = message;
  expect(preview.text.split('\n').slice(0, 2)).toEqual([title, told]);
  await talk.say('create');
  expect(await tasksIn(talk)).toHaveLength(1);
  expect(preview.text).toContain('#1 ');
});

test.each([
  ['airport tomorrow at 5 in the morning', 'no, 6', '06:00'],
  ['airport tomorrow at 5 in the afternoon', 'no, 6', '18:00'],
  ['airport tomorrow', 'at 5', '17:00'],
  ['drinks tonight at 8', 'make it 9', '21:00'],
  ['drinks tonight at 8', '9:30', '21:30'],
  ['call dad tomorrow', 'at 5', '17:00'],
  ['tea tomorrow at 9:00', 'at 4', '16:00'],
])('a bare hour is meant in the half of the day that was said: %s, %s', async (first, then, clock) => {
  const { talk, message } = await afterAsking(first, {}, privately);
  await talk.say(then);
  expect(message.text).toMatch(new RegExp(`at ${clock}\nAssumed: ${clock}\n`));
});

test('a time alone that has two readings is asked about, and the text stays', async () => {
  const { talk, message } = await afterAsking('buy milk at 18', {}, privately);
  await talk.say('half 7');
  const [[first = ''] = []] = labels(message);
  await talk.press(message, first);
  expect(message.text).toMatch(/^New task: buy milk\n/);
});

test('words with a text of their own begin another task beside the open preview', async () => {
  const { talk, message } = await afterAsking('buy milk at 18', {}, privately);
  const other = await talk.ask('call mum at 19');
  expect(other.text).toMatch(/^New task: call mum\n/);
  await talk.press(message, 'Create');
  await talk.press(other, 'Create');
  expect((await tasksIn(talk)).map(({ title }) => title).toSorted()).toEqual(['buy milk', 'call mum']);
});

test('a time that was mended moves with the zone of the chat', async () => {
  const { talk } = await afterAsking('gym every tue and thu', {}, privately);
  await talk.say('18:30');
  expect(await talk.tells('/tz tokyo')).toContain('Every Tuesday and Thursday at 18:30\nZone: Asia/Tokyo');
});

test('among people who talk to each other a time alone changes nothing', async () => {
  const { talk } = await afterAsking('/new buy milk at 18');
  expect(await talk.say('at 19')).toBeNull();
});

test.each(['yes', 'ok', 'later', 'dunno'])(
  '%s, said to a question, leaves it open and makes nothing',
  async (words) => {
    const { talk } = await afterAsking('call the vet', {}, privately);
    const again = await talk.ask(words);
    expect(again.text).toContain('call the vet');
    await talk.press(again, 'Tomorrow 09:00');
    expect(again.text).toMatch(/^New task: call the vet\n/);
  },
);

test('yes, said where nothing is open, is told to have done nothing', async () => {
  const { talk, message } = await afterAsking('ok', {}, privately);
  expect(message.text).toContain('/tasks');
  const preview = await talk.ask('gym every monday at 9');
  await talk.ask('hello world');
  await talk.say('/cancel');
  // The older preview has its buttons still, and a word presses nothing that is out of sight.
  expect(await talk.tells('ok')).toContain('/tasks');
  expect(await tasksIn(talk)).toEqual([]);
  await talk.press(preview, 'Create');
  expect(await tasksIn(talk)).toHaveLength(1);
});

test.each([
  ['30m laundry', 'once', 'Once on Wed 18 Nov at 09:30'],
  ['30m laundry', 'every', 'Every 30 minutes'],
  ['feed the cat twice a day', '8 and 19', 'Every day at 08:00 and 19:00'],
])('a question is answered in the words of its buttons, or by numbers alone: %s, %s', async (first, then, told) => {
  const { talk } = await afterAsking(first, {}, privately);
  expect(await talk.tells(then)).toContain(told);
});

test('"yes" does not say which of two tasks of one title is meant, and "create" does', async () => {
  const { talk, message } = await afterAsking('gym every monday at 9', {}, privately);
  await talk.press(message, 'Create');
  await talk.ask('gym every tuesday at 9');
  expect((await talk.ask('yes')).text).toContain('gym');
  expect(await tasksIn(talk)).toHaveLength(1);
  await talk.say('create');
  expect(await tasksIn(talk)).toHaveLength(2);
});

test.each([
  ['vitamins every day at 9', 'make it 10', 'Every day at 10:00'],
  ['vitamins every day at 9', 'no, 8', 'Every day at 08:00'],
  ['vitamins every day at 9', 'actually weekdays', 'Every weekday at 09:00'],
  ['call mum tomorrow at 9', 'change it to friday', 'Once on Fri 20 Nov at 09:00'],
])('right after [Create] a time changes the task that was made: %s, %s', async (first, then, told) => {
  const { talk, message } = await afterAsking(first, {}, privately);
  await talk.press(message, 'Create');
  expect(await talk.tells(then)).toMatch(/^Changed: #1 /);
  expect(await talk.tells('/task 1')).toContain(told);
  expect(await tasksIn(talk)).toHaveLength(1);
});

test('right after [Create] words with a text of their own begin another task', async () => {
  const { talk, message } = await afterAsking('vitamins every day at 9', {}, privately);
  await talk.press(message, 'Create');
  expect(await talk.tells('ok, tomorrow at 9 call mum')).toContain('New task: ');
  expect(await talk.tells('/task 1')).toContain('Every day at 09:00');
});

test('"no" ends a question', async () => {
  const { talk, message } = await afterAsking('call the vet', {}, privately);
  await talk.say('no');
  expect(message.shown).toEqual({ text: 'Cancelled. Nothing was made.' });
});

test('one preview of a day asks whether the zone is right', async () => {
  const { talk, message } = await afterAsking('gym every monday at 9', {}, { ...privately, timezone: null });
  expect(labels(message)).toContainEqual(['Yes', 'No, change']);
  const second = await talk.ask('swim every monday at 9');
  expect(labels(second)).not.toContainEqual(['Yes', 'No, change']);
  await talk.press(message, 'Yes');
  expect((await talk.chat()).timezone).toBe('UTC');
});
