import { expect, it } from 'vitest';
import { fieldIn } from '../../../src/telegram/chat/edit/field-words.ts';
import { Refused } from '../../../src/telegram/chat/kit/answers.ts';
import { task } from '../../http/door.ts';
import { calls, withHttp } from '../../support/actions.ts';
import { day } from '../../support/pipeline.ts';
import { aTalk, root } from './talk.ts';

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

it('reads no half of a number as another: a comma stands between thousands alone', async () => {
  const talk = await aTalk();
  for (const [words, told] of [
    ['0,50 EUR a day', 'Write a number'],
    ['1,5 requests a day', 'Write a number'],
    ['0,500 EUR a day', 'Write a number'],
    ['10,00 requests a day', 'Write a number'],
    ['1000,000 requests a day', 'Write a number'],
    ['12,500 requests a day', '12,500 requests a day'],
    ['1 000 000 requests a day', '1,000,000 requests a day'],
    ["1'500 requests a day", '1,500 requests a day'],
    ['2.5 million tokens a day', '2,500,000 tokens a day'],
  ] as const)
    expect((await talk.ask(`/settings budget ${words}`)).text, words).toContain(told);
});

it('refuses the budget of a task in another currency than that of the prices', () => {
  const read = (words: string, currency: string | null) => fieldIn(`budget ${words}`, { task, now: 0, currency });
  const five = { is: 'patch', patch: { policies: { budget: { money: 5_000_000, per: 'day' } } } };
  expect(read('5 EUR a day', 'EUR')).toEqual(five);
  expect(() => read('5 USD a day', 'EUR')).toThrow(Refused);
  expect(() => read('9 requests a day and 5 $ a day', 'EUR')).toThrow(Refused);
  expect(read('9 requests a day', 'EUR')).toMatchObject({ is: 'patch' });
});

const price = 'https://api.example.com/price';

it('tells in the preview what a task will use in a day and a month, and its share of the budgets', async () => {
  const talk = await aTalk({ actions: withHttp(calls()) });
  expect((await talk.ask(`/fetch every hour GET ${price}`)).text).toContain(
    'About 24 requests a day, 720 requests a month\nTried',
  );
  await talk.ask('/settings budget 6000 requests a month');
  await talk.ask('/settings budget 20 requests a day');
  expect((await talk.ask('/settings budget for me 100000 requests a month', { person: root })).text).toContain(
    'Budget: 100,000',
  );
  expect((await talk.ask(`/fetch every hour GET ${price}`, { person: root })).text).toContain(
    [
      'About 24 requests a day, 720 requests a month',
      'That is more than the budget of 20 requests a day for this chat: runs beyond it are skipped.',
      'That is 12 % of the budget of 6,000 requests a month for this chat.',
      'That is 1 % of the budget of 100,000 requests a month for Root.',
      'Tried',
    ].join('\n'),
  );
  expect((await talk.ask(`/fetch every monday at 9 GET ${price}`)).text).toContain(
    'About 5 requests a month\nThat is 5 % of the budget of 20 requests a day',
  );
});

it('says of a run by hand for which no budget has room that it was skipped, and its history says so too', async () => {
  const usage = [{ kind: 'requests', quantity: 1 }] as const;
  const spending = calls(() => ({ is: 'done', text: 'answered', usage }));
  const talk = await aTalk({ actions: withHttp(spending) });
  const preview = await talk.ask(`/fetch every day at 9 GET ${price}`);
  await talk.press(preview, 'Create');
  await talk.ask('/settings budget 1 request a day');
  await talk.pipeline.pass(day);
  expect((await talk.ask('/run 1')).text).toContain('because the budget for it is used up');
  const last = talk.pipeline.database.prepare(`select after from audit where verb = 'run_now'`).pluck().get();
  expect(JSON.parse(String(last))).toMatchObject({ status: 'skipped', reason: 'budget' });
});
