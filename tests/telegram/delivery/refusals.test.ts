import { describe, expect, it } from 'vitest';
import type { BlockedCause } from '../../../src/domain/shown.ts';
import { type AskedCall, meaningOf, sharesMailbox } from '../../../src/telegram/delivery/refusals.ts';

const asked: AskedCall = { verb: 'send', address: '-1001', topic: 5 };
const refused = (words: string) => ({ is: 'refused', code: 400, error: `Bad Request: ${words}` }) as const;

describe('the words of a refusal', () => {
  it.each<[string, BlockedCause]>([
    ['not enough rights to send text messages to the chat', 'no_write_right'],
    ['have no rights to send a message', 'no_write_right'],
    ['need administrator rights in the channel chat', 'no_write_right'],
    ['CHAT_WRITE_FORBIDDEN', 'no_write_right'],
    ['CHAT_SEND_PLAIN_FORBIDDEN', 'no_write_right'],
    ['CHAT_RESTRICTED', 'no_write_right'],
    ['TOPIC_CLOSED', 'topic_closed'],
    ['not enough rights to create a topic', 'no_topic_right'],
    ['the chat is not a forum', 'topics_off'],
    ['chat not found', 'chat_gone'],
    ['PEER_ID_INVALID', 'chat_gone'],
    ['user is deactivated', 'chat_gone'],
    ['the group chat was deleted', 'chat_gone'],
    ['group chat was deactivated', 'chat_gone'],
    ['bot was kicked from the supergroup chat', 'chat_gone'],
    ['bot is not a member of the supergroup chat', 'chat_gone'],
    ['bot was blocked by the user', 'chat_gone'],
    ["bot can't initiate conversation with a user", 'chat_gone'],
    ["bot can't send messages to bots", 'chat_gone'],
  ])('"%s" blocks: %s', (words, cause) => {
    expect(meaningOf(refused(words), asked)).toMatchObject({ is: 'blocked', cause });
  });

  it.each(['message thread not found', 'TOPIC_DELETED', 'TOPIC_ID_INVALID'])('"%s" finds the topic gone', (words) => {
    expect(meaningOf(refused(words), asked)).toMatchObject({ is: 'topicGone' });
    expect(meaningOf(refused(words), { ...asked, topic: null })).toMatchObject({ is: 'refused' });
    expect(meaningOf(refused(words), { ...asked, verb: 'setTopic' })).toMatchObject({ is: 'moot' });
  });

  it.each(['message is too long', 'BUTTON_DATA_INVALID', 'message text is empty', 'a word of tomorrow'])(
    '"%s" is final',
    (words) => {
      expect(meaningOf(refused(words), asked)).toEqual(refused(words));
    },
  );

  it('of an unknown kind leave a topic that was not made to a person', () => {
    expect(meaningOf(refused('a word of tomorrow'), { ...asked, verb: 'createTopic' })).toMatchObject({
      is: 'blocked',
      cause: 'other',
    });
  });
});

it.each([
  ['1001', true],
  ['-2000003', true],
  ['-1001234567', true],
  ['-1001000000001', false],
])('the chat %s counts its messages in the mailbox of the bot: %s', (address, expected) => {
  expect(sharesMailbox(address)).toBe(expected);
});
