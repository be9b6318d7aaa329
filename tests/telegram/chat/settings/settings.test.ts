import { expect, test } from 'vitest';
import { keepRead } from '../../../../src/telegram/chat/kit/policy.ts';
import { start } from '../../../support/pipeline.ts';
import { aTalk, root, afterAsking, labels, withTask } from '../talk.ts';

test('what is kept beside the settings stays, whatever is changed', async () => {
  const talk = await aTalk();
  const { id } = await talk.chat();
  await talk.pipeline.store.changeChat(id, { settings: { prompts: true, create: 'nonsense' } }, start);
  const message = await talk.ask('/settings');
  expect(message.text).toContain('Who can create tasks: admins only');
  await talk.press(message, '23–8');
  await talk.ask('/settings create members');
  expect((await talk.chat()).settings).toEqual({
    prompts: true,
    create: 'members',
    quiet: { from: '23:00', to: '08:00', mode: 'hold' },
  });
});

test('what somebody else has chosen meanwhile is not lost', async () => {
  const { talk, message: one } = await afterAsking('/settings');
  const other = await talk.ask('/settings', { person: root });
  await talk.press(one, 'Confirm in words');
  await talk.press(other, 'Admins create', { person: root });
  expect((await talk.chat()).settings).toEqual({ reactions: false, create: 'admins' });
});

test('a chat keeps its tasks to some hosts, and opens all of them again', async () => {
  const talk = await aTalk();
  const hosts = async () => (await talk.chat()).settings['hosts'];
  expect((await talk.ask('/settings hosts API.example.com, *.example.org nas:8080')).text).toContain(
    'Tasks reach only: api.example.com, *.example.org, nas:8080',
  );
  expect(await hosts()).toEqual(['api.example.com', '*.example.org', 'nas:8080']);
  for (const unread of ['', 'http://api.example.com/', 'api.example.com, ??', Array(21).fill('a.example').join(' ')])
    expect((await talk.ask(`/settings hosts ${unread}`)).text).toContain(
      '/settings hosts api.example.com, *.example.org',
    );
  expect(await hosts()).toHaveLength(3);
  expect((await talk.ask('/settings hosts any')).text).not.toContain('Tasks reach only');
  expect(await hosts()).toBeNull();
});

test('hours keep the mode and a mode keeps the hours', async () => {
  const talk = await aTalk();
  const quiet = async () => (await talk.chat()).settings['quiet'];
  await talk.ask('/settings quiet 22.30–6 silent');
  expect(await quiet()).toEqual({ from: '22:30', to: '06:00', mode: 'silent' });
  await talk.ask('/settings quiet 12am-6:30am');
  expect(await quiet()).toEqual({ from: '00:00', to: '06:30', mode: 'silent' });
  await talk.ask('/settings mode hold');
  expect(await quiet()).toEqual({ from: '00:00', to: '06:30', mode: 'hold' });
});

test.each([
  ['10 runs', { runs: 10 }],
  ['the last 10 runs', { runs: 10 }],
  ['last run', undefined],
  ['1 run', { runs: 1 }],
  ['10r', { runs: 10 }],
  ['30 days', { days: 30 }],
  ['1 day', { days: 1 }],
  ['2 weeks', { days: 14 }],
  ['3 months', { days: 90 }],
  ['1 year', { days: 365 }],
  ['100 runs, 30 days', { runs: 100, days: 30 }],
  ['100 runs and 30d', { runs: 100, days: 30 }],
  ['all', null],
  ['off', null],
  ['', undefined],
  ['30', undefined],
  ['0 runs', undefined],
  ['1001 runs', undefined],
  ['0 days', undefined],
  ['99999 years', undefined],
  ['10 runs or so', undefined],
  ['30 days, 100 runs', undefined],
])('history is kept as somebody says: %s', (words, keep) => {
  expect(keepRead(words)).toEqual(keep);
});

test('slashes are read as the dates of the chat are written', async () => {
  const talk = await aTalk();
  expect(await talk.tells('/new 3/4/2027 at 9 Call Mum')).not.toContain('Mar');
  await talk.ask('/settings dates us');
  expect(await talk.tells('/new 3/4/2027 at 9 Call Mum')).toContain('Once on Thu, Mar 4, 2027, at 9:00 AM');
});

test.each([
  ['morning 8:00', { morning: 480 }],
  ['evening 6:30', { evening: 1110 }],
  ['tonight 9pm', { tonight: 1260 }],
  ['noon 13', { noon: 780 }],
  ['morning 14:00', undefined],
  ['morning', undefined],
  ['midnight 1', undefined],
])('the hour of a part of the day: /settings %s', async (words, hours) => {
  const talk = await aTalk();
  await talk.ask(`/settings ${words}`);
  expect((await talk.chat()).settings['hours']).toEqual(hours);
});

test('the hours of the chat are meant in what is made, asked, edited and put off there', async () => {
  const talk = await withTask();
  await talk.ask('/settings morning 8:00');
  const menu = await talk.ask('/settings tonight 21:15');
  expect(menu.text).toContain('morning 08:00, noon 12:00, afternoon 15:00, evening 19:00, tonight 21:15');
  expect(await talk.tells('/new every morning coffee')).toContain('Every day at 08:00');
  expect(await talk.tells('/new friday dentist')).toContain('Fri 20 Nov at 08:00');
  expect(labels(await talk.ask('/new call mum')).flat()).toEqual(
    expect.arrayContaining(['Tonight 21:15', 'Tomorrow 08:00']),
  );
  expect(await talk.tells('/snooze 1 tonight')).toContain('Wed 18 Nov 21:15');
  expect(await talk.tells('/snooze 1 friday')).toContain('Fri 20 Nov 08:00');
  const snooze = await talk.ask('/snooze 1');
  await talk.press(snooze, 'Tomorrow');
  expect(snooze.text).toContain('Thu 19 Nov 08:00');
  expect(await talk.tells('/edit 1 every morning')).toContain('08:00');
  await talk.ask('/settings morning default');
  expect((await talk.chat()).settings['hours']).toEqual({ tonight: 1275 });
});
