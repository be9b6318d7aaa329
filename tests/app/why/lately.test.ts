import { describe, expect, it } from 'vitest';
import { second } from '../../support/fakes.ts';
import { actor, day, hour, minute, start, type Pipeline, withTask, afterAnHour } from '../../support/pipeline.ts';

const daily = { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' } as const;
const by = ({ id }: { readonly id: string }) => ({ taskId: id, actor }) as const;

async function lines({ rooms }: Pipeline, { id }: { readonly id: string }): Promise<readonly string[]> {
  return (await rooms.truth.lately(id)).answers.map(({ line }) => line);
}

describe('what there is to tell of a task where no time is named', () => {
  it('is its last three runs, however long ago, and the next one', async () => {
    const { p, task } = await withTask({ schedule: daily });
    for (let index = 0; index < 5; index++) await p.pass(index === 0 ? hour : day);
    expect(await lines(p, task)).toEqual([
      'Fri 20 Nov 10:00: ran on time; delivered.',
      'Sat 21 Nov 10:00: ran on time; delivered.',
      'Sun 22 Nov 10:00: ran on time; delivered.',
      'Mon 23 Nov 10:00: planned.',
    ]);
  });

  it('names what will be left out, and who wants that', async () => {
    const { p, task } = await afterAnHour({ schedule: daily });
    await p.rooms.tasks.skip(by(task), { count: 1, from: null });
    expect(await lines(p, task)).toEqual([
      'Wed 18 Nov 10:00: ran on time; delivered.',
      `Thu 19 Nov 10:00: will not run, as ${actor} skipped it on Wed 18 Nov 10:00.`,
      'Fri 20 Nov 10:00: planned.',
    ]);
  });

  it('leaves out a pause that was over within a minute and kept nothing from running, and no other', async () => {
    const { p, task } = await afterAnHour({ schedule: daily });
    await p.time.advance(10 * second);
    await p.rooms.tasks.pause(by(task), null);
    await p.time.advance(20 * second);
    await p.rooms.tasks.resume(by(task));
    expect(await lines(p, task)).toEqual(['Wed 18 Nov 10:00: ran on time; delivered.', 'Thu 19 Nov 10:00: planned.']);
    const all = await p.rooms.truth.why(task.id, {
      at: undefined,
      from: undefined,
      to: undefined,
      after: null,
      limit: 9,
    });
    expect(all.answers.map(({ line }) => line)).toContain(
      `From Wed 18 Nov 10:00:10 to Wed 18 Nov 10:00:30: nothing was due; ${actor} had paused it on Wed 18 Nov 10:00.`,
    );

    // The same short pause, but over the time of a run.
    await p.time.advance(day - 40 * second);
    await p.rooms.tasks.pause(by(task), null);
    await p.time.advance(40 * second);
    await p.rooms.tasks.resume(by(task));
    expect((await lines(p, task)).filter((line) => line.includes('paused'))).toHaveLength(1);
  });

  it('tells a new task from the day on which it was made', async () => {
    const { p, task } = await withTask({ schedule: daily });
    expect(await lines(p, task)).toEqual([
      `Until Wed 18 Nov 09:00: nothing was due; ${actor} created the task only on Wed 18 Nov 09:00.`,
      'Wed 18 Nov 10:00: planned.',
    ]);
  });

  it('is the newest of a task that runs more often than anybody reads', async () => {
    const { p, task } = await withTask({ schedule: { kind: 'cron', cron: '* * * * *', timezone: 'UTC' } });
    for (let index = 0; index < 30; index++) await p.pass(minute);
    const told = await lines(p, task);
    expect(told.at(-2)).toBe('Wed 18 Nov 09:30: ran on time; delivered.');
    expect(told.at(-1)).toBe('Wed 18 Nov 09:31: planned.');
    expect(told.length).toBeLessThan(12);
    expect(start).toBeLessThan(p.time.now());
  });

  it('keeps the last runs also when everything since was left out', async () => {
    const { p, task } = await withTask({ schedule: { kind: 'cron', cron: '* * * * *', timezone: 'UTC' } });
    await p.pass(minute);
    for (let index = 0; index < 5; index++) {
      await p.rooms.tasks.skip(by(task), { count: 10, from: null });
      for (let passed = 0; passed < 10; passed++) await p.pass(minute);
    }
    const told = await lines(p, task);
    expect(told[0]).toBe('Wed 18 Nov 09:01: ran on time; delivered.');
    expect(told.filter((line) => line.includes(': skipped, ')).length).toBeGreaterThan(5);
  });
});
