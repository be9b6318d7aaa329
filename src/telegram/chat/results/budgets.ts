import type { Drawn } from '../../../domain/shown.ts';
import { raised, type BudgetLimit } from '../../../domain/spending/budget.ts';
import type { Task } from '../../../domain/task.ts';
import { dayMoment, type Setting } from '../kit/clock.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { blocks, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import type { Of } from './view.ts';

interface BudgetScene extends Setting {
  readonly task: Task | null;
}

/** A budget that is nearly or wholly used up, with the way to raise it: a press of who may not is told so. */
export function budgetDrawn(view: Of<'budget'>, { task, ...setting }: BudgetScene): Drawn {
  const { spending } = texts;
  const name =
    view.scope === 'task' && task !== null ? texts.task.plainName(task.number, task.title) : (view.name ?? null);
  const limit = { ...view, name };
  const words = view.is === 'near' ? spending.near(limit) : spending.spent(limit, dayMoment(view.until, setting));
  return drawn(blocks(words, spending.whoRaises[view.scope]), raiseRows(view));
}

function raiseRows(limit: BudgetLimit): Rows {
  const { account } = limit;
  const quantity = raised(limit.quantity);
  if (quantity <= limit.quantity) return [];
  const who = account.startsWith('telegram:user:') ? account.slice('telegram:user:'.length) : shortId(account);
  const data = dataOf('raise', limit.scope, who, limit.kind, limit.per, quantity);
  return [[button(texts.spending.raise({ ...limit, quantity }), data)]];
}
