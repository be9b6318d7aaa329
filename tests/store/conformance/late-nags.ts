import { expect, test } from 'vitest';
import { hour, minute, nine } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { delivered, nextPart, putOff } from '../scenes.ts';
import { asked, claim, nag, withTopic } from './acks.ts';

const next = (world: World, now: number) => nextPart(world, { now, limit: 1 });

/** A reminder that has left, and whose answer is still to come. */
async function onItsWay(world: World) {
  const { task, note } = await asked(world);
  await withTopic(world, task.id);
  await world.store.endParts([delivered(await next(world, nine + 2000), 501)], nine + 2000);
  await claim(world, nine + hour, nag(world, 1, nine + 2 * hour));
  return { note: { ...note, at: nine + hour + minute }, nag: await next(world, nine + hour) };
}

const left = (world: World) =>
  world.query<{ kind: string; status: string; edits: number | null }>(
    `select kind, status, edits from deliveries where kind in ('notice', 'remove') order by kind`,
  );

/** Reminders whose reason goes away while they are with the platform. */
export function lateNagTests(open: OpenWorld): void {
  test('a reminder that comes after Done was said is removed, once', async () => {
    const world = await open();
    const { note, nag } = await onItsWay(world);
    await world.store.noteDone(note);
    await world.store.endParts([delivered(nag, 502)], note.at);
    await world.store.noteDone(note);
    expect(await left(world)).toEqual([
      { kind: 'notice', status: 'delivered', edits: null },
      { kind: 'remove', status: 'pending', edits: 502 },
    ]);
  });

  test('one that comes back after that is not sent again', async () => {
    const world = await open();
    const { note, nag } = await onItsWay(world);
    await world.store.noteDone(note);
    await world.store.endParts([putOff(nag, { afterMs: 1000 })], note.at);
    expect(await left(world)).toEqual([{ kind: 'notice', status: 'failed', edits: null }]);
  });

  test('one whose reason is still there stays, whichever way it comes', async () => {
    const world = await open();
    const { nag, note } = await onItsWay(world);
    await world.store.endParts([putOff(nag)], note.at);
    await world.store.endParts([delivered(await next(world, note.at), 502)], note.at);
    expect(await left(world)).toEqual([{ kind: 'notice', status: 'delivered', edits: null }]);
  });

  test('said at the very moment in which it comes, Done removes it all the same', async () => {
    const world = await open();
    const { note, nag } = await onItsWay(world);
    await Promise.all([
      world.store.noteDone(note),
      world.store.endParts([delivered(nag, 502)], note.at),
      world.store.noteDone({ ...note, actor: 'telegram:user:9' }),
    ]);
    expect((await left(world)).filter(({ kind }) => kind === 'remove')).toMatchObject([{ edits: 502 }]);
  });
}
