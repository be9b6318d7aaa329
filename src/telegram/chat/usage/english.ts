import { amountText, type TellableAmount } from '../../../app/words/amounts.ts';
import { englishForms } from '../../../domain/schedule/words/forms.ts';
import type { BudgetKind, BudgetPeriod, BudgetScope } from '../../../domain/spending/usage.ts';
import { blocks, bold, code, lines, oneLine, say, type Rich } from '../kit/rich.ts';

const { and } = englishForms;

interface Limit extends TellableAmount {
  readonly per: BudgetPeriod;
  readonly scope: BudgetScope;
  /** Of a person, where it is known; of a task, how it is called. */
  readonly name: string | null;
}

const periods = { day: 'a day', month: 'a month' } as const satisfies Record<BudgetPeriod, string>;
const kindNames = { requests: 'requests', tokens: 'tokens', money: 'money' } as const satisfies Record<
  BudgetKind,
  string
>;

function whose({ scope, name }: Pick<Limit, 'scope' | 'name'>): string {
  if (scope === 'chat') return 'this chat';
  return name === null ? `this ${scope}` : oneLine(name, 60);
}

const limit = (one: Limit): string => `${amountText(one)} ${periods[one.per]}`;

export const usageTexts = {
  title: (): Rich => bold('Usage of this chat'),
  titleOf: (task: Rich): Rich => say`${bold('Usage of')} ${task}`,
  stretches: { today: 'Today', week: '7 days', month: '30 days' } as const,
  line: (
    stretch: string,
    told: { readonly runs: string; readonly messages: string; readonly failures: string },
  ): Rich => say`${bold(`${stretch}:`)} runs ${told.runs} (failed ${told.failures}), messages ${told.messages}`,
  atLeast: (count: number): string => `at least ${count}`,
  spent: (stretch: 'today' | 'month', amounts: readonly TellableAmount[]): Rich =>
    say`${bold(stretch === 'today' ? 'Used today:' : 'Used this month:')} ${amounts.map(amountText).join(', ')}`,
  nothingSpent: 'Nothing was used this month that costs anything.',
  ahead: (amounts: readonly TellableAmount[]): string =>
    `At this pace by the end of the month: ${amounts.map(amountText).join(', ')}`,
  top: (): Rich => bold('Most used this month'),
  topTask: (task: Rich, amounts: readonly TellableAmount[]): Rich =>
    say`${task}: ${amounts.map(amountText).join(', ')}`,
  budgets: (): Rich => bold('Budgets'),
  noBudget: (): Rich => say`No budget. An admin can set one: ${code('/settings budget 1000 requests a month')}`,
  budget: (
    one: Limit,
    state: { readonly used: number; readonly reserved: number; readonly percent: number },
  ): string => {
    const used = `${amountText({ ...one, quantity: state.used })} used (${state.percent} %)`;
    const held =
      state.reserved === 0 ? '' : `, ${amountText({ ...one, quantity: state.reserved })} held by runs under way`;
    return `${limit(one)} for ${whose(one)}: ${used}${held}`;
  },
  quotaChat: (used: number, max: number): string =>
    `Tasks here: ${used} of ${max}, room for ${Math.max(0, max - used)} more.`,
  quotaUser: (used: number, max: number): string =>
    `Your tasks in all chats: ${used} of ${max}, room for ${Math.max(0, max - used)} more.`,
  since: (zone: string): string => `Days start at midnight (${zone}).`,
} as const;

export const spendingTexts = {
  limit: (one: Limit): string => limit(one),
  budgetOf: (amounts: readonly TellableAmount[], per: BudgetPeriod): string =>
    `${and(amounts.map(amountText))} ${periods[per]}`,
  near: (one: Limit): Rich =>
    say`${bold('Nearly used up:')} 80 % of the budget of ${limit(one)} for ${whose(one)} is used.`,
  spent: (one: Limit, until: string): Rich =>
    blocks(
      say`${bold('Used up:')} the budget of ${limit(one)} for ${whose(one)}.`,
      `I skip runs that would go beyond it until ${until}, and tell you only once.`,
    ),
  whoRaises: { chat: 'An admin can raise it.', person: 'An owner of this bot can raise it.', task: null } as const,
  raise: (one: TellableAmount): string => `Raise to ${amountText(one)}`,
  raised: (one: Limit, name: string): string => `Raised to ${limit(one)} by ${name}`,
  raisedWord: 'Raised',
  set: (one: Limit): Rich => say`${bold('Budget:')} ${limit(one)} for ${whose(one)}. Runs beyond it are skipped.`,
  removed: (kind: BudgetKind | null, per: BudgetPeriod | null): string =>
    kind === null
      ? 'No budget any more.'
      : `No budget of ${kindNames[kind]} ${per === null ? '' : periods[per]} any more.`.replace('  ', ' '),
  noneToRemove: 'No budget is set for that.',
  exhausted: 'The budget for this is used up, so I did not do it. /usage shows it.',
  skippedNow: (name: string): string => `${name} did not run, because the budget for it is used up. /usage shows it.`,
  ownersOnly: 'Only an owner of this bot can set the budget of a person.',
  noPrices: 'Nothing has a price yet, so money cannot be limited. Whoever runs the server can set PRICES.',
  otherCurrency: (currency: string): string => `Prices are in ${currency}. Write the budget in it.`,
  nobody: (name: string): string => `I know nobody called ${oneLine(name, 40)}.`,
  unread: (): Rich =>
    lines(
      'Write a number, what it counts, and for how long:',
      code('/settings budget 1000 requests a month'),
      code('/settings budget 5 EUR a day'),
      code('/settings budget off'),
      say`For one task: ${code('/edit 3 budget 100 requests a day')}`,
    ),
  /** Of what a task will use, before it is made. */
  share: (percent: number, one: Limit): string =>
    percent > 100
      ? `That is more than the budget of ${limit(one)} for ${whose(one)}: runs beyond it are skipped.`
      : `That is ${percent} % of the budget of ${limit(one)} for ${whose(one)}.`,
} as const;
