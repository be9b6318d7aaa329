import { describe, expect, it } from 'vitest';
import type { NewMessage } from '../../../src/app/ports/chats.ts';
import type { Sent } from '../../../src/app/ports/outside.ts';
import { type Pipeline, withTopic, texts, restarted } from '../../support/pipeline.ts';

function removal(kind: 'remove' | 'removeTopic', facts: { edits?: number; topic?: number | null } = {}): NewMessage {
  const { edits = null, topic = null } = facts;
  const thread = { provider: 'telegram', address: '-1001234', topic };
  return { id: `zz-${kind}`, kind, thread, taskId: null, shown: { text: '' }, edits, expiresAt: null };
}

async function tell(p: Pipeline, message: NewMessage): Promise<void> {
  await p.store.addMessages([message], p.time.now());
  await p.settle();
}

function rowOf(p: Pipeline, kind: string) {
  return p.database.prepare('select status, error, sends, message_id from deliveries where kind = ?').all(kind);
}

const callsOf = (p: Pipeline, name: string) => p.chat.calls.filter((call) => call.startsWith(`${name} zz`));

describe('a message that is to go', () => {
  it('goes, with one call', async () => {
    const { p, messageId } = await withTopic();
    await tell(p, removal('remove', { edits: messageId }));
    expect(texts(p)).toEqual([]);
    expect(rowOf(p, 'remove')).toEqual([{ status: 'delivered', error: null, sends: 1, message_id: messageId }]);
    expect(callsOf(p, 'remove')).toHaveLength(1);
  });

  it('whose removal got no answer is removed again, and nobody looks for evidence', async () => {
    const { p, messageId } = await withTopic();
    p.chat.failDecoration('lost', 'dropped');
    await tell(p, removal('remove', { edits: messageId }));
    await p.pass(2000);
    await p.pass(2000);
    expect(rowOf(p, 'remove')).toMatchObject([{ status: 'delivered', sends: 3 }]);
    expect(callsOf(p, 'settle')).toEqual([]);
  });

  it('when a process died over it is removed by the next one', async () => {
    const { p, messageId } = await withTopic();
    const open = p.chat.hold();
    await tell(p, removal('remove', { edits: messageId }));
    open();
    const next = await restarted(p);
    await next.pass(2000);
    expect(rowOf(p, 'remove')).toMatchObject([{ status: 'delivered' }]);
    expect(texts(p)).toEqual([]);
  });

  it.each(['refused', 'blocked'] as const)('stays when it is %s, which the log says and nobody else', async (fault) => {
    const { p, messageId } = await withTopic();
    p.chat.failDecoration(fault);
    await tell(p, removal('remove', { edits: messageId }));
    expect(rowOf(p, 'remove')).toMatchObject([{ status: 'failed' }]);
    expect(p.log.lines.map(({ event }) => event)).toContain('not_removed');
    expect(texts(p)).toEqual(['Stand up!']);
  });

  it('without a number fails before it is tried', async () => {
    const { p } = await withTopic();
    await tell(p, removal('remove'));
    await tell(p, removal('removeTopic'));
    expect([...rowOf(p, 'remove'), ...rowOf(p, 'removeTopic')]).toMatchObject([
      { status: 'failed' },
      { status: 'failed' },
    ]);
    expect(p.chat.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
  });

  it('is no reason to make it again elsewhere when its topic is gone', async () => {
    const { p, messageId, topic } = await withTopic();
    p.chat.deleteTopic(topic);
    await tell(p, removal('remove', { edits: messageId, topic }));
    expect(p.chat.topics).toEqual([]);
  });
});

describe('a topic that is to go', () => {
  it('goes, with one call, and after a lost answer with one more', async () => {
    const { p, topic } = await withTopic();
    p.chat.failDecoration('lost');
    await tell(p, removal('removeTopic', { topic }));
    expect(p.chat.topics).toEqual([]);
    await p.pass(2000);
    expect(rowOf(p, 'removeTopic')).toMatchObject([{ status: 'delivered', message_id: topic }]);
    expect(callsOf(p, 'settle')).toEqual([]);
  });

  it.each(['refused', 'closed'] as const)('stays when it is %s, and the base thread is told', async (fault) => {
    const { p, topic } = await withTopic();
    p.chat.failDecoration(fault);
    await tell(p, removal('removeTopic', { topic }));
    expect(rowOf(p, 'removeTopic')).toMatchObject([{ status: 'failed' }]);
    expect(p.chat.shown.at(-1)).toMatchObject({ topic: null, text: '[topicNotRemoved]' });
    expect(p.chat.topics).toHaveLength(1);
  });
});

describe('a chat in which nobody can be told anything', () => {
  it('is not told that its topic stays', async () => {
    const { p, topic } = await withTopic();
    p.chat.failDecoration('blocked');
    await tell(p, removal('removeTopic', { topic }));
    expect(rowOf(p, 'removeTopic')).toMatchObject([{ status: 'failed' }]);
    expect(texts(p)).toEqual(['Stand up!']);
  });
});

describe('a message for one person', () => {
  const onlyFor = { userId: 1001, until: Number.MAX_SAFE_INTEGER };
  const answer: NewMessage = {
    ...removal('remove'),
    id: 'zz-answer',
    kind: 'answer',
    shown: { text: 'Only you.' },
    onlyFor,
  };

  it('reaches the platform as one, and its own number is what proves it', async () => {
    const { p } = await withTopic();
    const seen: unknown[] = [];
    Object.assign(p.chat, {
      send: async (part: { readonly onlyFor: unknown }): Promise<Sent> => {
        seen.push(part.onlyFor);
        return { is: 'sent', ids: { chatId: '-1001234', threadId: null, messageId: 0, ephemeralId: 31 } };
      },
    });
    await tell(p, answer);
    expect(seen).toEqual([onlyFor]);
    expect(
      p.database.prepare(`select status, message_id, evidence from deliveries where id = 'zz-answer'`).get(),
    ).toEqual({
      status: 'delivered',
      message_id: 0,
      evidence: JSON.stringify({ ephemeral_message_id: 31 }),
    });
    expect(await p.store.messageAt('-1001234', 0)).toBeNull();
    const known = await p.store.lastMessageBefore('-1001234', p.time.now());
    expect(known).toBeGreaterThan(0);
    expect(await p.store.explainedAfter('-1001234', 0, 100)).not.toContain(0);
  });

  it('without an answer is said again, and nobody looks for it', async () => {
    const { p } = await withTopic();
    p.chat.failSends('dropped');
    await tell(p, answer);
    await p.pass(2000);
    expect(texts(p)).toEqual(['Stand up!', 'Only you.']);
    expect(callsOf(p, 'settle')).toEqual([]);
  });
});
