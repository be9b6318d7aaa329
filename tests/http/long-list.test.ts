import { expect, it } from 'vitest';
import { aPipeline } from '../support/pipeline.ts';
import { bearer, told } from './door.ts';
import { appOver } from './pipeline-door.ts';

it('a search fills its page from far back in a long list, and lets others have their turn meanwhile', async () => {
  const pipeline = await aPipeline();
  const rare = [await pipeline.create({ title: 'An orchid' }), await pipeline.create({ title: 'Another orchid' })];
  const plain = await pipeline.create({ title: 'A daisy' });
  // Behind what is looked for: more than several looks of the store pass.
  const names = (pipeline.database.pragma('table_info(tasks)') as { name: string }[]).map(({ name }) => name);
  const values = names.map((name) => (name === 'id' ? `'z' || i` : name === 'number' ? 'i' : name));
  pipeline.database.exec(`insert into tasks (${names.join(', ')})
    with recursive n(i) as (select 10001 union all select i + 1 from n where i < 15000)
    select ${values.join(', ')} from tasks, n where id = '${plain.id}'`);
  const app = appOver(pipeline);
  let turns = 0;
  let next: NodeJS.Immediate;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);

  const { json } = await told(await app.request('/v1/tasks?q=orchid&limit=2', { headers: bearer }));
  clearImmediate(next);

  expect(json.tasks.map(({ task_id: id }) => id)).toEqual(rare.map(({ id }) => id).toReversed());
  expect(turns).toBeGreaterThan(3);
});
