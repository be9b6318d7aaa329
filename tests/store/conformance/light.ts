import { expect, test } from 'vitest';
import type { Script } from '../../../src/store/engine/engine.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { rows } from '../../support/texts.ts';

/** What the engine waits for at a commit: asked inside the transaction, because that is where it holds. */
function* patience({ engine }: World): Script<unknown> {
  const text =
    engine.dialect === 'sqlite' ? 'pragma synchronous' : `select current_setting('synchronous_commit') as synchronous`;
  return (yield* rows<{ synchronous: unknown }>(text))[0]?.synchronous;
}

/** Transactions that do not wait for the disk. */
export function lightTests(open: OpenWorld): void {
  test('a light transaction is all or nothing, and only it goes without the wait for the disk', async () => {
    const world = await open();
    const { engine, store } = world;
    const heavy = await engine.transact(() => patience(world));
    const light = await engine.transactLightly(() => kept(world));
    const failing = engine.transactLightly(dropped);

    await expect(failing).rejects.toThrow('half way');
    expect([await store.readNote('kept'), await store.readNote('dropped')]).toEqual(['x', null]);
    expect(light).toBe(engine.dialect === 'sqlite' ? 1 : 'off');
    expect(await engine.transact(() => patience(world))).toBe(heavy);
  });
}

function* note(key: string): Script<void> {
  yield* rows(`insert into kv (scope, key, value, updated_at) values ('system', ?t, 'x', 0)`, key);
}

function* kept(world: World): Script<unknown> {
  yield* note('kept');
  return yield* patience(world);
}

function* dropped(): Script<void> {
  yield* note('dropped');
  throw new Error('half way');
}
