import { AppError } from '../../domain/errors.ts';
import { priceOf, type PriceTable } from '../../domain/spending/prices.ts';
import type { Amount, Booking, Costs } from '../../domain/spending/usage.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { Estimates } from '../ports/metering.ts';
import type { Action, Actions, Spent } from './action.ts';

/** Costs of runs: before an attempt the most that it may spend, and after it the amounts that it has spent, with their price. */
export interface Reckoning extends Estimates {
  /** Null where nobody knows what was spent. */
  bookingsOf(action: string, spent: Spent, durationMs: number): readonly Booking[] | null;
  readonly prices: PriceTable | null;
}

export function reckoningOf(actions: Pick<Actions, 'get'>, prices: PriceTable | null): Reckoning {
  return {
    prices,
    costsOf: (spec) => costsOf(prices, amountsOf(actions.get(spec.kind), spec)),
    bookingsOf: (kind, spent, durationMs) => {
      if (spent === 'unknown') return null;
      const isTimed = actions.get(kind)?.isTimed === true;
      const seconds: Amount[] = isTimed ? [{ kind: 'seconds', quantity: Math.ceil(durationMs / 1000) }] : [];
      return bookingsOf(prices, [...spent, ...seconds]);
    },
  };
}

/** Settings that can never be carried out cost nothing; the run says what is wrong with them. */
function amountsOf(action: Action | undefined, spec: ActionSpec): readonly Amount[] {
  try {
    return action?.preview?.(spec).costs ?? [];
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}

function costsOf(prices: PriceTable | null, amounts: readonly Amount[]): Costs | null {
  const sum = (kind: Amount['kind']) =>
    amounts.reduce((all, each) => all + (each.kind === kind ? each.quantity : 0), 0);
  const [requests, tokens] = [sum('requests'), sum('tokens')];
  const money = prices === null ? 0 : amounts.reduce((all, each) => all + (priceOf(prices, each) ?? 0), 0);
  if (requests + tokens + money === 0) return null;
  return { requests, tokens, money, currency: money === 0 ? null : (prices?.currency ?? null) };
}

/** One for each kind and source, with the price of each behind it. */
function bookingsOf(prices: PriceTable | null, amounts: readonly Amount[]): readonly Booking[] {
  const sums = new Map<string, Amount>();
  for (const { kind, source = '', quantity } of amounts) {
    const key = `${kind} ${source}`;
    sums.set(key, { kind, source, quantity: (sums.get(key)?.quantity ?? 0) + Math.round(quantity) });
  }
  const counted = [...sums.values()].filter(({ quantity }) => quantity > 0);
  if (prices === null) return counted;
  const priced = new Map<string, number>();
  for (const each of counted) {
    const price = priceOf(prices, each) ?? 0;
    if (price > 0) priced.set(each.source ?? '', (priced.get(each.source ?? '') ?? 0) + price);
  }
  const { currency, version: priceVersion } = prices;
  return [
    ...counted,
    ...[...priced].map(([source, quantity]) => ({ kind: 'money', source, quantity, currency, priceVersion }) as const),
  ];
}
