import { expect, test } from 'vitest';
import { minute } from '../../../support/pipeline.ts';
import { root, withTask } from '../talk.ts';

test('/status tells what is blocked, here and on the server', async () => {
  const talk = await withTask('in 1 minute Ping', { setUp: { canManageTopics: false } });
  talk.pipeline.chat.failTopics('blocked');
  await talk.pipeline.pass(2 * minute);
  const text = await talk.tells('/status', { person: root });
  expect(text).toContain('✗ Manage topics: not allowed, so results wait.');
  expect(text).toContain('1 waiting to be sent');
  expect(text).toContain('1 blocked until somebody fixes the cause, 0 that');
});
