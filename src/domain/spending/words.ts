import { millionths } from './prices.ts';
import type { BudgetKind, BudgetPeriod } from './usage.ts';

/** A budget as people write it: "1000 requests a month", "5 EUR a day", "2 million tokens per day". */
export interface BudgetWords {
  readonly kind: BudgetKind;
  /** Money is in millionths. */
  readonly quantity: number;
  /** As it was written; null where it was not. */
  readonly currency: string | null;
  readonly per: BudgetPeriod;
}

/** Thousands may be set apart. A comma before anything but three digits is refused, because "0,50" would be read as 50. */
const number = String.raw`((?:[1-9]\d{0,2}(?:[,' ]\d{3})+|\d+)(?:\.\d+)?)\s*(k|thousand|m|million)?`;
const counted = new RegExp(String.raw`^${number}\s*(requests?|calls?|tokens?)$`);
const paid = new RegExp(String.raw`^(?:([a-z]{3}|[€$£])\s*)?${number}\s*([a-z]{3}|[€$£])?$`);
const signs: Readonly<Record<string, string>> = { '€': 'EUR', $: 'USD', '£': 'GBP' };
const factors: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6 };

/** Null where it is none of that. */
export function readBudget(text: string): BudgetWords | null {
  const split = periodIn(text);
  if (split === null) return null;
  const { per, rest } = split;
  const count = counted.exec(rest);
  if (count !== null) {
    const quantity = amountOf(count[1], count[2]);
    const kind = count[3]?.startsWith('token') === true ? 'tokens' : 'requests';
    return Number.isInteger(quantity) && quantity > 0 ? { kind, quantity, currency: null, per } : null;
  }
  const money = paid.exec(rest);
  const written = money?.[1] ?? money?.[4];
  if (money === null || written === undefined) return null;
  const quantity = millionths(amountOf(money[2], money[3]));
  const currency = signs[written] ?? written.toUpperCase();
  return quantity === null || quantity === 0 ? null : { kind: 'money', quantity, currency, per };
}

/** The kinds and the period that somebody wants to have no budget of any more; null where it names none. */
export function readBudgetKind(text: string): { readonly kind: BudgetKind; readonly per: BudgetPeriod | null } | null {
  const split = periodIn(text);
  const word = (split?.rest ?? text.trim().toLowerCase()).trim();
  const kind = /^(?:requests?|calls?)$/.test(word)
    ? 'requests'
    : /^tokens?$/.test(word)
      ? 'tokens'
      : /^money$/.test(word)
        ? 'money'
        : null;
  return kind === null ? null : { kind, per: split?.per ?? null };
}

function periodIn(text: string): { readonly per: BudgetPeriod; readonly rest: string } | null {
  const plain = text.trim().toLowerCase().replace(/\s+/g, ' ');
  const found = /^(.*?)\s*(?:(?:a|per|each|every|\/)\s*(day|month)|(daily|monthly))$/.exec(plain);
  if (found === null) return null;
  const per = (found[2] ?? found[3] ?? '').startsWith('da') ? 'day' : 'month';
  return { per, rest: found[1] ?? '' };
}

function amountOf(digits = '', factor = ''): number {
  return Number(digits.replaceAll(/[,' ]/g, '')) * (factors[factor] ?? 1);
}
