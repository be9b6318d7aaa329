import { expect, test } from 'vitest';
import { start } from '../../../support/pipeline.ts';
import { aTalk, root, afterAsking } from '../talk.ts';

test('what is kept beside the settings stays, whatever is changed', async () => {
  const talk = await aTalk();
  const { id } = await talk.chat();
  await talk.pipeline.store.changeChat(id, { settings: { prompts: true, create: 'nonsense' } }, start);
  const message = await talk.ask('/settings');
  expect(message.text).toContain('Who may create tasks: admins only');
  await talk.press(message, '23–8');
  await talk.ask('/settings create members');
  expect((await talk.chat()).settings).toEqual({
    prompts: true,
    create: 'members',
    quiet: { from: '23:00', to: '08:00', mode: 'hold' },
  });
});

test('what somebody else has chosen meanwhile is not lost', async () => {
  const { talk, message: one } = await afterAsking('/settings');
  const other = await talk.ask('/settings', { person: root });
  await talk.press(one, '👍 off');
  await talk.press(other, 'Admins create', { person: root });
  expect((await talk.chat()).settings).toEqual({ reactions: false, create: 'admins' });
});

test('hours keep the mode and a mode keeps the hours', async () => {
  const talk = await aTalk();
  const quiet = async () => (await talk.chat()).settings['quiet'];
  await talk.ask('/settings quiet 22.30–6 silent');
  expect(await quiet()).toEqual({ from: '22:30', to: '06:00', mode: 'silent' });
  await talk.ask('/settings quiet 12am-6:30am');
  expect(await quiet()).toEqual({ from: '00:00', to: '06:30', mode: 'silent' });
  await talk.ask('/settings mode hold');
  expect(await quiet()).toEqual({ from: '00:00', to: '06:30', mode: 'hold' });
});
