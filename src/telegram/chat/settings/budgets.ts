import type { Account } from '../../../app/use-cases/spending.ts';
import { isActor, type Actor } from '../../../domain/access.ts';
import {
  budgetKinds,
  budgetPeriods,
  quantityMax,
  type BudgetKind,
  type BudgetPeriod,
} from '../../../domain/spending/usage.ts';
import { readBudget, readBudgetKind } from '../../../domain/spending/words.ts';
import type { Answer, Buttons, ChatContext } from '../context.ts';
import { alerted, answer, redrawn, Refused } from '../kit/answers.ts';
import { permitted, targetOf, threadOf } from '../kit/guards.ts';
import { arg, longId } from '../kit/press.ts';
import { drawn } from '../kit/rich.ts';
import { adminsOf, mayManage, nameOf, shortName } from '../kit/rights.ts';
import { texts } from '../texts.ts';

/** Budgets in words: `/settings budget 1000 requests a month`, and for a person `for Ada` before it. */
export async function budgetCommand(ctx: ChatContext, words: string): Promise<Answer> {
  const { spending } = texts;
  const [, who, rest = ''] = /^(?:for\s+(\S+)\s+)?(.*)$/s.exec(words.trim()) ?? [];
  const isOff = /^(?:off|none|no|remove)\b/i.test(rest);
  const gone = isOff ? readBudgetKind(rest.replace(/^\S+\s*/, '')) : null;
  const read = isOff ? null : readBudget(rest);
  if (!isOff && read === null) return answer(spending.unread());
  const { account, name } = await accountOf(ctx, who ?? null);
  const { actor } = ctx.person;
  if (read === null) {
    const { kind = null, per = null } = gone ?? {};
    const count = await ctx.spending.change(account, { kind, per, quantity: null }, actor);
    return answer(count === 0 ? spending.noneToRemove : spending.removed(kind, per));
  }
  if (read.kind === 'money') refuseMoney(ctx, read.currency);
  await ctx.spending.change(account, read, actor);
  return answer(spending.set({ ...read, scope: account.is, name }));
}

function refuseMoney({ spending: { currency } }: ChatContext, written: string | null): void {
  const { spending } = texts;
  if (currency === null) throw new Refused(spending.noPrices);
  if (written !== null && written !== currency) throw new Refused(spending.otherCurrency(currency));
}

interface Named {
  readonly account: Exclude<Account, { is: 'task' }>;
  readonly name: string | null;
}

async function accountOf(ctx: ChatContext, who: string | null): Promise<Named> {
  if (who === null) {
    if (!mayManage(ctx)) throw new Refused(texts.settings.adminsOnly(await adminsOf(ctx.place, ctx)));
    return { account: { is: 'chat', thread: threadOf(ctx.place) }, name: null };
  }
  if (!ctx.person.isOwner) throw new Refused(texts.spending.ownersOnly);
  const ownerId = await personNamed(ctx, who.replace(/^@/, ''));
  return { account: personal(ctx, ownerId), name: await nameOf(ctx, ownerId) };
}

/** The days of a person begin as they do where their budget was set. */
function personal({ place }: ChatContext, ownerId: Actor): Named['account'] {
  return { is: 'person', ownerId, timezone: place.timezone };
}

async function personNamed(ctx: ChatContext, name: string): Promise<Actor> {
  if (/^(?:me|myself)$/i.test(name)) return ctx.person.actor;
  const numbered = `telegram:user:${name}`;
  if (/^\d{1,16}$/.test(name) && isActor(numbered)) return numbered;
  const [found, another] = await ctx.store.usersNamed(name, 2);
  if (found === undefined || another !== undefined) throw new Refused(texts.spending.nobody(name));
  return found.id;
}

interface Raise {
  readonly scope: string;
  readonly who: string;
  readonly kind: BudgetKind;
  readonly per: BudgetPeriod;
  readonly quantity: number;
}

/** What a button carries can be made up, so it is checked like any other input. */
function raiseIn(ctx: ChatContext): Raise | null {
  const [kind, per] = [
    budgetKinds.find((one) => one === arg(ctx, 2)),
    budgetPeriods.find((one) => one === arg(ctx, 3)),
  ];
  const quantity = Number(arg(ctx, 4));
  if (kind === undefined || per === undefined) return null;
  if (!Number.isInteger(quantity) || quantity < 1 || quantity > quantityMax) return null;
  return { scope: arg(ctx, 0), who: arg(ctx, 1), kind, per, quantity };
}

/** A press twice, or a button that is old by now, never lowers a limit. */
async function raisePressed(ctx: ChatContext): Promise<Answer> {
  const raise = raiseIn(ctx);
  if (raise === null) return alerted(texts.chat.oldButton);
  const { spending } = texts;
  const raised = raise.scope === 'task' ? await raisedOfTask(ctx, raise) : await raisedOf(ctx, raise);
  const line = spending.raised({ ...raise, ...raised }, shortName(ctx.person.name));
  return redrawn(ctx, drawn(line), spending.raisedWord);
}

interface Raised {
  readonly scope: 'chat' | 'person' | 'task';
  readonly name: string | null;
  readonly quantity: number;
  readonly currency: string | null;
}

async function raisedOfTask(ctx: ChatContext, { who, kind, per, quantity }: Raise): Promise<Raised> {
  const task = await permitted(ctx, 'change', longId(who));
  const { budget } = task.policies;
  const most = Math.max(quantity, (budget?.per === per ? budget[kind] : undefined) ?? 0);
  if (budget?.per !== per || budget[kind] === undefined) throw new Refused(texts.chat.oldButton);
  if (most > budget[kind])
    await ctx.tasks.edit(targetOf(ctx, task), { policies: { budget: { ...budget, [kind]: most } } });
  const name = texts.task.plainName(task.number, task.title);
  return { scope: 'task', name, quantity: most, currency: ctx.spending.currency };
}

async function raisedOf(ctx: ChatContext, { scope, who, kind, per, quantity }: Raise): Promise<Raised> {
  const { account, name } = await accountOf(ctx, scope === 'person' ? who : null);
  const ownerId = account.is === 'person' ? account.ownerId : null;
  const all = await ctx.spending.list({ thread: ownerId === null ? threadOf(ctx.place) : null, ownerId, taskId: null });
  const known = all.find((one) => one.scope === account.is && one.kind === kind && one.per === per);
  if (known === undefined) throw new Refused(texts.chat.oldButton);
  if (kind === 'money') refuseMoney(ctx, known.currency);
  const most = Math.max(quantity, known.quantity);
  const zoned = account.is === 'person' ? { ...account, timezone: known.timezone } : account;
  if (most > known.quantity) await ctx.spending.change(zoned, { kind, per, quantity: most }, ctx.person.actor);
  return { scope: account.is, name, quantity: most, currency: known.currency };
}

export const budgetButtons = { raise: raisePressed } satisfies Buttons;
