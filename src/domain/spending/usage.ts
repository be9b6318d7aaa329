import type { Actor } from '../access.ts';

/** Units that are counted of a run, in whole numbers: calls, bytes, seconds begun, tokens, and millionths of a currency. */
export const usageKinds = ['requests', 'bytes', 'seconds', 'tokens', 'money'] as const;
export type UsageKind = (typeof usageKinds)[number];

/** An amount that was spent, or is to be: of one kind, where it was spent, such as a host or a model. */
export interface Amount {
  readonly kind: UsageKind;
  readonly quantity: number;
  readonly source?: string | undefined;
}

/** An amount as it is booked. Money says in which currency, and by which table of prices it was reckoned. */
export interface Booking extends Amount {
  readonly currency?: string | undefined;
  readonly priceVersion?: string | undefined;
}

/** A sum of what was spent: of money there is one for each currency. */
export interface Sum {
  readonly kind: UsageKind;
  readonly quantity: number;
  readonly currency: string | null;
}

/** The kinds that a budget can limit: those of which the most that a run spends is known before it begins. */
export const budgetKinds = ['requests', 'tokens', 'money'] as const;
export type BudgetKind = (typeof budgetKinds)[number];

export const budgetPeriods = ['day', 'month'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export const budgetScopes = ['chat', 'person', 'task'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

/** The most that an attempt spends, as far as budgets limit it; it is reserved before the attempt begins. */
export interface Costs extends Readonly<Record<BudgetKind, number>> {
  readonly currency: string | null;
}

/** The largest limit: far below what sums of whole numbers can hold. */
export const quantityMax = 1_000_000_000_000;

/** Budgets and sums that are told at once. */
export const budgetsShownMax = 500;
/** Tasks that are named as those that use most. */
export const usageTopMax = 5;
/** Days that are told one by one. */
export const usageDaysMax = 366;

/** Who spends: every run spends for its chat, its owner and its task. */
export interface Spender {
  readonly chatId: string | null;
  readonly ownerId: Actor;
  readonly taskId: string | null;
}

/** A reservation, and since when it counts. */
export interface Reserved {
  readonly costs: Costs;
  readonly at: number;
}

/** What an attempt may have spent of which nobody knows: all that was reserved for it. */
export function costsHeld({ requests, tokens, money, currency }: Costs): readonly Booking[] {
  const source = 'estimate';
  const held: Booking[] = [
    { kind: 'requests', quantity: requests, source },
    { kind: 'tokens', quantity: tokens, source },
    { kind: 'money', quantity: money, source, ...(currency === null ? {} : { currency }) },
  ];
  return held.filter(({ quantity }) => quantity > 0);
}

const amount = (about: string) => ({ kind: 'whole', min: 1, max: quantityMax, about }) as const;

/** The policy `budget` of a task, as its checks, the API, its client and the chat follow it. */
export const budgetForms = {
  requests: amount('Calls of other servers.'),
  tokens: amount('Tokens of models, in and out.'),
  money: amount('In millionths of the currency of PRICES: 2500000 is 2.50.'),
  per: { kind: 'choice', of: budgetPeriods, about: 'As the clock of the chat counts them.', needed: true },
} as const;

export function isEmptyBudget(budget: Readonly<Partial<Record<BudgetKind, unknown>>>): boolean {
  return budgetKinds.every((kind) => budget[kind] === undefined);
}
