import { wire } from '../../api/wire.ts';
import type { BudgetView } from '../../app/ports/metering.ts';
import type { Account } from '../../app/use-cases/spending.ts';
import { actorNamed } from '../../domain/access.ts';
import { invalid } from '../../domain/errors.ts';
import { iso } from '../../domain/schedule/time/calendar.ts';
import { isTimezone } from '../../domain/schedule/time/zone-name.ts';
import { leftOf, personOf } from '../../domain/spending/budget.ts';
import { parseThreadKey, threadKeyOf } from '../../domain/thread.ts';
import type { Handlers } from '../serving.ts';
import { threadOf } from './wire.ts';

/** Handlers for budgets. */
export const spendingHandlers = {
  listBudgets: async ({ query }, { spending }) => {
    const { thread_key: key, user_key: user, task_id: taskId = null } = query;
    const ownerId = user === undefined ? null : actorNamed('user_key', user);
    const found = await spending.list({ thread: threadOf(key), ownerId, taskId });
    return { budgets: found.map(wireBudget) };
  },
  setBudgets: async ({ body }, { spending, actor }) => {
    const { per, requests, tokens, money, currency } = body;
    if (currency !== undefined && spending.currency !== null && currency !== spending.currency)
      throw invalid('currency', `currency: prices are in ${spending.currency}; say the budget in it.`);
    const wish = { per, requests: requests ?? undefined, tokens: tokens ?? undefined, money: money ?? undefined };
    return { budgets: (await spending.set(accountOf(body), wish, actor)).map(wireBudget) };
  },
} satisfies Partial<Handlers>;

interface Named {
  readonly thread_key?: string | undefined;
  readonly user_key?: string | undefined;
  readonly task_id?: string | undefined;
  readonly timezone?: string | undefined;
}

function accountOf({ thread_key: key, user_key: user, task_id: taskId, timezone }: Named): Account {
  if (taskId !== undefined) return { is: 'task', taskId };
  if (user === undefined) return { is: 'chat', thread: parseThreadKey(key ?? '') };
  if (timezone !== undefined && !isTimezone(timezone))
    throw invalid('timezone', 'timezone: it is not a time zone; write its IANA name, such as Europe/Madrid.');
  return { is: 'person', ownerId: actorNamed('user_key', user), timezone };
}

function wireBudget(budget: BudgetView) {
  const { scope, account, thread, kind, per, quantity, currency, timezone, from, to, spent, reserved } = budget;
  const { setBy, setAt } = budget;
  return {
    scope,
    thread_key: thread === null ? null : threadKeyOf(thread),
    user_key: personOf(budget),
    task_id: scope === 'task' ? account : null,
    kind,
    per,
    quantity,
    currency,
    timezone,
    spent,
    reserved,
    from: iso(from),
    to: iso(to),
    left: Math.max(0, leftOf(budget)),
    ...wire({ setBy, setAt }),
  };
}
