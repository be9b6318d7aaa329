import { expect, test } from 'vitest';
import { parseSchedule } from '../../../src/domain/schedule/schedule.ts';
import { aTask, hour, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { withTask } from '../scenes.ts';
import { asked } from './acks.ts';
import { note } from './truth.ts';

/** Reads that no other promise here needs. */
export function seldomTests(open: OpenWorld): void {
  test('a confirmation is read with its result, and a message says what it is about', async () => {
    const world = await open();
    const { note: done, occurrenceId, part, task, started } = await asked(world);
    await world.query(
      `update deliveries set status = 'delivered', message_id = 5, platform_chat_id = '-100' where id = ?t`,
      part.id,
    );
    await world.store.noteDone(done);

    expect(await world.store.readAck(done)).toMatchObject({
      status: 'done',
      doneBy: done.actor,
      result: { messageId: 5 },
      chatTitle: null,
    });
    expect(await world.store.readAck({ ...done, occurrenceId: 'another' })).toBeNull();
    expect(await world.store.readAck({ ...done, taskId: 'another' })).toBeNull();
    expect(await world.store.messageAt('-100', 5)).toEqual({
      deliveryId: part.id,
      taskId: task.id,
      runId: started.run.id,
      occurrenceId,
    });
    expect(await world.store.messageAt('-100', 6)).toBeNull();
  });

  test('results that nobody has said Done of are found in their chat, also those of which nobody was asked', async () => {
    const world = await open();
    const { note: done, occurrenceId, task } = await asked(world);
    const { chatId } = task;
    const found = async () => world.store.openResults({ chatId, since: nine - hour, limit: 5 });
    expect(await found()).toEqual([{ taskId: task.id, occurrenceId, isAsked: true }]);
    await world.query('delete from acks');
    expect(await found()).toEqual([{ taskId: task.id, occurrenceId, isAsked: false }]);
    expect(await world.store.openResults({ chatId, since: nine + hour, limit: 5 })).toEqual([]);
    await world.store.noteDone(done);
    expect(await found()).toEqual([]);
  });

  test('a task that counts from its last end says whether it awaits one', async () => {
    const world = await open();
    const schedule = parseSchedule({ kind: 'interval', interval: 'PT1H', from: 'completion', timezone: 'UTC' }, nine);
    const task = await aTask(world, { schedule });

    expect(await world.store.readPlanned(task.id)).toMatchObject({ ahead: { reserved: 0, awaitsEnd: false } });
  });

  test('whoever had paused a task that was deleted is known when it is restored', async () => {
    const { world, task } = await withTask(open);
    await note(world, task.id, [
      { at: nine, verb: 'pause', states: ['active', 'paused'] },
      { at: nine + 1, verb: 'delete', states: ['paused', 'deleted'] },
      { at: nine + 2, verb: 'restore', states: ['deleted', 'paused'] },
    ]);

    const truth = await world.store.readTruth({ taskId: task.id, from: nine - hour, to: nine + hour, limit: 9 });
    expect(truth?.changes.at(-1)?.pause).toMatchObject({ verb: 'pause', at: nine });
  });
}
