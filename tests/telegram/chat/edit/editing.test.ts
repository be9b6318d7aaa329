import { describe, expect, test } from 'vitest';
import { dataBehind, type Message, type Talk, taskIn, withTask } from '../talk.ts';

const edit = (talk: Talk, words: string) => talk.tells(`/edit #1 ${words}`);

describe('/edit by words', () => {
  test('a length is as long as it was written, at whatever second', async () => {
    const talk = await withTask();
    await talk.pipeline.time.advance(2000);
    await edit(talk, 'ack every 15 minutes');
    expect((await taskIn(talk)).policies.ack).toMatchObject({ nag_every: 'PT15M' });
  });

  test('tags, and the attachment', async () => {
    const talk = await withTask();
    expect(await edit(talk, 'tags home, #garden home')).toContain('Tags:\n  before: none\n  now: home, garden');
    expect((await taskIn(talk)).tags).toEqual(['home', 'garden']);
    expect(await edit(talk, 'tags none')).toContain('now: none');
    expect(await edit(talk, 'media remove')).toContain('Nothing to change');
    const { id } = await taskIn(talk);
    const action = { kind: 'message', media: { kind: 'photo', file_id: 'a-file' } };
    await talk.pipeline.rooms.tasks.edit({ taskId: id, actor: 'system' }, { action });
    expect(await edit(talk, 'media remove')).toContain('Attachment:\n  before: photo\n  now: none');
    expect((await taskIn(talk)).action).toEqual({ kind: 'message' });
  });

  test('long texts are told from where they differ', async () => {
    const talk = await withTask();
    const long = 'Please look at all the valves in the cellar, the attic and the shed. '.repeat(8);
    await edit(talk, `text ${long}Then go home.`);
    const told = await edit(talk, `text ${long}Then call Ben.`);
    expect(told).toMatch(/before: ….*Then go home\.\n.*now: ….*Then call Ben\./);
    expect(await edit(talk, `title ${'word '.repeat(40)}`)).toContain('put the rest into its text');
  });

  test('every example that is given is understood', async () => {
    const talk = await withTask();
    const faults = [
      'title',
      'text',
      'zone',
      'missed',
      'overlap',
      'retry',
      'quiet',
      'urgent',
      'ack',
      'approval',
      'until',
    ];
    for (const field of [...faults, 'start', 'max runs', 'tags', 'grace', 'media', 'jitter', 'priority']) {
      const example = /`?\/edit #1 ([^\n]+)/.exec(await edit(talk, field))?.[1] ?? '';
      expect([field, example !== '']).toEqual([field, true]);
      expect(await edit(talk, example)).toMatch(/^(?:Changed|Nothing to change)/);
    }
  });
});

describe('the Edit menu', () => {
  const open = async (talk: Talk, ...path: readonly string[]): Promise<Message> => {
    const menu = await talk.ask('/edit #1');
    for (const label of path) await talk.press(menu, label);
    return menu;
  };

  test('two presses of one choice change once', async () => {
    const talk = await withTask();
    const menu = await open(talk, 'More', 'Missed');
    const data = dataBehind(menu, 'Ask');
    await talk.send(menu, data);
    await talk.send(menu, data);
    expect(menu.text).toContain('Nothing to change');
    expect((await taskIn(talk)).version).toBe(2);
  });

  test.each(['zone:Nowhere/At_All', 'missed:x', 'ends:r0', 'ends:99999999d', 'quiet:9999-0000', '__proto__:x', ''])(
    'a made up choice %s changes nothing',
    async (choice) => {
      const talk = await withTask();
      const menu = await open(talk);
      const pressed = await talk.send(menu, `v1:fieldset:${(await taskIn(talk)).id}:${choice}`);
      expect(pressed.isAlert).toBe(true);
      expect((await taskIn(talk)).version).toBe(1);
    },
  );
});
