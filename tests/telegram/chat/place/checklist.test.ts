import { describe, expect, test } from 'vitest';
import type { SetUp } from '../../../../src/telegram/chat/context.ts';
import { checklist, isReady, privateText } from '../../../../src/telegram/chat/place/checklist.ts';
import { start } from '../../../support/pipeline.ts';

describe('the set-up check', () => {
  const group: SetUp = {
    isPrivate: false,
    isForum: true,
    topicsEnabled: null,
    canManageTopics: true,
    canPin: true,
    readsEverything: false,
  };
  const here = {
    chat: { state: 'approved', timezone: 'Europe/Madrid', settings: {} },
    timezone: 'Europe/Madrid',
    isZoneConfirmed: true,
    now: start,
  } as const;

  test('ticks what is as it should be', () => {
    expect(checklist({ ...here, setUp: group }).text.split('\n')).toEqual([
      'Set-up of this chat',
      '✓ Topics: on.',
      '✓ Manage topics: allowed.',
      '✓ Pin messages: allowed.',
      '✓ Privacy mode: on. I see only commands and replies to me, which is enough.',
      '✓ Approved: members of this chat can use me.',
      '✓ Time zone: Europe/Madrid, where it is 10:00 now.',
      'All set.',
    ]);
    expect(isReady(group)).toBe(true);
  });

  test('names everything that is missing, and what works without', () => {
    const bare = { ...group, isForum: false, canManageTopics: false, canPin: false, readsEverything: true };
    const { text } = checklist({
      ...here,
      setUp: bare,
      chat: { state: 'new', timezone: null, settings: {} },
      isZoneConfirmed: false,
    });
    expect(text.split('\n').map((line) => line.slice(0, 20))).toEqual([
      'Set-up of this chat',
      '✗ Topics: off, so re',
      '✗ Manage topics: not',
      '○ Pin messages: not ',
      '✓ Privacy mode: off.',
      '✗ Approved: not yet.',
      '✗ Time zone: Europe/',
    ]);
    expect(isReady(bare)).toBe(false);
    expect(isReady({ ...group, canPin: false })).toBe(true);
    expect(checklist({ ...here, setUp: { ...group, canPin: false } }).text).not.toContain('All set');
    expect(checklist({ ...here, setUp: { ...group, canManageTopics: null, canPin: null } }).text).toContain(
      'Telegram did not tell me',
    );
  });

  test('in a private chat topics are up to the owner of the bot', () => {
    const dm = { ...group, isPrivate: true, isForum: false };
    expect(privateText({ ...dm, topicsEnabled: true }, '@bot', { settings: {} }).text).toBe(
      'Topics: on. Each task gets its own topic here.',
    );
    expect(privateText({ ...dm, topicsEnabled: false }, '@bot', { settings: {} }).text).toContain(
      'My bots, @bot, Bot Settings',
    );
    expect(isReady({ ...dm, topicsEnabled: null })).toBe(false);
  });
});
