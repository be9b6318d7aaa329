import { expect, it } from 'vitest';
import type { ActionSpec } from '../../../src/domain/task.ts';
import { actor, hour } from '../../support/pipeline.ts';
import { caller, json } from '../actions/http/caller.ts';

const late = (base: string) => `{{ context.base }}/price?from=${new URL(base).port}`;

/** An hourly call, and its grant. */
async function calling(
  action: (base: string) => Omit<ActionSpec, 'kind'>,
  context: (base: string) => object = () => ({}),
) {
  const made = await caller(json({ price: 7 }));
  const task = await made.fetching(action(made.base), { context: context(made.base) });
  const { tasks } = made.p.rooms;
  const grant = async () => {
    const query = { thread: null, ownerId: null, taskId: task.id, state: null, limit: 9, cursor: null };
    const [found] = (await tasks.listGrants(query)).items;
    if (found === undefined) throw new Error('the task has no grant');
    return found;
  };
  const target = { taskId: task.id, actor } as const;
  const give = (scopes: readonly string[]) => tasks.grant(target, { scopes, expiresAt: null });
  const outcomes = async () => (await made.p.history(task.id)).map(({ status, reason }) => [status, reason]);
  return { ...made, task, target, tasks, grant, give, outcomes, host: `host:${new URL(made.base).host}` };
}

it('gives a task what its action needs, and an edit of the action what that needs by then', async () => {
  const { tasks, target, grant, give, host, pass, outcomes, seen } = await calling(() => ({}));
  expect((await grant()).scopes).toEqual(['action:http', host]);
  await tasks.edit(target, { action: { kind: 'http', url: 'https://other.example.com/' } });
  expect((await grant()).scopes).toEqual(['action:http', 'host:other.example.com']);
  await give(['action:http', host, 'host:other.example.com', 'secret:EXTRA']);
  await tasks.edit(target, { action: { kind: 'message' }, instructions: 'Stand up!' });
  expect((await grant()).scopes).toEqual(['action:message', host, 'secret:EXTRA']);
  await pass(hour);
  expect([await outcomes(), seen]).toEqual([[['succeeded', null]], []]);
});

it('leaves out a call to a host that only the run knows and that the grant does not name, and keeps the schedule', async () => {
  const { p, task, give, outcomes, pass, seen, host } = await calling(
    (base) => ({ url: late(base) }),
    (base) => ({ base }),
  );
  await give(['action:http', 'host:*.elsewhere.example']);
  await pass(hour);
  await pass(hour);
  expect(seen).toEqual([]);
  const skipped = ['skipped', 'grant_scope'];
  expect(await outcomes()).toEqual([skipped, skipped]);
  const [first] = await p.history(task.id);
  expect(first?.attempts).toMatchObject([{ attempt: 1, status: 'cancelled' }]);
  expect(await p.rooms.tasks.getRun(first?.runId ?? '')).toMatchObject({
    status: 'cancelled',
    errorCode: 'not_allowed',
    error: `the grant of this task does not name ${host}`,
  });
  // It is no failure of the task, uses up no bound, and is told once.
  expect(await p.rooms.tasks.get(task.id)).toMatchObject({
    state: 'active',
    counters: { runs: 0, failures: 0, consecutiveFailures: 0 },
  });
  expect(p.chat.shown.map(({ text }) => text)).toEqual(['[mayNotRun]']);

  await give(['action:http', host]);
  await pass(hour);
  expect([(await outcomes()).at(-1), seen.length]).toEqual([['succeeded', null], 1]);
});

it('lets a call that was due go on where the task was told to do something else meanwhile', async () => {
  const { p, tasks, target, outcomes, settle, seen } = await calling(() => ({}));
  await p.time.advance(hour);
  await p.rooms.scheduler.step(p.time.now(), 10);
  await tasks.edit(target, { action: { kind: 'message' }, instructions: 'Stand up!' });
  await settle();
  expect([await outcomes(), seen.length]).toEqual([[['succeeded', null]], 1]);
});

it('does not begin a call that was due where a fresh grant does not name its host', async () => {
  const { p, tasks, target, give, outcomes, settle, seen } = await calling(() => ({}));
  await p.time.advance(hour);
  await p.rooms.scheduler.step(p.time.now(), 10);
  await p.time.advance(1);
  await tasks.edit(target, { action: { kind: 'message' }, instructions: 'Stand up!' });
  await give(['action:message', 'action:http']);
  await settle();
  expect([await outcomes(), seen]).toEqual([[['skipped', 'grant_scope']], []]);
});

it('skips nothing while the database is away: the slot is judged when it is back, after a restart too', async () => {
  const { p, task, give, outcomes, settle, seen, host } = await calling(() => ({}));
  await give(['action:http', host]);
  await p.time.advance(hour);
  p.database.pragma('query_only = on');
  await expect(p.rooms.scheduler.step(p.time.now(), 10)).rejects.toMatchObject({ code: 'store_unavailable' });
  p.database.pragma('query_only = off');
  expect(await outcomes()).toEqual([]);
  await p.rooms.scheduler.step(p.time.now(), 10);
  p.database.pragma('query_only = on');
  await expect(p.rooms.runner.step(p.time.now(), 10)).rejects.toMatchObject({ code: 'store_unavailable' });
  p.database.pragma('query_only = off');
  await settle();
  expect([await outcomes(), seen.length]).toEqual([[['succeeded', null]], 1]);

  // Taken away before the next slot, it stays so for the next process.
  await p.rooms.tasks.revoke((await p.rooms.tasks.get(task.id)).grantId, { actor });
  const next = p.restart();
  await next.time.advance(hour);
  await next.settle();
  expect((await outcomes()).at(-1)).toEqual(['skipped', 'grant_revoked']);
});
