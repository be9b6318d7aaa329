import { expect, it } from 'vitest';
import {
  aChat,
  actor,
  aPipeline,
  day,
  hour,
  hourly,
  minute,
  start,
  texts,
  type Pipeline,
} from '../../support/pipeline.ts';

const target = (taskId: string) => ({ taskId, actor }) as const;

/** A task whose right has an end. */
async function ending(inMs: number | null | undefined, p?: Pipeline) {
  const place = p ?? (await aPipeline());
  const ends = inMs === undefined ? {} : { grantExpiresAt: inMs === null ? null : start + inMs };
  const task = await place.create({ schedule: { kind: 'cron', cron: '0 0 * * *', timezone: 'UTC' }, ...ends });
  const grant = async () => place.store.readGrant((await place.rooms.tasks.get(task.id)).grantId);
  const look = async (by: Pipeline = place) => {
    const { taken } = await by.store.tellGrantsEnding({ now: by.time.now(), limit: 10 });
    await by.settle();
    return taken;
  };
  return { p: place, task, grant, look };
}

const told = (p: Pipeline) => texts(p).filter((text) => text === '[grantEnds]').length;

it('tells once, three days ahead, that a right ends, also after a restart and where the server was down on that day', async () => {
  const { p, look } = await ending(10 * day);
  await p.pass(7 * day - 1);
  expect([await look(), told(p)]).toEqual([0, 0]);
  const next = p.restart();
  await next.time.advance(day);
  expect([await look(next), told(p)]).toEqual([1, 1]);
  expect([await look(next), await look(next.restart()), told(p)]).toEqual([0, 0, 1]);
});

it.each([
  ['renewed', (p: Pipeline, id: string) => p.rooms.tasks.renew(target(id), {})],
  [
    'given a later end',
    (p: Pipeline, id: string) => p.rooms.tasks.edit(target(id), { grantExpiresAt: start + 90 * day }),
  ],
  ['taken away', (p: Pipeline, id: string) => p.rooms.tasks.delete(target(id))],
])('does not tell of a right that was %s before', async (_what, mend) => {
  const { p, task, look } = await ending(10 * day);
  await p.time.advance(8 * day);
  await mend(p, task.id);
  expect([await look(), told(p)]).toEqual([0, 0]);
});

it('tells of a right that holds for a day once half of it is over', async () => {
  const { p, look } = await ending(day);
  await p.time.advance(day / 2 - 1);
  expect(await look()).toBe(0);
  await p.time.advance(1);
  expect(await look()).toBe(1);
});

it('renews a right that ends soon for as long again, and one that was renewed already not once more', async () => {
  const { p, task, grant } = await ending(10 * day);
  await p.time.advance(8 * day);
  const first = await p.rooms.tasks.renew(target(task.id));
  expect([first.entryId === null, (await grant())?.expiresAt]).toEqual([false, start + 18 * day]);
  expect((await p.rooms.tasks.renew(target(task.id))).entryId).toBeNull();
});

it('keeps what was given beside the needed scopes when a right is renewed', async () => {
  const { p, task, grant } = await ending(10 * day);
  await p.rooms.tasks.grant(target(task.id), {
    scopes: ['action:message', 'secret:CUSTOMER_*'],
    expiresAt: start + day,
  });
  await p.time.advance(2 * day);
  await p.rooms.tasks.renew(target(task.id));
  expect((await grant())?.scopes).toEqual(['action:message', 'secret:CUSTOMER_*']);
});

it('gives the rights of new tasks the end that their chat has chosen, unless another one is named', async () => {
  const p = await aPipeline();
  await aChat(p, '-1001234', { settings: { grantDays: 90 } });
  const ends = await Promise.all([undefined, day, null].map(async (inMs) => (await ending(inMs, p)).grant()));
  expect(ends.map((grant) => grant?.expiresAt)).toEqual([start + 90 * day, start + day, null]);
});

it('moves the end of a right by an edit, which an undo takes back, and refuses the past and what has ended', async () => {
  const { p, task, grant } = await ending(null);
  const edit = (at: number | null) => p.rooms.tasks.edit(target(task.id), { grantExpiresAt: at });
  const moved = await edit(start + 5 * day);
  expect(moved.changes).toEqual({ grant_expires_at: { before: null, after: '2026-11-23T09:00:00.000Z' } });
  await p.rooms.tasks.undo(target(task.id), moved.entryId);
  expect((await grant())?.expiresAt).toBeNull();
  await expect(edit(start - 1)).rejects.toMatchObject({
    code: 'invalid_request',
    details: { field: 'grant_expires_at' },
  });
  await edit(start + hour);
  await p.time.advance(2 * hour);
  await expect(edit(start + 9 * day)).rejects.toThrow('has ended. Renew it first');
});

it('lets a run that is under way go on to its end when its right ends or is taken away, and skips the next', async () => {
  for (const end of ['expires', 'revoked'] as const) {
    const p = await aPipeline();
    const action = { kind: 'echo', delay_ms: 60_000 } as const;
    const ends = end === 'expires' ? { grantExpiresAt: start + hour + 1000 } : {};
    const task = await p.create({ schedule: hourly, action, policies: { timeout: 'PT30M' }, ...ends });
    await p.pass(hour);
    if (end === 'revoked') await p.rooms.tasks.revoke(task.grantId, { actor });
    await p.pass(60_000);
    await p.pass(59 * 60_000);
    await p.pass(60_000);
    expect(
      (await p.history(task.id)).map(({ status, reason }) => [status, reason]),
      end,
    ).toEqual([
      ['succeeded', null],
      ['skipped', end === 'expires' ? 'grant_expired' : 'grant_revoked'],
    ]);
  }
});

it('has the card drawn anew when a right is taken away, because the card says so', async () => {
  const p = await aPipeline();
  const task = await p.create({ schedule: hourly });
  await p.pass(hour);
  await p.pass(minute);
  const drawings = () => p.database.prepare(`select count(*) from deliveries where kind = 'card'`).pluck().get();
  const before = Number(drawings());
  await p.rooms.tasks.revoke(task.grantId, { actor });
  expect([before > 0, drawings()]).toEqual([true, before + 1]);
});
