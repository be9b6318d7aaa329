import { describe, expect, test } from 'vitest';
import { day, hour, minute } from '../../../support/pipeline.ts';
import { aTalk, bob, dataBehind, labels, tasksIn, withTask, afterAsking } from '../talk.ts';

describe('/next without a task', () => {
  test('has twenty lines at most, and says that there is more', async () => {
    const talk = await aTalk();
    for (let number = 1; number <= 25; number += 1) await talk.make(`every day at 12:${10 + number} Task ${number}`);
    const text = await talk.tells('/next');
    expect(text.match(/#\d+ Task/g)).toHaveLength(20);
    expect(text).toContain('There is more. /next #21 shows one task.');
  });

  test('is on the clocks of the chat', async () => {
    const talk = await withTask('every day at 23:30 Lunch', { timezone: 'Asia/Tokyo' });
    expect(await talk.tells('/next')).toContain('Wed 18 Nov\n23:30 #1 Lunch\n\nZone: Asia/Tokyo');
  });
});

describe('the history', () => {
  test('links each run to its message, and turns to older ones', async () => {
    const talk = await withTask();
    for (let count = 0; count < 12; count += 1) {
      await talk.ask('/run #1');
      await talk.pipeline.pass(minute);
    }
    const history = await talk.ask('/history #1');
    expect(history.text.match(/: ok, by hand, delivered/g)).toHaveLength(10);
    const [link] = (history.shown.entities ?? []).filter(({ type }) => type === 'text_link');
    expect(link?.url).toMatch(/^https:\/\/t\.me\/c\/1234\/\d+\/\d+$/);
    expect(labels(history)).toEqual([['Older ›'], ['Back']]);
    await talk.press(history, 'Older ›');
    expect(history.text.match(/: ok, by hand, delivered/g)).toHaveLength(2);
    expect(labels(history)).toEqual([['‹ Newest'], ['Back']]);
    await talk.press(history, '‹ Newest');
    expect(history.text.match(/: ok, by hand, delivered/g)).toHaveLength(10);
  });

  test('has no links in a private chat', async () => {
    const talk = await withTask('every day at 12 Lunch', { kind: 'private' });
    await talk.ask('/run #1');
    await talk.pipeline.settle();
    const history = await talk.ask('/history #1');
    expect(history.text).toContain('Wed 18 Nov 09:00: ok, by hand, delivered');
    expect((history.shown.entities ?? []).filter(({ type }) => type === 'text_link')).toEqual([]);
  });

  test('offers to tell why something went wrong, and how late it was', async () => {
    const talk = await withTask('every day at 12: {{ context.nothing }}');
    await talk.pipeline.time.advance(3 * hour + 5 * minute);
    await talk.pipeline.settle();
    const history = await talk.ask('/history #1');
    expect(history.text).toContain('Wed 18 Nov 12:00: failed, 5 min late');
    await talk.press(history, 'Why Wed 18 Nov 12:00');
    expect(history.text).toMatch(/^Why, for #1 .*\n\n.*12:00/);
  });
});

describe('/why with words for a day', () => {
  test.each([
    ['today', 'Wed 18 Nov'],
    ['yesterday', 'Tue 17 Nov'],
    ['monday', 'Mon 16 Nov'],
    ['monday 9:00', 'Mon 16 Nov 09:00'],
    ['last thursday at 12:00', 'Thu 12 Nov 12:00'],
    ['wed 12:00', 'Wed 18 Nov 12:00'],
    ['12:00', 'Wed 18 Nov 12:00'],
    ['tomorrow', 'Thu 19 Nov'],
  ])('%s', async (words, shown) => {
    const talk = await aTalk({ now: Date.UTC(2026, 10, 11, 9) });
    await talk.make('every day at 12 Lunch');
    await talk.pipeline.pass(7 * day + 4 * hour);
    const text = await talk.tells(`/why #1 ${words}`);
    expect(text).toContain(shown.replace(/ \d\d:\d\d$/, ''));
    expect(text).not.toContain('I did not understand when');
  });
});

describe('a pause', () => {
  test('of an old button is refused when that day has passed', async () => {
    const talk = await withTask();
    const paused = await talk.ask('/pause #1');
    const data = dataBehind(paused, 'Until tomorrow');
    await talk.pipeline.time.advance(2 * day);
    expect(await talk.send(paused, data)).toMatchObject({ isAlert: true });
    expect(await talk.send(paused, data, { person: bob })).toMatchObject({
      toast: 'Only Ada or an admin may do that.',
    });
    const [task] = await tasksIn(talk);
    for (const odd of ['', '0', '-1', '99999', 'x', '1e9', '20776.5']) {
      expect(await talk.send(paused, `v1:pauseto:${task?.id}:${odd}`)).toMatchObject({ isAlert: true });
    }
  });
});

describe('the list', () => {
  test('begins a task where there is none', async () => {
    const { talk, message: list } = await afterAsking('/tasks');
    expect(labels(list)).toEqual([['New']]);
    await talk.send(list, 'v1:make:templates');
    expect(labels(list).length).toBeGreaterThan(3);
    const other = await talk.ask('/tasks');
    await talk.press(other, 'New');
    expect(other.text).toContain('When');
  });
});

test.each(['en', 'iso', 'us'])('a day in the style %s has no time', async (dates) => {
  const talk = await withTask();
  const { id } = await talk.chat();
  await talk.pipeline.store.changeChat(id, { settings: { dates } }, talk.pipeline.time.now());
  const card = await talk.ask('/task #1');
  await talk.press(card, 'More');
  const made = /\nMade by Ada on ([^\n]+)/.exec(card.text)?.[1] ?? '';
  expect(made).toContain('18');
  expect(made).not.toContain('12:00');
});
