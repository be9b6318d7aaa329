import { describe, expect, test } from 'vitest';
import type { Schedule } from '../../../../src/domain/schedule/schedule.ts';
import { dataBehind, type Talk, taskIn, withTask } from '../talk.ts';

const lines = (...more: readonly string[]) =>
  ['DTSTART;TZID=UTC:20261118T090000', 'RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0;BYSECOND=0', ...more].join('\n');

async function withRule(...more: readonly string[]): Promise<Talk> {
  const talk = await withTask();
  const { id } = await taskIn(talk);
  const schedule = { kind: 'rrule', rrule: lines(...more), timezone: 'UTC' } as const;
  await talk.pipeline.rooms.tasks.edit({ taskId: id, actor: 'system' }, { schedule });
  return talk;
}

function ruleOf({ schedule }: { readonly schedule: Schedule }): string {
  return schedule.kind === 'rrule' ? schedule.rrule : schedule.kind;
}

const sundays = 'EXRULE:FREQ=WEEKLY;BYDAY=SU';
const holidays = 'EXDATE;VALUE=DATE:20261224,20261225,20270101';

describe('the days of a task', () => {
  test('each rhythm and each exception is taken back by its own button, and Undo restores it to the letter', async () => {
    const more = ['RRULE:FREQ=WEEKLY;BYDAY=SA;BYHOUR=11;BYMINUTE=0;BYSECOND=0', sundays, holidays];
    const left: ReadonlyArray<[string, string]> = [
      ['✕ every Saturday at 11:00', lines(sundays, holidays)],
      ['✕ Not: Sundays', lines(...more.filter((line) => line !== sundays))],
      ['✕ Not: Thu 24 Dec and Fri 25 Dec', lines(...more.slice(0, 2), 'EXDATE;VALUE=DATE:20270101')],
    ];
    for (const [label, rest] of left) {
      const talk = await withRule(...more);
      const before = await taskIn(talk);
      const menu = await talk.ask('/edit #1');
      await talk.press(menu, 'Days');
      await talk.press(menu, label);
      expect(ruleOf(await taskIn(talk))).toBe(rest);
      await talk.press(menu, 'Undo');
      expect((await taskIn(talk)).schedule).toEqual(before.schedule);
    }
  });

  test.each([
    ['drop saturdays', 'weekdays at 9:30 and saturdays at 11', 'every weekday at 09:30 (UTC)'],
    ['not on weekends', 'weekdays at 9:30 and saturdays at 11', 'every weekday at 09:30 (UTC)'],
    ['not on saturdays', 'every day at 9 and saturdays at 11', 'every Monday to Friday and Sunday at 09:00 (UTC)'],
    [
      'not on mondays',
      'weekdays at 9:30 and saturdays at 11',
      'weekdays at 09:30, Saturdays at 11:00, not on Mondays (UTC)',
    ],
  ])('a rhythm goes as a whole when none of its days is left: %s of %s', async (words, rhythms, now) => {
    const talk = await withTask();
    await talk.say(`/edit #1 ${rhythms}`);
    expect(await talk.tells(`/edit #1 ${words}`)).toContain(`now: ${now}`);
  });

  test('an old button takes nothing else back', async () => {
    const talk = await withRule(sundays, holidays);
    const menu = await talk.ask('/edit #1');
    await talk.press(menu, 'Days');
    const data = dataBehind(menu, '✕ Not: Sundays');
    await talk.send(menu, data);
    await talk.send(menu, data);
    expect(ruleOf(await taskIn(talk))).toBe(lines(holidays));
  });

  test('another rhythm comes by words, and what cannot be read changes nothing', async () => {
    const talk = await withTask();
    const before = (await taskIn(talk)).schedule;
    expect(await talk.tells('/edit #1 also every saturday at 11')).toMatch(/now: .*11:00/);
    expect((await taskIn(talk)).schedule).not.toEqual(before);
    const { version } = await taskIn(talk);
    expect(await talk.tells('/edit #1 also blue at noonish')).not.toContain('Changed');
    expect((await taskIn(talk)).version).toBe(version);
  });

  test.each([
    ['except 24 december', 'Not: Thu 24 Dec'],
    ['except christmas', 'Not: 25 December'],
    ['except 24 to 26 december', 'Not: Thu 24 Dec to Sat 26 Dec'],
    ['except 20 december to 6 january', 'Not: Sun 20 Dec to Wed 6 Jan 2027'],
    ['but not on sundays', 'Not: Sundays'],
    ['not on sundays', 'Not: Sundays'],
  ])('"%s" is left out from then on, and is a piece of its own', async (words, piece) => {
    const talk = await withRule();
    expect(await talk.tells(`/edit #1 ${words}`)).toContain('Changed');
    const menu = await talk.ask('/edit #1');
    await talk.press(menu, 'Days');
    await talk.press(menu, `✕ ${piece}`);
    expect(ruleOf(await taskIn(talk))).toBe(lines());
  });

  test.each([
    ['except 24 december', 'no exceptions'],
    ['except 24 december', 'not except 24 december'],
    ['not on sundays', 'remove the exception on sundays'],
  ])('"%s" is taken back by "%s"', async (words, back) => {
    const talk = await withRule();
    await talk.ask(`/edit #1 ${words}`);
    expect(ruleOf(await taskIn(talk))).not.toBe(lines());
    expect(await talk.tells(`/edit #1 ${back}`)).toContain('Changed');
    expect(ruleOf(await taskIn(talk))).toBe(lines());
  });

  test('an exception that is taken back leaves the others', async () => {
    const talk = await withRule(sundays, holidays);
    await talk.ask('/edit #1 no exceptions on sundays');
    expect(ruleOf(await taskIn(talk))).toBe(lines(holidays));
  });

  test('/next of the task lists what it leaves out, and /why says so of the day', async () => {
    const talk = await withRule(sundays, holidays);
    expect(await talk.tells('/next #1')).toContain('Not on: Sundays, Thu 24 Dec and Fri 25 Dec, Fri 1 Jan 2027');
    for (const day of ['2026-11-22', '2026-12-24'])
      expect(await talk.tells(`/why #1 ${day}`)).toContain('this task does not run on');
  });
});
