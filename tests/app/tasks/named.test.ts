import { expect, test } from 'vitest';
import { isWholeTitle, tasksNamed } from '../../../src/app/tasks/named.ts';

const tasks = ['Retro', 'Weekly report', 'Report to Ana', 'Call Zoë', 'Buy bread', 'Every other'].map((title) => ({
  title,
}));

test.each([
  ['retro', ['Retro'], ''],
  ['RETRO!', ['Retro'], ''],
  ['retor', ['Retro'], ''],
  ['ret', ['Retro'], ''],
  ['weekly report', ['Weekly report'], ''],
  ['“weekly report”', ['Weekly report'], ''],
  ['weeklyreport', ['Weekly report'], ''],
  ['wekly reprot', ['Weekly report'], ''],
  ['weekly 18:00', ['Weekly report'], '18:00'],
  ['weekly report: friday 18:00', ['Weekly report'], 'friday 18:00'],
  ['retro 1h', ['Retro'], '1h'],
  ['zoe tomorrow', ['Call Zoë'], 'tomorrow'],
  ['bread', ['Buy bread'], ''],
  ['ana', ['Report to Ana'], ''],
  ['report', ['Weekly report', 'Report to Ana'], ''],
  ['every monday', ['Every other'], 'monday'],
])('%s names %s', (words, titles, rest) => {
  const found = tasksNamed(words, tasks);
  expect({ titles: found?.tasks.map(({ title }) => title), rest: found?.rest }).toEqual({ titles, rest });
});

test('what fits two is left to the person', () => {
  const two = [{ title: 'Morning run' }, { title: 'Morning tea' }, { title: 'Evening tea' }];
  expect(tasksNamed('morning 9:00', two)).toEqual({ tasks: two.slice(0, 2), rest: '9:00', isGuess: false });
  expect(tasksNamed('tea', two)?.tasks).toEqual(two.slice(1));
});

test.each(['', '1h', 'xyz', 're', 'tonight', '— —', 'in 10 min', 'meteor map'])('%o names none', (words) => {
  expect(tasksNamed(words, tasks)).toBeNull();
});

test('a slip is told, because another task may be meant', () => {
  expect(tasksNamed('metro', tasks)).toMatchObject({ tasks: [{ title: 'Retro' }], isGuess: true });
});

test('a whole title is told from a part of it', () => {
  expect(isWholeTitle('weekly report 18:00', { title: 'Weekly report' })).toBe(true);
  expect(isWholeTitle('weekly 18:00', { title: 'Weekly report' })).toBe(false);
  expect(isWholeTitle('anything', { title: '🛒' })).toBe(false);
});

test.each([
  ['retro b', 'Retro team B', ''],
  ['retro a 2', 'Retro team A', '2'],
])('%s is the only task that has every word', (words, title, rest) => {
  const retros = [{ title: 'Retro team A' }, { title: 'Retro team B' }];
  expect(tasksNamed(words, retros)).toEqual({ tasks: [{ title }], rest, isGuess: false });
  expect(tasksNamed(words, retros, () => true)?.tasks).toEqual(retros);
});
