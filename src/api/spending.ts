import { z } from 'zod';
import { budgetKinds, budgetPeriods, budgetScopes, quantityMax, usageKinds } from '../domain/spending/usage.ts';
import { instant, operation, strict, text, timezone } from './operation.ts';
import { refuses } from './schedules.ts';

/** Usage, and the budgets that limit it. */

const quantity = z.int().meta({ description: 'Money is in millionths: 2500000 is 2.50.' });
export const sum = { kind: z.enum(usageKinds), quantity, currency: text.meta({ description: 'Of money alone.' }) };

const budget = strict({
  scope: z.enum(budgetScopes),
  thread_key: text.meta({ description: 'The chat, or that of the task; null for a person.' }),
  user_key: text,
  task_id: text,
  kind: z.enum(budgetKinds),
  per: z.enum(budgetPeriods),
  quantity,
  currency: text,
  timezone: timezone.meta({ description: 'In which its days and months begin.' }),
  from: instant.meta({ description: 'Its present day or month.' }),
  to: instant,
  spent: quantity,
  reserved: quantity.meta({ description: 'Held by runs that have not ended.' }),
  left: quantity,
  set_by: z.string(),
  set_at: instant,
}).meta({ id: 'Budget' });

const whose = {
  thread_key: z.string().optional(),
  user_key: z.string().max(64).optional(),
  task_id: z.string().max(64).optional(),
};

const most = z.int().min(1).max(quantityMax).nullish();

interface Whose {
  readonly thread_key?: string | undefined;
  readonly user_key?: string | undefined;
  readonly task_id?: string | undefined;
}

function whoseFault({ thread_key: thread, user_key: user, task_id: task }: Whose): [string[], string] | null {
  const named = [thread, user, task].filter((one) => one !== undefined);
  return named.length === 1 ? null : [['thread_key'], 'name one of thread_key, user_key and task_id'];
}

/** The days of a chat and of its tasks begin by its own clock. */
function zoneFault({ user_key: user, timezone: zone }: Whose & { readonly timezone?: string | undefined }) {
  const fault: [string[], string] = [
    ['timezone'],
    'it goes with user_key alone; the days of a chat begin by its clock',
  ];
  return zone === undefined || user !== undefined ? null : fault;
}

const budgetsAnswer = strict({ budgets: z.array(budget) });

export const spendingOperations = {
  listBudgets: operation('get', '/v1/budgets', {
    scope: 'read',
    tag: 'operations',
    summary: 'List budgets with what is spent of them: of a chat and its tasks, of a person, of a task, or all of them',
    query: strict(whose),
    answer: budgetsAnswer,
  }),
  setBudgets: operation('put', '/v1/budgets', {
    scope: 'manage',
    tag: 'operations',
    summary:
      'Set the budgets of a chat, a person or a task for its days or its months; kinds that are not named have none',
    body: strict({
      ...whose,
      per: z.enum(budgetPeriods),
      requests: most,
      tokens: most,
      money: most.meta({ description: 'In millionths of the currency of PRICES: 2500000 is 2.50.' }),
      currency: z
        .string()
        .max(3)
        .optional()
        .meta({ description: 'That in which money was meant; refused where PRICES have another.' }),
      timezone: timezone.optional().meta({ description: 'With user_key: in which the days of the person begin.' }),
    })
      .superRefine(refuses(whoseFault))
      .superRefine(refuses(zoneFault))
      .meta({ example: { thread_key: 'telegram:chat:-1001234567890', requests: 1000, per: 'month' } }),
    answer: budgetsAnswer,
    refuses: ['invalid_thread_key', 'task_not_found'],
  }),
} as const;
