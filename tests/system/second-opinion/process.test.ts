import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Opinion, SlotQuestion } from '../../../src/app/ports/second-opinion.ts';
import { nextSlots, type Schedule } from '../../../src/domain/schedule/schedule.ts';
import { systemStopwatch, systemTimer } from '../../../src/system/clock.ts';
import { startChild, type Child } from '../../../src/system/second-opinion/child.ts';
import { createSecondOpinion } from '../../../src/system/second-opinion/process.ts';
import { manualTime, memoryLog } from '../../support/fakes.ts';

const at = Date.UTC(2026, 10, 18, 9);
const timezone = 'Europe/Madrid';
const daily: Schedule = { kind: 'cron', cron: '0 9 * * *', timezone };
/** rrule looks for the thirtieth of February until the year 9999. */
const endless: Schedule = {
  kind: 'rrule',
  rrule: `DTSTART;TZID=${timezone}:20260101T090000\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30`,
  timezone,
};

function question(schedule: Schedule): SlotQuestion {
  const upTo = at + 1000 * 86_400_000;
  const ours = schedule === endless ? [] : nextSlots(schedule, at, { count: 3, upTo });
  return { schedule, after: at, upTo, count: 3, ours, shown: null };
}

const right = (schedule: Schedule): Opinion => ({ is: 'slots', slots: question(schedule).ours, unsure: [] });

/** A real child process, and real time: only what never ends is to meet its end soon. */
function realOpinion(answerMs = 20_000) {
  const children: Child[] = [];
  const start = () => {
    const child = startChild();
    children.push(child);
    return child;
  };
  const log = memoryLog();
  const opinion = createSecondOpinion({ timer: systemTimer, stopwatch: systemStopwatch, log, answerMs, start });
  onTestFinished(() => opinion.close());
  return { opinion, children, log };
}

describe('a process of its own', () => {
  it('answers for each kind of schedule', async () => {
    const { opinion, children } = realOpinion();
    const schedules: readonly Schedule[] = [
      daily,
      { kind: 'rrule', rrule: `DTSTART;TZID=${timezone}:20260101T090000\nRRULE:FREQ=MONTHLY;BYDAY=-1FR`, timezone },
      { kind: 'interval', interval: 'P1M', startAt: at - 1000, from: 'start', timezone },
      { kind: 'interval', interval: 'PT90M', startAt: at - 1000, from: 'start', timezone },
    ];
    for (const schedule of schedules) {
      const opinionOf = await opinion.slotsOf(question(schedule));
      // The clocks change in March; what lies near that does not count.
      expect({ ...opinionOf, unsure: [] }).toEqual(right(schedule));
    }
    const shown = Date.UTC(2027, 0, 31, 9);
    const onceAt = shown - 3_600_000;
    const asked = { ...question({ kind: 'once', onceAt, timezone }), shown };
    expect(await opinion.slotsOf(asked)).toEqual({ is: 'slots', slots: [onceAt], unsure: [] });
    expect(children).toHaveLength(1);
  });

  it('is ended when an answer takes too long, and the next question has another one', async () => {
    const { opinion, children } = realOpinion(250);
    expect(await opinion.slotsOf(question(endless))).toEqual({ is: 'none', reason: 'timeout' });
    await expect.poll(() => children[0]?.isGone()).toBe(true);
    // On a busy machine a good answer may be late as well; then it is asked for again.
    await expect.poll(() => opinion.slotsOf(question(daily)), { timeout: 20_000 }).toEqual(right(daily));
    expect(children.length).toBeGreaterThan(1);
  });

  it('that is killed in the middle of an answer has no opinion, and the next question has another one', async () => {
    const { opinion, children } = realOpinion();
    await opinion.slotsOf(question(daily));
    const asked = opinion.slotsOf(question(endless));
    children[0]?.end();
    expect(await asked).toEqual({ is: 'none', reason: 'died' });
    expect(await opinion.slotsOf(question(daily))).toEqual(right(daily));
    expect(children).toHaveLength(2);
  });

  it('ends when nobody asks for a while', async () => {
    const child = startChild(50);
    onTestFinished(() => child.end());
    expect(await child.ready).toBeNull();
    await expect.poll(() => child.isGone()).toBe(true);
  });

  it('keeps no other process alive', async () => {
    const module = new URL('../../../src/system/second-opinion/child.ts', import.meta.url).href;
    const script = `const { startChild } = await import('${module}');
      const timer = setTimeout(() => undefined, 60_000);
      process.stdout.write(String(await startChild().ready));
      clearTimeout(timer);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    onTestFinished(() => void parent.kill('SIGKILL'));
    let written = '';
    parent.stdout.on('data', (chunk: Buffer) => (written += chunk.toString()));
    const [code] = (await once(parent, 'close')) as [number | null];
    expect([code, written]).toEqual([0, 'null']);
  });
});

interface FakeChild extends Child {
  die(): void;
}

function fakeChild(opinion: Promise<Opinion> = Promise.resolve(right(daily))): FakeChild {
  let isGone = false;
  return {
    ready: Promise.resolve(null),
    ask: () => opinion,
    isGone: () => isGone,
    end: () => (isGone = true),
    die: () => (isGone = true),
  };
}

/** Children of the test, and its clock. */
function manualOpinion(make: () => Child) {
  const time = manualTime(at);
  const log = memoryLog();
  const started: number[] = [];
  const start = () => {
    started.push(time.elapsed());
    return make();
  };
  const opinion = createSecondOpinion({ timer: time, stopwatch: time, log, start });
  return { opinion, time, log, started };
}

const never = new Promise<Opinion>(() => undefined);

describe('whoever asks', () => {
  it('waits for a quarter of a second at most', async () => {
    const { opinion, time } = manualOpinion(() => fakeChild(never));
    let told: Opinion | null = null;
    void opinion.slotsOf(question(daily)).then((answer) => (told = answer));
    await time.yield();
    await time.advance(249);
    expect(told).toBeNull();
    await time.advance(1);
    expect(told).toEqual({ is: 'none', reason: 'timeout' });
  });

  it('starts a child at most once a second', async () => {
    const children: FakeChild[] = [];
    const { opinion, time, started } = manualOpinion(() => {
      children.push(fakeChild());
      return children.at(-1) ?? fakeChild();
    });
    expect(started).toEqual([]);
    await opinion.slotsOf(question(daily));
    children[0]?.die();
    const asked = opinion.slotsOf(question(daily));
    await time.advance(999);
    expect(started).toEqual([0]);
    await time.advance(1);
    expect(await asked).toEqual(right(daily));
    expect(started).toEqual([0, 1000]);
  });

  it.each([
    [
      'it cannot be started',
      () => {
        throw new Error('EAGAIN');
      },
      'EAGAIN',
    ],
    ['it ends at once', () => ({ ...fakeChild(), ready: Promise.resolve('it ended with 9') }), 'it ended with 9'],
  ] as const)('has no opinion for a minute when %s, and the log says so once', async (_name, make, error) => {
    const { opinion, time, log, started } = manualOpinion(make);
    const away = { is: 'none', reason: 'away' };
    for (let turn = 0; turn < 3; turn += 1) expect(await opinion.slotsOf(question(daily))).toEqual(away);
    expect(log.lines).toEqual([{ level: 'warn', event: 'second_opinion_away', facts: { error } }]);
    await time.advance(60_000);
    expect(await opinion.slotsOf(question(daily))).toEqual(away);
    expect(started).toEqual([0, 60_000]);
  });

  it('is told at once when it is closed', async () => {
    const { opinion, started } = manualOpinion(() => fakeChild(never));
    const asked = [opinion.slotsOf(question(daily)), opinion.slotsOf(question(daily))];
    await expect.poll(() => started).toHaveLength(1);
    opinion.close();
    const away = { is: 'none', reason: 'away' };
    expect(await Promise.all(asked)).toEqual([away, away]);
    expect(await opinion.slotsOf(question(daily))).toEqual(away);
    expect(started).toHaveLength(1);
  });
});
