import { expect, test } from 'vitest';
import { aTask, hour, nine } from '../../support/builders.ts';
import type { OpenWorld } from '../../support/store-worlds.ts';
import { audit } from './audit.ts';

const now = nine + hour;

/** What was counted of budgets. */
export function budgetAuditTests(open: OpenWorld): void {
  test('a budget is found whose count is not what its runs have used, and none that is right or has not been looked at', async () => {
    const world = await open();
    const { chatId, ownerId, id } = await aTask(world, { policies: { budget: { requests: 9, per: 'day' } } });
    const set = (scope: 'chat' | 'person', account: string) =>
      world.store.changeBudgets({
        scope,
        account,
        per: 'month',
        kinds: ['money'],
        set: [
          {
            scope,
            account,
            kind: 'money',
            per: 'month',
            quantity: 9,
            currency: 'EUR',
            timezone: 'UTC',
            chatId: scope === 'chat' ? chatId : null,
          },
        ],
        actor: ownerId,
        at: nine - hour,
      });
    await set('chat', chatId);
    await set('person', ownerId);
    await world.query('update tasks set next_at = ?i', now + hour);
    expect(await audit(world)).toEqual({});
    const spend = (name: string, kind: string, currency: string) =>
      world.query(`insert into usage (run_id, attempt, kind, source, quantity, currency, task_id, owner_id, chat_id, at)
        values ('${name}', 1, '${kind}', '', 2, '${currency}', '${id}', '${ownerId}', '${chatId}', ${nine})`);
    await spend('one', 'requests', '');
    await spend('two', 'money', 'EUR');
    await spend('three', 'money', 'USD');
    await world.store.listBudgets({ thread: null, ownerId: null, taskId: null, now, limit: 9 });
    expect(await world.query('select spent from budgets')).toEqual([{ spent: 2 }, { spent: 2 }, { spent: 2 }]);
    for (const limit of [1, 100]) expect(await audit(world, limit)).toEqual({});
    await world.query('update budgets set spent = 3');
    for (const limit of [1, 100])
      expect((await audit(world, limit)).budget_drifted?.toSorted()).toEqual([
        `chat:${chatId}:money:month`,
        `person:${ownerId}:money:month`,
        `task:${id}:requests:day`,
      ]);
  });
}
