import { describe, expect, it } from 'vitest';
import type { Outgoing, Sent } from '../../../src/app/ports/outside.ts';
import type { FaultyTransport } from '../../support/fakes.ts';
import { actor, hour, type Pipeline, withTopic, withTracelessSend, withFailedSends } from '../../support/pipeline.ts';
import { eventsOf } from '../tasks/world.ts';

async function lastPart(p: Pipeline, taskId: string) {
  return (await p.history(taskId)).flatMap(({ deliveries }) => deliveries).at(-1);
}

/** The next message lands outside of any topic, and nobody hears that it was sent at all. */
function loseAstray(chat: FaultyTransport): void {
  const send = chat.send.bind(chat);
  const lose = async (part: Outgoing): Promise<Sent> => {
    Object.assign(chat, { send });
    await send(part);
    return { is: 'lost', error: 'socket hang up' };
  };
  chat.failSends('misrouted');
  Object.assign(chat, { send: lose });
}

const removals = (p: Pipeline) => p.chat.calls.filter((call) => call.startsWith('remove'));
const looks = (p: Pipeline) => p.chat.calls.filter((call) => call.startsWith('settle')).length;

describe('evidence that finds a message', () => {
  it('outside of any topic takes it back and sends it again, into the topic that is there', async () => {
    const { p, id, topic } = await withTopic();
    loseAstray(p.chat);
    await p.pass(hour);
    const astray = p.chat.shown.at(-1);
    expect(astray?.topic).toBeNull();
    await p.pass(2000);
    expect(removals(p)).toEqual([`remove ${astray?.messageId}`]);
    expect(p.chat.shown.map((one) => one.topic)).toEqual([topic, topic]);
    expect(await lastPart(p, id)).toMatchObject({ status: 'delivered', messageId: p.chat.shown.at(-1)?.messageId });
    // A message that strayed once says nothing against its topic.
    expect(p.chat.topics).toHaveLength(1);
  });

  it('in the topic that was right when it was sent counts as delivered, whatever the topic is by now', async () => {
    const { p, id } = await withFailedSends(['lost']);
    await p.store.endTopic({ taskId: id, state: 'ready', id: 4711, cardId: 'a', remadeId: 'b', at: p.time.now() });
    await p.pass(2000);
    expect(await lastPart(p, id)).toMatchObject({ status: 'delivered', messageId: p.chat.shown.at(-1)?.messageId });
    expect([removals(p), p.chat.shown.length]).toEqual([[], 2]);
    expect((await p.store.readTask(id))?.topicState).toBe('ready');
  });
});

describe('a look that Telegram does not answer', () => {
  it('is made again every few seconds, and nothing is sent meanwhile, for two minutes', async () => {
    const { p, id } = await withFailedSends(['dropped', 'dropped']);
    const sends = () => p.chat.calls.filter((call) => call.startsWith('send')).length;
    p.chat.evidence(...Array.from({ length: 100 }, () => 'away' as const));
    const before = sends();
    for (let passed = 0; passed < 119; passed += 1) await p.pass(1000);
    expect([sends(), looks(p)]).toEqual([before, 24]);
    expect(await lastPart(p, id)).toMatchObject({ status: 'unknown' });
    await p.pass(30_000);
    expect(sends()).toBe(before + 1);
  });

  it('is followed by the first one that it answers, which decides', async () => {
    const { p, id } = await withFailedSends(['lost']);
    p.chat.evidence('away', 'away', 'away', 'away', 'away', 'away', 'away', 'away');
    for (let passed = 0; passed < 42; passed += 1) await p.pass(1000);
    expect(await lastPart(p, id)).toMatchObject({ status: 'delivered', messageId: p.chat.shown.at(-1)?.messageId });
    expect(p.chat.shown).toHaveLength(2);
  });
});

describe('a part of a task that is deleted', () => {
  it.each(['resend', 'ask'] as const)('while its answer is out is not sent again: %s', async (unknown) => {
    const { p, id } = await withFailedSends(['dropped'], { unknown });
    await p.rooms.tasks.delete({ taskId: id, actor });
    await p.pass(2000);
    expect(p.chat.shown).toHaveLength(1);
    expect(await lastPart(p, id)).toMatchObject({ status: 'failed', error: 'the task was deleted' });
    await p.pass(hour);
    expect(p.chat.shown).toHaveLength(1);
  });

  it.each(['resend', 'ask'] as const)('is given up when no look finds a trace of it: %s', async (unknown) => {
    const { p, id } = await withTracelessSend({ unknown });
    await p.rooms.tasks.delete({ taskId: id, actor });
    for (const ms of [2000, 8000, 20_000, hour]) await p.pass(ms);
    expect([looks(p), p.chat.shown.length]).toEqual([3, 1]);
    expect(await lastPart(p, id)).toMatchObject({ status: 'failed', error: 'the task was deleted' });
    expect(eventsOf(p).filter(({ kind }) => kind === 'delivery.failed')).toHaveLength(1);
  });

  it('ends with it when it waits for the word of a person', async () => {
    const { p, id } = await withTracelessSend({ unknown: 'ask' });
    for (const ms of [2000, 8000, 20_000]) await p.pass(ms);
    expect((await lastPart(p, id))?.status).toBe('unknown');
    await p.rooms.tasks.delete({ taskId: id, actor });
    expect(await lastPart(p, id)).toMatchObject({ status: 'failed', error: 'the task was deleted' });
  });

  it('counts as delivered when evidence finds it all the same', async () => {
    const { p, id } = await withFailedSends(['lost']);
    await p.rooms.tasks.delete({ taskId: id, actor });
    await p.pass(2000);
    expect((await lastPart(p, id))?.status).toBe('delivered');
  });

  it.each(['notSent', 'rateLimited', 'blocked', 'misrouted'] as const)(
    'while it is being sent is not sent again when it comes back: %s',
    async (fault) => {
      const { p, id } = await withTopic();
      const open = p.chat.hold();
      p.chat.failSends(fault);
      await p.pass(hour);
      expect((await lastPart(p, id))?.status).toBe('sending');
      await p.rooms.tasks.delete({ taskId: id, actor });
      open();
      await p.settle();
      expect(await lastPart(p, id)).toMatchObject({ status: 'failed', error: 'the task was deleted' });
      await p.pass(hour);
      expect([p.chat.shown.length, p.chat.topics.length]).toEqual([1, 1]);
    },
  );
});
