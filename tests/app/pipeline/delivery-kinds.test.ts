import { describe, expect, it } from 'vitest';
import type { NewMessage } from '../../../src/app/ports/chats.ts';
import type { Look, Outgoing } from '../../../src/app/ports/outside.ts';
import { second } from '../../support/fakes.ts';
import {
  aPipeline,
  actor,
  hour,
  minute,
  type Pipeline,
  withTopic,
  hourly,
  texts,
  withTracelessSend,
  withFailedSends,
  withTask,
  restarted,
} from '../../support/pipeline.ts';

interface Part {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly error: string | null;
  readonly evidence: string | null;
  readonly message_id: number | null;
}

function partsOf(p: Pipeline, kind: string): Part[] {
  return p.database.prepare('select * from deliveries where kind = ? order by rowid').all(kind) as Part[];
}

const callsOf = (p: Pipeline, name: string) => p.chat.calls.filter((call) => call.startsWith(name));

function answer(id: string, facts: Partial<NewMessage> = {}): NewMessage {
  return {
    id,
    kind: 'answer',
    thread: { provider: 'telegram', address: '-1001234', topic: null },
    taskId: null,
    shown: { text: `answer ${id}` },
    edits: null,
    expiresAt: null,
    ...facts,
  };
}

describe('the first run', () => {
  it('makes the topic, posts the result, then the card, and pins it', async () => {
    const { p, topic } = await withTopic();
    expect(p.chat.calls.map((call) => call.split(' ')[0])).toEqual(['createTopic', 'send', 'send', 'pin']);
    expect(p.chat.shown.map((one) => [one.topic, one.text])).toEqual([[topic, 'Stand up!']]);
    expect(p.chat.cards).toMatchObject([{ topic, text: '[card]' }]);
    expect(p.chat.pins).toEqual([p.chat.cards[0]?.messageId]);
  });

  it('shows no card above a result that has to wait', async () => {
    const { p } = await withTask({ schedule: hourly });
    p.chat.failSends('notSent', 'lost');
    await p.pass(hour);
    expect([p.chat.shown, p.chat.cards]).toEqual([[], []]);
    await p.pass(1000);
    expect([p.chat.shown.length, p.chat.cards.length]).toEqual([1, 0]);
    await p.pass(2000);
    expect([p.chat.shown.length, p.chat.cards.length, p.chat.pins.length]).toEqual([1, 1, 1]);
  });

  it('shows the card all the same when the result can never be shown', async () => {
    const { p } = await withTask({ schedule: hourly });
    p.chat.failSends('refused');
    await p.pass(hour);
    expect([p.chat.shown.length, p.chat.cards.length, p.chat.pins.length]).toEqual([0, 1, 1]);
  });

  it('costs one send from then on', async () => {
    const { p } = await withTopic();
    const before = p.chat.calls.length;
    await p.pass(hour);
    expect(p.chat.calls.slice(before).map((call) => call.split(' ')[0])).toEqual(['send']);
  });
});

describe('the card', () => {
  it('is changed where it stands when its task changes', async () => {
    const { p, id } = await withTopic();
    await p.rooms.tasks.pause({ taskId: id, actor }, null);
    await p.pass(second);
    expect([p.chat.cards.length, p.chat.pins.length]).toEqual([1, 1]);
    expect(partsOf(p, 'card').map(({ status, message_id }) => [status, message_id])).toEqual([
      ['delivered', p.chat.cards[0]?.messageId],
      ['delivered', p.chat.cards[0]?.messageId],
    ]);
  });

  it('whose change got no answer is changed again, and nobody looks for evidence', async () => {
    const { p, id } = await withTopic();
    p.chat.failDecoration('lost', 'dropped');
    await p.rooms.tasks.pause({ taskId: id, actor }, null);
    await p.pass(second);
    expect(partsOf(p, 'card').at(-1)?.status).toBe('pending');
    await p.pass(2000);
    await p.pass(2000);
    expect(partsOf(p, 'card').at(-1)?.status).toBe('delivered');
    expect([callsOf(p, 'settle'), p.chat.cards.length]).toEqual([[], 1]);
  });

  it('that was being changed when a process died is changed again by the next one, without a look', async () => {
    const { p, id } = await withTopic();
    const open = p.chat.hold();
    await p.rooms.tasks.pause({ taskId: id, actor }, null);
    await p.pass(second);
    open();
    const next = await restarted(p);
    await next.pass(2000);
    expect(partsOf(p, 'card').at(-1)?.status).toBe('delivered');
    expect([callsOf(p, 'settle'), p.chat.cards.length]).toEqual([[], 1]);
  });

  it('that is answered for another message counts as failed', async () => {
    const { p, id } = await withTopic();
    const chat = { ...p.chat };
    Object.assign(p.chat, {
      send: async (part: Outgoing) => ({
        is: 'sent',
        ids: { chatId: '-1001234', threadId: part.route.topic, messageId: 1 },
      }),
    });
    await p.rooms.tasks.pause({ taskId: id, actor }, null);
    await p.pass(second);
    Object.assign(p.chat, { send: (part: Outgoing) => chat.send(part) });
    expect(partsOf(p, 'card').at(-1)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('another message') as string,
    });
  });

  it('that is not there any more is let be', async () => {
    const { p, id } = await withTopic();
    p.chat.failDecoration('moot');
    await p.rooms.tasks.pause({ taskId: id, actor }, null);
    await p.pass(second);
    expect(partsOf(p, 'card').at(-1)).toMatchObject({ status: 'failed', error: 'message to edit not found' });
    expect(texts(p)).toEqual(['Stand up!']);
  });

  it('stays unpinned without the right to pin, which is told once in a chat', async () => {
    const p = await aPipeline();
    p.chat.failDecoration('ok', 'ok', 'blocked', 'refused');
    for (let n = 0; n < 2; n += 1) await p.create({ schedule: hourly });
    await p.pass(hour);
    await p.settle();
    expect(partsOf(p, 'card').map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect(partsOf(p, 'pin').map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(texts(p).filter((text) => text === '[notPinned]')).toHaveLength(1);
  });
});

describe('the door of a topic', () => {
  it('is closed when its task is deleted, and opened when it is restored', async () => {
    const { p, id, topic } = await withTopic();
    await p.rooms.tasks.delete({ taskId: id, actor });
    await p.pass(second);
    expect([...p.chat.closed]).toEqual([topic]);
    await p.rooms.tasks.restore({ taskId: id, actor });
    await p.pass(second);
    expect([...p.chat.closed]).toEqual([]);
  });

  it('stays as it is where it cannot be closed, and nobody is asked about it', async () => {
    const { p, id } = await withTopic();
    p.chat.failDecoration('blocked');
    await p.rooms.tasks.delete({ taskId: id, actor });
    await p.pass(second);
    expect(partsOf(p, 'close').map(({ status }) => status)).toEqual(['failed']);
    expect(texts(p)).toEqual(['Stand up!']);
  });
});

describe('a topic that a person deleted', () => {
  it('is made again with its card, and that is said once', async () => {
    const { p } = await withTopic();
    p.chat.deleteTopic(p.chat.topics[0]?.id ?? 0);
    await p.pass(hour);
    await p.pass(hour);
    const topic = p.chat.topics[0]?.id;
    expect(p.chat.shown.filter((one) => one.topic === topic).map(({ text }) => text)).toEqual([
      'Stand up!',
      '[topicRemade]',
      'Stand up!',
    ]);
    expect(p.chat.cards.filter((card) => card.topic === topic)).toHaveLength(1);
    expect(p.chat.pins).toHaveLength(2);
  });

  it('again and again is made once an hour: until then the result waits', async () => {
    const { p, id } = await withTopic();
    for (const by of [1, 2]) {
      p.chat.deleteTopic(p.chat.topics[0]?.id ?? 0);
      await p.rooms.tasks.runNow({ taskId: id, actor, idempotencyKey: `run ${by}` });
      await p.pass(second);
    }
    expect(callsOf(p, 'createTopic')).toHaveLength(2);
    expect(partsOf(p, 'result').at(-1)).toMatchObject({ status: 'blocked', cause: 'topic_gone' });
  });

  it('is not said of one that Telegram does not know as soon as it was made', async () => {
    const { p } = await withFailedSends(['topicGone', 'topicGone']);
    expect(partsOf(p, 'result').at(-1)).toMatchObject({ status: 'blocked', cause: 'topic_astray' });
    const fresh = await withTask({ schedule: hourly });
    fresh.p.chat.failSends('topicGone');
    await fresh.p.pass(hour);
    const told = fresh.p.database.prepare(`select content from deliveries where kind = 'notice'`).pluck().all();
    expect(told).toEqual([JSON.stringify({ view: 'topicRemade', isAstray: true })]);
  });

  it('is not made for the sake of its card', async () => {
    const { p, id } = await withTopic();
    p.chat.deleteTopic(p.chat.topics[0]?.id ?? 0);
    await p.rooms.tasks.pause({ taskId: id, actor }, null);
    await p.pass(second);
    expect(partsOf(p, 'card').at(-1)?.status).toBe('failed');
    expect(callsOf(p, 'createTopic')).toHaveLength(1);
  });
});

describe('a chat with another address', () => {
  it('takes its parts there at once, and everything else with it', async () => {
    const { p, id } = await withFailedSends(['moved']);
    expect(p.chat.shown.at(-1)).toMatchObject({ chatId: '-1009999', text: 'Stand up!' });
    await p.store.addMessages([answer('later')], p.time.now());
    await p.settle();
    expect(p.chat.shown.at(-1)).toMatchObject({ chatId: '-1009999', text: 'answer later' });
    expect((await p.history(id)).every(({ deliveries }) => deliveries[0]?.status === 'delivered')).toBe(true);
  });

  it('is found also when a topic is to be made in it', async () => {
    const { p } = await withTask({ schedule: hourly });
    p.chat.failTopics('moved');
    await p.pass(hour);
    expect(p.chat.topics).toMatchObject([{ chatId: '-1009999' }]);
    expect(p.chat.shown).toMatchObject([{ chatId: '-1009999' }]);
  });

  it('that says it has moved for ever does not make the deliverer spin', async () => {
    const { p } = await withFailedSends([...Array<'moved'>(8).fill('moved')]);
    expect(callsOf(p, 'send').length).toBeLessThanOrEqual(5);
  });
});

describe('what a person must mend', () => {
  it('is told once where the task was asked for, and again when it comes back after it was mended', async () => {
    const { p } = await withFailedSends(['closed']);
    expect(p.chat.shown.at(-1)).toMatchObject({ text: '[blocked]', topic: null });
    p.chat.failSends('closed');
    await p.pass(10 * minute);
    expect(texts(p)).toEqual(['Stand up!', '[blocked]']);
    await p.pass(10 * minute);
    expect(texts(p)).toEqual(['Stand up!', '[blocked]', 'Stand up!']);
    p.chat.failSends('closed');
    await p.pass(40 * minute);
    expect(texts(p).at(-1)).toBe('[blocked]');
  });

  it('about the topic is told as well, and a press on Retry looks at it at once', async () => {
    const { p } = await withTask({ schedule: hourly });
    p.chat.failTopics('blocked');
    await p.pass(hour);
    expect(texts(p)).toEqual(['[blocked]']);
    await p.store.retryBlocked({ chatId: null, taskId: null, inDoubt: false }, p.time.now());
    await p.settle();
    expect(texts(p)).toEqual(['[blocked]', 'Stand up!']);
  });

  it('pauses the tasks of a chat that is gone, and puts no words where nobody can read them', async () => {
    const { p, id } = await withFailedSends(['chatGone']);
    expect((await p.rooms.tasks.get(id)).state).toBe('paused');
    expect(partsOf(p, 'result').at(-1)).toMatchObject({ status: 'blocked' });
    expect(texts(p)).toEqual(['Stand up!']);
    await p.pass(10 * minute);
    expect(partsOf(p, 'result').at(-1)?.status).toBe('delivered');
  });

  it('makes an answer fail, because nobody waits for it any more', async () => {
    const p = await aPipeline();
    p.chat.failSends('blocked', 'topicGone', 'refused');
    await p.store.addMessages([answer('a'), answer('b'), answer('c'), answer('d')], p.time.now());
    await p.settle();
    expect(partsOf(p, 'answer').map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'delivered']);
  });
});

describe('an answer', () => {
  it('goes out before any result, and changes the message it was asked to change', async () => {
    const { p } = await withTopic();
    await p.store.addMessages([answer('first')], p.time.now());
    await p.settle();
    const messageId = p.chat.shown.at(-1)?.messageId ?? 0;
    const open = p.chat.hold();
    p.chat.failSends('rateLimited');
    await p.pass(hour);
    await p.store.addMessages([answer('second', { edits: messageId })], p.time.now());
    open();
    await p.settle();
    await p.pass(7000);
    expect(texts(p)).toEqual(['Stand up!', 'answer second', 'Stand up!']);
    expect(partsOf(p, 'answer').at(-1)).toMatchObject({ status: 'delivered', message_id: messageId });
  });

  it('that landed elsewhere is taken back and not sent again', async () => {
    const { p, topic } = await withTopic();
    p.chat.failSends('misrouted');
    const thread = { provider: 'telegram', address: '-1001234', topic };
    await p.store.addMessages([answer('a', { thread })], p.time.now());
    await p.settle();
    expect(partsOf(p, 'answer')[0]).toMatchObject({ status: 'failed' });
    expect([texts(p), callsOf(p, 'remove').length]).toEqual([['Stand up!'], 1]);
  });
});

describe('a part that was sent again', () => {
  async function resent(first: 'lost' | 'dropped') {
    const { p, id } = await withTopic();
    p.chat.failSends(first);
    p.chat.evidence('undecided', 'undecided', 'undecided');
    await p.pass(hour);
    for (const ms of [2000, 8000, 20_000]) await p.pass(ms);
    const part = partsOf(p, 'result').at(-1);
    return { p, id, part, evidence: JSON.parse(part?.evidence ?? '{}') as Record<string, unknown> };
  }

  it('and stands there twice loses the younger message', async () => {
    const { p, part, evidence } = await resent('lost');
    expect(texts(p)).toEqual(['Stand up!', 'Stand up!']);
    const older = p.chat.shown.at(-1)?.messageId ?? 0;
    expect(part).toMatchObject({ status: 'delivered', message_id: older });
    expect(callsOf(p, 'remove')).toEqual([`remove ${older + 1}`]);
    expect(evidence).toMatchObject({
      known_as: older + 1,
      doubles: [{ is: 'arrived' }, { taken_back: older + 1 }, { is: 'absent' }],
    });
  });

  it('and was not there before is proved to stand there once', async () => {
    const { p, part, evidence } = await resent('dropped');
    expect(texts(p)).toEqual(['Stand up!', 'Stand up!']);
    expect(part).toMatchObject({ status: 'delivered', message_id: p.chat.shown.at(-1)?.messageId });
    expect(evidence).toMatchObject({ doubles: [{ is: 'absent' }] });
  });

  it('and was put off meanwhile is still looked for when it arrives', async () => {
    const { p } = await withTopic();
    p.chat.failSends('lost', 'rateLimited');
    p.chat.evidence('undecided', 'undecided', 'undecided');
    await p.pass(hour);
    for (const ms of [2000, 8000, 20_000, 7000]) await p.pass(ms);
    expect([texts(p).length, callsOf(p, 'remove').length]).toEqual([2, 1]);
  });

  it('counts as delivered also when the look for a double fails', async () => {
    const { p } = await withTracelessSend();
    for (const ms of [2000, 8000]) await p.pass(ms);
    const chat = { ...p.chat };
    let looks = 0;
    Object.assign(p.chat, {
      settle: (part: Outgoing, look: Look) => {
        looks += 1;
        return looks > 1 ? Promise.reject(new Error('a fault in the look')) : chat.settle(part, look);
      },
    });
    await p.pass(20_000);
    expect([looks, partsOf(p, 'result').at(-1)?.status]).toEqual([2, 'delivered']);
  });

  it('and whose second answer is lost as well stands there once in the end', async () => {
    const { p } = await withTopic();
    p.chat.failSends('lost', 'lost');
    p.chat.evidence('undecided', 'undecided', 'undecided');
    await p.pass(hour);
    for (const ms of [2000, 8000, 20_000, 2000]) await p.pass(ms);
    expect(partsOf(p, 'result').at(-1)).toMatchObject({
      status: 'delivered',
      message_id: p.chat.shown.at(-1)?.messageId,
    });
    expect(texts(p)).toEqual(['Stand up!', 'Stand up!']);
  });
});

describe('a part of which no later send could tell', () => {
  it('is left to a person whatever the policy is, who may say that it did not arrive', async () => {
    const { p } = await withTopic({ unknown: 'resend' });
    p.chat.failSends('dropped');
    p.chat.evidence('asks', 'asks', 'asks');
    await p.pass(hour);
    for (const ms of [2000, 8000, 20_000]) await p.pass(ms);
    expect(texts(p)).toEqual(['Stand up!', '[inDoubt]']);
    const id = partsOf(p, 'result').at(-1)?.id ?? '';
    expect(await p.store.settleByHand(id, false, p.time.now())).toBe(true);
    await p.settle();
    expect(texts(p)).toEqual(['Stand up!', '[inDoubt]', 'Stand up!']);
  });

  it('is sent again when it is an answer, because a question about an answer helps nobody', async () => {
    const p = await aPipeline();
    p.chat.failSends('dropped');
    p.chat.evidence('asks', 'asks', 'asks');
    await p.store.addMessages([answer('a')], p.time.now());
    await p.settle();
    for (const ms of [2000, 8000, 20_000]) await p.pass(ms);
    expect(texts(p)).toEqual(['answer a']);
  });
});
