import { expect, test } from 'vitest';
import type { Alarm } from '../../../src/app/ports/upkeep.ts';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { aMessage, withTask } from '../scenes.ts';

const alarm = (told: string): Alarm => ({
  about: 'slot_twice',
  since: nine,
  over: null,
  facts: { cause: 'audit', check: 'slot_twice', count: 1 },
  told: { 'telegram:user:1': told },
  current: [],
});

const delivered = `update deliveries set status = 'delivered', message_id = 7, delivered_at = 1,
  platform_chat_id = (select c.address from chats c where c.id = deliveries.chat_id)`;

export function alarmTests(open: OpenWorld): void {
  const words = (world: World) =>
    world.query<{ id: string; status: string; edits: number | null }>(
      `select id, status, edits from deliveries order by coalesce(edits, 0)`,
    );

  /** One that was told, and the part that tells it. */
  async function aTold(world: World) {
    const message = aMessage(world);
    const told = alarm(message.id);
    expect(await world.store.keepAlarm(told, [message], nine)).toBe(false);
    const [kept] = await world.store.listAlarms();
    expect(kept).toEqual(told);
    return { id: message.id, kept: kept ?? told };
  }

  test('an alarm is kept with its message, which leaves as the news have it by then', async () => {
    const world = await open();
    const { id, kept } = await aTold(world);
    const over = { ...kept, over: nine + hour, current: [] };
    expect(await world.store.keepAlarm(over, [], nine + hour)).toBe(false);
    expect(await words(world)).toMatchObject([{ id, status: 'pending', edits: null }]);
    const [{ content }] = (await world.query<{ content: string }>('select content from deliveries')) as [
      { content: string },
    ];
    expect(JSON.parse(content)).toMatchObject({ view: 'alarm', since: nine, over: nine + hour });
    expect(await world.store.listAlarms()).toEqual([over]);
    await world.query(delivered);
    expect(await world.store.keepAlarm(over, [], nine + hour)).toBe(true);
    expect(await world.store.listAlarms()).toEqual([{ ...over, current: [id] }]);
    expect(await words(world)).toHaveLength(1);
  });

  test('a message that has arrived is changed, and one in doubt when it is settled', async () => {
    const world = await open();
    const { id, kept } = await aTold(world);
    await world.query(`update deliveries set status = 'unknown', sends = 1`);
    const over = { ...kept, over: nine + hour, current: [] };
    expect(await world.store.keepAlarm(over, [], nine + hour)).toBe(false);
    expect(await world.store.listAlarms()).toEqual([over]);
    await world.query(delivered);
    expect(await world.store.keepAlarm(over, [], nine + hour)).toBe(true);
    expect(await words(world)).toMatchObject([{ id }, { status: 'pending', edits: 7 }]);
  });

  test('a message that its group left behind when it became a supergroup is not looked for by its number there', async () => {
    const world = await open();
    const { id, kept } = await aTold(world);
    await world.query(delivered);
    await world.query(`update deliveries set platform_chat_id = '-1'`);
    const over = { ...kept, over: nine + hour, current: [] };
    expect(await world.store.keepAlarm(over, [], nine + hour)).toBe(true);
    expect(await words(world)).toMatchObject([{ id }]);
  });

  test('a message that tells the same again after something else is changed each time', async () => {
    const world = await open();
    const { id, kept } = await aTold(world);
    await world.query(delivered);
    for (const [minutes, count] of [2, 1].entries()) {
      const facts = { cause: 'audit', check: 'slot_twice', count } as const;
      expect(await world.store.keepAlarm({ ...kept, facts }, [], nine + minutes * minute)).toBe(true);
    }
    expect(await words(world)).toMatchObject([{ id }, { edits: 7 }, { edits: 7 }]);
  });

  test('an owner whose chat could not be reached may be told once more', async () => {
    const world = await open();
    const { kept } = await aTold(world);
    await world.query(`update deliveries set status = 'failed'`);
    await world.query(`update chats set state = 'gone'`);
    await world.store.keepAlarm(kept, [], nine);
    expect(await world.store.listAlarms()).toEqual([{ ...kept, told: {} }]);
  });

  test('an alarm whose message was given up is over all the same, and is forgotten in the end', async () => {
    const world = await open();
    const { kept } = await aTold(world);
    await world.query(`update deliveries set status = 'failed'`);
    expect(await world.store.keepAlarm({ ...kept, over: nine + hour, current: [] }, [], nine + hour)).toBe(true);
    await world.store.dropExpired({ now: nine + 2 * hour, limit: 10 });
    expect(await world.store.listAlarms()).toHaveLength(1);
    await world.store.dropExpired({ now: nine + 30 * 24 * hour, limit: 10 });
    expect(await world.store.listAlarms()).toEqual([]);
  });

  test('tasks that stand still for their failures are named, the latest first', async () => {
    const { world, task } = await withTask(open);
    expect(await world.store.stoppedTasks(5)).toEqual([]);
    const pause = (reason: string, at: number) =>
      world.query(
        `update tasks set state = 'paused', next_at = null, paused_reason = ?t, paused_at = ?i where id = ?t`,
        reason,
        at,
        task.id,
      );
    await pause('manual', nine);
    expect(await world.store.stoppedTasks(5)).toEqual([]);
    await pause('auto:consecutive_failures', nine + minute);
    const { id, number, title } = task;
    const { address } = task.home;
    expect(await world.store.stoppedTasks(5)).toEqual([{ id, number, title, pausedAt: nine + minute, address }]);
    expect(await world.store.stoppedTasks(0)).toEqual([]);
  });
}
