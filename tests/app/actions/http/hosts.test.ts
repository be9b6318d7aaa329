import { describe, expect, it } from 'vitest';
import { createHosts, type Hold, type Place } from '../../../../src/app/actions/http/hosts.ts';
import { manualTime, second, start } from '../../../support/fakes.ts';

const host = 'api.example.com';

function world(rules = { concurrency: 2, perSecond: 100 }) {
  const time = manualTime(start);
  const woken: string[] = [];
  const hosts = createHosts({ stopwatch: time, timer: time, rules, wake: (ids) => woken.push(...ids) });
  const signal = new AbortController().signal;
  const hold = (runId: string, taskId: string | null = runId, at = host) => hosts.hold(at, { runId, taskId });
  const enter = (runId: string, taskId: string | null = runId, at = host, by = signal) =>
    hosts.enter(at, { runId, taskId }, by);
  const entered = async (runId: string, taskId: string | null = runId) => {
    expect(hold(runId, taskId)).toBeNull();
    return (await enter(runId, taskId)) as Place;
  };
  return { time, woken, hosts, hold, enter, entered };
}

describe('a run that asks for a place', () => {
  it('begins where there is one, and waits with the reason where there is none', async () => {
    const { hold, entered } = world();
    await entered('a');
    await entered('b');
    expect(hold('c')).toEqual({
      is: 'held',
      afterMs: 30_000,
      reason: 'api.example.com is busy: 2 calls at once are the most',
    });
    expect(hold('d', 'd', 'other.example.com')).toBeNull();
  });

  it('is woken when a place is given back, which is kept for it', async () => {
    const { hold, entered, woken } = world();
    const [a] = [await entered('a'), await entered('b')];
    hold('c');
    hold('d');
    a.leave('good');
    expect(woken).toEqual(['c']);
    expect(hold('d')).not.toBeNull();
    expect(hold('e')).not.toBeNull();
    expect(hold('c')).toBeNull();
    a.leave('good');
    expect(woken).toEqual(['c']);
  });

  it('loses the place that it does not take, and the next one has it', async () => {
    const { time, hold, entered, woken } = world();
    const [a] = [await entered('a'), await entered('b')];
    hold('gone');
    hold('c');
    a.leave('good');
    await time.advance(4999);
    expect(woken).toEqual(['gone']);
    await time.advance(1);
    expect(woken).toEqual(['gone', 'c']);
  });

  it('has its turn beside a task with many', async () => {
    const { hold, entered, enter, woken } = world();
    const places = [await entered('a1', 'a'), await entered('a2', 'a')];
    for (const run of ['a3', 'a4', 'a5', 'a6']) hold(run, 'a');
    hold('b1', 'b');
    hold('c1', 'c');
    for (let turn = 0; turn < 5; turn += 1) {
      places.shift()?.leave('good');
      const run = woken.at(-1) ?? '';
      expect(hold(run, run.slice(0, 1))).toBeNull();
      places.push((await enter(run, run.slice(0, 1))) as Place);
    }
    expect(woken).toEqual(['b1', 'c1', 'a3', 'a4', 'a5']);
  });

  it('goes out at the pace of the host', async () => {
    const { time, hold, entered, woken } = world({ concurrency: 100, perSecond: 10 });
    for (let run = 0; run < 10; run += 1) {
      const place = await entered(`first${run}`);
      place.leave('good');
    }
    for (let run = 0; run < 15; run += 1)
      expect(hold(`more${run}`)).toMatchObject({ reason: expect.stringContaining('10 times a second') as string });
    await time.advance(999);
    expect(woken).toHaveLength(0);
    await time.advance(1);
    expect(woken).toHaveLength(10);
    await time.advance(second);
    expect(woken).toHaveLength(15);
  });

  it('waits for as long as the host asked, whatever its task is', async () => {
    const { time, hold, entered, woken } = world();
    (await entered('a')).leave('unsaid', 60_000);
    expect(hold('b')).toEqual({
      is: 'held',
      afterMs: 60_000,
      reason: 'api.example.com asked to be left alone for a while',
    });
    await time.advance(59_999);
    expect(woken).toEqual([]);
    await time.advance(1);
    expect(woken).toEqual(['b']);
  });

  it('waits while the host fails again and again, and then one goes first', async () => {
    const { time, hold, entered, enter, woken } = world();
    for (let run = 0; run < 10; run += 1) (await entered(`r${run}`)).leave('bad');
    expect(hold('b')).toMatchObject({
      afterMs: 30_000,
      reason: expect.stringContaining('fails again and again') as string,
    });
    hold('c');
    await time.advance(30_000);
    expect(woken).toEqual(['b']);
    expect(hold('b')).toBeNull();
    ((await enter('b')) as Place).leave('good');
    expect(woken).toEqual(['b', 'c']);
  });
});

describe('a run that learns of its host only now', () => {
  it('takes a place in its attempt, or waits a little for it', async () => {
    const { enter, entered, time } = world();
    const [a] = [await entered('a'), await entered('b')];
    const asked = enter('c');
    await time.advance(1000);
    a.leave('good');
    expect((await asked).is).toBe('entered');
  });

  it('gives up after a while, with the reason', async () => {
    const { enter, entered, time, woken } = world();
    const places = [await entered('a'), await entered('b')];
    const asked = enter('c');
    await time.advance(5000);
    expect(((await asked) as Hold).reason).toContain('is busy');
    for (const place of places) place.leave('good');
    expect(woken).toEqual([]);
  });

  it('does not wait where it will take longer, and not when it is called off', async () => {
    const { enter, entered, hosts } = world();
    const controller = new AbortController();
    await entered('a');
    const b = await entered('b');
    const asked = hosts.enter(host, { runId: 'c', taskId: 'c' }, controller.signal);
    controller.abort();
    expect((await asked).is).toBe('held');
    b.leave('unsaid', 60_000);
    expect(await enter('d')).toMatchObject({ is: 'held', afterMs: 60_000 });
  });
});
