import type { BudgetView } from '../../src/app/ports/metering.ts';
import type { Spending } from '../../src/app/use-cases/spending.ts';

const budget: BudgetView = {
  id: 'b',
  scope: 'chat',
  account: 'c',
  kind: 'requests',
  per: 'day',
  quantity: 10,
  currency: null,
  from: 1,
  to: 2,
  spent: 3,
  reserved: 1,
  thread: { provider: 'telegram', address: '-100', topic: null },
  name: null,
  number: null,
  timezone: 'UTC',
  setBy: 'telegram:user:7',
  setAt: 1,
};

const nothingSpent = { today: [], month: [], ahead: [], top: [] };

/** The answers of the room of spending, for a door without one. */
export const spendingAnswers: Spending = {
  currency: null,
  list: async () => [budget],
  spent: async () => [],
  byTask: async () => [],
  byDay: async () => [],
  overview: async () => nothingSpent,
  set: async () => [budget],
  change: async () => 0,
};
