import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SlotQuestion } from '../../src/app/housekeeping/second-opinion.ts';
import * as limits from '../../src/domain/limits.ts';
import type { Schedule } from '../../src/domain/schedule/schedule.ts';
import { systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { startChild, type Child, type Reply } from '../../src/system/pool/child.ts';
import { childFault, createPool, type Work } from '../../src/system/pool/pool.ts';
import { manualTime, memoryLog, start } from '../support/fakes.ts';

function template(owner: string | null, text = '{{ 1 | plus: 1 }}'): Work<'template'> {
  return { kind: 'template', ask: { text, zone: 'UTC', variables: {} }, owner, maxMs: 20_000 };
}

const two = { is: 'done', answer: { text: '2' } };

/* ---- children of the test, and its clock ---- */

interface FakeChild extends Child {
  /** The owner of what it works on names it by its text. */
  readonly asked: string[];
  reply(reply: Reply): void;
  readonly isEnded: () => boolean;
}

function fakeChild(): FakeChild {
  const asked: string[] = [];
  let [isEnded, reply] = [false, (_reply: Reply) => {}];
  const gone = { is: 'gone', how: 'it was ended', isOwnFault: false } as const;
  return {
    asked,
    tell: ({ ask }) =>
      new Promise((resolve) => {
        reply = resolve;
        if (ask === undefined) resolve({ is: 'answer', cpuMs: 0 });
        else asked.push('text' in ask ? ask.text : '');
      }),
    reply: (told) => {
      if (told.is === 'gone') isEnded = true;
      reply(told);
    },
    isGone: () => isEnded,
    isEnded: () => isEnded,
    end: () => {
      isEnded = true;
      reply(gone);
    },
  };
}

const answer = (cpuMs = 0): Reply => ({ is: 'answer', answer: { text: '2' }, cpuMs });
const death: Reply = { is: 'gone', how: 'it ended with SIGABRT', isOwnFault: true };

function manualPool(make: () => Child = fakeChild) {
  const time = manualTime(start);
  const log = memoryLog();
  const children: FakeChild[] = [];
  const started: number[] = [];
  const counted: string[] = [];
  const pool = createPool({
    timer: time,
    stopwatch: time,
    log,
    meter: { count: (name, labels) => counted.push([name, ...Object.values(labels)].join(' ')), took: () => undefined },
    start: () => {
      started.push(time.elapsed());
      const child = make();
      children.push(child as FakeChild);
      return child;
    },
  });
  return { pool, time, log, children, started, counted };
}

describe('the pool', () => {
  it('starts nobody until it is asked, and ends whoever is idle', async () => {
    const { pool, time, children, started } = manualPool();
    await time.advance(1000);
    expect(started).toEqual([]);
    const worked = pool.run(template('ada'));
    await time.advance(0);
    children[0]?.reply(answer());
    expect(await worked).toEqual(two);
    await time.advance(limits.poolIdleMs - 1);
    expect(children[0]?.isEnded()).toBe(false);
    await time.advance(1);
    expect(children[0]?.isEnded()).toBe(true);
    void pool.run(template('ada'));
    await time.advance(0);
    expect(started).toHaveLength(2);
  });

  it('ends a child at its deadline, and gives the next work to another one', async () => {
    const { pool, time, children } = manualPool();
    const late = pool.run({ ...template(null), maxMs: 1000 });
    await time.advance(0);
    await time.advance(999);
    expect(children[0]?.isEnded()).toBe(false);
    await time.advance(1);
    expect(await late).toEqual({ is: 'late' });
    expect(children[0]?.isEnded()).toBe(true);
    const next = pool.run(template(null));
    await time.advance(0);
    children[1]?.reply(answer());
    expect(await next).toEqual(two);
  });

  it('replaces one child a second at most, whoever takes them down', async () => {
    const { pool, time, children, started } = manualPool();
    for (const owner of ['ada', 'bob', 'cid', 'dan', 'eve']) {
      void pool.run(template(owner));
      void pool.run(template(owner));
    }
    for (let tenth = 0; tenth < 25; tenth += 1) {
      await time.advance(100);
      for (const child of children) if (!child.isGone()) child.reply(death);
    }
    expect(started).toEqual([0, 0, 1000, 2000]);
  });

  it('tells who took a child down from who was ended by somebody else', async () => {
    const { pool, time, children, counted } = manualPool();
    const [died, lost] = [pool.run(template('ada')), pool.run(template('bob'))];
    void pool.run(template('cid'));
    await time.advance(0);
    expect(pool.jobs()).toEqual({ waiting: 1, working: 2 });
    children[0]?.reply(death);
    children[1]?.reply({ is: 'gone', how: 'it ended with SIGKILL', isOwnFault: false });
    expect([await died, await lost]).toEqual([{ is: 'died' }, { is: 'lost' }]);
    pool.close();
    await time.advance(0);
    expect(counted).toEqual([
      'pool_children_started_total',
      'pool_children_started_total',
      'pool_children_ended_total died',
      'pool_children_ended_total lost',
      'pool_refusals_total away',
    ]);
  });

  it('tells work that has waited for too long to come again, before its message runs out of time', async () => {
    const { pool, time, children } = manualPool();
    const all = Array.from({ length: 20 }, () => pool.run(template('ada')));
    for (let turn = 0; turn < 20; turn += 1) {
      await time.advance(900);
      children[0]?.reply(answer());
      await time.advance(0);
    }
    const told = (await Promise.all(all)).map(({ is }) => is);
    expect(told).toEqual([...Array.from({ length: 5 }, () => 'done'), ...Array.from({ length: 15 }, () => 'away')]);
  });

  it('leaves a place to others, however much one person asks for, and lets people take turns', async () => {
    const { pool, time, children } = manualPool();
    for (let turn = 0; turn < 50; turn += 1) void pool.run(template('mallory', 'slow'));
    await time.advance(0);
    for (const turn of [1, 2, 3]) void pool.run(template('ada', `ada ${turn}`));
    void pool.run(template('bob', 'bob 1'));
    await time.advance(0);
    expect(children.map(({ asked }) => asked)).toEqual([['slow'], ['ada 1']]);
    for (let turn = 0; turn < 3; turn += 1) {
      children[1]?.reply(answer());
      await time.advance(0);
    }
    expect(children[1]?.asked).toEqual(['ada 1', 'ada 2', 'bob 1', 'ada 3']);
    expect(children[0]?.asked).toEqual(['slow']);
  });

  it.each([
    ['has used the time that one person has', answer(limits.poolShareMs), two, 4],
    ['took a child down', death, { is: 'died' }, 16_004],
  ] as const)('sends somebody away who %s, and takes them back with time', async (_name, reply, came, afterMs) => {
    const { pool, time, children } = manualPool();
    const works = [1, 2, 3].map(() => pool.run(template('mallory')));
    await time.advance(0);
    children[0]?.reply(reply);
    const spent = { is: 'spent', afterMs };
    // One comes after the other, in the time in which the share of one template is given back.
    const next = { is: 'spent', afterMs: afterMs + Math.min(afterMs, limits.poolTurnMs) };
    expect(await Promise.all(works)).toEqual([came, spent, next]);
    expect(await pool.run(template('mallory'))).toEqual(spent);
    const other = pool.run(template('ada'));
    await time.advance(1000);
    children.at(-1)?.reply(answer());
    expect(await other).toEqual(two);
    await time.advance(afterMs);
    const again = pool.run(template('mallory'));
    await time.advance(0);
    children.findLast((child) => !child.isGone())?.reply(answer());
    expect(await again).toEqual(two);
  });

  it.each([
    [
      'it cannot be started',
      () => {
        throw new Error('EAGAIN');
      },
      'EAGAIN',
    ],
    ['it ends at once', () => ({ ...fakeChild(), tell: async () => death }), 'it ended with SIGABRT'],
  ] as const)('is away for a while when %s, and the log says so once', async (_name, make, error) => {
    const { pool, time, log, started } = manualPool(make);
    for (let turn = 0; turn < 3; turn += 1) expect(await pool.run(template('ada'))).toEqual({ is: 'away' });
    expect(log.lines).toEqual([{ level: 'warn', event: 'pool_away', facts: { kind: 'template', error } }]);
    await time.advance(limits.poolAwayMs);
    expect(await pool.run(template('ada'))).toEqual({ is: 'away' });
    expect(started).toEqual([0, limits.poolAwayMs]);
  });

  it('tells everybody at once when it is closed', async () => {
    const { pool, time, children } = manualPool();
    const asked = [pool.run(template('ada')), pool.run(template('ada'))];
    await time.advance(0);
    pool.close();
    const away = { is: 'away' };
    expect(await Promise.all([...asked, pool.run(template('ada'))])).toEqual([away, away, away]);
    expect(children.map(({ isEnded }) => isEnded())).toEqual([true]);
    expect(time.untilTimer()).toBeNull();
  });
});

/* ---- real children, and real time ---- */

const timezone = 'Europe/Madrid';
const at = Date.UTC(2026, 10, 18, 9);

function slots(schedule: Schedule, count: number, maxMs: number): Work<'slots'> {
  const ask: SlotQuestion = { schedule, after: at, upTo: at + 1000 * 86_400_000 * 365, count, ours: [], shown: null };
  return { kind: 'slots', ask, owner: 'mallory', maxMs };
}

/** rrule looks for the thirtieth of February until the year 9999. */
const endless: Schedule = {
  kind: 'rrule',
  rrule: `DTSTART;TZID=${timezone}:20260101T090000\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30`,
  timezone,
};

function realPool() {
  const children: Child[] = [];
  const pool = createPool({
    timer: systemTimer,
    stopwatch: systemStopwatch,
    log: memoryLog(),
    start: () => {
      const child = startChild();
      children.push(child);
      return child;
    },
  });
  onTestFinished(() => pool.close());
  return { pool, children };
}

interface Process {
  readonly pid: number;
  readonly flags: readonly string[];
  readonly environment: readonly string[];
}

/** The children of this process, as the system knows them. */
function childProcesses(): readonly Process[] {
  const texts = (pid: string, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !texts(pid, 'cmdline').some((arg) => arg.includes('pool/program'))) return [];
      if (!readFileSync(`/proc/${pid}/status`, 'utf8').includes(`PPid:\t${process.pid}\n`)) return [];
      const flags = texts(pid, 'cmdline').filter((arg) => arg.startsWith('--'));
      return [{ pid: Number(pid), flags, environment: texts(pid, 'environ') }];
    } catch {
      return [];
    }
  });
}

describe('a child', () => {
  it('that hangs is ended at its deadline, and another one answers', async () => {
    const { pool, children } = realPool();
    expect(await pool.run(slots(endless, 3, 250))).toEqual({ is: 'late' });
    await expect.poll(() => children[0]?.isGone()).toBe(true);
    expect(await pool.run(template('ada'))).toEqual(two);
  });

  it('that runs out of its small memory takes nobody with it', async () => {
    const { pool, children } = realPool();
    const everySecond: Schedule = { kind: 'interval', interval: 'PT1S', startAt: at, from: 'start', timezone };
    const before = process.memoryUsage().rss;
    expect(await pool.run(slots(everySecond, 1e9, 60_000))).toEqual({ is: 'died' });
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
    expect(children[0]?.isGone()).toBe(true);
    expect(await pool.run(template('ada'))).toEqual(two);
  });

  it('that somebody else kills is no fault of the work', async () => {
    const { pool } = realPool();
    expect(await pool.run(slots({ kind: 'once', onceAt: at, timezone }, 1, 20_000))).toMatchObject({ is: 'done' });
    const hung = pool.run(slots(endless, 3, 20_000));
    for (const { pid } of childProcesses()) process.kill(pid, 'SIGKILL');
    expect(await hung).toEqual({ is: 'lost' });
    expect(await pool.run(template('ada'))).toEqual(two);
  });

  it('answers in time also where its parent was too busy to listen', async () => {
    const { pool } = realPool();
    const busy = async () => {
      await pool.run(template('ada'));
      const asked = pool.run({ ...template('ada'), maxMs: 300 });
      await systemTimer.yield();
      for (const until = performance.now() + 1000; performance.now() < until;);
      return (await asked).is;
    };
    // On a machine with other things to do the child itself may be late.
    await expect.poll(busy).toBe('done');
  });

  it('is tried out for whoever asks whether one can be started', async () => {
    expect(await childFault(systemTimer)).toBeNull();
    const gone: Child = { tell: async () => death, isGone: () => true, end: () => {} };
    expect(await childFault(systemTimer, () => gone)).toBe('it ended with SIGABRT');
    const failing = () => {
      throw new Error('spawn EAGAIN');
    };
    expect(await childFault(systemTimer, failing)).toBe('spawn EAGAIN');
  });

  it('has no environment, a small heap, and no right to read, to write or to start anything', async () => {
    process.env['SECRET_OF_THE_TEST'] = 'secret';
    onTestFinished(() => void delete process.env['SECRET_OF_THE_TEST']);
    const { pool } = realPool();
    await pool.run(template('ada'));
    // Those of tests before this one were killed, and take a moment to be gone.
    await expect.poll(childProcesses).toHaveLength(1);
    const [child] = childProcesses();
    expect(child?.environment.filter((each) => !each.startsWith('NODE_CHANNEL_'))).toEqual([]);
    const flags = child?.flags ?? [];
    expect(flags).toContain('--max-old-space-size=64');
    const code = (does: string) => {
      const script = `try { ${does}; console.log('done'); } catch (error) { console.log(error.code); }`;
      return execFileSync(process.execPath, [...flags, '-e', script], { encoding: 'utf8', stdio: 'pipe' }).trim();
    };
    for (const forbidden of [
      `fs.readFileSync('/etc/hostname')`,
      `fs.readFileSync('package.json')`,
      `fs.writeFileSync('/tmp/of-the-test', '')`,
      `child_process.execFileSync('true')`,
      `new worker_threads.Worker('0', { eval: true })`,
    ]) {
      expect([forbidden, code(forbidden)]).toEqual([forbidden, 'ERR_ACCESS_DENIED']);
    }
  });

  it('keeps no other process alive', async () => {
    const module = new URL('../../src/system/pool/child.ts', import.meta.url).href;
    const script = `const { startChild } = await import('${module}');
      const timer = setTimeout(() => undefined, 60_000);
      process.stdout.write((await startChild().tell({ kind: 'template' })).is);
      clearTimeout(timer);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    let written = '';
    parent.stdout.on('data', (chunk: Buffer) => (written += chunk.toString()));
    const [code] = (await once(parent, 'close')) as [number | null];
    expect([code, written]).toEqual([0, 'answer']);
  });
});
