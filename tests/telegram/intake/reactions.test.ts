import { expect, test } from 'vitest';
import { AppError, missing } from '../../../src/domain/errors.ts';
import type { AsideApi } from '../../../src/telegram/api.ts';
import { createReactions } from '../../../src/telegram/intake/reactions.ts';
import { manualTime, memoryLog, minute, second } from '../../support/fakes.ts';

type Status = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** Reactions over a Telegram that takes them down, and a run that stands as it is told. */
function aScene() {
  const time = manualTime(0);
  const made: string[] = [];
  const work: Promise<void>[] = [];
  const run: { status: Status | Error; looks: number } = { status: 'running', looks: 0 };
  const raw = {
    setMessageReaction: async ({ reaction }: { readonly reaction: readonly { readonly emoji: string }[] }) => {
      made.push(reaction[0]?.emoji ?? '');
      return true;
    },
  };
  const ask = async (call: (api: typeof raw) => Promise<unknown>) => ({ is: 'ok', value: await call(raw) });
  const reactions = createReactions({
    aside: { ask } as unknown as AsideApi,
    log: memoryLog(),
    stopwatch: time,
    timer: time,
    begin: (one) => work.push(one),
    runs: {
      getRun: async () => {
        run.looks += 1;
        if (run.status instanceof Error) throw run.status;
        return { status: run.status } as never;
      },
    },
  });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= second) {
      await time.advance(second);
      await Promise.all(work.splice(0));
    }
  };
  return { reactions, made, run, pass };
}

const word = { chatId: -100, messageId: 7 };

test.each([
  ['succeeded', '👍'],
  ['failed', '💔'],
  ['cancelled', '💔'],
] as const)('the end of a run is told once, when it has %s', async (status, sign) => {
  const { reactions, made, run, pass } = aScene();
  reactions.follow(word, 'run-1');
  await pass(minute);
  expect(made).toEqual([]);
  run.status = status;
  await pass(minute);
  expect(made).toEqual([sign]);
});

test('a database that is away is asked again, and a run that is gone is not', async () => {
  const { reactions, made, run, pass } = aScene();
  run.status = new AppError('store_unavailable', 'away');
  reactions.follow(word, 'run-1');
  await pass(5 * second);
  run.status = missing('run');
  await pass(minute);
  const { looks } = run;
  run.status = 'succeeded';
  await pass(2 * minute);
  expect([run.looks, made]).toEqual([looks, []]);
});

test('a run is looked at ever more seldom, for an hour at most, and not at all after a stop', async () => {
  const { reactions, run, pass } = aScene();
  reactions.follow(word, 'run-1');
  await pass(minute);
  expect(run.looks).toBeLessThan(8);
  await pass(70 * minute);
  const { looks } = run;
  await pass(10 * minute);
  expect(run.looks).toBe(looks);
  reactions.follow(word, 'run-2');
  reactions.stop();
  await pass(minute);
  expect(run.looks).toBe(looks);
});

test('more than a few a second are left out', async () => {
  const { reactions, made, pass } = aScene();
  for (let count = 0; count < 20; count += 1) await reactions.set(word, '👀');
  const first = made.length;
  expect(first).toBeLessThan(10);
  await pass(2 * second);
  await reactions.set(word, '👀');
  expect(made.length).toBe(first + 1);
});
