import { expect, test } from 'vitest';
import type { Once } from '../../../src/app/use-cases/kept-answers.ts';
import { hour, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { atOnce, won } from '../at-once.ts';

const once: Once = { scope: 'answer:op', target: 'target', key: 'k', payloadHash: 'a', expiresAt: nine + hour };

/** What clients were told, under their keys. */
export function keptAnswerTests(open: OpenWorld): void {
  test('what was told first is told again, until the key is past its time', async () => {
    const { store } = await open();
    expect(await store.keptAnswer(once, nine)).toBeNull();
    await store.keepAnswer(once, 'first', nine);
    await store.keepAnswer(once, 'second', nine);
    expect(await store.keptAnswer(once, nine + hour - 1)).toBe('first');
    expect(await store.keptAnswer(once, nine + hour)).toBeNull();
    await store.keepAnswer({ ...once, payloadHash: 'b', expiresAt: nine + 3 * hour }, 'anew', nine + hour);
    expect(await store.keptAnswer({ ...once, payloadHash: 'b' }, nine + hour)).toBe('anew');
  });

  test('another payload under a key is refused, and the same key elsewhere is another key', async () => {
    const { store } = await open();
    await store.keepAnswer(once, 'first', nine);
    await expect(store.keptAnswer({ ...once, payloadHash: 'b' }, nine)).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
    expect(await store.keptAnswer({ ...once, target: 'other' }, nine)).toBeNull();
  });

  test('of 20 that are kept at once one stays, and housekeeping removes it when its time is over', async () => {
    const world = await open();
    const results = await atOnce(world, 20, (store, index) => store.keepAnswer(once, `answer ${index}`, nine));
    expect(won(results)).toHaveLength(20);
    expect(await world.store.keptAnswer(once, nine)).toMatch(/^answer \d+$/);
    await world.store.dropExpired({ now: nine + hour - 1, limit: 10 });
    expect(await world.store.keptAnswer(once, nine)).not.toBeNull();
    const { removed } = await world.store.dropExpired({ now: nine + hour, limit: 10 });
    expect(removed['idempotency_keys']).toBe(1);
    expect(await world.query('select key from idempotency_keys')).toEqual([]);
  });
}
