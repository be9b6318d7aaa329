import { describe, expect, test } from 'vitest';
import type { View } from '../../../../src/domain/shown.ts';
import type { Task } from '../../../../src/domain/task.ts';
import { draw, resultDrawn } from '../../../../src/telegram/delivery/draw.ts';
import { minute } from '../../../support/pipeline.ts';
import { aMessage, bob, labels, type Message, type Talk, taskIn, tasksIn, withTask } from '../talk.ts';

interface World {
  readonly talk: Talk;
  readonly task: Task;
  /** A message as the transport would show it in the topic. */
  readonly show: (view: View) => Message;
}

async function aWorld(text = 'every day at 12 Water the plants'): Promise<World> {
  const talk = await withTask(text);
  const task = await taskIn(talk);
  let id = 9000;
  const show = (view: View): Message => {
    const isDrawnApart = view.view === 'bundle' || view.view === 'cleaned' || view.view === 'started';
    if (isDrawnApart) throw new Error('it is of no task');
    const about = { task, now: talk.pipeline.time.now(), next: [], timezone: 'UTC' };
    const shown = view.view === 'result' ? resultDrawn(view, task) : draw(view, about);
    if (shown === null) throw new Error('nothing was drawn');
    return aMessage((id += 1), null, shown);
  };
  return { talk, task, show };
}

const result: View = { view: 'result', text: 'Water the plants', occurrenceId: 'occurrence-1' };

async function failedRun({ talk, task }: World): Promise<string> {
  await talk.ask('/run 1');
  await talk.pipeline.settle();
  const run = (await talk.pipeline.history(task.id)).at(-1)?.runId;
  if (typeof run !== 'string') throw new Error('there is no run');
  return run;
}

describe('a result', () => {
  test('is the text to the letter, with Done and Snooze', async () => {
    const { show } = await aWorld();
    const message = show(result);
    expect(message.text).toBe('Water the plants');
    expect(labels(message)).toEqual([['Done', 'Snooze']]);
  });

  test('Done says by whom and when, and offers to take that back', async () => {
    const { talk, show } = await aWorld();
    const message = show(result);
    const { toast } = await talk.press(message, 'Done');
    expect(toast).toBe('Done');
    expect(message.text).toBe('Water the plants\n\n— Done by Ada, 09:00');
    expect(labels(message)).toEqual([['Not done yet']]);
    await talk.send(message, `v1:done:${(await tasksIn(talk))[0]?.id}:occurrence-1`);
    expect(message.text).toBe('Water the plants\n\n— Done by Ada, 09:00');
    expect((await talk.press(message, 'Not done yet')).toast).toBe('Not done yet');
    expect(message.text).toBe('Water the plants');
    expect(labels(message)).toEqual([['Done', 'Snooze']]);
  });

  test('the first Done counts: whoever comes second is told who it was, and may not take it back', async () => {
    const { talk, task, show } = await aWorld();
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const [run] = await talk.pipeline.history(task.id);
    const message = aMessage(1002, null, show({ ...result, occurrenceId: run?.id ?? '' }).shown);
    await talk.press(message, 'Done');
    await talk.pipeline.time.advance(5 * minute);
    const second = await talk.send(message, `v1:done:${task.id}:${run?.id}`, { person: bob });
    expect(second).toMatchObject({ toast: 'Ada already did it: 09:00', isAlert: true });
    expect(message.text).toBe('Water the plants\n\n— Done by Ada, 09:00');
    const refused = { toast: 'Only Ada or an admin can undo that.', isAlert: true };
    expect(await talk.press(message, 'Not done yet', { person: bob })).toMatchObject(refused);
    await talk.press(message, 'Not done yet');
    await talk.press(message, 'Done', { person: bob });
    expect(message.text).toBe('Water the plants\n\n— Done by Bob, 09:05');
  });

  test('Done of a text that fills its message stands on a button', async () => {
    const { talk, show } = await aWorld();
    const message = show({ ...result, text: 'x'.repeat(4096) });
    await talk.press(message, 'Done');
    expect(message.text).toHaveLength(4096);
    expect(labels(message)).toEqual([['Done by Ada, 09:00'], ['Not done yet']]);
    expect((await talk.press(message, 'Done by Ada, 09:00')).toast).toBe('Done');
  });

  test('Done on a later day than that of the result names the day', async () => {
    const { talk, task } = await aWorld();
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const [run] = await talk.pipeline.history(task.id);
    await talk.pipeline.pass(24 * 60 * minute);
    const message = aMessage(run?.deliveries[0]?.messageId ?? 0, null, { text: 'Water the plants' });
    await talk.send(message, `v1:done:${task.id}:${run?.id}`);
    expect(message.text).toMatch(/— Done by Ada, Thu 19 Nov 09:\d\d$/);
  });

  test('Snooze offers spans, keeps the words, and comes again once', async () => {
    const { talk, task, show } = await aWorld();
    const message = show(result);
    await talk.press(message, 'Snooze');
    expect(message.text).toBe('Water the plants');
    expect(labels(message)).toEqual([['10 min', '1 h'], ['Tonight', 'Tomorrow', 'Pick…'], ['Back']]);
    await talk.press(message, 'Back');
    expect(labels(message)).toEqual([['Done', 'Snooze']]);
    await talk.press(message, 'Snooze');
    await talk.press(message, '10 min');
    expect(message.text).toBe('Water the plants\n\n— Snoozed by Ada: comes again Wed 18 Nov 09:10 (UTC)');
    expect(labels(message)).toEqual([['Done', 'Snooze']]);
    await talk.press(message, 'Snooze');
    await talk.press(message, '1 h');
    expect(message.text).toBe('Water the plants\n\n— Snoozed by Ada: comes again Wed 18 Nov 10:00 (UTC)');
    await talk.press(message, 'Done');
    expect(message.text).toBe('Water the plants\n\n— Done by Ada, 09:00');
    const pending = (await talk.pipeline.history(task.id)).filter(({ status }) => status === 'pending');
    expect(pending.map(({ slotAt }) => slotAt)).toEqual([Date.UTC(2026, 10, 18, 10)]);
  });

  test('an evening that has passed is not offered any more', async () => {
    const { talk, show } = await aWorld();
    await talk.pipeline.time.advance(11 * 60 * minute);
    const message = show(result);
    await talk.press(message, 'Snooze');
    expect(labels(message)).toEqual([['10 min', '1 h'], ['Tomorrow', 'Pick…'], ['Back']]);
    const task = (await tasksIn(talk))[0]?.id;
    expect(await talk.send(message, `v1:later:${task}:tonight`)).toMatchObject({ isAlert: true });
  });

  test('a message that is too old to be read gets its answer below', async () => {
    const { talk, show } = await aWorld();
    const message = show(result);
    const done = await talk.press(message, 'Done', { isOld: true });
    expect(done.messages.map(({ shown }) => shown.text)).toEqual(['Done by Ada, 09:00']);
    const snooze = await talk.press(message, 'Snooze', { isOld: true });
    expect(snooze.messages[0]?.shown.text).toBe('When should #1 Water the plants come again?');
    expect(message.text).toBe('Water the plants');
  });

  test('somebody else’s can be done by everybody, and put off by its owner alone', async () => {
    const { talk, show } = await aWorld();
    const message = show(result);
    const refused = { toast: 'Only Ada or an admin may do that.', isAlert: true };
    expect(await talk.press(message, 'Snooze', { person: bob })).toMatchObject(refused);
    expect(await talk.press(message, 'Done', { person: bob })).toMatchObject({ toast: 'Done', isAlert: false });
    expect(message.text).toMatch(/— Done by Bob, \d\d:\d\d$/);
  });
});

describe('a failure', () => {
  test('offers Retry, which is made once, and shows the whole error', async () => {
    const world = await aWorld('every day at 12: {{ context.nothing }}');
    const { talk, task, show } = world;
    const runId = await failedRun(world);
    const error = `${'long '.repeat(150)}end`;
    const message = show({ view: 'failed', runId, slotAt: null, attempts: 1, error });
    expect(message.text).toContain('The error is longer: press Show error.');
    expect(labels(message)).toEqual([['Retry', 'Show error', 'Pause']]);
    const { messages } = await talk.press(message, 'Show error', { person: bob });
    expect(messages[0]?.shown.text).toMatch(/^The error of #1 .*:\n.*nothing/s);
    expect((await talk.press(message, 'Retry')).toast).toBe('Trying again');
    await talk.press(message, 'Retry');
    await talk.pipeline.settle();
    const retries = (await talk.pipeline.history(task.id)).filter(({ source }) => source === 'retry');
    expect(retries).toHaveLength(1);
    expect(await talk.press(message, 'Retry', { person: bob })).toMatchObject({ isAlert: true });
  });

  test('Pause on it keeps its words and turns into Resume', async () => {
    const world = await aWorld();
    const { talk, show } = world;
    const message = show({ view: 'failed', runId: 'run-1', slotAt: null, attempts: 3, error: 'no' });
    const words = message.text;
    await talk.press(message, 'Pause');
    expect(message.text).toBe(words);
    expect(labels(message)).toEqual([['Retry', 'Show error', 'Resume']]);
    expect((await tasksIn(talk))[0]?.state).toBe('paused');
    await talk.press(message, 'Resume');
    expect(labels(message)).toEqual([['Retry', 'Show error', 'Pause']]);
    expect((await tasksIn(talk))[0]?.state).toBe('active');
  });

  test('runs of other chats cannot be looked at or retried', async () => {
    const { talk, show } = await aWorld();
    const foreign = await talk.pipeline.create({}, { threadKey: 'telegram:chat:-100999' });
    await talk.pipeline.rooms.tasks.runNow({ taskId: foreign.id, actor: 'telegram:user:5' });
    await talk.pipeline.settle();
    const run = (await talk.pipeline.history(foreign.id))[0]?.runId ?? '';
    const message = show(result);
    for (const data of [`v1:retry:${run}`, `v1:error:${run}`, 'v1:error:none', 'v1:retry:none']) {
      expect(await talk.send(message, data)).toMatchObject({ toast: 'There is no such task here.', isAlert: true });
    }
    // A task elsewhere and one that never was look alike, so that nothing can be found out by trying.
    for (const data of [`v1:task:${foreign.id}`, 'v1:task:none', `v1:run:${foreign.id}`, 'v1:run:none']) {
      expect(await talk.send(message, data)).toMatchObject({ toast: 'There is no such task here.', isAlert: true });
    }
  });
});

describe('a press in another chat than that of the result', () => {
  /** A task of another chat, whose run has ended, and a message here with the same words in a topic of the same number. */
  async function forgery(prepare: (talk: Talk) => void) {
    const { talk, task } = await aWorld();
    prepare(talk);
    const { pipeline } = talk;
    const foreign = await pipeline.create({ instructions: 'Their secret' }, { threadKey: 'telegram:chat:-100999' });
    await pipeline.rooms.tasks.runNow({ taskId: foreign.id, actor: 'telegram:user:5' });
    await pipeline.settle();
    const [run] = await pipeline.history(foreign.id);
    const topic = (await pipeline.store.readTask(foreign.id))?.topicId ?? null;
    const message = aMessage(9001, topic, { text: 'Their secret' });
    return { talk, foreign, own: task.id, occurrence: run?.id ?? '', message };
  }

  test.each(['done', 'snooze'])('%s proves nothing about it', async (verb) => {
    const { talk, foreign, own, occurrence, message } = await forgery(({ pipeline: { chat } }) => {
      chat.failSends('dropped');
      chat.evidence('undecided', 'undecided', 'undecided');
    });
    for (const task of [own, foreign.id]) await talk.send(message, `v1:${verb}:${task}:${occurrence}`);
    const [run] = await talk.pipeline.history(foreign.id);
    expect(run?.deliveries).toMatchObject([{ status: 'unknown', messageId: null }]);
  });

  test('shows nothing of it', async () => {
    const { talk, foreign, own, occurrence, message } = await forgery(() => {});
    const actor = 'telegram:user:5';
    await talk.pipeline.rooms.acks.done({ taskId: foreign.id, occurrenceId: occurrence, actor });
    message.shown = { text: 'Ours' };
    for (const verb of ['later', 'done']) {
      await talk.send(message, `v1:${verb}:${own}:${verb === 'later' ? '10m:' : ''}${occurrence}`);
      expect(message.text).toMatch(/^Ours/);
    }
    const notDone = await talk.send(message, `v1:notdone:${own}:${occurrence}`, { person: bob });
    expect(notDone.toast).toBe('Not done yet');
    expect((await talk.pipeline.history(foreign.id))[0]?.ack).toMatchObject({ status: 'done', doneBy: actor });
  });
});

describe('what waits for a person', () => {
  test('Retry of a blocked result looks again', async () => {
    const { talk, show } = await aWorld();
    talk.pipeline.chat.failTopics('blocked');
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const message = show({ view: 'blocked', cause: 'no_topic_right', error: 'not enough rights' });
    expect((await talk.press(message, 'Retry')).toast).toBe('Checking again now');
    await talk.pipeline.settle();
    expect((await talk.press(message, 'Retry')).toast).toBe('Nothing is waiting any more');
    expect(talk.pipeline.chat.shown.some(({ text }) => text === 'Water the plants')).toBe(true);
  });

  test('a person settles what nobody knows', async () => {
    const { talk, task, show } = await aWorld();
    const { chat, store, time } = talk.pipeline;
    await talk.ask('/edit 1 text Water them');
    chat.failSends('dropped');
    chat.evidence('undecided', 'undecided', 'undecided');
    await talk.ask('/run 1');
    await talk.pipeline.settle();
    const [part] = await store.unknownParts('-1001234', '');
    if (part === undefined) throw new Error('no part is unknown');
    const message = show({ view: 'inDoubt', deliveryId: part.deliveryId, sentAt: time.now() });
    expect(await talk.press(message, 'It arrived', { person: bob })).toMatchObject({ isAlert: true });
    expect((await talk.press(message, 'It arrived')).toast).toBe('Noted: it arrived');
    expect(message.text).toMatch(/\n\n— Ada: it arrived$/);
    expect(labels(message)).toEqual([]);
    expect(await talk.send(message, `v1:resend:${part.deliveryId}`)).toMatchObject({ isAlert: true });
    const delivery = (await talk.pipeline.history(task.id))[0]?.deliveries[0];
    // Delivered is only what the platform has confirmed.
    expect(delivery).toMatchObject({ status: 'failed', error: 'unconfirmed: a person says that it arrived' });
  });

  test('a part of another chat, or one that is settled, cannot be settled', async () => {
    const { talk, show } = await aWorld();
    const message = show({ view: 'inDoubt', deliveryId: 'delivery-1', sentAt: talk.pipeline.time.now() });
    expect(labels(message)).toEqual([['It arrived', 'Send again']]);
    for (const label of ['It arrived', 'Send again']) {
      expect(await talk.press(message, label)).toMatchObject({ toast: 'That was answered already.', isAlert: true });
    }
  });
});
