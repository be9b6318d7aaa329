import { expect, it } from 'vitest';
import { calls, withHttp } from '../../support/actions.ts';
import { actor, aPipeline, hour, hourly, texts, withTask } from '../../support/pipeline.ts';

const of = (taskId: string) => ({ taskId, actor }) as const;

it('sets fields, takes away what is null, empties all of it, and changes nothing twice', async () => {
  const { p, id } = await withTask({ context: { a: 1, b: 2 } });
  const merge = (fields: Record<string, unknown>) => p.rooms.tasks.context(of(id), { is: 'merged', fields });
  expect((await merge({ a: null, c: 'x' })).task.context).toEqual({ b: 2, c: 'x' });
  expect((await merge({ c: 'x' })).entryId).toBeNull();
  const reset = await p.rooms.tasks.context(of(id), { is: 'reset' });
  expect([reset.task.context, reset.entryId === null]).toEqual([{}, false]);
  expect((await p.rooms.tasks.context(of(id), { is: 'reset' })).entryId).toBeNull();
});

it('refuses a context of more than 65,536 bytes, not of so many characters', async () => {
  const { p, id } = await withTask();
  const set = (text: string) => p.rooms.tasks.context(of(id), { is: 'merged', fields: { t: text } });
  await set('x'.repeat(65_536 - 8));
  await expect(set('x'.repeat(65_536 - 7))).rejects.toThrow('65537 bytes');
  await expect(set('ä'.repeat(33_000))).rejects.toThrow('66008 bytes');
});

it('is brought back by no undo, whatever else the change was about', async () => {
  const { p, id } = await withTask({ context: { seen: 1 }, title: 'Old' });
  const edited = await p.rooms.tasks.edit(of(id), { title: 'New', context: { seen: 0 } });
  const { task } = await p.rooms.tasks.undo(of(id), edited.entryId);
  expect([task.title, task.context]).toEqual(['Old', { seen: 0 }]);
  const reset = await p.rooms.tasks.context(of(id), { is: 'reset' });
  await expect(p.rooms.tasks.undo(of(id), reset.entryId)).rejects.toMatchObject({ code: 'nothing_to_undo' });
  expect((await p.rooms.tasks.get(id)).context).toEqual({});
});

it('tells once that a run left too much, until a person changes the context', async () => {
  const made = calls(() => ({ is: 'done', text: 'answered', context: { big: 'x'.repeat(70_000) } }));
  const p = await aPipeline({ actions: withHttp(made) });
  const action = { kind: 'http', url: 'https://api.example.com/' } as const;
  const { id } = await p.create({ schedule: hourly, action, context: { n: 1 } });
  const told = () => texts(p).filter((text) => text === '[contextLeft]').length;
  for (let runs = 0; runs < 3; runs += 1) await p.pass(hour);
  expect([told(), (await p.rooms.tasks.get(id)).context]).toEqual([1, { n: 1 }]);
  await p.rooms.tasks.context(of(id), { is: 'merged', fields: { n: 2 } });
  await p.pass(hour);
  await p.pass(hour);
  expect([told(), (await p.rooms.tasks.get(id)).context]).toEqual([2, { n: 2 }]);
});
