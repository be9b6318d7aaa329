import { describe, expect, it } from 'vitest';
import { topicName } from '../../../src/app/pipeline/topics.ts';
import type { Outgoing } from '../../../src/app/ports/outside.ts';
import {
  aPipeline,
  hour,
  minute,
  start,
  type Pipeline,
  withTopic,
  hourly,
  texts,
  withTask,
  withTracelessSend,
  withFailedSends,
} from '../../support/pipeline.ts';

async function parts(p: Pipeline, taskId: string) {
  return (await p.history(taskId)).flatMap(({ deliveries }) => deliveries);
}

describe('a send without an answer', () => {
  it('is settled by evidence: it arrived, so it is not sent again', async () => {
    const { p, id: taskId } = await withFailedSends(['lost']);
    expect((await parts(p, taskId)).at(-1)).toMatchObject({ status: 'unknown', error: 'socket hang up' });
    await p.pass(2000);
    expect((await parts(p, taskId)).at(-1)).toMatchObject({
      status: 'delivered',
      messageId: p.chat.shown.at(-1)?.messageId,
    });
    expect(p.chat.shown).toHaveLength(2);
  });

  it('is sent again when it is proved absent', async () => {
    const { p, id: taskId } = await withFailedSends(['dropped']);
    await p.pass(2000);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('delivered');
    expect(p.chat.shown).toHaveLength(2);
  });

  it('is looked for after 2, 10 and 30 seconds, and then sent again', async () => {
    const { p, id: taskId } = await withTracelessSend();
    const looks = () => p.chat.calls.filter((call) => call.startsWith('settle')).length;
    for (const [ms, count] of [
      [1999, 0],
      [1, 1],
      [7999, 1],
      [1, 2],
      [19_999, 2],
    ] as const) {
      await p.pass(ms);
      expect(looks()).toBe(count);
    }
    expect(p.chat.shown).toHaveLength(1);
    await p.pass(1);
    // The last look follows the second send, and finds that the first one never arrived.
    expect(looks()).toBe(4);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('delivered');
    expect(p.chat.shown).toHaveLength(2);
  });

  it('is known to have been sent before when it leaves again without a trace, until it is proved absent', async () => {
    const { p } = await withTopic();
    const known: boolean[] = [];
    const send = p.chat.send.bind(p.chat);
    Object.assign(p.chat, {
      send: (part: Outgoing) => {
        if (part.edits === null) known.push(part.wasSent);
        return send(part);
      },
    });
    p.chat.failSends('dropped', 'dropped');
    p.chat.evidence('undecided', 'undecided', 'undecided');
    await p.pass(hour);
    for (const ms of [2000, 8000, 20_000, 2000]) await p.pass(ms);
    expect(known).toEqual([false, true, false]);
  });

  it('stays in doubt when the look itself fails', async () => {
    const { p, id: taskId } = await withTopic({ unknown: 'ask' });
    p.chat.failSends('lost');
    p.chat.failLooks(1);
    await p.pass(hour);
    await p.pass(2000);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('unknown');
    await p.pass(15_000);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('delivered');
    expect(p.chat.shown).toHaveLength(2);
  });

  it('is left to a person when the policy is ask, and holds its topic two minutes at most', async () => {
    const { p, id: taskId } = await withTracelessSend({ unknown: 'ask' });
    await p.rooms.tasks.runNow({ taskId: taskId, actor: 'system' });
    await p.pass(minute);
    expect((await parts(p, taskId)).map(({ status }) => status)).toEqual(['delivered', 'unknown', 'pending']);
    await p.pass(minute);
    expect((await parts(p, taskId)).map(({ status }) => status)).toEqual(['delivered', 'unknown', 'delivered']);
    await p.pass(24 * minute);
    expect(texts(p)).toEqual(['Stand up!', '[inDoubt]', 'Stand up!']);
    // It is asked where the task was made, which is not its own topic.
    expect(p.chat.shown.map(({ topic }) => topic)).toEqual([p.chat.topics[0]?.id, null, p.chat.topics[0]?.id]);
  });

  it('holds back the later parts of its own text only until it is settled', async () => {
    const { p, id } = await withTask({ schedule: hourly, instructions: `${'a'.repeat(4000)}\n\n${'b'.repeat(4000)}` });
    p.chat.failSends('lost');
    await p.pass(hour);
    expect((await parts(p, id)).map(({ status }) => status)).toEqual(['unknown', 'pending']);
    await p.pass(2000);
    expect((await parts(p, id)).map(({ status }) => status)).toEqual(['delivered', 'delivered']);
    expect(p.chat.shown.map(({ text }) => text[0])).toEqual(['a', 'b']);
  });
});

describe('a process that dies while a part is being sent', () => {
  it('does not send it blindly: the next process looks for evidence first', async () => {
    const { p, id: taskId } = await withTopic();
    const open = p.chat.hold();
    await p.pass(hour);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('sending');
    const next = p.restart();
    await next.rooms.deliverer.step(next.time.now(), 10);
    expect((await parts(next, taskId)).at(-1)).toMatchObject({ status: 'unknown' });
    open();
    await p.time.advance(0);
    await next.pass(2000);
    expect((await parts(next, taskId)).at(-1)?.status).toBe('delivered');
    expect(next.chat.shown).toHaveLength(2);
  });

  it('does not hear what the dead process learned later', async () => {
    const { p, id: taskId } = await withTopic();
    const open = p.chat.hold();
    await p.pass(hour);
    const next = p.restart();
    await next.rooms.deliverer.step(next.time.now(), 10);
    await next.pass(2000);
    open();
    await p.rooms.deliverer.idle();
    await next.settle();
    const delivered = (await parts(next, taskId)).at(-1);
    expect(delivered?.status).toBe('delivered');
    expect(p.chat.shown.map(({ messageId }) => messageId)).toContain(delivered?.messageId);
  });
});

describe('refusals', () => {
  it('a send that never left is tried again, later and later, and costs nothing', async () => {
    const { p, id: taskId } = await withFailedSends(['notSent', 'notSent', 'notSent']);
    const waits: number[] = [];
    while ((await parts(p, taskId)).at(-1)?.status === 'pending') {
      const next = (await p.rooms.deliverer.nextAt(p.time.now())) ?? 0;
      waits.push(next - p.time.now());
      await p.pass(next - p.time.now());
    }
    expect(waits).toEqual([1000, 2000, 4000]);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('delivered');
    expect(p.chat.shown).toHaveLength(2);
  });

  it('being told to wait, however often, uses up no send', async () => {
    const { p, id: taskId } = await withTopic();
    p.chat.failSends('rateLimited', 'rateLimited', 'rateLimited', 'rateLimited', 'rateLimited', 'dropped');
    p.chat.evidence('undecided', 'undecided', 'undecided');
    await p.pass(hour);
    for (let turn = 0; turn < 20; turn += 1) await p.pass(7000);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('delivered');
  });

  it('being told to wait is obeyed to the millisecond', async () => {
    const { p, id: taskId } = await withFailedSends(['rateLimited']);
    await p.pass(6999);
    expect(p.chat.shown).toHaveLength(1);
    await p.pass(1);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('delivered');
  });

  it('a final refusal fails the delivery and leaves the run as it was', async () => {
    const { p, id: taskId } = await withFailedSends(['refused']);
    expect((await p.history(taskId)).at(-1)).toMatchObject({
      status: 'succeeded',
      deliveries: [{ status: 'failed', error: 'message is too long' }],
    });
    expect((await p.rooms.tasks.get(taskId)).counters.failures).toBe(0);
  });

  it('a result that is too old is dropped with a row', async () => {
    const { p, id: taskId } = await withFailedSends(['blocked'], { max_age: 'PT5M' });
    await p.pass(10 * minute);
    expect((await parts(p, taskId)).at(-1)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('too old') as string,
      cause: 'max_age',
    });
    const told = p.log.lines.flatMap(({ event, facts }) =>
      event === 'delivery_status' && facts?.['status'] !== 'delivered'
        ? [[facts?.['status'], facts?.['error_code']]]
        : [],
    );
    expect(told).toEqual([
      ['blocked', expect.any(String)],
      ['failed', 'max_age'],
    ]);
    expect(p.chat.shown).toHaveLength(1);
  });

  it('a fault of the adapter leaves the part in doubt, and the deliverer goes on', async () => {
    const { p, id: taskId } = await withFailedSends(['throws']);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('unknown');
    await p.pass(2000);
    expect((await parts(p, taskId)).at(-1)?.status).toBe('delivered');
  });
});

describe('the right place', () => {
  it('a message that landed elsewhere is taken back and sent to a topic made anew', async () => {
    const { p, id: taskId } = await withFailedSends(['misrouted']);
    expect(p.chat.calls.some((call) => call.startsWith('remove'))).toBe(true);
    expect((await parts(p, taskId)).at(-1)).toMatchObject({ status: 'delivered' });
    expect(p.chat.shown.every(({ topic }) => p.chat.topics.some(({ id }) => id === topic))).toBe(true);
    expect(p.chat.topics).toHaveLength(2);
  });

  it('what Telegram led astray goes again as soon as another result lands in its topic, once an hour', async () => {
    const { p, id: taskId } = await withTask({ schedule: hourly });
    /** Its status, and how often it was taken back. */
    const fate = async () => [
      (await parts(p, taskId))[0]?.status,
      p.chat.calls.filter((call) => call.startsWith('remove')).length,
    ];
    const other = async (title: string) => {
      const once = new Date(p.time.now() + 1000).toISOString();
      await p.create({ title, schedule: { kind: 'once', once_at: once, timezone: 'UTC' } });
      await p.pass(1000);
    };
    p.chat.failSends('misrouted', 'misrouted');
    await p.pass(hour);
    expect(await fate()).toEqual(['blocked', 2]);
    p.chat.failSends('ok', 'misrouted');
    await other('first');
    expect(await fate()).toEqual(['blocked', 3]);
    await other('second');
    expect(await fate()).toEqual(['blocked', 3]);
    await p.pass(30_000);
    expect(await fate()).toEqual(['delivered', 3]);
  });

  it('a chat that leads everything astray is well again after as long as that lasted, and costs few sends meanwhile', async () => {
    const p = await aPipeline();
    const tasks = 13;
    for (let task = 0; task < tasks; task += 1) await p.create({ title: `Task ${task}`, schedule: hourly });
    const lasting = 4 * minute + 10_000;
    const send = p.chat.send.bind(p.chat);
    let astray = 0;
    const lead = async (part: Outgoing) => {
      if (part.route.topic === null || p.time.now() >= start + hour + lasting) return send(part);
      p.chat.failSends('misrouted');
      astray += 1;
      return send(part);
    };
    Object.assign(p.chat, { send: lead });
    await p.pass(hour);
    for (let passed = 0; passed < lasting; passed += 5000) await p.pass(5000);
    // Each is sent twice, the second time to a new topic, and then the scout alone: after 30 s, and as long again each time.
    expect(astray).toBe(2 * tasks + 4);
    const open = () => p.database.prepare(`select count(*) from deliveries where status = 'blocked'`).pluck().get();
    expect(open()).toBe(tasks);
    for (let passed = 0; passed < lasting; passed += 5000) await p.pass(5000);
    expect([open(), p.chat.shown.filter(({ text }) => text === 'Stand up!').length]).toEqual([0, tasks]);
  });

  it('a database cannot hold a delivered part without the id of its message', async () => {
    const { p } = await withTopic();
    expect(() => p.database.exec(`update deliveries set message_id = null`)).toThrow(/deliveries_proof/);
  });
});

describe('making a topic', () => {
  it('sends the part that waited for it in the same hand, and writes that before the call leaves', async () => {
    const { p, id } = await withTask({ schedule: hourly });
    const open = p.chat.hold();
    await p.pass(hour);
    const row = () => p.database.prepare(`select status, fence, sends from deliveries where kind = 'result'`).get();
    expect(p.chat.calls.map((call) => call.split(' ')[0])).toEqual(['createTopic', 'send']);
    expect(row()).toEqual({ status: 'sending', fence: 1, sends: 1 });
    open();
    await p.settle();
    expect(row()).toEqual({ status: 'delivered', fence: 1, sends: 1 });
    expect((await parts(p, id))[0]?.thread.topic).toBe(p.chat.topics[0]?.id);
  });

  it('is adopted under the name it was asked for, whatever the task is called by now', async () => {
    const { p, id } = await withTask({ schedule: hourly });
    p.chat.failTopics('lost');
    await p.pass(hour);
    await p.rooms.tasks.edit({ taskId: id, actor: 'system' }, { title: 'Another name' });
    await p.pass(minute);
    expect(p.chat.topics).toHaveLength(1);
    expect((await parts(p, id)).at(-1)?.status).toBe('delivered');
  });

  it('of which no trace turns up within a minute waits for a person, and is never made blindly', async () => {
    const { p, id } = await withTask({ schedule: hourly });
    p.chat.failTopics('dropped');
    await p.pass(hour);
    await p.pass(minute - 1);
    expect((await p.rooms.tasks.get(id)).topicState).toBe('creating');
    for (let turn = 0; turn < 40; turn += 1) await p.pass(minute);
    expect(p.chat.calls.filter((call) => call.startsWith('createTopic'))).toHaveLength(1);
    expect((await parts(p, id)).at(-1)).toMatchObject({ status: 'blocked' });
    expect((await p.rooms.tasks.get(id)).topicState).toBe('blocked');
  });

  it('that is not allowed blocks the result, and goes on by itself when it is', async () => {
    const { p, id } = await withTask({ schedule: hourly });
    p.chat.failTopics('blocked');
    await p.pass(hour);
    expect((await parts(p, id)).at(-1)).toMatchObject({
      status: 'blocked',
      error: 'not enough rights to create a topic',
    });
    await p.pass(10 * minute);
    expect((await parts(p, id)).at(-1)?.status).toBe('delivered');
  });

  it('is in flight once, when two first runs race', async () => {
    const { p, id } = await withTask({ schedule: hourly, policies: { overlap: 'allow' } });
    await p.rooms.tasks.runNow({ taskId: id, actor: 'system' });
    await p.rooms.tasks.runNow({ taskId: id, actor: 'system' });
    await p.settle();
    expect(p.chat.topics).toHaveLength(1);
    expect(p.chat.shown).toHaveLength(2);
  });
});

describe('chats', () => {
  it('are served in turn: a chat that waits holds up nobody else', async () => {
    const { p } = await withTask({ schedule: hourly }, { threadKey: 'telegram:chat:-1' });
    await p.create({ schedule: hourly }, { threadKey: 'telegram:chat:-2' });
    await p.pass(hour);
    p.chat.failSends('rateLimited');
    await p.pass(hour);
    expect(p.chat.shown).toHaveLength(3);
  });

  it('have one send in flight at a time', async () => {
    const p = await aPipeline();
    for (let index = 0; index < 4; index += 1) await p.create({ schedule: hourly });
    await p.pass(hour);
    const open = p.chat.hold();
    const before = p.chat.calls.length;
    await p.pass(hour);
    expect(p.chat.calls.length - before).toBe(1);
    open();
    await p.settle();
    expect(p.chat.shown).toHaveLength(8);
  });
});

it('the name of a topic is cut between what people see as characters', () => {
  const [flag, family] = ['🇪🇸', '👨‍👩‍👧‍👦'];
  expect(topicName(flag.repeat(100))).toBe(flag.repeat(64));
  expect(topicName(family.repeat(30))).toBe(family.repeat(18));
  expect(topicName('\u200b\u3164')).toBe('task');
  expect(topicName('x'.repeat(200))).toBe('x'.repeat(128));
  expect(topicName('\u200b')).toBe('task');
});
