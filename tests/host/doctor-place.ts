import { expect, onTestFinished } from 'vitest';
import type { Clock, Stopwatch, Timer } from '../../src/app/ports/outside.ts';
import type { Diagnosis } from '../../src/host/doctor/doctor.ts';
import type { Finding } from '../../src/host/doctor/finding.ts';
import { systemClock, systemStopwatch, systemTimer } from '../../src/system/clock.ts';
import { manualTime } from '../support/fakes.ts';
import { freePort } from '../support/ports.ts';
import { aSandbox } from '../support/sandbox.ts';
import { hostPlace, type PlaceOptions } from './place.ts';

/** On a free port, so that a server of whoever runs the tests is no part of them. */
export async function aPlace({ environment = {}, ...options }: PlaceOptions = {}) {
  const place = hostPlace({ ...options, environment: { HTTP_PORT: String(await freePort()), ...environment } });
  const look = async (...words: string[]) => {
    const { out, exitCode } = await place.type('doctor', ...words, '--json');
    const diagnosis = JSON.parse(out) as Diagnosis;
    const found = (check: string) => diagnosis.checks.filter((each) => each.check === check);
    return { out, exitCode, diagnosis, found, level: (check: string) => found(check).map(({ level }) => level) };
  };
  return { ...place, look };
}

export function expectFinding(finding: Finding | undefined, level: Finding['level'], words: string): void {
  expect(finding).toMatchObject({ level, text: expect.stringContaining(words) as string });
}

type Time = Clock & Stopwatch & Timer;

const systemTime: Time = { ...systemClock, ...systemStopwatch, ...systemTimer };

/** The time of a platform at which every wait is over at once. */
const hastyTime: Time = {
  ...systemTime,
  after: (_ms, call) => {
    const soon = setImmediate(call);
    return () => clearImmediate(soon);
  },
};

export interface SteppedTime {
  readonly time: Time;
  /** Resolves when a wait of this length has begun. */
  begins(ms: number): Promise<void>;
  advance(ms: number): Promise<void>;
}

/** The time of a platform at which a wait is over when the test says so; its clock is the one of the computer. */
export function steppedTime(): SteppedTime {
  const stepped = manualTime(0);
  const begun = new Set<number>();
  let tell = () => {};
  return {
    time: {
      ...stepped,
      ...systemClock,
      after: (ms, call) => {
        const stop = stepped.after(ms, call);
        begun.add(ms);
        tell();
        return stop;
      },
    },
    begins: (ms) =>
      new Promise((resolve) => {
        tell = () => {
          if (begun.has(ms)) resolve();
        };
        tell();
      }),
    advance: (ms) => stepped.advance(ms),
  };
}

export async function withTelegram(environment: Record<string, string> = {}, time = hastyTime) {
  const telegram = await aSandbox({ time });
  onTestFinished(() => telegram.close());
  const place = await aPlace({
    environment: { TELEGRAM_BOT_TOKEN: telegram.token, TELEGRAM_API_ROOT: telegram.apiRoot, ...environment },
  });
  return { ...place, telegram };
}
