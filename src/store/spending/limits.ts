import type { BudgetChange, BudgetQuery, BudgetView, NewBudget } from '../../app/ports/metering.ts';
import type { Actor } from '../../domain/access.ts';
import { missing } from '../../domain/errors.ts';
import type { Policies } from '../../domain/policy.ts';
import { budgetKinds } from '../../domain/spending/usage.ts';
import type { Thread } from '../../domain/thread.ts';
import { chatOf } from '../chats/rows.ts';
import type { Script } from '../engine/engine.ts';
import { columns, columnsOf, like, maybe, pick } from '../engine/fields.ts';
import { chatOfThread } from '../engine/queries.ts';
import { reach, seen } from '../engine/reach.ts';
import { allOf, limit as limited, list, raw, sql } from '../engine/sql.ts';
import { all, insertAll, returning, run, select, update } from '../engine/statements.ts';
import { heldBudgets, statesOf } from './budgets.ts';
import { spentByQuarter, spentByTask, spentInChat, spentOf } from './usage.ts';

/** Budgets as people set them and look at them. */
export const spendingStore = {
  spentOf,
  spentInChat,
  spentByTask,
  spentByQuarter,
  listBudgets,
  changeBudgets,
  chatIdOf,
};

const b = columnsOf('budgets', 'b');
const c = columnsOf('chats', 'c');
const viewFields = {
  ...pick(b, 'id', 'account', 'setBy', 'setAt'),
  timezone: like(columns.tasks.title, raw(`coalesce(c.timezone, b.timezone, 'UTC')`)),
  provider: maybe(c.provider),
  address: maybe(c.address),
  topic: maybe(columnsOf('tasks', 't').homeTopic),
  title: maybe(columnsOf('tasks', 't').title),
  number: maybe(columnsOf('tasks', 't').number),
  person: maybe(columnsOf('users', 'u').name),
};

function* listBudgets({ thread, ownerId, taskId, now, limit }: BudgetQuery): Script<readonly BudgetView[]> {
  const whose =
    taskId !== null
      ? sql`b.account = ${taskId}`
      : ownerId !== null
        ? sql`b.account = ${ownerId}`
        : thread !== null
          ? sql`b.chat_id in ${chatOfThread(thread)}`
          : raw('1 = 1');
  const found = yield* all(
    select(viewFields)`from budgets b left join chats c on c.id = b.chat_id
      left join tasks t on b.scope = 'task' and t.id = b.account
      left join users u on b.scope = 'person' and u.id = b.account
      where ${allOf(whose, yield* seen(b.chatId.sql))} and (b.scope <> 'task' or t.state <> 'deleted')
      order by b.scope, b.account, b.kind, b.per ${limited(limit)}`,
  );
  const held = yield* heldBudgets(found.map(({ account }) => account));
  const states = new Map((yield* statesOf(held, now)).map((state) => [state.id, state]));
  return found.flatMap(({ id, title, person, number, timezone, setBy, setAt, ...place }) => {
    const state = states.get(id);
    const kept = { name: title ?? person, number, timezone, setBy, setAt, thread: threadIn(place) };
    return state === undefined ? [] : [{ ...state, ...kept }];
  });
}

interface Place {
  readonly provider: string | null;
  readonly address: string | null;
  readonly topic: number | null;
}

function threadIn({ provider, address, topic }: Place): Thread | null {
  return provider === null || address === null ? null : { provider, address, topic };
}

function* changeBudgets({ scope, account, per, kinds, set, actor, at }: BudgetChange): Script<number> {
  // For whom only some chats exist, no person does.
  const chats = yield* reach();
  if (chats !== null && !chats.includes(account)) throw missing('thread');
  const kept = set.map(({ kind, per: of }) => idOf({ scope, account, kind, per: of }));
  const pers = per === null ? ['day', 'month'] : [per];
  const gone = yield* all(
    returning(
      pick(columns.budgets, 'id'),
      sql`delete from budgets where account = ${account} and kind in ${list(kinds)} and per in ${list(pers)}
        and id not in ${list(kept)}`,
    ),
  );
  yield* putBudgets(set, actor, at);
  return gone.length;
}

function idOf({ scope, account, kind, per }: Pick<NewBudget, 'scope' | 'account' | 'kind' | 'per'>): string {
  return `${scope}:${account}:${kind}:${per}`;
}

/** Without a period yet, so that its first look sums up what was spent. */
function* putBudgets(budgets: readonly NewBudget[], setBy: Actor, setAt: number): Script<void> {
  yield* insertAll(
    'budgets',
    budgets.map((one) => ({ id: idOf(one), ...one, setBy, setAt, fromAt: 0, toAt: 0, spent: 0 })),
    raw(`on conflict (id) do update set quantity = excluded.quantity, currency = excluded.currency,
      timezone = excluded.timezone, chat_id = excluded.chat_id, set_by = excluded.set_by, set_at = excluded.set_at,
      from_at = 0, to_at = 0`),
  );
}

interface BudgetOfTask {
  readonly taskId: string;
  readonly chatId: string;
  readonly timezone: string;
  readonly policies: Policies;
  readonly actor: Actor;
  readonly at: number;
}

/** The budgets of a task are those of its policy, written where its policies are. */
export function* followPolicy({ taskId, chatId, timezone, policies, actor, at }: BudgetOfTask): Script<void> {
  const { budget } = policies;
  const set = budgetKinds.flatMap((kind): NewBudget[] => {
    const quantity = budget?.[kind];
    if (quantity === undefined || budget?.per === undefined) return [];
    return [{ scope: 'task', account: taskId, chatId, kind, per: budget.per, quantity, currency: null, timezone }];
  });
  if (budget === undefined) {
    yield* run(sql`delete from budgets where account = ${taskId}`);
    return;
  }
  yield* run(sql`delete from budgets where account = ${taskId} and id not in ${list(set.map(idOf))}`);
  yield* putBudgets(set, actor, at);
}

/** A chat that takes in another keeps its own budgets, and has those of the other where it has none like them. What they spent is summed up anew. */
export function* mergeBudgets(oldId: string, youngId: string): Script<void> {
  const { budgets } = columns;
  const found = yield* all(
    select({ ...pick(budgets, 'quantity', 'currency', 'timezone', 'setBy', 'setAt', 'kind', 'per') })`from budgets
      where account = ${youngId} and scope = 'chat'`,
  );
  yield* insertAll(
    'budgets',
    found.map(({ kind, per, ...one }) => {
      const id = idOf({ scope: 'chat', account: oldId, kind, per });
      const whose = { scope: 'chat', account: oldId, chatId: oldId } as const;
      return { id, ...whose, kind, per, ...one, fromAt: 0, toAt: 0, spent: 0 };
    }),
    raw('on conflict (id) do nothing'),
  );
  yield* run(sql`delete from budgets where account = ${youngId} and scope = 'chat'`);
  yield* update('budgets', { chatId: oldId }, sql`chat_id = ${youngId}`);
  yield* update('budgets', { fromAt: 0, toAt: 0 }, sql`chat_id = ${oldId}`);
}

function* chatIdOf(thread: Thread, newId: string, at: number): Script<string> {
  return (yield* chatOf(thread, newId, at)).id;
}
