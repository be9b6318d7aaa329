import { expect, test } from 'vitest';
import { minute } from '../../../support/pipeline.ts';
import { tasksIn, withTask } from '../talk.ts';

test('/undo that is handled twice takes back one change', async () => {
  const talk = await withTask();
  for (const text of ['/edit #1 title Brunch', '/pause #1']) {
    await talk.ask(text);
    await talk.pipeline.time.advance(minute);
  }
  expect(await talk.tells('/undo')).toContain('the pause of #1');
  expect(JSON.stringify(await talk.again())).toContain('the pause of #1');
  expect((await tasksIn(talk))[0]).toMatchObject({ title: 'Brunch', state: 'active' });
});

test('/undo twice takes back two changes, at whatever instant each is written', async () => {
  const talk = await withTask();
  for (const text of ['/edit #1 title Brunch', '/pause #1']) await talk.ask(text);
  expect(await talk.tells('/undo')).toContain('the pause of #1');
  expect(await talk.tells('/undo')).toContain('the title of #1');
  expect((await tasksIn(talk))[0]).toMatchObject({ title: 'Lunch', state: 'active' });
});
