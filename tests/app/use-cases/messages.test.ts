import { describe, expect, it } from 'vitest';
import type { ChatState } from '../../../src/app/ports/chats.ts';
import type { RunView } from '../../../src/app/ports/runs.ts';
import type { MessageRequest } from '../../../src/app/use-cases/messages.ts';
import { aPipeline, group, hour, minute, type Pipeline, texts, restarted } from '../../support/pipeline.ts';

const address = '-1001234';

/** A pipeline, and a group into which its owner has let the bot. */
async function aPlace(state: ChatState = 'approved', settings = {}): Promise<Pipeline> {
  const p = await aPipeline();
  const note = { newId: 'chat-1', address, title: 'Garden', kind: 'supergroup', at: p.time.now() };
  const chat = await p.store.noteChat(note);
  await p.store.changeChat(chat.id, { state, approvedBy: 'telegram:user:7', settings }, p.time.now());
  return p;
}

function post(p: Pipeline, facts: Partial<MessageRequest> = {}): Promise<RunView> {
  return p.rooms.messages.post({
    threadKey: group,
    text: 'The kettle is on.',
    source: 'api',
    mode: 'normal',
    idempotencyKey: null,
    ...facts,
  });
}

const silent = (p: Pipeline) =>
  p.database
    .prepare<[], { silent: number }>('select silent from deliveries order by id')
    .all()
    .map((one) => one.silent);

describe('a message', () => {
  it('is a run like any other: it has an attempt, an end, and a delivery where it was shown', async () => {
    const p = await aPlace();
    const { id, status, thread } = await post(p, { userKey: 'ada', traceId: 'trace-1' });
    expect({ status, thread }).toEqual({ status: 'queued', thread: { provider: 'telegram', address, topic: null } });
    await p.settle();

    expect(p.chat.shown).toMatchObject([{ chatId: address, topic: null, text: 'The kettle is on.' }]);
    expect(await p.store.readRun(id)).toMatchObject({
      source: 'api',
      taskId: null,
      userKey: 'ada',
      traceId: 'trace-1',
      status: 'succeeded',
      output: { type: 'message', text: 'The kettle is on.' },
      attempts: [{ attempt: 1, status: 'succeeded' }],
      deliveries: [{ status: 'delivered', messageId: p.chat.shown[0]?.messageId }],
    });
  });

  it('is shown as it stands, whatever it looks like', async () => {
    const p = await aPlace();
    await post(p, { text: '{{ secrets.TOKEN }} {% if %}' });
    await p.settle();

    expect(texts(p)).toEqual(['{{ secrets.TOKEN }} {% if %}']);
  });

  it('goes to the topic that was named, also to one of a task, and never to another place', async () => {
    const p = await aPlace();
    await p.create();
    await p.pass(5 * minute);
    const topic = p.chat.topics[0]?.id ?? 0;
    await post(p, { threadKey: `${group}:topic:${topic}` });
    const lost = await post(p, { threadKey: `${group}:topic:77`, text: 'Where am I?' });
    await p.settle();

    expect(p.chat.shown.map((one) => [one.topic, one.text])).toEqual([
      [topic, 'Stand up!'],
      [topic, 'The kettle is on.'],
    ]);
    expect((await p.store.readRun(lost.id))?.deliveries).toMatchObject([
      { status: 'failed', error: 'message thread not found', thread: { topic: 77 } },
    ]);
  });

  it('is cut into parts that come in order, and so do the messages of a thread', async () => {
    const p = await aPlace();
    const long = Array.from({ length: 3000 }, (_value, index) => String(index)).join(' ');
    const { id } = await post(p, { text: long });
    await post(p, { text: 'second' });
    await post(p, { text: 'third' });
    await p.settle();

    expect(texts(p).slice(0, -2).join(' ')).toBe(long);
    expect(texts(p).slice(-2)).toEqual(['second', 'third']);
    expect((await p.store.readRun(id))?.deliveries.map(({ part }) => part)).toEqual([1, 2, 3, 4]);
  });

  it('keeps its order beside others that are posted at once when the platform has enough of them', async () => {
    const p = await aPlace();
    p.chat.failSends('rateLimited');
    const all = Array.from({ length: 30 }, (_none, index) => `m${index}`);
    await Promise.all(all.map((text) => post(p, { text })));
    await p.settle();
    expect(texts(p)).toEqual([]);
    await p.pass(minute);

    expect(texts(p)).toEqual(all);
  });

  it('is kept and delivered nowhere in a thread of no platform', async () => {
    const p = await aPipeline();
    const { id } = await post(p, { threadKey: 'cli:default' });
    await p.settle();

    expect(p.chat.calls).toEqual([]);
    expect(await p.store.readRun(id)).toMatchObject({
      status: 'succeeded',
      output: { text: 'The kettle is on.' },
      thread: { provider: 'cli', address: 'default', topic: null },
      deliveries: [],
    });
  });

  it.each(['refused', 'gone'] as const)('is refused for a chat that is %s', async (state) => {
    const p = await aPlace(state);

    await expect(post(p)).rejects.toMatchObject({ code: 'not_found' });
    expect(p.database.prepare('select id from runs').all()).toEqual([]);
  });

  it('waits for a chat that cannot be written to, and says on its run why', async () => {
    const p = await aPlace();
    p.chat.failSends('blocked');
    const { id } = await post(p);
    await p.settle();
    expect(await p.store.readRun(id)).toMatchObject({
      status: 'succeeded',
      deliveries: [{ status: 'blocked', cause: 'no_write_right' }],
    });
    expect(texts(p)).toEqual([]);
    await p.pass(hour);

    expect(texts(p)).toEqual(['The kettle is on.']);
  });

  it('is sent again when its answer was lost and no trace of it is found, without asking anybody', async () => {
    const p = await aPlace();
    p.chat.failSends('dropped');
    p.chat.evidence('asks', 'asks', 'asks');
    const { id } = await post(p);
    await p.settle();
    await p.pass(hour);

    expect(texts(p)).toEqual(['The kettle is on.']);
    expect(await p.store.readRun(id)).toMatchObject({ deliveries: [{ status: 'delivered' }] });
  });

  it('goes on in order when its process dies and another one comes', async () => {
    const p = await aPlace();
    await post(p, { text: 'first' });
    await post(p, { text: 'second' });
    await p.rooms.runner.step(p.time.now(), 100);
    const next = await restarted(p);

    expect(texts(next)).toEqual(['first', 'second']);
  });

  it('stays in order when its group becomes a supergroup that is known already', async () => {
    const p = await aPlace();
    await post(p, { text: 'first' });
    const note = { newId: 'chat-2', address: '-1009999', title: 'Garden', kind: 'supergroup', at: p.time.now() };
    await p.store.changeChat((await p.store.noteChat(note)).id, { state: 'approved' }, p.time.now());
    await post(p, { threadKey: 'telegram:chat:-1009999', text: 'second' });
    await p.store.moveChat(address, '-1009999', p.time.now());
    await post(p, { text: 'third' });
    await p.settle();

    const lanes = p.database.prepare<[], { lane: string }>('select distinct lane from runs').all();
    expect(lanes).toEqual([{ lane: 'thread:chat-1:' }]);
    expect(p.chat.shown.map((one) => [one.chatId, one.text])).toEqual([
      ['-1009999', 'first'],
      ['-1009999', 'second'],
      ['-1009999', 'third'],
    ]);
  });

  it('has nothing to do again, and no task to tell of', async () => {
    const p = await aPlace();
    const { id } = await post(p);
    await p.settle();

    await expect(p.rooms.tasks.repeat('replay', id, { actor: 'system:api' })).rejects.toMatchObject({
      code: 'not_repeatable',
    });
    expect((await p.rooms.audit.run()).findings).toEqual([]);
  });
});

describe('the same message again', () => {
  it('is the same run under the same key, also when it has long been shown', async () => {
    const p = await aPlace();
    const first = await post(p, { idempotencyKey: 'k' });
    await p.settle();

    expect((await post(p, { idempotencyKey: 'k' })).id).toBe(first.id);
    expect((await post(p, { idempotencyKey: 'k', traceId: 'another' })).id).toBe(first.id);
    await p.settle();
    expect(texts(p)).toHaveLength(1);
  });

  it.each([
    ['text', { text: 'The kettle is off.' }],
    ['thread', { threadKey: 'cli:default' }],
    ['mode', { mode: 'silent' }],
    ['person', { userKey: 'ben' }],
  ] as const)('is refused with another %s', async (_what, facts) => {
    const p = await aPlace();
    await post(p, { idempotencyKey: 'k' });

    await expect(post(p, { idempotencyKey: 'k', ...facts })).rejects.toMatchObject({ code: 'idempotency_mismatch' });
  });

  it('is another one from another source, or without a key', async () => {
    const p = await aPlace();
    const ids = [
      (await post(p, { idempotencyKey: 'k' })).id,
      (await post(p, { idempotencyKey: 'k', source: 'ci.builds' })).id,
      (await post(p)).id,
      (await post(p)).id,
    ];

    expect(new Set(ids).size).toBe(4);
  });
});

describe('what cannot be a message', () => {
  it.each([
    ['no text', { text: ' \n ' }, 'text'],
    ['too much text', { text: 'x'.repeat(100_001) }, 'text'],
    ['the source of the runs of tasks', { source: 'task' }, 'source'],
    ['a source in capitals', { source: 'API' }, 'source'],
    ['no source at all', { source: '' }, 'source'],
  ])('is refused: %s', async (_what, facts, field) => {
    const p = await aPlace();

    await expect(post(p, facts)).rejects.toMatchObject({ code: 'invalid_request', details: { field } });
  });

  it('is refused where the thread cannot be read', async () => {
    const p = await aPlace();

    await expect(post(p, { threadKey: 'telegram:channel:5' })).rejects.toMatchObject({ code: 'invalid_thread_key' });
  });
});

describe('quiet hours', () => {
  const night = { quiet: { from: '00:00', to: '23:59', mode: 'hold' } };

  it('hold no message back, but let it come without a sound, unless it is urgent', async () => {
    const p = await aPlace('approved', night);
    for (const mode of ['normal', 'silent', 'urgent'] as const) await post(p, { mode, text: mode });
    await p.settle();

    expect(texts(p)).toEqual(['normal', 'silent', 'urgent']);
    expect(silent(p)).toEqual([1, 1, 0]);
  });

  it('by day only a silent one comes without a sound', async () => {
    const p = await aPlace();
    for (const mode of ['normal', 'silent', 'urgent'] as const) await post(p, { mode, text: mode });
    await p.settle();

    expect(silent(p)).toEqual([0, 1, 0]);
  });
});
