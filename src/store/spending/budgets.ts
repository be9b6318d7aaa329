import type { RunEnd, StartableRun } from '../../app/ports/pipeline.ts';
import type { Actor } from '../../domain/access.ts';
import { costIn, isNearlySpent, leftOf, periodAt, type BudgetState } from '../../domain/spending/budget.ts';
import {
  budgetKinds,
  costsHeld,
  type Booking,
  type BudgetScope,
  type Costs,
  type Spender,
  type UsageKind,
} from '../../domain/spending/usage.ts';
import { beyond } from '../engine/caller.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, number, pick, type Answer } from '../engine/fields.ts';
import { idAt } from '../engine/queries.ts';
import { forUpdate, forUpdateOf, list, raw, sql, type Sql } from '../engine/sql.ts';
import { all, insertAll, one, select, updateAll } from '../engine/statements.ts';
import { isNews, insertPart } from '../outbox/new-parts.ts';

/**
 * Reservations and what becomes of them. What a live run has reserved stands in its own row, so nothing stays reserved when it ends,
 * however it ends; ends take it back, so that those that are summed up are few. Whoever reserves holds the rows of the budgets, so that runs that are let in side by side never take the same room;
 * these rows are always taken last, in the order of their ids.
 */

const b = columnsOf('budgets', 'b');

const stateFields = {
  ...pick(
    b,
    'id',
    'scope',
    'account',
    'chatId',
    'kind',
    'per',
    'quantity',
    'currency',
    'setAt',
    'fromAt',
    'toAt',
    'spent',
  ),
  timezone: like(b.timezone, raw('coalesce(c.timezone, b.timezone)')),
};

type BudgetRow = Answer<typeof stateFields>;

export interface KeptBudget extends BudgetState {
  readonly id: string;
  readonly chatId: string | null;
}

/** The budgets of these accounts, each held until the end of the transaction. Those of a person are about all chats. */
export function* heldBudgets(accounts: readonly string[]): Script<BudgetRow[]> {
  return yield* beyond(
    all(
      select(stateFields)`from budgets b left join chats c on c.id = b.chat_id
        where b.account in ${list(accounts)} order by b.id ${forUpdateOf('b')}`,
    ),
  );
}

/** So long a transaction may go on that does not know yet of a budget that was just set: until then its usage is summed up each time. */
const unsureMs = 60_000;

/** Budgets as they stand in the period of now, with what live runs have reserved there. */
export function* statesOf(rows: readonly BudgetRow[], now: number): Script<KeptBudget[]> {
  const turned: BudgetRow[] = [];
  for (const row of rows) turned.push(yield* beyond(inPeriodOf(row, now)));
  const reserved = yield* beyond(reservedFrom(turned));
  return turned.map(({ fromAt: from, toAt: to, timezone: _zone, setAt: _setAt, ...budget }) => ({
    ...budget,
    from,
    to,
    reserved: reserved.get(budget.id) ?? 0,
  }));
}

function* inPeriodOf(row: BudgetRow, now: number): Script<BudgetRow> {
  const { from, to } = periodAt(row.timezone ?? 'UTC', row.per, now);
  const isSure = Math.abs(now - row.setAt) > unsureMs;
  if (row.fromAt === from && row.toAt === to && isSure) return row;
  const turned = { ...row, fromAt: from, toAt: to };
  const spent = yield* spentIn(turned);
  yield* updateAll('budgets', [turned], {
    set: () => ({ fromAt: from, toAt: to, spent }),
    where: ({ id }) => sql`id = ${id}`,
  });
  return { ...turned, spent };
}

const accountColumns: Readonly<Record<BudgetScope, Sql>> = {
  chat: raw('chat_id'),
  person: raw('owner_id'),
  task: raw('task_id'),
};

const sumField = { sum: number(raw('sum(quantity)')) };

/** The truth about what was spent: the rows of the usage. */
function* spentIn({ scope, account, kind, currency, fromAt, toAt }: BudgetRow): Script<number> {
  const found = yield* one(
    select(sumField)`from usage where ${accountColumns[scope]} = ${account} and at >= ${fromAt} and at < ${toAt}
      and kind = ${kind} and ${currency === null ? raw('1 = 1') : sql`currency = ${currency}`}`,
  );
  return found?.sum ?? 0;
}

const reservedFields = {
  id: b.id,
  sum: number(
    raw(`sum(case b.kind when 'requests' then r.reserved_requests when 'tokens' then r.reserved_tokens
      else case when b.currency is null or r.reserved_currency = b.currency then r.reserved_money else 0 end end)`),
  ),
};

/** Indexes by which the live runs of an account are found: those of a task by the two that there are for tasks anyway. */
const reserving = [
  ['chat', raw('r.reserved_at is not null')],
  ['person', raw('r.reserved_at is not null')],
  ['task', raw('r.exclusive = 1')],
  ['task', raw('r.exclusive = 0')],
] as const;

function* reservedFrom(rows: readonly BudgetRow[]): Script<ReadonlyMap<string, number>> {
  const sums = new Map<string, number>();
  for (const [scope, indexed] of reserving) {
    const ids = rows.filter((row) => row.scope === scope).map(({ id }) => id);
    if (ids.length === 0) continue;
    const found = yield* all(
      select(reservedFields)`from budgets b join runs r on r.${accountColumns[scope]} = b.account
        where b.id in ${list(ids)} and ${indexed} and r.status in ('queued', 'running', 'backoff', 'waiting')
          and r.reserved_at >= b.from_at and r.reserved_at < b.to_at
        group by b.id`,
    );
    for (const { id, sum } of found) sums.set(id, (sums.get(id) ?? 0) + sum);
  }
  return sums;
}

function accountsOf({ chatId, ownerId, taskId }: Spender): readonly string[] {
  return [chatId, ownerId, taskId].filter((account) => account !== null);
}

/** A run that wants to begin an attempt. */
export interface Claimant extends Spender {
  readonly id: string;
  readonly costs: Costs;
}

/** Answers those for which there is no room; the others are to bear their reservation from now on. */
export function* refusedRoom(claimants: readonly Claimant[], now: number): Script<ReadonlySet<string>> {
  const refused = new Set<string>();
  if (claimants.length === 0) return refused;
  const rows = yield* heldBudgets(claimants.flatMap(accountsOf));
  if (rows.length === 0) return refused;
  const budgets = new Map<string, Mutable[]>();
  for (const state of yield* statesOf(rows, now))
    budgets.set(state.account, [...(budgets.get(state.account) ?? []), { ...state }]);
  for (const claimant of claimants) {
    const mine = accountsOf(claimant).flatMap((account) => budgets.get(account) ?? []);
    if (!(yield* takesRoom(claimant, mine, now))) refused.add(claimant.id);
  }
  return refused;
}

/** All of its budgets must have room, or it takes none of any. */
function* takesRoom(claimant: Claimant, mine: readonly Mutable[], now: number): Script<boolean> {
  const touched = mine.filter((budget) => costIn(budget, claimant.costs) > 0);
  const full = touched.find((budget) => leftOf(budget) < costIn(budget, claimant.costs));
  if (full !== undefined) {
    yield* tell(full, 'spent', claimant, now);
    return false;
  }
  for (const budget of touched) {
    budget.reserved += costIn(budget, claimant.costs);
    if (isNearlySpent(budget)) yield* tell(budget, 'near', claimant, now);
  }
  return true;
}

type Mutable = { -readonly [K in keyof KeptBudget]: KeptBudget[K] } & { told?: 'near' | 'spent' };

const placeFields = { ...pick(columnsOf('chats', 'c'), 'provider', 'timezone') };

/** Said once in a period, where the run that met it would have been shown. */
function* tell(budget: Mutable, is: 'near' | 'spent', { chatId, taskId }: Claimant, now: number): Script<void> {
  // Once among many at a time, without asking each time whether it was said before.
  if (chatId === null || budget.told === is) return;
  budget.told = is;
  const chat = yield* one(select(placeFields)`from chats c where c.id = ${chatId}`);
  if (chat?.provider !== 'telegram') return;
  const word = { word: 'budget', reason: is, about: `${budget.id} ${budget.from}` } as const;
  if (!(yield* isNews(chatId, word, now))) return;
  const { id, scope, account, kind, per, quantity, currency, to } = budget;
  const named = scope === 'person' ? yield* nameOf(account as Actor) : null;
  const content = {
    view: 'budget',
    is,
    scope,
    account,
    kind,
    per,
    quantity,
    currency,
    until: to,
    ...(named === null ? {} : { name: named }),
  } as const;
  const thread = scope === 'task' ? {} : { thread: { topic: null } };
  const part = {
    id: idAt(now, `budget:${is}:${id}`),
    taskId: taskId ?? null,
    chatId,
    kind: 'notice',
    content,
  } as const;
  yield* insertPart(taskId === null ? { ...part, thread: { topic: null } } : { ...part, ...thread }, now);
}

function* nameOf(person: Actor): Script<string | null> {
  const found = yield* one(select(pick(columns.users, 'name'))`from users where id = ${person}`);
  return found?.name ?? null;
}

/** Columns in which a run bears what it has reserved. */
export function reservedValues(costs: Costs | null, now: number) {
  return {
    reservedAt: costs === null ? null : now,
    reservedRequests: costs?.requests ?? null,
    reservedTokens: costs?.tokens ?? null,
    reservedMoney: costs?.money ?? null,
    reservedCurrency: costs?.currency ?? null,
  };
}

/* ---- what attempts have spent ---- */

/** An attempt that has ended, with what it has spent; null where nobody knows. */
export interface SpentAttempt {
  readonly run: Pick<StartableRun, 'id' | 'taskId' | 'chatId' | 'ownerId' | 'createdAt' | 'reserved'>;
  readonly attempt: number;
  readonly usage: readonly Booking[] | null;
}

type UsageRow = Answer<typeof bookedFields>;
const bookedFields = pick(columns.usage, 'chatId', 'ownerId', 'taskId', 'kind', 'quantity', 'currency', 'at');

/** Books what attempts have spent, each amount once however often it is told. */
export function* book(attempts: readonly SpentAttempt[]): Script<void> {
  const rows = attempts.flatMap(rowsOf);
  if (rows.length === 0) return;
  const made = yield* insertAll('usage', rows, raw('on conflict (run_id, attempt, kind, source) do nothing'));
  yield* countSpent(rows.filter((_row, index) => made[index]));
}

/** A run belongs to the period in which it was let in. */
function rowsOf({ run, attempt, usage }: SpentAttempt) {
  const { id: runId, taskId, chatId, ownerId, createdAt, reserved } = run;
  const booked = usage ?? (reserved === null ? [] : costsHeld(reserved.costs));
  return booked.map(({ kind, quantity, source = '', currency = null, priceVersion = null }) => ({
    runId,
    attempt,
    kind,
    source,
    quantity,
    currency,
    priceVersion,
    taskId,
    ownerId,
    chatId,
    at: reserved?.at ?? createdAt,
  }));
}

const countedFields = pick(columns.budgets, 'id', 'account', 'kind', 'currency', 'fromAt', 'toAt');

/** Budgets of other kinds are not looked for, such as of bytes, of which there are none. */
function* countSpent(booked: readonly UsageRow[]): Script<void> {
  const rows = booked.filter(({ kind }) => isBudgeted(kind));
  if (rows.length === 0) return;
  const byAccount = new Map<string, UsageRow[]>();
  for (const row of rows) {
    for (const account of accountsOf(row)) {
      const mine = byAccount.get(account);
      if (mine === undefined) byAccount.set(account, [row]);
      else mine.push(row);
    }
  }
  const budgets = yield* beyond(
    all(select(countedFields)`from budgets where account in ${list([...byAccount.keys()])} order by id ${forUpdate}`),
  );
  const sums = budgets.map((budget) => ({ id: budget.id, sum: sumFor(budget, byAccount.get(budget.account) ?? []) }));
  yield* beyond(
    updateAll(
      'budgets',
      sums.filter(({ sum }) => sum > 0),
      { set: ({ sum }) => ({ spent: sql`spent + ${sum}` }), where: ({ id }) => sql`id = ${id}` },
    ),
  );
}

function isBudgeted(kind: UsageKind): boolean {
  return budgetKinds.some((each) => each === kind);
}

type CountedBudget = Answer<typeof countedFields>;

function sumFor({ kind, currency, fromAt, toAt }: CountedBudget, rows: readonly UsageRow[]): number {
  let sum = 0;
  for (const row of rows) {
    if (row.kind !== kind || row.at < fromAt || row.at >= toAt) continue;
    if (currency === null || row.currency === currency) sum += row.quantity;
  }
  return sum;
}

/** A run that is tried again keeps its reservation where there is room for it beside what it has spent by now. */
export function* keepReserved(ends: readonly RunEnd[], now: number): Script<void> {
  const waiting = ends.filter(({ run, status }) => status === 'backoff' && run.reserved !== null);
  if (waiting.length === 0) return;
  const rows = yield* heldBudgets(waiting.flatMap(({ run }) => accountsOf(run)));
  const states = (yield* statesOf(rows, now)).map((state): Mutable => ({ ...state }));
  const dropped: RunEnd[] = [];
  for (const end of waiting) {
    const { reserved } = end.run;
    if (reserved === null) continue;
    const mine = states.filter(
      (state) =>
        accountsOf(end.run).includes(state.account) &&
        costIn(state, reserved.costs) > 0 &&
        state.from <= reserved.at &&
        reserved.at < state.to,
    );
    if (mine.every((state) => leftOf(state) >= 0)) continue;
    dropped.push(end);
    for (const state of mine) state.reserved -= costIn(state, reserved.costs);
  }
  yield* updateAll('runs', dropped, {
    set: () => reservedValues(null, now),
    where: ({ run }) => sql`id = ${run.id} and status = 'backoff'`,
  });
}
