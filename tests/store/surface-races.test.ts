import { describe, expect, test } from 'vitest';
import { hour, minute, nine } from '../support/builders.ts';
import { worldsOf, type OpenWorld, type World } from '../support/store-worlds.ts';
import { numbers, processes, together, opened } from './at-once.ts';
import { actor, target, type Engine } from './conformance/verbs.ts';

type Deed = (engine: Engine) => Promise<unknown>;

const chat = (index: number) => `telegram:chat:-100${index}`;

/** A task has a right of its own owner, in its own chat, and a number that no other one has there. */
async function misfits(world: World): Promise<unknown[]> {
  return [
    ...(await world.query(
      `select t.id from tasks t join grants g on g.id = t.grant_id
       where g.owner_id <> t.owner_id or g.chat_id <> t.chat_id`,
    )),
    ...(await world.query(`select chat_id, number from tasks group by chat_id, number having count(*) > 1`)),
    ...(await world.query(
      `select r.id from runs r join tasks t on t.id = r.task_id
       where r.status in ('queued', 'running', 'backoff') and r.chat_id <> t.chat_id`,
    )),
  ];
}

function raceTests(open: OpenWorld): void {
  test('tasks that are moved to and fro while everything else is done to them stay whole', async () => {
    const { world, engines, first } = await opened(open);
    const title = (index: number) => ({ title: `T${index}`, subject: 's' });
    const tasks = await Promise.all(
      numbers(12).map((index) => first.create(title(index), { threadKey: chat(index % 3) })),
    );
    await first.time.advance(30 * minute);
    const deeds = tasks.flatMap((task, index): Deed[] => [
      ({ rooms }) => rooms.tasks.attach(target(task), chat((index + 1) % 3)),
      ({ rooms }) => rooms.tasks.attach(target(task), chat((index + 2) % 3)),
      ({ rooms }) => rooms.tasks.runNow(target(task)),
      ({ rooms }) => rooms.scheduler.step(nine, 3),
      ({ rooms }) => rooms.tasks.grant(target(task), { scopes: null, expiresAt: null }),
      ({ create }) => create(title(index), { threadKey: chat(index % 3), onExisting: 'upsert' }),
      ({ rooms }) => rooms.tasks.delete(target(task)),
      ({ rooms }) => rooms.tasks.restore(target(task)),
      ({ rooms }) => rooms.runner.step(nine, 3).then(() => rooms.runner.idle()),
    ]);
    const { codes } = await together(engines, deeds);
    const expected = new Set(['run_in_progress', 'not_found', 'not_attachable']);
    expect(codes.filter((code) => !expected.has(code))).toEqual([]);
    expect(await misfits(world)).toEqual([]);
    await first.settle();
    expect((await first.rooms.audit.run()).findings).toEqual([]);
  });

  test('of 40 rights that are given at once one holds, and a right that is revoked meanwhile stays so', async () => {
    const { world, engines } = await opened(open);
    const task = await engines[0].create();
    const { codes } = await together(
      engines,
      numbers(40).map(
        (): Deed =>
          ({ rooms }) =>
            rooms.tasks.grant(target(task), { scopes: null, expiresAt: null }),
      ),
    );
    expect(codes).toEqual([]);
    const held = () => world.query(`select id from grants where revoked_at is null`);
    expect(await held()).toEqual(await world.query(`select grant_id as id from tasks`));
    const [one] = await world.query<{ id: string }>(`select grant_id as id from tasks`);
    const revoked = await together(
      engines,
      numbers(20).map(
        (index): Deed =>
          ({ rooms }) =>
            index % 2 === 0
              ? rooms.tasks.revoke(one?.id ?? '', { actor })
              : rooms.tasks.attach(target(task), chat(index)),
      ),
    );
    expect(revoked.codes).toEqual([]);
    const [right] = await world.query<{ at: number | null }>(
      `select g.revoked_at as at from tasks t join grants g on g.id = t.grant_id`,
    );
    // Whoever attached it before the revocation has given it another right, which nobody took away.
    expect([await misfits(world), (await held()).length]).toEqual([[], right?.at === null ? 1 : 0]);
  });

  test('a chat takes as many tasks as it has room for, however many come at once', async () => {
    const world = await open();
    const [first, ...others] = processes(world, { QUOTA_PER_CHAT: 20 });
    const tasks = await Promise.all(numbers(20).map(() => first.create()));
    for (const _one of numbers(13)) await first.create({}, { threadKey: chat(1), actor: 'telegram:user:8' });
    const { won, codes } = await together(
      [first, ...others],
      tasks.map(
        (task): Deed =>
          ({ rooms }) =>
            rooms.tasks.attach(target(task), chat(1)),
      ),
    );
    expect([won.length, new Set(codes)]).toEqual([7, new Set(['quota_exceeded'])]);
    expect(await misfits(world)).toEqual([]);
  });

  test('a chat that becomes another one while tasks come to it takes them along', async () => {
    const { world, engines, first } = await opened(open);
    const tasks = await Promise.all(numbers(20).map(() => first.create()));
    await first.create({}, { threadKey: chat(1) });
    await first.create({}, { threadKey: chat(2) });
    const deeds = tasks.map(
      (task, index): Deed =>
        ({ rooms }) =>
          rooms.tasks.attach(target(task), chat(1 + (index % 2))),
    );
    deeds.splice(9, 0, () => world.store.moveChat('-1001', '-1002', nine));
    const { codes } = await together(engines, deeds);
    expect([codes, await misfits(world)]).toEqual([[], []]);
    expect(
      await world.query(`select c.address, count(*) as tasks from tasks t join chats c on c.id = t.chat_id group by 1`),
    ).toEqual([{ address: '-1002', tasks: 22 }]);
  });

  test('one message of 40 requests with one key is one, and messages come in the order of their runs', async () => {
    const { world, engines } = await opened(open);
    const post = (text: string, idempotencyKey: string | null): Deed => {
      return ({ rooms }) =>
        rooms.messages.post({ threadKey: chat(1), text, source: 'api', mode: 'normal', idempotencyKey });
    };
    const same = await together(
      engines,
      numbers(40).map(() => post('once', 'k')),
    );
    expect([same.codes, await world.query(`select count(*) as runs from runs`)]).toEqual([[], [{ runs: 1 }]]);
    const many = await together(
      engines,
      numbers(40).map((index) => post(`m${index}`, null)),
    );
    expect(many.codes).toEqual([]);
    await engines[0].pass(hour);
    expect(await world.query(`select distinct status from runs`)).toEqual([{ status: 'succeeded' }]);
    const parts = await world.query<{ run: string }>(`select run_id as run from deliveries order by id`);
    expect(parts.map(({ run }) => run)).toEqual(parts.map(({ run }) => run).toSorted());
  });
}

describe.each(['postgres', 'sqlite'] as const)('what clients ask for at once on %s', (kind) => {
  raceTests(worldsOf(kind));
});
