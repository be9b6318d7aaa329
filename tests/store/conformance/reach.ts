import { expect, test } from 'vitest';
import { hour } from '../../support/builders.ts';
import type { OpenWorld, World } from '../../support/store-worlds.ts';
import { engineOn, target } from './verbs.ts';

const page = { limit: 50, cursor: null };
const [mine, theirs] = ['telegram:chat:-1', 'telegram:chat:-2'];
const anyRun = { states: null, source: null, taskId: null, thread: null, subject: null, tags: [], text: null };
const anyGrant = { thread: null, ownerId: null, taskId: null, state: null };
const anyTask = { thread: null, subject: null, tag: null, text: null, state: 'all' as const };

/** Two chats with a task each that has run, and what a caller sees who reaches the first alone. */
async function twoChats(world: World) {
  const engine = engineOn(world);
  const [own, other] = [
    await engine.create({ action: { kind: 'echo' } }, { threadKey: mine }),
    await engine.create({ action: { kind: 'echo' } }, { threadKey: theirs }),
  ];
  await engine.pass(hour);
  const snoozed = { ...target(other) };
  await engine.rooms.tasks.snooze(snoozed, engine.time.now() + hour);
  const { store, ...asked } = engine.rooms.within([own.chatId]);
  const runOf = async (taskId: string) =>
    (await engine.rooms.tasks.listRuns({ taskId, status: 'succeeded', ...page })).items[0]?.runId ?? '';
  return { ...engine, own, other, seen: store, asked, runs: [await runOf(own.id), await runOf(other.id)] as const };
}

/** Isolation of callers: what belongs to no chat of theirs is not there, in reads and in writes. */
export function reachTests(open: OpenWorld): void {
  test('a caller reads what belongs to its chats, and nothing else', async () => {
    const world = await open();
    const { asked, seen, own, other, runs, time } = await twoChats(world);
    const [ownRun, otherRun] = runs;
    const { tasks, truth, access } = asked;
    expect((await tasks.get(own.id)).id).toBe(own.id);
    expect((await tasks.list({ ...anyTask, ...page })).items.map(({ id }) => id)).toEqual([own.id]);
    expect((await asked.runs.list({ ...anyRun, from: null, to: null, ...page })).items.map(({ id }) => id)).toEqual([
      ownRun,
    ]);
    expect((await tasks.getRun(ownRun)).id).toBe(ownRun);
    expect((await tasks.listGrants({ ...anyGrant, ...page })).items.map(({ id }) => id)).toEqual([own.grantId]);
    expect((await access.threads({ of: null, ...page })).items.map(({ thread }) => thread.address)).toEqual(['-1']);
    const events = await truth.readEvents({ after: null, taskId: null, kind: null, limit: 100 });
    expect(new Set(events.events.map(({ taskId }) => taskId))).toEqual(new Set([own.id]));
    const latest = await truth.readEvents({ after: 'latest', taskId: null, kind: null, limit: 100 });
    expect(latest.events).toEqual([]);
    const audit = await truth.readAudit({ taskId: null, ...page });
    expect(new Set(audit.items.map(({ taskId }) => taskId))).toEqual(new Set([own.id]));
    expect((await truth.readAudit({ taskId: other.id, ...page })).items).toEqual([]);
    expect((await truth.snoozesOf([own.id, other.id])).size).toBe(0);
    expect(await seen.serverFacts(time.now())).toMatchObject({ chats: 0, databaseBytes: null });
    expect((await seen.taskTally('', 10)).counts.map(({ count }) => count)).toEqual([1]);
    const stretch = { from: 0, to: time.now() + hour };
    expect(await seen.usageOf({ thread: null, ownerId: null, ...stretch })).toMatchObject({ runs: 1 });
    expect(await seen.countQuota({ thread: other.home, ownerId: other.ownerId })).toEqual({ chat: 0, user: 1 });

    const gone = /no such/i;
    await expect(tasks.get(other.id)).rejects.toThrow(gone);
    await expect(tasks.versions(other.id)).rejects.toThrow(gone);
    expect(await seen.listVersions(other.id)).toEqual([]);
    await expect(tasks.listRuns({ taskId: other.id, status: null, ...page })).rejects.toThrow(gone);
    expect((await seen.listTaskRuns({ taskId: other.id, status: null, ...page })).items).toEqual([]);
    await expect(tasks.getRun(otherRun)).rejects.toThrow(gone);
    await expect(asked.runs.result(otherRun)).rejects.toThrow(gone);
    await expect(asked.runs.attachment(otherRun, 1)).rejects.toThrow(gone);
    await expect(truth.upcoming(other.id, 3)).rejects.toThrow(gone);
    await expect(truth.why(other.id, { after: null, limit: 3 })).rejects.toThrow(gone);
  });

  test('a caller changes nothing outside of its chats, and makes nothing there', async () => {
    const world = await open();
    const { asked, own, other, runs, rooms, create } = await twoChats(world);
    const { tasks, bulk, messages } = asked;
    const before = await rooms.tasks.get(other.id);
    const gone = /no such/i;
    const by = { actor: 'api:token:x' } as const;
    await expect(tasks.pause(target(other), null)).rejects.toThrow(gone);
    await expect(tasks.runNow(target(other))).rejects.toThrow(gone);
    await expect(tasks.cancelRun(runs[1], by.actor)).rejects.toThrow(gone);
    await expect(tasks.repeat('replay', runs[1], by)).rejects.toThrow(gone);
    await expect(tasks.revoke(other.grantId ?? '', by)).rejects.toThrow(gone);
    const fresh = await create({ title: 'Fresh' }, { threadKey: mine });
    await expect(tasks.attach(target(fresh), theirs)).rejects.toThrow(gone);
    const posting = { text: 'Hello', source: 'api', mode: 'normal', idempotencyKey: null } as const;
    const refused = await messages.post({ ...posting, threadKey: theirs }).catch((error: unknown) => String(error));
    const unknown = await messages.post({ ...posting, threadKey: 'telegram:chat:-404' }).catch(String);
    expect(refused).toMatch(gone);
    expect(unknown).toBe(refused);
    expect(await bulk.count({ thread: other.home })).toMatchObject({ active: 0 });
    expect(await bulk.purge({ ownerId: other.ownerId }, by)).toMatchObject({ counts: { active: 2 } });
    expect(await asked.runs.cancelThread(theirs, by)).toEqual({ cancelled: 0, left: 0 });
    expect(await rooms.tasks.get(other.id)).toEqual(before);
    expect(await world.query(`select id from chats where address = '-404'`)).toEqual([]);
    await expect(rooms.tasks.get(own.id)).rejects.toThrow(gone);
  });

  test('a caller does what it may in its own chats as everybody else does', async () => {
    const world = await open();
    const { asked, own, runs, settle } = await twoChats(world);
    const post = { threadKey: mine, text: 'Hello', source: 'api', mode: 'normal', idempotencyKey: null } as const;
    expect((await asked.messages.post(post)).thread).toMatchObject({ address: '-1' });
    await asked.tasks.repeat('replay', runs[0], { actor: 'api:token:x' });
    expect(await asked.runs.cancelThread(mine, { actor: 'api:token:x' })).toEqual({ cancelled: 2, left: 0 });
    await settle();
    await asked.tasks.edit(target(own), { title: 'Sit down' });
    expect((await asked.tasks.versions(own.id)).length).toBe(2);
    expect(await asked.bulk.cancel({}, { actor: 'api:token:x' })).toEqual({ changed: 0, left: 1 });
  });

  test('a script that does not ask for the reach of its caller answers nothing', async () => {
    const world = await open();
    const { seen } = await twoChats(world);
    await expect(seen.listOwners()).rejects.toThrow('did not ask');
    expect(await world.store.within(null).listOwners()).toEqual([]);
  });
}
