import { expect, it } from 'vitest';
import { deliveryCode } from '../../src/domain/delivery.ts';

const kicked = 'Forbidden: bot was kicked from the supergroup chat';
const blocked = 'Forbidden: bot was blocked by the user';

it.each([
  ['delivered', 'topics_off', null, null],
  ['pending', null, 'too many requests', null],
  ['blocked', 'topics_off', 'the chat is not a forum', 'telegram_topics_unavailable'],
  ['blocked', 'no_topic_right', 'not enough rights', 'telegram_topics_unavailable'],
  ['blocked', 'topic_in_doubt', 'no answer', 'telegram_topics_unavailable'],
  ['blocked', 'topic_gone', 'message thread not found', 'telegram_topic_not_found'],
  ['blocked', 'topic_astray', 'misrouted', 'misrouted'],
  ['blocked', 'chat_gone', kicked, 'chat_gone'],
  ['blocked', 'chat_gone', blocked, 'bot_blocked'],
  ['blocked', 'no_write_right', 'not enough rights to send', 'no_write_right'],
  ['blocked', 'approval', null, 'approval'],
  ['failed', 'max_age', 'too old', 'max_age'],
  ['failed', 'misrouted', 'misrouted', 'misrouted'],
  ['failed', null, 'Bad Request', 'other'],
] as const)('a delivery that is %s for %s, with the words %s, has the code %s', (status, cause, error, code) => {
  expect(deliveryCode({ status, cause, error })).toBe(code);
});
