import { describe, expect, test } from 'vitest';
import { day, hour } from '../../../support/pipeline.ts';
import { taskIn, withTask } from '../talk.ts';

describe('/skip', () => {
  test.each([
    ['today', 'Wed 18 Nov 12:00', 'Thu 19 Nov 12:00'],
    ['tomorrow', 'Thu 19 Nov 12:00', 'Wed 18 Nov 12:00, Fri 20 Nov 12:00'],
    ['friday', 'Fri 20 Nov 12:00', 'Wed 18 Nov 12:00, Thu 19 Nov 12:00, Sat 21 Nov 12:00'],
    ['on friday', 'Fri 20 Nov 12:00', 'Wed 18 Nov 12:00, Thu 19 Nov 12:00, Sat 21 Nov 12:00'],
    ['2026-12-24', 'Thu 24 Dec 12:00', 'Wed 18 Nov 12:00, Thu 19 Nov 12:00, Fri 20 Nov 12:00'],
    ['wednesday', 'Wed 18 Nov 12:00', 'Thu 19 Nov 12:00'],
    ['until friday', 'Wed 18 Nov 12:00, Thu 19 Nov 12:00', 'Fri 20 Nov 12:00'],
  ])('%s leaves out the runs of that day', async (words, left, next) => {
    const talk = await withTask();
    expect(await talk.tells(`/skip 1 ${words}`)).toContain(`Left out of #1 Lunch: ${left} (UTC).\nNext: ${next}`);
    expect(await talk.tells('/task 1')).toContain(`\nLeft out: ${left}\n`);
  });

  test('a day ahead does not run, and those around it do', async () => {
    const talk = await withTask();
    await talk.ask('/skip 1 friday');
    for (let days = 0; days < 4; days += 1) await talk.pipeline.pass(day);
    const runs = await talk.pipeline.history((await taskIn(talk)).id);
    const ended = runs
      .filter(({ status }) => status === 'succeeded')
      .map(({ slotAt }) => new Date(slotAt).getUTCDate());
    expect(ended.toSorted((a, b) => a - b)).toEqual([18, 19, 21]);
    expect(runs.filter(({ status }) => status === 'skipped')).toMatchObject([{ slotAt: Date.UTC(2026, 10, 20, 12) }]);
  });

  test('means a day on the clocks of the task, with all of its runs', async () => {
    const talk = await withTask('every day at 0:30 and 23:30 Check', { timezone: 'Asia/Tokyo' });
    expect(await talk.tells('/skip 1 tomorrow')).toContain(
      'Left out of #1 Check: Thu 19 Nov 00:30, Thu 19 Nov 23:30 (Asia/Tokyo).',
    );
    expect(await talk.tells('/skip 1 40')).toMatch(
      /^Left out of #1 Check: Wed 18 Nov 23:30, Fri 20 Nov 00:30 and 38 more, the last /,
    );
  });

  test('of a day without a run is refused', async () => {
    const talk = await withTask('every monday at 12 Lunch');
    expect(await talk.tells('/skip 1 tomorrow')).toBe('This task has no run in that time that could be skipped.');
    await talk.ask('/skip 1 monday');
    expect(await talk.tells('/skip 1 monday')).toContain('no run in that time');
    for (const odd of ['someday', '0', '101', 'for 2 hours', '3 days']) {
      expect(await talk.tells(`/skip #1 ${odd}`)).toContain('I cannot read which runs to leave out');
    }
  });

  test('the last that was left out goes from the card when its time has come', async () => {
    const talk = await withTask();
    await talk.ask('/skip 1');
    await talk.pipeline.time.advance(4 * hour);
    expect(await talk.tells('/task 1')).not.toContain('Left out');
  });
});

describe('taking back', () => {
  test('a second time says that it was done before, and what had ended says so', async () => {
    const talk = await withTask();
    const paused = await talk.ask('/pause 1');
    await talk.ask('/undo');
    expect((await talk.press(paused, 'Undo')).toast).toBe('Taken back before');
    expect(paused.text).toMatch(
      /^That was undone before: the pause of #1 by Ada at 09:00\. Nothing was changed now\.\n/,
    );
    const skipped = await talk.ask('/skip 1');
    await talk.pipeline.time.advance(4 * hour);
    expect((await talk.press(skipped, 'Undo')).toast).toBe('Nothing left to take back');
    expect(skipped.text).toMatch(/^There is nothing left to undo: the skip of Wed 18 Nov 12:00 for #1 by Ada/);
  });

  test.each([
    ['/edit 1 8:30', 'the change of the time of #1'],
    ['/edit 1 text Eat', 'the change of the title and the text of #1'],
    ['/edit 1 missed ask', 'the change of the settings of #1'],
    ['/snooze 1 1h', 'the snooze of #1 to Wed 18 Nov 10:00'],
    ['/pause 1', 'the pause of #1'],
    ['/delete 1', 'the deletion of #1'],
  ])('%s is told as %s', async (text, deed) => {
    const talk = await withTask();
    await talk.ask(text);
    expect(await talk.tells('/undo')).toMatch(new RegExp(`^Undone: ${deed} by Ada at 09:00\\.\\n`));
  });
});

describe('a pause', () => {
  test('that is there already says since when, by whom and until when, and keeps its end', async () => {
    const talk = await withTask();
    await talk.ask('/pause 1 until monday');
    expect(await talk.tells('/pause 1')).toMatchSnapshot('/pause 1');
    expect((await taskIn(talk)).resumeAt).toBe(Date.UTC(2026, 10, 23));
  });

  test.each([
    ['til monday', 'Mon 23 Nov 00:00'],
    ["'til monday", 'Mon 23 Nov 00:00'],
    ['this week', 'Mon 23 Nov 00:00'],
    ['for the rest of the week', 'Mon 23 Nov 00:00'],
    ['today', 'Thu 19 Nov 00:00'],
    ['for 2 hours', 'Wed 18 Nov 11:00'],
  ])('%s', async (words, end) => {
    expect(await (await withTask()).tells(`/pause 1 ${words}`)).toBe(`Paused #1 Lunch until ${end} (UTC).`);
  });

  test('over the weekend is known on the weekend, and before it would take too much', async () => {
    const talk = await withTask();
    expect(await talk.tells('/pause 1 over the weekend')).toContain('I cannot read until when.');
    await talk.pipeline.pass(3 * day);
    expect(await talk.tells('/pause 1 over the weekend')).toBe('Paused #1 Lunch until Mon 23 Nov 00:00 (UTC).');
  });

  test('of all says until when, in the zone of the chat', async () => {
    const talk = await withTask('every day at 12 Lunch', { timezone: 'Europe/Madrid' });
    expect(await talk.tells('/pause all until friday')).toBe('Paused 1 task until Fri 20 Nov 00:00 (Europe/Madrid).');
    expect(await talk.tells('/resume all')).toBe('Resumed 1 task.');
  });
});
