import { expect, it } from 'vitest';
import { aPipeline, day, hour, start } from '../../support/pipeline.ts';
import { expectWords, said, story, told } from './asking.ts';

const rrule = (...lines: readonly string[]) =>
  ({ kind: 'rrule', rrule: ['RRULE:FREQ=DAILY;BYHOUR=9;BYMINUTE=0', ...lines].join('\n'), timezone: 'UTC' }) as const;

it('says which exception takes an instant, and a whole day of a range', async () => {
  const p = await aPipeline();
  const schedule = rrule(
    'EXRULE:FREQ=WEEKLY;BYDAY=SU',
    'EXDATE;VALUE=DATE:20261124,20261224,20261225,20261226',
    'EXDATE:20261128T090000Z',
  );
  const task = await p.create({ schedule });
  const sunday = start + 4 * day;
  const at = [sunday, sunday + hour, start + 6 * day, start + 10 * day, start + 37 * day, start + 5 * day + hour];
  const lines = await said(p, task, ...at);
  const days = [sunday, start + 37 * day].map((from) => ({ from: from - 9 * hour, to: from + 14 * hour }));
  const ranges = await Promise.all(days.map((window) => story(p, task, window)));
  await expectWords('exceptions', lines, ...ranges.flat().map(told));
  expect(lines.match(/no_slot, exception/g)).toHaveLength(5);
  expect(ranges.map((answers) => answers.map(({ cause }) => cause))).toEqual([['exception'], ['exception']]);
});
