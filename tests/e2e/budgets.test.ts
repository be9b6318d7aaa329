import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { ada, hour, stopBots } from './bot.ts';
import { aTalkingBot, ask } from './dialogue.ts';

afterEach(stopBots);

it('a budget that is used up is raised by its button once, and never in another currency than its own', async () => {
  const bot = await aTalkingBot();
  const prices = join(process.cwd(), 'prices.yaml');
  const pricedIn = (currency: string) => writeFileSync(prices, `currency: ${currency}\nhosts: { 127.0.0.1: 0.002 }\n`);
  pricedIn('EUR');
  const priced = await bot.restart({ env: { PRICES: prices } });
  const me = ['ada', ada] as const;
  await priced.say('ada', ada, '/start');
  await ask(priced, me, '/settings budget 0.004 EUR a day');
  const made = await priced.api('POST', `/v1/threads/telegram:chat:${ada}/tasks`, {
    title: 'Look',
    schedule: { kind: 'interval', interval: 'PT1H', timezone: 'UTC' },
    action: { kind: 'http', url: `${priced.server.url}/sandbox/site/ok` },
  });
  expect(made.status).toBe(201);
  await priced.pass(4 * hour);
  const word = () => {
    const found = priced.world
      .messages(ada, { limit: 500 })
      .findLast(({ buttons }) => buttons?.flat().some(({ text }) => text.startsWith('Raise to')));
    if (found === undefined) throw new Error('nobody was told of the budget');
    return found;
  };
  const label =
    word()
      .buttons?.flat()
      .find(({ text }) => text.startsWith('Raise to'))?.text ?? '';
  pricedIn('USD');
  const dollars = await priced.restart({ env: { PRICES: prices } });
  const refused = await dollars.press('ada', word(), label);
  expect(refused?.text).toContain('USD');
  const listed = async () => (await dollars.api('GET', `/v1/budgets?thread_key=telegram:chat:${ada}`)).body['budgets'];
  expect(await listed()).toMatchObject([{ quantity: 4000, currency: 'EUR' }]);
  pricedIn('EUR');
  const euros = await dollars.restart({ env: { PRICES: prices } });
  await euros.press('ada', word(), label);
  const { body } = await euros.api('GET', `/v1/budgets?thread_key=telegram:chat:${ada}`);
  expect(body['budgets']).toMatchObject([{ quantity: 8000, currency: 'EUR' }]);
});
