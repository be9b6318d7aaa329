import { describe, expect, test } from 'vitest';
import { aTalk, bob, dataBehind, labels, tasksIn, afterAsking } from '../talk.ts';

describe('a task with the same title', () => {
  test('is told in the preview, whatever its case and spaces, and can be edited instead', async () => {
    const talk = await aTalk();
    await talk.make('every day at 9 Call  Mum');
    const preview = await talk.ask('/new tomorrow at 8 call mum');
    expect(preview.text).toContain('There is already #1 Call Mum. Edit that one, or add this one too?');
    expect(labels(preview)).toEqual([['Edit that one', 'Add anyway'], ['Change time', 'Cancel'], ['Change text']]);
    const before = preview.shown;
    await talk.press(preview, 'Edit that one');
    expect(preview.text).toBe('#1 Call Mum comes every day at 09:00 (UTC).\nWhat do you want to change?');
    expect(labels(preview)).toEqual([
      ['Use the new time', 'Use the new text'],
      ['Edit', 'Back'],
    ]);
    await talk.press(preview, 'Back');
    expect(preview.shown).toEqual(before);
    await talk.press(preview, 'Edit that one');
    const data = dataBehind(preview, 'Use the new time');
    await talk.press(preview, 'Use the new time');
    expect(preview.text).toBe('Changed: #1 Call Mum\nNext: Thu 19 Nov 08:00 (UTC)');
    expect(labels(preview)).toEqual([['Undo']]);
    expect(await tasksIn(talk)).toMatchObject([{ number: 1, schedule: { kind: 'once' }, title: 'Call  Mum' }]);
    expect(await talk.send(preview, data)).toMatchObject({ toast: 'Already created: #1' });
  });

  test('of somebody else cannot be changed by members, and can be added', async () => {
    const talk = await aTalk();
    await talk.make('every day at 9 Call mum');
    const preview = await talk.ask('/new tomorrow at 8 call mum', { person: bob });
    expect(await talk.press(preview, 'Edit that one', { person: bob })).toMatchObject({
      isAlert: true,
      toast: expect.stringContaining('Ada') as string,
    });
    await talk.press(preview, 'Add anyway', { person: bob });
    expect(await tasksIn(talk)).toHaveLength(2);
  });

  test('can be added anyway, and is no matter once the other is deleted', async () => {
    const { talk, message: first } = await afterAsking('/new every day at 9 Call mum');
    await talk.press(first, 'Create');
    await talk.press(await talk.ask('/new tomorrow at 8 call mum'), 'Add anyway');
    expect(await tasksIn(talk)).toHaveLength(2);
    for (const number of [1, 2]) await talk.ask(`/delete ${number}`);
    expect(labels(await talk.ask('/new tomorrow at 8 call mum'))).toEqual([
      ['Create', 'Change time', 'Cancel'],
      ['Change text'],
    ]);
  });
});
