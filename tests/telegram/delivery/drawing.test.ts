import { expect, it } from 'vitest';
import { drawnOf } from '../../../src/telegram/delivery/drawing.ts';
import { manualTime } from '../../support/fakes.ts';
import { start, withTask } from '../../support/pipeline.ts';
import { memoryLedger } from './ledger.ts';
import { part } from './place.ts';

it('draws a result from its row, and asks whether it is done only when it may have been there before', async () => {
  const { task } = await withTask();
  const asked: string[] = [];
  const store = {
    ...memoryLedger(),
    readAck: async ({ occurrenceId }: { occurrenceId: string }) => {
      asked.push(occurrenceId);
      const doneBy = 'telegram:user:1001' as const;
      return { status: 'done', nags: 0, doneAt: start, doneBy, result: null, chatTitle: null } as const;
    },
    readTask: async () => task,
    readUser: async () => null,
  };
  const deps = { store, clock: manualTime(start), defaultTimezone: 'UTC' };
  const resultOf = { id: task.id, state: 'active', action: { kind: 'message' }, policies: {} } as const;
  const result = { ...part({ shown: { view: 'result', text: 'Stand up!', occurrenceId: 'o-1' } }), taskId: task.id };
  const verbs = async (wasSent: boolean) => {
    const drawn = await drawnOf(deps, { ...result, resultOf, wasSent });
    return drawn?.buttons?.flat().map((button) => ('data' in button ? button.data.split(':')[1] : null));
  };
  expect([await verbs(false), asked]).toEqual([['done', 'snooze'], []]);
  expect(await verbs(true)).toEqual(['notdone']);
  expect(asked).toEqual(['o-1']);
});
