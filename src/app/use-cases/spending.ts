import type { Actor } from '../../domain/access.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import type { Policies } from '../../domain/policy.ts';
import { dayOfWall, DAY_MS, dateText } from '../../domain/schedule/time/calendar.ts';
import { toWall } from '../../domain/schedule/time/zone.ts';
import { forecast, periodAt } from '../../domain/spending/budget.ts';
import type { PriceTable } from '../../domain/spending/prices.ts';
import {
  budgetKinds,
  budgetsShownMax,
  quantityMax,
  usageDaysMax,
  usageTopMax,
  type BudgetKind,
  type BudgetPeriod,
  type Sum,
} from '../../domain/spending/usage.ts';
import type { Thread } from '../../domain/thread.ts';
import type { BudgetView, SpendingStore, SpentByTask, SpentQuery } from '../ports/metering.ts';
import type { World } from '../ports/outside.ts';
import type { Tasks } from '../tasks/tasks.ts';

/** Usage, and the budgets that limit it. */
export type Spending = ReturnType<typeof createSpending>;

interface SpendingDeps extends Pick<World, 'clock' | 'ids'> {
  readonly store: SpendingStore;
  readonly tasks: Pick<Tasks, 'get' | 'edit'>;
  readonly prices: PriceTable | null;
  readonly defaultTimezone: string;
}

/** A budget belongs to a chat, a person or a task; the zone is that in which a person's days begin. */
export type Account =
  | { readonly is: 'chat'; readonly thread: Thread }
  | { readonly is: 'person'; readonly ownerId: Actor; readonly timezone?: string | undefined }
  | { readonly is: 'task'; readonly taskId: string };

/** The budgets of one period; kinds that are not named have none from then on. */
export interface BudgetWish extends Readonly<Partial<Record<BudgetKind, number | undefined>>> {
  readonly per: BudgetPeriod;
}

type Stretch = Omit<SpentQuery, 'thread' | 'ownerId' | 'taskId'>;
export type Whose = Omit<SpentQuery, 'from' | 'to'>;

export function createSpending(deps: SpendingDeps) {
  const { store, clock } = deps;
  const list = (whose: Whose) => store.listBudgets({ ...whose, now: clock.now(), limit: budgetsShownMax });
  return {
    /** The currency of the prices; null where nothing has one. */
    currency: deps.prices?.currency ?? null,
    list,
    spent: (whose: Whose, stretch: Stretch): Promise<readonly Sum[]> => store.spentOf({ ...whose, ...stretch }),
    byTask: (whose: Whose, stretch: Stretch): Promise<readonly SpentByTask[]> =>
      store.spentByTask({ ...whose, ...stretch }, budgetsShownMax),
    byDay: (whose: Whose, stretch: Stretch, timezone: string) => byDay(store, { ...whose, ...stretch }, timezone),
    overview: (whose: Whose, timezone: string) => overview(deps, whose, timezone),
    set: async (account: Account, wish: BudgetWish, actor: Actor): Promise<readonly BudgetView[]> => {
      check(deps, wish);
      if (account.is === 'task') await setOfTask(deps, account.taskId, wish, actor);
      else await setOf(deps, account, { wish, kinds: budgetKinds, actor });
      return list(whoseOf(account));
    },
    /** Puts one limit beside the others, or takes limits away; answers how many there were. */
    change: async (
      account: Exclude<Account, { is: 'task' }>,
      change: { readonly kind: BudgetKind | null; readonly per: BudgetPeriod | null; readonly quantity: number | null },
      actor: Actor,
    ): Promise<number> => {
      const { kind, per, quantity } = change;
      const kinds = kind === null ? budgetKinds : [kind];
      if (kind === null || per === null || quantity === null) return removeOf(deps, account, { kinds, per, actor });
      const wish = { per, [kind]: quantity };
      check(deps, wish);
      return setOf(deps, account, { wish, kinds, actor });
    },
  };
}

function whoseOf(account: Account): Whose {
  return {
    thread: account.is === 'chat' ? account.thread : null,
    ownerId: account.is === 'person' ? account.ownerId : null,
    taskId: account.is === 'task' ? account.taskId : null,
  };
}

function check({ prices }: SpendingDeps, wish: BudgetWish): void {
  for (const kind of budgetKinds) {
    const quantity = wish[kind];
    if (quantity === undefined) continue;
    if (!Number.isInteger(quantity) || quantity < 1 || quantity > quantityMax)
      throw invalid(kind, `${kind}: it is a whole number from 1 to ${quantityMax}.`);
  }
  if (wish.money !== undefined && prices === null)
    throw invalid('money', 'money: nothing has a price here; set PRICES, or limit requests or tokens.');
}

interface Setting {
  readonly wish: BudgetWish;
  readonly kinds: readonly BudgetKind[];
  readonly actor: Actor;
}

async function setOf(deps: SpendingDeps, account: Exclude<Account, { is: 'task' }>, setting: Setting): Promise<number> {
  const { store, clock, ids, prices } = deps;
  const { wish, kinds, actor } = setting;
  const at = clock.now();
  const chatId = account.is === 'chat' ? await store.chatIdOf(base(account.thread), ids.next(), at) : null;
  const name = account.is === 'chat' ? String(chatId) : account.ownerId;
  const timezone = (account.is === 'person' ? account.timezone : undefined) ?? deps.defaultTimezone;
  const set = budgetKinds.flatMap((kind) => {
    const quantity = wish[kind];
    const currency = kind === 'money' ? (prices?.currency ?? null) : null;
    const whose = { scope: account.is, account: name, chatId, timezone };
    return quantity === undefined ? [] : [{ ...whose, kind, per: wish.per, quantity, currency }];
  });
  return store.changeBudgets({ scope: account.is, account: name, per: wish.per, kinds, set, actor, at });
}

async function removeOf(
  deps: SpendingDeps,
  account: Exclude<Account, { is: 'task' }>,
  { kinds, per, actor }: Pick<Setting, 'kinds' | 'actor'> & { readonly per: BudgetPeriod | null },
): Promise<number> {
  const { store, clock, ids } = deps;
  const at = clock.now();
  const name = account.is === 'chat' ? await store.chatIdOf(base(account.thread), ids.next(), at) : account.ownerId;
  return store.changeBudgets({ scope: account.is, account: name, per, kinds, set: [], actor, at });
}

/** A budget is of the whole chat. */
function base(thread: Thread): Thread {
  return { ...thread, topic: null };
}

/** The budget of a task is a policy of its own, so that its history tells of it. */
async function setOfTask({ tasks }: SpendingDeps, taskId: string, wish: BudgetWish, actor: Actor): Promise<void> {
  const kinds = budgetKinds.flatMap((kind) => (wish[kind] === undefined ? [] : [[kind, wish[kind]] as const]));
  const budget = kinds.length === 0 ? null : ({ per: wish.per, ...Object.fromEntries(kinds) } as Policies['budget']);
  await tasks.edit({ taskId, actor }, { policies: { budget: budget ?? null } });
}

export interface SpentByDay extends Sum {
  /** The date in the zone. */
  readonly day: string;
}

async function byDay(store: SpendingStore, query: SpentQuery, timezone: string): Promise<readonly SpentByDay[]> {
  if (query.to - query.from > usageDaysMax * DAY_MS)
    throw invalid('from', `from: at most ${usageDaysMax} days are told one by one.`);
  const days = new Map<string, SpentByDay>();
  for (const { from, kind, currency, quantity } of await store.spentByQuarter(query)) {
    const day = dateText(dayOfWall(toWall(timezone, from)));
    const key = `${day} ${kind} ${currency ?? ''}`;
    days.set(key, { day, kind, currency, quantity: (days.get(key)?.quantity ?? 0) + quantity });
  }
  return [...days.values()];
}

/** Today and this month of a zone, and where the month goes at this pace. */
async function overview({ store, clock }: SpendingDeps, whose: Whose, timezone: string) {
  const now = clock.now();
  const [day, month] = (['day', 'month'] as const).map((per) => periodAt(timezone, per, now));
  if (day === undefined || month === undefined) throw new AppError('internal', 'a zone without days');
  const [today, thisMonth] = [await store.spentOf({ ...whose, ...day }), await store.spentOf({ ...whose, ...month })];
  const ahead = thisMonth.flatMap((sum) => {
    const quantity = forecast(sum.quantity, month, now);
    return quantity === null ? [] : [{ ...sum, quantity }];
  });
  return { today, month: thisMonth, ahead, top: await store.spentByTask({ ...whose, ...month }, usageTopMax) };
}
