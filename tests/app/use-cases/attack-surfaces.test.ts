import { expect, it } from 'vitest';
import { actor, aPipeline, day, group, hour, minute, type Pipeline } from '../../support/pipeline.ts';

const hourly = { kind: 'cron', cron: '0 * * * *', timezone: 'UTC' } as const;

const post = ({ rooms }: Pipeline, text: string) =>
  rooms.messages.post({ threadKey: group, text, source: 'api', mode: 'normal', idempotencyKey: null });

const texts = ({ chat }: Pipeline) => chat.shown.map(({ text }) => text);

const numbers = (count: number) => Array.from({ length: count }, (_none, index) => index);

async function grantOf({ rooms }: Pipeline, taskId: string): Promise<string> {
  const all = { thread: null, ownerId: null, state: null, limit: 9, cursor: null };
  return (await rooms.tasks.listGrants({ ...all, taskId })).items[0]?.id ?? '';
}

async function fates(p: Pipeline, taskId: string) {
  const runs = await p.history(taskId);
  return runs.map(({ status, reason, attempts }) => [status, reason, attempts.length]);
}

it('a message of long signs comes in parts that tear none of them', async () => {
  const p = await aPipeline();
  const family = '👩‍👩‍👧‍👦'.repeat(900);
  await post(p, family);
  await p.settle();

  const parts = texts(p);
  expect(parts.length).toBeGreaterThan(1);
  expect([parts.join(''), parts.filter((text) => !text.startsWith('👩'))]).toEqual([family, []]);
});

it('messages that are posted at once keep their order when the platform has enough of them', async () => {
  const p = await aPipeline();
  p.chat.failSends('rateLimited');
  await Promise.all(numbers(30).map((index) => post(p, `m${index}`)));
  await p.settle();
  expect(texts(p)).toEqual([]);
  await p.pass(minute);

  expect(texts(p)).toEqual(numbers(30).map((index) => `m${index}`));
});

it('a right that ends between a slot and its run, or between two attempts, stops the run and says so', async () => {
  const p = await aPipeline();
  const { id: taskId } = await p.create({
    schedule: hourly,
    action: { kind: 'echo', fail_attempts: 2, error: 'retry' },
    policies: { retry: { attempts: 3, base: 'PT2M' } },
  });
  await p.rooms.tasks.grant({ taskId, actor }, { scopes: null, expiresAt: p.time.now() + hour + minute });
  await p.time.advance(hour);
  await p.rooms.scheduler.step(p.time.now(), 100);
  await p.pass(2 * minute);
  expect(await fates(p, taskId)).toEqual([['skipped', 'grant_expired', 0]]);

  await p.rooms.tasks.grant({ taskId, actor }, { scopes: null, expiresAt: null });
  await p.rooms.tasks.runNow({ taskId, actor });
  await p.settle();
  await p.rooms.tasks.revoke(await grantOf(p, taskId), { actor });
  await p.pass(5 * minute);
  expect((await fates(p, taskId)).at(-1)).toEqual(['skipped', 'grant_revoked', 1]);
  expect(texts(p)).toEqual(['[mayNotRun]', '[mayNotRun]']);
  expect((await p.rooms.audit.run()).findings).toEqual([]);
});

it('a task that came from elsewhere goes along when its group moves, and knows its old address', async () => {
  const p = await aPipeline();
  const { id: taskId } = await p.create({ schedule: hourly }, { threadKey: 'cli:default' });
  await p.rooms.tasks.attach({ taskId, actor }, group);
  await p.pass(hour);
  await p.store.moveChat('-1001234', '-100999', p.time.now());
  await p.pass(hour);
  expect((await p.rooms.tasks.attach({ taskId, actor }, group)).entryId).toBeNull();
  expect((await p.rooms.tasks.attach({ taskId, actor }, 'telegram:chat:-100999:topic:1')).entryId).toBeNull();
  const next = p.restart();
  await next.pass(day);

  expect(next.chat.shown.slice(0, 2).map(({ chatId }) => chatId)).toEqual(['-1001234', '-100999']);
  expect(new Set(next.chat.shown.slice(1).map(({ chatId }) => chatId))).toEqual(new Set(['-100999']));
  expect((await next.rooms.audit.run()).findings).toEqual([]);
});
