import { expect, test } from 'vitest';
import type { Answer } from '../../../../src/app/why/answers.ts';
import { whyLine } from '../../../../src/telegram/chat/task/looking.ts';

const base: Omit<Answer, 'line' | 'evidence'> = {
  at: 0,
  from: null,
  to: null,
  slot: 0,
  decision: 'ran',
  cause: 'schedule',
};
const names = new Map([['telegram:user:1', 'Ben']]);

function answer(line: string, address: string, messageId: number | null = 20): Answer {
  const thread = { provider: 'telegram', address, topic: 4 };
  const part = {
    id: 'd',
    part: 1,
    cause: null,
    error: null,
    deliveredAt: 1,
    createdAt: 1,
    heldUntil: null,
    isFallback: false,
  };
  const status = messageId === null ? 'pending' : 'delivered';
  return { ...base, line, evidence: { deliveries: [{ ...part, status, thread, messageId, decision: null }] } };
}

test('a line of the truth leads to the message that it tells of, and names people', () => {
  const line =
    'Wed 18 Nov 09:30: ran again, because telegram:user:1 snoozed it; delivered; done by telegram:user:1 at 09:40.';
  const told = whyLine(answer(line, '-1001234'), names);
  expect(told.text).toBe('Wed 18 Nov 09:30: ran again, because Ben snoozed it; delivered; done by Ben at 09:40.');
  const [link, ...others] = told.entities;
  expect(others).toEqual([]);
  expect(link).toMatchObject({ type: 'text_link', url: 'https://t.me/c/1234/4/20' });
  expect(told.text.slice(link?.offset, (link?.offset ?? 0) + (link?.length ?? 0))).toBe('delivered');
});

test.each([
  ['in a private chat, where no message has an address', answer('Wed 18 Nov 09:30: ran on time; delivered.', '7')],
  [
    'that has not arrived',
    answer('Wed 18 Nov 09:30: ran on time, but its message is not delivered yet.', '-1001234', null),
  ],
])('there is no link to a message %s', (_name, one) => {
  expect(whyLine(one, names)).toEqual({ text: one.line, entities: [] });
});

test('what was approved, or came in several messages, has its link as well', () => {
  for (const line of [
    'Wed 18 Nov 09:30: ran on time; approved by telegram:user:1 at 09:31, delivered.',
    'Wed 18 Nov 09:30: ran on time; delivered in 3 messages.',
  ]) {
    expect(whyLine(answer(line, '-1001234'), names).entities).toHaveLength(1);
  }
});
