import { expect, test } from 'vitest';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { atOnce, won } from '../at-once.ts';

const turn = { digest: 'tea', chatId: 'chat', now: nine, until: nine + minute };
const sealed = { keyId: 'k1', box: 'one' };

/** Access tokens that are kept, and the turn of whoever asks for one. */
export function credentialTests(open: OpenWorld): void {
  test('one holder at a time asks a token server, and the next when the turn has ended', async () => {
    const { store } = await open();
    expect(await store.takeTurn({ ...turn, holder: 'a' })).toEqual({ is: 'taken', unheardSince: null });
    expect(await store.takeTurn({ ...turn, holder: 'b', now: nine + 1 })).toEqual({ is: 'held', until: nine + minute });
    await store.endTurn({ digest: 'tea', holder: 'b', isHeard: true });
    expect(await store.takeTurn({ ...turn, holder: 'b', now: nine + 1 })).toMatchObject({ is: 'held' });
    await store.endTurn({ digest: 'tea', holder: 'a', isHeard: true });
    expect(await store.takeTurn({ ...turn, holder: 'b', now: nine + 1 })).toEqual({ is: 'taken', unheardSince: null });
  });

  test('of 20 that want the turn at once one gets it', async () => {
    const world = await open();
    const results = await atOnce(world, 20, (store, index) => store.takeTurn({ ...turn, holder: `holder ${index}` }));
    expect(won(results).filter(({ is }) => is === 'taken')).toHaveLength(1);
  });

  test('a turn that nobody ended is free when its time is over, and tells since when its answer is missing', async () => {
    const { store } = await open();
    await store.takeTurn({ ...turn, holder: 'a' });
    const later = { ...turn, holder: 'b', now: nine + minute, until: nine + 2 * minute };
    expect(await store.takeTurn(later)).toEqual({ is: 'taken', unheardSince: nine });
    await store.endTurn({ digest: 'tea', holder: 'b', isHeard: false });
    const last = { ...turn, holder: 'c', now: nine + hour, until: nine + hour + minute };
    expect(await store.takeTurn(last)).toEqual({ is: 'taken', unheardSince: nine });
    await store.endTurn({ digest: 'tea', holder: 'c', isHeard: true });
    expect(await store.readCredential('tea')).toBeNull();
  });

  test('a token is kept beside the turn, and forgotten only by whoever means this one', async () => {
    const { store } = await open();
    expect(await store.readCredential('tea')).toBeNull();
    await store.takeTurn({ ...turn, holder: 'a' });
    await store.keepCredential({ digest: 'tea', chatId: 'chat', sealed, expiresAt: nine + hour });
    await store.endTurn({ digest: 'tea', holder: 'a', isHeard: true });
    expect(await store.readCredential('tea')).toEqual({ sealed, askedAt: null });
    await store.keepCredential({ digest: 'tea', chatId: 'chat', sealed: { keyId: 'k1', box: 'two' }, expiresAt: nine });
    await store.dropCredential({ digest: 'tea', box: 'one' });
    expect(await store.readCredential('tea')).toMatchObject({ sealed: { box: 'two' } });
    await store.dropCredential({ digest: 'tea', box: 'two' });
    expect(await store.readCredential('tea')).toEqual({ sealed: null, askedAt: null });
  });

  test('a token that has expired goes with what else is old', async () => {
    const { store } = await open();
    await store.keepCredential({ digest: 'tea', chatId: null, sealed, expiresAt: nine });
    await store.keepCredential({ digest: 'milk', chatId: null, sealed, expiresAt: nine + 1 });
    expect(await store.dropExpired({ now: nine, limit: 10 })).toMatchObject({ removed: { credentials: 1 } });
    expect(await store.readCredential('tea')).toBeNull();
    expect(await store.readCredential('milk')).not.toBeNull();
  });
}
