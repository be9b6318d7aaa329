import { expect, test } from 'vitest';
import { createLedAstray } from '../../../src/app/pipeline/topics.ts';

test('a part that was led astray is tried again at a whole millisecond, whatever the stopwatch counts', async () => {
  let elapsed = 0.125;
  const settle = createLedAstray({
    clock: { now: () => 0 },
    stopwatch: { elapsed: () => elapsed },
    bell: { ring: () => {} },
    store: { retryBlocked: async () => 0 },
  });
  const whose = { id: 'part', fence: 1, guidance: null };
  const end = { ...whose, status: 'blocked', cause: 'topic_astray', error: 'elsewhere', afterMs: 600_000 } as const;
  const lookAgain = async () => (await settle([{ chatId: 'chat', end }]))[0]?.end;

  expect(await lookAgain()).toMatchObject({ afterMs: 30_000 });
  elapsed = 45_000.7;
  expect(await lookAgain()).toMatchObject({ afterMs: 45_001 });
});
