import { expect, it } from 'vitest';
import { aTalk } from './talk.ts';

it('sets, shows and removes the budget of a chat in words', async () => {
  const talk = await aTalk();
  const set = await talk.ask('/settings budget 1,000 requests a month');
  expect(set.text).toContain('1,000 requests a month for this chat');
  const usage = await talk.ask('/usage');
  expect(usage.text).toContain('1,000 requests a month for this chat: 0 requests used (0 %)');
  expect((await talk.ask('/settings budget off requests a month')).text).toContain('No budget');
  expect((await talk.ask('/usage')).text).not.toContain('1,000 requests');
});

it('says how a budget is written, and that money needs prices', async () => {
  const talk = await aTalk();
  expect((await talk.ask('/settings budget lots')).text).toContain('/settings budget 1000 requests a month');
  expect((await talk.ask('/settings budget 5 EUR a day')).text).toContain('Nothing has a price yet');
});
