import { describe, expect, test } from 'vitest';
import { hour, minute } from '../../../support/pipeline.ts';
import { ada, aMessage, aTalk, bob, dataBehind, labels, tasksIn, afterAsking } from '../talk.ts';

/** In a group, words are meant for the bot when they answer it. */
const reply = { repliesTo: 1 };

describe('/new with a time and a text', () => {
  test('what was ahead in the preview and is over when Create is pressed is not made', async () => {
    const { talk, message } = await afterAsking('/new today at 9:01 Party');
    await talk.pipeline.time.advance(5 * minute);
    await talk.press(message, 'Create');
    expect(message.shown.text).toMatch(/I cannot create this\. .* is over\. Choose a time in the future\./);
    expect(labels(message)).toEqual([['Change time', 'Cancel'], ['Change text']]);
    expect(await tasksIn(talk)).toEqual([]);
  });

  test('Create turns the same message into the card, and the task lives where it was asked for', async () => {
    const { talk, message } = await afterAsking('/new every weekday at 9 Stand up', { topic: 77 });
    const pressed = await talk.press(message, 'Create');
    expect(pressed).toMatchObject({ toast: 'Created as #1', isAlert: false, messages: [] });
    expect(message.text).toMatchSnapshot('message');
    expect(labels(message)).toEqual([
      ['Run now', 'Pause', 'Skip next'],
      ['Edit', 'History', 'More', 'Delete'],
    ]);
    const [task] = await tasksIn(talk);
    expect(task).toMatchObject({ number: 1, ownerId: ada.actor, home: { address: '-1001234', topic: 77 } });
  });

  test.each(['every day at 9 until 26 Nov Water', 'every 2 hours Stretch', 'tomorrow at 9 until done Pills'])(
    'the card that Create shows is the one that is drawn of the task later: %s',
    async (words) => {
      const { talk, message } = await afterAsking(`/new ${words}`);
      await talk.press(message, 'Create');
      const card = await talk.ask('/task 1');
      expect(message.shown.text).toBe(card.shown.text);
    },
  );

  test('a second press of Create makes no second task and shows the card again', async () => {
    const { talk, message } = await afterAsking('/new every weekday at 9 Stand up');
    const data = dataBehind(message, 'Create');
    await talk.send(message, data);
    const second = await talk.send(message, data);
    expect(second.toast).toBe('Already created: #1');
    expect(message.text).toMatch(/^#1 Stand up\n/);
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test('a press that was in time is in time, also when it is handled again long after the draft is over', async () => {
    const talk = await aTalk();
    const { store, time } = talk.pipeline;
    const message = await talk.ask('/new every weekday at 9 Stand up');
    const { id: chatId } = await talk.chat();
    const draft = await store.openDraft(chatId, ada.actor, null, time.now());
    if (draft === null) throw new Error('no draft');
    await talk.press(message, 'Create');
    // The process died after it had made the task, and before that was written down.
    const end = { id: 900, status: 'done', error: null, messages: [], draft: { is: 'put', draft }, at: 1 } as const;
    await store.receiveUpdates([{ id: end.id, payload: '{}', address: null, messageId: null, lane: null }], 1);
    await store.endUpdate(end);
    await time.advance(40 * minute);
    expect(await talk.again()).toMatchObject({
      replies: [{ shown: { text: expect.stringMatching(/^#1 Stand up\n/) as string } }],
    });
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test('a word that is read hours after it was written tells what is over, and shows no time that has passed', async () => {
    const talk = await aTalk();
    const late = async (text: string) => {
      const { shown } = await talk.ask(text);
      expect(shown.text).toMatch(/09:(?:05|15)/);
      await talk.pipeline.time.advance(2 * hour);
      const [again] = (await talk.again()).replies.filter((each) => 'shown' in each);
      talk.pipeline.time.setWall(talk.pipeline.time.now() - 2 * hour);
      return { text: again?.shown.text, buttons: labels(aMessage(0, null, again?.shown ?? { text: '' })) };
    };
    const once = await late('/new in 5 minutes Tea');
    expect(once.text).toContain('Next: never');
    expect(once.text).toContain('is over. Choose a time in the future.');
    expect(once.buttons).toEqual([['Change time', 'Cancel'], ['Change text']]);
    const often = await late('/new every 15 minutes Stretch');
    expect(often.text).toContain('Next: Wed 18 Nov 11:15, 11:30, 11:45');
  });

  test('a wait counts from when it was written, not from when it is read', async () => {
    const { talk, message } = await afterAsking('/new in 20 minutes Take the pizza out');
    await talk.pipeline.time.advance(5 * minute);
    await talk.press(message, 'Create');
    const [task] = await tasksIn(talk);
    expect(task?.schedule).toMatchObject({ kind: 'once', onceAt: Date.UTC(2026, 10, 18, 9, 20) });
  });

  test('nobody else may press the buttons of somebody’s draft', async () => {
    const { talk, message } = await afterAsking('/new every day at 9 Stand up');
    for (const label of ['Create', 'Change time', 'Cancel']) {
      expect(await talk.press(message, label, { person: bob })).toMatchObject({
        toast: 'Only the person who started this task can answer here.',
        isAlert: true,
      });
    }
    expect(await tasksIn(talk)).toEqual([]);
  });

  test('a text of several lines is kept whole, and its first line is the title', async () => {
    const { talk, message } = await afterAsking('/new every day at 9\nShopping\n- milk\n- bread');
    expect(message.text).toContain('New task: Shopping');
    await talk.press(message, 'Create');
    const [task] = await tasksIn(talk);
    expect(task).toMatchObject({ title: 'Shopping', instructions: 'Shopping\n- milk\n- bread' });
  });

  test('what people write is shown to the letter, whatever signs are in it', async () => {
    const talk = await aTalk();
    const text = '<b>*not* _bold_</b> [x](http://y) & "q"';
    const message = await talk.ask(`/new every day at 9: ${text}`);
    expect(message.text).toContain(`New task: ${text}`);
    await talk.press(message, 'Create');
    expect(message.text).toContain(`#1 ${text}`);
  });

  test('where topics are off, preview and first card say that results will wait', async () => {
    const { talk, message } = await afterAsking('/new every day at 9 Stand up', {}, { isForum: false });
    expect(message.text).toContain('Topics are off in this group');
    await talk.press(message, 'Create');
    expect(message.text).toMatch(/^#1 Stand up\n[\s\S]*Topics are off in this group/);
  });

  test('where the bot may not manage topics, the first card says so', async () => {
    const { talk, message } = await afterAsking('/new every day at 9 Ping', {}, { setUp: { canManageTopics: false } });
    await talk.press(message, 'Create');
    expect(message.text).toMatch(/^#1 Ping\n[\s\S]*\nNote: .*I may not manage topics here/);
  });

  test('a schedule that creation would refuse says so in the preview, which has no Create', async () => {
    const { talk, message } = await afterAsking('/new every 10 seconds Ping');
    expect(message.text).toMatch(/I cannot create this\. It would run 10 seconds apart/);
    expect(labels(message)).toEqual([['Change time', 'Cancel'], ['Change text']]);
    await talk.send(message, dataBehind(message, 'Change time').replace('retime', 'create'));
    expect(message.text.match(/I cannot create this/g)).toHaveLength(1);
    expect(await tasksIn(talk)).toEqual([]);
  });
});

describe('a draft', () => {
  test('what cannot be read gets three examples that can, and the draft waits for a better one', async () => {
    const { talk, message: first } = await afterAsking('/new 31 february Call mum');
    expect(first.text).toMatchSnapshot('first');
    const second = await talk.ask('in 20 minutes Call mum', reply);
    expect(second.text).toMatch(/^New task: Call mum\n/);
  });

  test('in a group it leaves talk alone, but for a time that it has asked for', async () => {
    const { talk } = await afterAsking('/new 31 february Call mum');
    for (const words of ['what did he say?', 'see you tomorrow at 9', 'thanks', '👍'])
      expect(await talk.say(words)).toBeNull();
    expect(await talk.tells('in 20 minutes Call mum')).toMatch(/^New task: Call mum/);
    await talk.ask('/new Feed the cat');
    expect(await talk.say('see you tomorrow at 9')).toBeNull();
    expect(await talk.tells('tomorrow at 9')).toMatch(/^New task: Feed the cat/);
  });

  test.each(['/new every day at 9', '/new'])('in a group only a reply is the text: %s', async (begin) => {
    const { talk, message: asked } = await afterAsking(begin);
    if (begin === '/new') for (const label of ['Every day', '09:00', '09:00']) await talk.press(asked, label);
    for (const words of ['Who has the key?', 'tomorrow at 9', 'done']) expect(await talk.say(words)).toBeNull();
    const photo = { kind: 'photo', fileId: 'AgAC' } as const;
    expect(await talk.say('', { media: photo })).toBeNull();
    expect(await talk.tells('Water the plants', reply)).toMatch(/^New task: Water the plants\nEvery day at 09:00/);
  });

  test('in a group our name is as good as a reply', async () => {
    const { talk } = await afterAsking('/new every day at 9');
    expect(await talk.tells('Stand up', { isAddressed: true })).toMatch(/^New task: Stand up/);
  });

  test('belongs to one person in one thread', async () => {
    const { talk } = await afterAsking('/new every day at 9');
    expect(await talk.say('Not mine', { person: bob })).toBeNull();
    expect(await talk.say('Elsewhere', { topic: 5 })).toBeNull();
    expect(await talk.tells('Mine', reply)).toContain('New task: Mine');
  });

  test('another /new leaves it as it is: both previews can be created', async () => {
    const { talk, message: first } = await afterAsking('/new every day at 9 First');
    const second = await talk.ask('/new every day at 10 Second');
    expect(second.text).toMatch(/^New task: Second\n/);
    await talk.press(first, 'Create');
    await talk.press(second, 'Create');
    expect(new Set((await tasksIn(talk)).map(({ title }) => title))).toEqual(new Set(['First', 'Second']));
  });

  test('is over after 30 minutes, and not before', async () => {
    const { talk, message } = await afterAsking('/new every day at 9 Stand up');
    await talk.pipeline.time.advance(30 * minute);
    await talk.press(message, 'Create');
    expect(message.text).toContain('after 30 minutes');
    expect(labels(message)).toEqual([]);
    expect(await tasksIn(talk)).toEqual([]);
    const other = await talk.ask('/new every day at 9 Stand up');
    await talk.pipeline.time.advance(30 * minute - 1);
    await talk.press(other, 'Create');
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test('Change time asks for another time, keeps the text, and takes what cannot be read as a miss', async () => {
    const { talk, message } = await afterAsking('/new every weekday at 9 Stand up');
    const stale = dataBehind(message, 'Create');
    await talk.press(message, 'Change time');
    expect(message.text).toMatch(/^Send the new time for Stand up\. For example:/);
    expect(await talk.tells('whenever', reply)).toContain('For example:');
    expect(await talk.say('every day at 10 Ping')).toBeNull();
    for (const words of ['every day at 10: and then some', 'every day at 10 and more']) {
      expect(await talk.tells(words, reply)).toContain('Send only the time.');
    }
    const fresh = await talk.ask('every day at 10', reply);
    expect(fresh.text).toMatch(/^New task: Stand up\nEvery day at 10:00\n/);
    expect(await talk.send(message, stale)).toMatchObject({ isAlert: true });
    await talk.press(fresh, 'Create');
    expect((await tasksIn(talk)).map(({ schedule }) => schedule)).toEqual([
      { kind: 'cron', cron: '0 10 * * *', timezone: 'UTC' },
    ]);
  });

  test('a fault in a template offers to send the text as it stands', async () => {
    const { talk, message } = await afterAsking('/new every day at 9 Use {{ braces');
    await talk.press(message, 'Create');
    expect(message.text).toContain('has a fault:\n\noutput "{{ braces" not closed');
    expect(message.text).not.toContain('action.plain');
    expect(labels(message)).toEqual([['Send as plain text'], ['Change time', 'Cancel'], ['Change text']]);
    await talk.press(message, 'Send as plain text');
    expect(message.text).toMatch(/^#1 Use \{\{ braces\n/);
    const [task] = await tasksIn(talk);
    expect(task).toMatchObject({ instructions: 'Use {{ braces', action: { kind: 'message', plain: true } });
  });
});

describe('the zone of the chat', () => {
  test('is checked in the preview while nobody has confirmed it, and Yes confirms it', async () => {
    const { talk, message } = await afterAsking('/new every day at 10 Stand up', {}, { timezone: null });
    expect(message.text).toContain('\n\nIs it 09:00 for you now?');
    expect(labels(message)).toEqual([['Yes', 'No, change'], ['Create', 'Change time', 'Cancel'], ['Change text']]);
    await talk.press(message, 'Yes');
    expect(message.text).not.toContain('for you now');
    expect((await talk.chat()).timezone).toBe('UTC');
    await talk.press(message, 'Create');
    expect(await tasksIn(talk)).toHaveLength(1);
  });

  test('another zone reads the draft again on its own clocks', async () => {
    const { talk, message } = await afterAsking('/new every day at 9 Stand up', {}, { timezone: null });
    const { messages } = await talk.press(message, 'No, change');
    const [picker] = messages;
    if (picker === undefined) throw new Error('no zones were offered');
    await talk.press(picker, 'Berlin');
    expect(picker.text).toMatchSnapshot('picker');
    expect(await talk.press(message, 'Create')).toMatchObject({ isAlert: true });
    await talk.press(picker, 'Create');
    const [task] = await tasksIn(talk);
    expect(task?.nextAt).toBe(Date.UTC(2026, 10, 19, 8));
  });

  test('is only told to members, who cannot confirm it', async () => {
    const talk = await aTalk({ timezone: null });
    const message = await talk.ask('/new every day at 10 Stand up', { person: bob });
    expect(message.text).toMatch(/\nZone: UTC\n/);
    expect(message.text).not.toMatch(/admin|for you now/);
    expect(labels(message)).toEqual([['Create', 'Change time', 'Cancel'], ['Change text']]);
    expect(await talk.send(message, 'v1:zone:Europe/Berlin', { person: bob })).toMatchObject({
      toast: 'Only an admin of this chat may do that.',
      isAlert: true,
    });
    expect((await talk.chat()).timezone).toBeNull();
  });

  test('a zone that stands in the text needs no check', async () => {
    const { message } = await afterAsking('/new every day at 9 in Europe/Madrid Stand up', {}, { timezone: null });
    expect(message.text).toContain('Zone: Europe/Madrid');
    expect(labels(message)).toEqual([['Create', 'Change time', 'Cancel'], ['Change text']]);
  });
});

describe('who may make tasks', () => {
  test('more tasks than the quota allows are refused in words, and made when one is deleted', async () => {
    const talk = await aTalk({ settings: { QUOTA_PER_USER: 1 } });
    await talk.make('every day at 9 one');
    const preview = await talk.ask('/new every day at 10 two');
    await talk.press(preview, 'Create');
    expect(preview.text).toContain('You have 1 task, which is the limit.');
    await talk.ask('/delete 1');
    expect(await talk.press(preview, 'Create')).toMatchObject({ toast: 'Created as #2' });
  });
});
