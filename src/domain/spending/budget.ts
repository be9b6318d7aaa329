import type { Actor } from '../access.ts';
import { civilFromDays, dayOfWall, daysFromCivil, DAY_MS } from '../schedule/time/calendar.ts';
import { resolveShifted, toWall } from '../schedule/time/zone.ts';
import { quantityMax, type BudgetKind, type BudgetPeriod, type BudgetScope, type Costs } from './usage.ts';

/**
 * A budget: the most that a chat, a person or a task may spend of one kind in a day or a month. A run belongs to the period in which
 * it was let in, whenever it ends, so that no period is spent by a run for which it had no room.
 */
export interface BudgetLimit {
  readonly scope: BudgetScope;
  /** Our own id of the chat or the task, or the person. */
  readonly account: string;
  readonly kind: BudgetKind;
  readonly per: BudgetPeriod;
  readonly quantity: number;
  /** Of money alone; without it, whichever there is. */
  readonly currency: string | null;
}

/** A stretch that holds its beginning and not its end. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The day or the month of the zone in which an instant lies. */
export function periodAt(timezone: string, per: BudgetPeriod, at: number): Period {
  const day = dayOfWall(toWall(timezone, at));
  for (const each of [day, day - 1, day + 1]) {
    const period = per === 'day' ? days(timezone, each, each + 1) : monthOf(timezone, each);
    if (period.from <= at && at < period.to) return period;
  }
  return days(timezone, day, day + 1);
}

function days(timezone: string, first: number, next: number): Period {
  return { from: resolveShifted(timezone, first * DAY_MS), to: resolveShifted(timezone, next * DAY_MS) };
}

function monthOf(timezone: string, day: number): Period {
  const { year, month } = civilFromDays(day);
  const next = month === 12 ? daysFromCivil(year + 1, 1, 1) : daysFromCivil(year, month + 1, 1);
  return days(timezone, daysFromCivil(year, month, 1), next);
}

/** A budget with what stands against it in its present period. */
export interface BudgetState extends BudgetLimit, Period {
  readonly spent: number;
  /** By runs that have not ended. */
  readonly reserved: number;
}

export function leftOf({ quantity, spent, reserved }: Pick<BudgetState, 'quantity' | 'spent' | 'reserved'>): number {
  return quantity - spent - reserved;
}

/** The share from which on people are warned. */
const warnedAt = 0.8;

export function isNearlySpent({
  quantity,
  spent,
  reserved,
}: Pick<BudgetState, 'quantity' | 'spent' | 'reserved'>): boolean {
  return spent + reserved >= quantity * warnedAt;
}

/** The part of the costs that a budget limits; money of another currency is not its affair. */
export function costIn(limit: Pick<BudgetLimit, 'kind' | 'currency'>, costs: Costs): number {
  if (limit.currency !== null && limit.currency !== costs.currency) return 0;
  return costs[limit.kind];
}

/** A next limit that is worth offering: twice as much. */
export function raised(quantity: number): number {
  return Math.min(quantity * 2, quantityMax);
}

/** The spending until now, carried on to the end of its period at the same pace; null in the first hour, which says nothing yet. */
export function forecast(spent: number, { from, to }: Period, now: number): number | null {
  const gone = now - from;
  return gone < 3_600_000 ? null : Math.round((spent * (to - from)) / gone);
}

/** A person whose budget it is; null for the others. */
export function personOf({ scope, account }: Pick<BudgetLimit, 'scope' | 'account'>): Actor | null {
  return scope === 'person' ? (account as Actor) : null;
}
