import { expect, it } from 'vitest';
import { oneOffTopicsOffered, topicAdoptionMs, topicHealEveryMs } from '../../../src/domain/limits.ts';
import { aChat, aPipeline, hour, hourly, minute, restarted, type Pipeline, texts } from '../../support/pipeline.ts';

const once = (p: Pipeline, title: string, afterMs = hour) =>
  p.create({
    title,
    instructions: title,
    schedule: { kind: 'once', once_at: new Date(p.time.now() + afterMs).toISOString(), timezone: 'UTC' },
  });

/** A chat whose one-offs come together. */
async function together(): Promise<Pipeline> {
  const p = await aPipeline();
  await aChat(p, '-1001234', { settings: { oneOffs: 'together' } });
  return p;
}

const topicsMade = ({ chat }: Pipeline) => chat.calls.filter((call) => call.startsWith('createTopic'));
const placeOf = ({ chat }: Pipeline, text: string) => chat.shown.findLast((one) => one.text === text)?.topic;
const topicOf = async ({ rooms }: Pipeline, id: string) => (await rooms.tasks.get(id)).topicId;

it('takes the results of one-offs, and is made once, at first need', async () => {
  const p = await together();
  const [tea, milk] = [await once(p, 'tea'), await once(p, 'milk')];
  const daily = await p.create({ title: 'daily', instructions: 'daily', schedule: hourly });
  await p.pass(minute);
  expect(p.chat.topics).toEqual([]);
  await p.pass(hour);
  const late = await once(p, 'late');
  await p.pass(hour);
  expect(p.chat.topics.map(({ name }) => name).toSorted()).toEqual(['Reminders', 'daily']);
  const shared = p.chat.topics.find(({ name }) => name === 'Reminders')?.id;
  expect(['tea', 'milk', 'late'].map((text) => placeOf(p, text))).toEqual([shared, shared, shared]);
  expect(await Promise.all([tea, milk, late].map(({ id }) => topicOf(p, id)))).toEqual([shared, shared, shared]);
  expect(placeOf(p, 'daily')).toBe(await topicOf(p, daily.id));
  // Nobody wants a card of each of them there.
  expect(p.chat.cards.map(({ topic }) => topic)).toEqual([await topicOf(p, daily.id)]);
});

it('leaves the topics alone that tasks had before', async () => {
  const p = await aPipeline();
  const own = await once(p, 'own');
  await p.pass(hour);
  const topic = await topicOf(p, own.id);
  await aChat(p, '-1001234', { settings: { oneOffs: 'together' } });
  await p.rooms.tasks.runNow({ taskId: own.id, actor: 'system' });
  await once(p, 'other');
  await p.pass(hour);
  expect(p.chat.shown.filter(({ text }) => text === 'own').map((one) => one.topic)).toEqual([topic, topic]);
  expect(placeOf(p, 'other')).not.toBe(topic);
});

it('is adopted by all of them when the answer to its creation was lost, also by another process', async () => {
  const p = await together();
  await once(p, 'tea');
  await once(p, 'milk', hour + minute / 2);
  p.chat.failTopics('lost');
  await p.pass(hour);
  const next = await restarted(p);
  for (let turn = 0; turn < 8; turn += 1) await next.pass(10_000);
  expect(topicsMade(next)).toHaveLength(1);
  const [shared] = next.chat.topics;
  expect(['tea', 'milk'].map((text) => placeOf(next, text))).toEqual([shared?.id, shared?.id]);
});

it('is asked about once no trace of it is found, and made again when a person says so for any of them', async () => {
  const p = await together();
  await once(p, 'tea');
  const milk = await once(p, 'milk', hour + minute);
  p.chat.failTopics('dropped');
  await p.pass(hour);
  for (let turn = 0; turn < 30; turn += 1) await p.pass(topicAdoptionMs / 4);
  expect(topicsMade(p)).toHaveLength(1);
  expect((await p.rooms.tasks.get(milk.id)).topicState).not.toBe('ready');
  await p.store.retryBlocked({ chatId: null, taskId: milk.id, inDoubt: true }, p.time.now());
  for (let turn = 0; turn < 15; turn += 1) await p.pass(minute);
  expect(topicsMade(p)).toHaveLength(2);
  expect(['tea', 'milk'].map((text) => placeOf(p, text))).toEqual([p.chat.topics[0]?.id, p.chat.topics[0]?.id]);
});

it('is made again once an hour at most when people delete it, told there, and all of them follow', async () => {
  const p = await together();
  const tea = await once(p, 'tea');
  await p.pass(hour);
  const remove = () => p.chat.deleteTopic(p.chat.topics.at(-1)?.id ?? 0);
  remove();
  await once(p, 'milk', minute);
  await p.pass(minute);
  const second = p.chat.topics.at(-1)?.id;
  expect([await topicOf(p, tea.id), placeOf(p, 'milk'), placeOf(p, '[topicRemade]')]).toEqual([second, second, second]);
  remove();
  await once(p, 'bread', minute);
  await p.pass(minute);
  expect(topicsMade(p)).toHaveLength(2);
  expect(placeOf(p, 'bread')).toBeUndefined();
  await p.pass(topicHealEveryMs);
  expect(topicsMade(p)).toHaveLength(3);
  expect(placeOf(p, 'bread')).toBe(p.chat.topics.at(-1)?.id);
});

it('is made again where it led astray, and what stood elsewhere is taken back', async () => {
  const p = await together();
  await once(p, 'tea');
  await p.pass(hour);
  p.chat.failSends('misrouted');
  await once(p, 'milk', minute);
  await p.pass(minute);
  expect(texts(p).filter((text) => text === 'milk')).toHaveLength(1);
  expect(topicsMade(p)).toHaveLength(2);
  expect(placeOf(p, 'milk')).toBe(p.chat.topics.at(-1)?.id);
});

it('stays open and keeps its name, whatever becomes of its tasks, and goes to no single one of them', async () => {
  const p = await together();
  const tea = await once(p, 'tea');
  await p.pass(hour);
  const topic = (await topicOf(p, tea.id)) ?? 0;
  await p.rooms.tasks.edit({ taskId: tea.id, actor: 'system' }, { title: 'coffee' });
  expect(await p.rooms.tasks.unbindTopic({ taskId: tea.id, actor: 'system' }, topic)).toBe('none');
  await p.rooms.tasks.delete({ taskId: tea.id, actor: 'system' });
  await p.pass(minute);
  expect(p.chat.calls.filter((call) => /rename|close|pin|card/.test(call))).toEqual([]);
  expect(await p.store.taskByTopic('chat:-1001234', topic)).toBeNull();
});

it('lets go of a one-off that becomes a series', async () => {
  const p = await together();
  const tea = await once(p, 'tea');
  await p.pass(hour);
  await p.rooms.tasks.edit({ taskId: tea.id, actor: 'system' }, { schedule: hourly });
  await p.pass(hour);
  expect(p.chat.topics.map(({ name }) => name)).toEqual(['Reminders', 'tea']);
  expect(placeOf(p, 'tea')).toBe(p.chat.topics.at(-1)?.id);
});

it('is offered once, when topics of finished one-offs have piled up', async () => {
  const p = await aPipeline();
  const titles = Array.from({ length: oneOffTopicsOffered + 2 }, (_one, index) => `errand ${index}`);
  const offers = () => texts(p).filter((text) => text === '[oneOffs]').length;
  const seen: number[] = [];
  for (const title of titles) {
    await once(p, title, minute);
    await p.pass(minute);
    seen.push(offers());
  }
  expect(seen).toEqual([0, 0, 0, 0, 1, 1, 1]);
  expect(placeOf(p, '[oneOffs]')).toBeNull();
});
