import { expect, test } from 'vitest';
import type { FoundByPress } from '../../../src/app/ports/chats.ts';
import { aTask, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { lost, nextPart } from '../scenes.ts';
import { asked, withTopic } from './acks.ts';

/** A result on its way, and a press on what may be its message. */
async function pressedScene(world: World) {
  const { task, occurrenceId, part } = await asked(world);
  await withTopic(world, task.id);
  const claimed = await nextPart(world);
  const text = 'text' in part.content ? part.content.text : '';
  const found: FoundByPress = {
    address: '-100',
    topic: 42,
    messageId: 501,
    taskId: task.id,
    occurrenceId,
    texts: [text],
    at: nine + minute,
  };
  return { claimed, found };
}

const result = (world: World) =>
  world.query<{ status: string; message_id: number | null }>(
    `select status, message_id from deliveries where kind = 'result'`,
  );

/** A press on a message proves that it is there. */
export function pressedTests(open: OpenWorld): void {
  test('a press on a result whose answer is still to come settles it, and a late answer changes nothing', async () => {
    const world = await open();
    const { claimed, found } = await pressedScene(world);
    expect(await world.store.foundByPress(found)).toBe(true);
    expect(await result(world)).toEqual([{ status: 'delivered', message_id: 501 }]);
    expect(await world.store.foundByPress(found)).toBe(false);
    expect(await world.store.endParts([lost(claimed)], nine + minute)).toBe(0);
    expect(await result(world)).toEqual([{ status: 'delivered', message_id: 501 }]);
  });

  test('a press that shows other words, stands elsewhere, or names another task or run settles nothing', async () => {
    const world = await open();
    const { found } = await pressedScene(world);
    const elsewhere = await aTask(world, { home: { provider: 'telegram', address: '-200', topic: null } });
    await withTopic(world, elsewhere.id);
    const wrongs = [{ texts: ['made up'] }, { address: '-200' }, { topic: 43 }, { occurrenceId: 'nobody-knows' }];
    for (const wrong of [...wrongs, { taskId: elsewhere.id }, { taskId: elsewhere.id, address: '-200' }]) {
      expect(await world.store.foundByPress({ ...found, ...wrong })).toBe(false);
    }
    expect(await result(world)).toEqual([{ status: 'sending', message_id: null }]);
  });
}
