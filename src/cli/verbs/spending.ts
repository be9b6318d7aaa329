import { budgetKinds, budgetPeriods, type BudgetPeriod } from '../../domain/spending/usage.ts';
import { readBudget, readBudgetKind } from '../../domain/spending/words.ts';
import type { AnswerOf } from '../client.ts';
import { usage } from '../faults.ts';
import { facts, type Column, type Fact } from '../layout.ts';
import { chosenPerson, chosenTask, taskNames } from '../naming.ts';
import { verb, type Session, type Told } from '../session.ts';
import { hostZone, timesIn } from '../times.ts';
import { listTold } from './looking.ts';
import { stretchOf } from './moments.ts';

/** Usage, and the budgets that limit it. */

type Budget = AnswerOf<'listBudgets'>['budgets'][number];
interface Sum {
  readonly kind: string;
  readonly quantity: number;
  readonly currency: string | null;
}

/** Money is told in its currency, the rest as it is counted. */
export function amount({ kind, quantity, currency }: Sum): string {
  if (kind !== 'money') return String(quantity);
  const written = (quantity / 1_000_000).toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1');
  return currency === null ? written : `${written} ${currency}`;
}

export const usageVerb = verb({
  usage: 'usage',
  summary: 'tell what ran, was delivered and was consumed',
  about: 'Of the whole server; of one chat with --thread-key.',
  examples: ['cronogram usage --from 2027-01-01 --to 2027-02-01', 'cronogram usage --from 24h --by task'],
  flags: [
    { flags: '--user <person>', about: 'of the tasks of one owner: a name, a number or a key' },
    { flags: '--task <task>', about: 'of one task' },
    { flags: '--by <what>', about: 'tell the days, or the tasks that used most', choices: ['day', 'task'] },
    {
      flags: '--from <when>',
      about: 'the beginning: a day, a day and a time, or so long ago (default: 30 days before the end)',
    },
    { flags: '--to <when>', about: 'the end (default: now)' },
  ],
  does: async (session, _args, { user, task, by, from, to }) => {
    const owner = await chosenPerson(session.client, user);
    const whose = { thread_key: session.namedThread, user_key: owner, task_id: await chosenTask(session, task) };
    const group = by === undefined ? {} : { group: by, ...(by === 'day' ? { timezone: hostZone() } : {}) };
    const query = { ...whose, ...group, ...(await stretchOf(session, { from, to })) };
    const answer = await session.client.call('getUsage', { query });
    return { json: answer, text: await usageText(session, answer) };
  },
});

async function usageText(session: Session, answer: AnswerOf<'getUsage'>): Promise<string> {
  const times = timesIn(hostZone(), session.clock.now());
  const quota = Object.entries(answer.quota).flatMap(([of, used]): Fact[] =>
    used === null ? [] : [[`tasks of the ${of}`, `${used.used} of ${used.limit}`]],
  );
  const atLeast = answer.capped ? 'at least ' : '';
  return facts(session.terminal, [
    ['from', `${times.about(answer.from)} (${times.zone})`],
    ['to', times.about(answer.to)],
    ['runs', `${atLeast}${answer.runs}, ${answer.failures} failed`],
    ['messages', `${atLeast}${answer.messages}`],
    ...answer.spent.map((sum): Fact => [sum.kind, amount(sum)]),
    ...(answer.by_day ?? []).map((sum): Fact => [sum.day, `${amount(sum)} ${sum.kind}`]),
    ...(answer.by_task ?? []).map((sum): Fact => [
      sum.number === null ? sum.task_id : `#${sum.number} ${sum.title ?? ''}`,
      `${amount(sum)} ${sum.kind}`,
    ]),
    ...quota,
  ]);
}

const whoseFlags = [
  { flags: '--task <task>', about: 'of one task' },
  { flags: '--user <person>', about: 'of one person: a name, a number or a key' },
] as const;

interface Whose {
  readonly task?: string | undefined;
  readonly user?: string | undefined;
}

/** Of the thread where neither a task nor a person is named. */
async function whoseOf(session: Session, { task, user }: Whose, thread: string | undefined) {
  if (task !== undefined && user !== undefined) throw usage('Name a task or a person, not both.');
  if (task !== undefined) return { task_id: await chosenTask(session, task) };
  if (user !== undefined) return { user_key: await chosenPerson(session.client, user) };
  return thread === undefined ? {} : { thread_key: thread };
}

export const budgetVerbs = [
  verb({
    usage: 'list',
    summary: 'list budgets, with what is spent of them',
    about: 'All of them; with --thread-key those of one chat and its tasks.',
    examples: ['cronogram budget list', 'cronogram budget list --task 3'],
    flags: whoseFlags,
    does: async (session, _args, whose) => {
      const query = await whoseOf(session, whose, session.namedThread);
      return listed(session, await session.client.call('listBudgets', { query }));
    },
  }),
  verb({
    usage: 'set <limit...>',
    summary: 'set a budget of a chat, a person or a task: runs beyond it are skipped',
    about: 'Others of the same chat, person or task stay. A task has its budgets for days or for months, not for both.',
    examples: ['cronogram budget set 1000 requests a month', 'cronogram budget set 5 EUR a day --task 3'],
    flags: whoseFlags,
    does: async (session, words, whose) => {
      const read = readBudget(words.join(' '));
      if (read === null) throw usage('Write how much for how long: 1000 requests a month, or 5 EUR a day.');
      const { kind, per, quantity, currency } = read;
      return put(session, { whose, per, of: { [kind]: quantity }, currency });
    },
  }),
  verb({
    usage: 'remove [what...]',
    summary: 'remove a budget, or all of a chat, a person or a task',
    examples: ['cronogram budget remove requests a month', 'cronogram budget remove --task 3'],
    flags: whoseFlags,
    does: async (session, words, whose) => {
      const read = words.length === 0 ? { kind: null, per: null } : readBudgetKind(words.join(' '));
      if (read === null) throw usage('Write what and for how long: requests a month, tokens a day, or money.');
      const kinds = read.kind === null ? budgetKinds : [read.kind];
      const gone = Object.fromEntries(kinds.map((kind) => [kind, null]));
      let told: Told | null = null;
      const own = await ownBudgets(session, whose);
      for (const per of budgetPeriods)
        if ((read.per ?? per) === per && own.some((one) => one.per === per))
          told = await put(session, { whose, per, of: gone });
      return told ?? listed(session, { budgets: [...own] });
    },
  }),
];

interface Putting {
  readonly whose: Whose;
  readonly per: BudgetPeriod;
  readonly of: Readonly<Record<string, number | null>>;
  /** The currency as it was written, for the server to refuse where its prices have another. */
  readonly currency?: string | null;
}

/** The server is told all limits of a period at once, so those that stay are read before. */
async function put(session: Session, { whose, per, of, currency = null }: Putting): Promise<Told> {
  const own = (await ownBudgets(session, whose)).filter((one) => one.per === per);
  const kept = Object.fromEntries(own.map(({ kind, quantity }) => [kind, quantity]));
  // Money that stays is meant in the currency in which it was set, whatever the prices are in by now.
  const money = 'money' in of ? undefined : own.find(({ kind }) => kind === 'money');
  const meant = currency ?? money?.currency ?? null;
  const body = {
    ...(await whoseOf(session, whose, session.threadKey)),
    ...kept,
    ...of,
    ...(meant === null ? {} : { currency: meant }),
    per,
  };
  return listed(session, await session.client.call('setBudgets', { body }));
}

async function ownBudgets(session: Session, whose: Whose): Promise<readonly Budget[]> {
  const query = await whoseOf(session, whose, session.threadKey);
  const { budgets } = await session.client.call('listBudgets', { query });
  const scope = whose.task !== undefined ? 'task' : whose.user !== undefined ? 'person' : 'chat';
  return budgets.filter((one) => one.scope === scope);
}

async function listed(session: Session, answer: AnswerOf<'listBudgets'>): Promise<Told> {
  const times = timesIn(hostZone(), session.clock.now());
  const nameOf = await taskNames(
    session,
    answer.budgets.flatMap(({ task_id: id }) => id ?? []),
  );
  const columns: readonly Column<Budget>[] = [
    {
      title: 'OF',
      least: 12,
      of: (one) => (one.task_id === null ? (one.user_key ?? one.thread_key ?? '') : nameOf(one.task_id)),
    },
    { title: 'LIMIT', of: (one) => `${amount(one)}${one.kind === 'money' ? '' : ` ${one.kind}`} a ${one.per}` },
    { title: 'SPENT', of: ({ kind, currency, spent }) => amount({ kind, currency, quantity: spent }) },
    { title: 'HELD', of: ({ kind, currency, reserved }) => amount({ kind, currency, quantity: reserved }) },
    { title: 'LEFT', of: ({ kind, currency, left }) => amount({ kind, currency, quantity: left }) },
    { title: times.titled('UNTIL'), least: 8, of: ({ to }) => times.at(to) },
  ];
  return listTold(session, { json: answer, none: 'No budgets.', rows: answer.budgets, columns });
}
