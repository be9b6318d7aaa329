import { describe, expect, it } from 'vitest';
import { actor, day, hour, hourly, minute, texts, withTask, withTopic, type Pipeline } from '../../support/pipeline.ts';

const second = 1000;
const name = (p: Pipeline) => p.chat.topics.at(-1)?.name;
const namings = (p: Pipeline) => p.chat.calls.filter((call) => call.startsWith('rename')).length;

async function retitled(title = 'Plants') {
  const made = await withTopic();
  const change = (to: string) => made.p.rooms.tasks.edit({ taskId: made.id, actor }, { title: to });
  return { ...made, change, edited: () => change(title) };
}

describe('a task with another title', () => {
  it('has its topic called so, after the answer to whoever changed it', async () => {
    const { p, edited } = await retitled();
    await edited();
    await p.settle();
    expect(name(p)).toBe('Stand up!');
    await p.pass(second);
    expect([name(p), namings(p), texts(p)]).toEqual(['Plants', 1, ['Stand up!']]);
  });

  it.each(['notSent', 'dropped', 'lost', 'rateLimited'] as const)(
    'is named again soon after a call that was %s',
    async (fault) => {
      const { p, edited } = await retitled();
      p.chat.failNames(fault, fault, fault);
      await edited();
      await p.pass(second);
      expect(namings(p)).toBe(1);
      for (let turn = 0; turn < 30; turn += 1) await p.pass(second);
      expect([name(p), namings(p), texts(p)]).toEqual(['Plants', 4, ['Stand up!']]);
    },
  );

  it.each(['refused', 'blocked', 'closed'] as const)(
    'is told in its topic, once, why it is not called so: %s',
    async (fault) => {
      const { p, topic, edited } = await retitled();
      p.chat.failNames(fault, fault);
      await edited();
      await p.pass(second);
      const told = fault === 'blocked' ? [] : ['[notRenamed]'];
      expect(texts(p).slice(1)).toEqual(told);
      expect(p.chat.shown.at(-1)?.topic).toBe(topic);
      await p.pass(10 * minute);
      expect([name(p), namings(p)]).toEqual(['Stand up!', 2]);
      await p.pass(10 * minute);
      expect([name(p), namings(p), texts(p).slice(1)]).toEqual(['Plants', 3, told]);
    },
  );

  it('is named after its last title alone, and a name that cannot be given keeps no card waiting', async () => {
    const { p, change } = await retitled();
    p.chat.failNames('refused');
    await change('Plants');
    await p.pass(second);
    const cards = p.chat.calls.filter((call) => call.startsWith('send')).length;
    await change('Flowers');
    await p.pass(second);
    await p.pass(day);
    expect([name(p), namings(p)]).toEqual(['Flowers', 2]);
    expect(p.chat.calls.filter((call) => call.startsWith('send')).length).toBeGreaterThan(cards);
  });

  it('is tried for a day', async () => {
    const { p, edited } = await retitled();
    p.chat.failNames(...Array.from({ length: 1000 }, () => 'refused' as const));
    await edited();
    for (let turn = 0; turn < 200; turn += 1) await p.pass(10 * minute);
    expect(namings(p)).toBeLessThan(150);
    expect(p.database.prepare(`select status, cause from deliveries where kind = 'rename'`).all()).toEqual([
      { status: 'failed', cause: 'max_age' },
    ]);
  });

  it('that changed while its topic was made has it named again', async () => {
    const { p, id } = await withTask({ schedule: hourly });
    p.chat.failTopics('lost');
    await p.pass(hour);
    await p.rooms.tasks.edit({ taskId: id, actor }, { title: 'Plants' });
    for (let turn = 0; turn < 20; turn += 1) await p.pass(second);
    expect([name(p), p.chat.topics.length]).toEqual(['Plants', 1]);
  });

  it('needs none where its topic is gone: the next one is called so', async () => {
    const { p, topic, edited } = await retitled();
    p.chat.deleteTopic(topic);
    await edited();
    await p.pass(hour);
    expect([name(p), namings(p)]).toEqual(['Plants', 1]);
  });
});

describe('whoever asks over HTTP', () => {
  it('need not wait for a person to be answered first, and is told the trouble', async () => {
    const { p, id } = await withTopic();
    p.chat.failNames('refused');
    await p.rooms.tasks.edit({ taskId: id, actor: 'system:api' }, { title: 'Plants' });
    await p.settle();
    expect(await p.rooms.tasks.renameWarnings(id)).toMatchObject([{ code: 'topic_not_renamed' }]);
    await p.pass(10 * minute);
    expect(name(p)).toBe('Plants');
    expect(await p.rooms.tasks.renameWarnings(id)).toEqual([]);
  });

  it('is told nothing of a call that has no answer yet', async () => {
    const { p, id } = await withTopic();
    await p.rooms.tasks.edit({ taskId: id, actor: 'system:api' }, { title: 'Plants' });
    const warnings = p.rooms.tasks.renameWarnings(id);
    for (let turn = 0; turn < 60; turn += 1) await p.time.advance(50);
    expect(await warnings).toEqual([]);
  });
});
