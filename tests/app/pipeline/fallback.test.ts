import { describe, expect, it } from 'vitest';
import { actor, aChat, aPipeline, group, hour, hourly, minute, texts, type Pipeline } from '../../support/pipeline.ts';

const blockedTopics = (count: number) => Array.from({ length: count }, () => 'blocked' as const);

async function withFallback(threadKey: string = group) {
  const p = await aPipeline();
  const chatId = await aChat(p);
  await p.store.noteUser({ id: actor, name: 'Ada' }, p.time.now());
  const { id } = await p.create({ schedule: hourly, policies: { fallback: 'creator' } }, { threadKey });
  return { p, id, chatId };
}

async function partsOf(p: Pipeline, taskId: string) {
  return (await p.history(taskId)).flatMap(({ deliveries }) => deliveries);
}

const places = (p: Pipeline) => p.chat.shown.map(({ topic, text }) => [topic, text]);

describe('a result whose topic cannot be had, with the policy fallback: creator', () => {
  it('comes where its task was asked for, under one line for each cause, and the delivery says so', async () => {
    const { p, id } = await withFallback();
    p.chat.failTopics(...blockedTopics(2));
    await p.pass(hour);
    await p.pass(hour);
    expect(places(p)).toEqual([
      [null, '[fallback]'],
      [null, 'Stand up!'],
      [null, 'Stand up!'],
    ]);
    expect(await partsOf(p, id)).toMatchObject(
      p.chat.shown.slice(1).map(({ messageId }) => ({
        status: 'delivered',
        isFallback: true,
        platformChatId: '-1001234',
        thread: { topic: null },
        messageId,
      })),
    );
    const results = new Set((await partsOf(p, id)).map((part) => part.id));
    const { events } = await p.store.readEvents({ after: null, taskId: id, kind: 'delivery.delivered', limit: 100 });
    expect(events.filter(({ ref }) => results.has(ref ?? '')).map(({ kind, data }) => [kind, data])).toEqual([
      ['delivery.delivered', { fallback: true }],
      ['delivery.delivered', { fallback: true }],
    ]);
    const page = { table: 'deliveries', below: null, limit: 50, now: p.time.now(), bootId: 'x' } as const;
    expect((await p.store.auditPage(page)).found).toEqual([]);
  });

  it('goes home as soon as the topic is there, and the next trouble is told anew', async () => {
    const { p, id } = await withFallback();
    p.chat.failTopics('blocked');
    await p.pass(hour);
    await p.pass(hour);
    const home = p.chat.topics[0]?.id;
    expect(places(p).at(-1)).toEqual([home, 'Stand up!']);
    expect((await partsOf(p, id)).map(({ isFallback }) => isFallback)).toEqual([true, false]);
    p.chat.failSends('closed');
    await p.pass(hour);
    expect(places(p).slice(-2)).toEqual([
      [null, '[fallback]'],
      [null, 'Stand up!'],
    ]);
  });

  it('comes at once when the policy is chosen while it waits', async () => {
    const { p, id } = await withFallback();
    const choose = (fallback: 'none' | 'creator') =>
      p.rooms.tasks.edit({ taskId: id, actor }, { policies: { fallback } });
    await choose('none');
    p.chat.failTopics(...blockedTopics(2));
    await p.pass(hour);
    expect(await partsOf(p, id)).toMatchObject([{ status: 'blocked' }]);
    await choose('creator');
    await p.settle();
    expect(await partsOf(p, id)).toMatchObject([{ status: 'delivered', isFallback: true }]);
  });

  it('comes in the topic in which the task was asked for, and in the chat itself where that is gone as well', async () => {
    const { p, id } = await withFallback(`${group}:topic:1001`);
    await p.chat.createTopic({ provider: 'telegram', address: '-1001234', topic: null }, 'Ideas');
    p.chat.failTopics(...blockedTopics(2));
    await p.pass(hour);
    p.chat.deleteTopic(1001);
    await p.pass(hour);
    expect((await partsOf(p, id)).map(({ status, thread }) => [status, thread.topic])).toEqual([
      ['delivered', 1001],
      ['delivered', null],
    ]);
  });

  it('keeps the order of the results, and the words about failures go with them', async () => {
    const { p } = await withFallback();
    await p.create({
      title: 'Fails',
      action: { kind: 'echo', fail_attempts: 9 },
      schedule: hourly,
      policies: { fallback: 'creator', retry: { attempts: 1 } },
    });
    p.chat.failTopics(...blockedTopics(2));
    await p.pass(hour);
    expect(texts(p)).toEqual(['[fallback]', 'Stand up!', '[fallback]', '[failed]']);
  });

  it.each([
    [
      'its creator has left the chat',
      async ({ p, chatId }: Awaited<ReturnType<typeof withFallback>>) => {
        await p.store.noteMember({ chatId, userId: actor, status: 'out', checkedAt: p.time.now() });
      },
    ],
    [
      'the chat is let in no more',
      async ({ p, chatId }: Awaited<ReturnType<typeof withFallback>>) => {
        await p.store.changeChat(chatId, { state: 'refused' }, p.time.now());
      },
    ],
  ])('waits where %s', async (_why, change) => {
    const made = await withFallback();
    const { p, id } = made;
    p.chat.failTopics('blocked', 'blocked');
    await p.time.advance(hour);
    await p.rooms.scheduler.step(p.time.now(), 10);
    await p.rooms.runner.step(p.time.now(), 10);
    await p.rooms.runner.idle();
    await change(made);
    await p.settle();
    expect(await partsOf(p, id)).toMatchObject([{ status: 'blocked', isFallback: false }]);
    expect(texts(p)).not.toContain('Stand up!');
  });

  it('waits where the chat itself cannot be written to', async () => {
    const { p, id } = await withFallback();
    p.chat.failSends('blocked');
    await p.pass(hour);
    expect(await partsOf(p, id)).toMatchObject([{ status: 'blocked', isFallback: false }]);
    await p.pass(10 * minute);
    expect(await partsOf(p, id)).toMatchObject([{ status: 'delivered', isFallback: false }]);
  });
});

it('without the policy a result never comes anywhere but in its topic', async () => {
  const p = await aPipeline();
  await aChat(p);
  const { id } = await p.create({ schedule: hourly });
  p.chat.failTopics('blocked', 'blocked');
  await p.pass(hour);
  expect(texts(p)).toEqual(['[blocked]']);
  expect(await partsOf(p, id)).toMatchObject([{ status: 'blocked', isFallback: false }]);
});
