import { expect, it } from 'vitest';
import { aDoor } from './door.ts';
import { spendingAnswers } from './spending-answers.ts';

const chat = { thread_key: 'telegram:chat:-1001234', per: 'day' } as const;

it('refuses a budget that was meant in another currency than that of the prices', async () => {
  const door = aDoor({}, { spending: { ...spendingAnswers, currency: 'EUR' } });
  const refused = await door.ask('PUT', '/v1/budgets', { ...chat, money: 5_000_000, currency: 'GBP' });
  expect(refused.status).toBe(400);
  expect(refused.json.error).toMatchObject({
    message: 'currency: prices are in EUR; say the budget in it.',
    details: { field: 'currency' },
  });
  expect(door.asked).toEqual([]);
  for (const more of [{ currency: 'EUR' }, {}])
    expect((await door.ask('PUT', '/v1/budgets', { ...chat, money: 5_000_000, ...more })).status).toBe(200);
});

it('refuses a zone for a chat, whose days begin by its own clock, and takes it for a person', async () => {
  const door = aDoor();
  const zoned = { requests: 5, timezone: 'Europe/Madrid' };
  const refused = await door.ask('PUT', '/v1/budgets', { ...chat, ...zoned });
  expect(refused.status).toBe(400);
  expect(refused.json.error.details).toEqual({ field: 'timezone' });
  const person = await door.ask('PUT', '/v1/budgets', { user_key: 'telegram:user:7', per: 'day', ...zoned });
  expect(person.status).toBe(200);
});
