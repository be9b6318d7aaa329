import { expect, test } from 'vitest';
import { afterAsking, labels, tasksIn } from '../talk.ts';

const privately = { kind: 'private' } as const;

test.each([
  ['gym every day at 9', 'until friday', 'Every day at 09:00, starting Thu 19 Nov, until Fri 20 Nov'],
  ['gym every day at 9', 'except tomorrow', 'Every day at 09:00, except Thu 19 Nov'],
  ['gym every day at 9', 'not on mondays', 'Every Tuesday to Sunday at 09:00'],
  ['gym every day at 9', 'for 5 days', 'Every day at 09:00, starting Thu 19 Nov, until Mon 23 Nov'],
  ['gym every day at 9', 'starting monday', 'Every day at 09:00, starting Mon 23 Nov'],
  ['gym every day at 9', 'in Tokyo', 'Every day at 09:00\nZone: Asia/Tokyo'],
  ['gym every day at 9', 'until done', 'Asks for Done'],
  ['gym every day at 9', 'at 8 instead', 'Every day at 08:00'],
  ['gym every day at 7', 'make it 9', 'Every day at 09:00'],
  ['call mum tomorrow at 9', 'in Tokyo', 'Once on Thu 19 Nov at 09:00\nZone: Asia/Tokyo'],
  [
    'call mum tomorrow at 9',
    'except tomorrow',
    'Only a series has exceptions; begin with "every".\n\nNew task: call mum',
  ],
])('under an open preview, what goes with a time changes it where it stands: %s, %s', async (first, then, told) => {
  const { talk, message } = await afterAsking(first, {}, privately);
  expect(await talk.say(then)).toBeNull();
  expect(message.text).toContain(told);
  await talk.press(message, 'Create');
  expect(await tasksIn(talk)).toHaveLength(1);
});

test('one change after the other joins the time, and an end takes the place of the one before it', async () => {
  const { talk, message } = await afterAsking('gym every day at 9', {}, privately);
  for (const words of ['until friday', 'until sunday', 'make it 8', 'not on saturdays', 'in Tokyo']) {
    expect(await talk.say(words)).toBeNull();
  }
  expect(message.text).toContain('at 08:00');
  expect(message.text).toContain('Next: Thu 19 Nov 08:00, Fri 20 Nov 08:00, Sun 22 Nov 08:00');
  expect(message.text).toContain('Zone: Asia/Tokyo');
});

test('an end beside a moment asks what is meant, in the place of the preview', async () => {
  const { talk, message } = await afterAsking('call mum tomorrow at 9', {}, privately);
  expect(await talk.say('until sunday')).toBeNull();
  expect(message.text).toContain('Every day, or once?');
  await talk.press(message, labels(message)[0]?.[0] ?? '');
  expect(message.text).toContain('New task: call mum\nEvery day at 09:00');
});
