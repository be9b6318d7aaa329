import { pageMax, previewCountDefault } from '../../domain/limits.ts';
import type { AnswerOf, Asked } from '../client.ts';
import { usage } from '../faults.ts';
import { facts, sentence, table, type Cell, type Column } from '../layout.ts';
import { deletedToo, paramsOf, shortIds, taskNamed, taskNames, type Task } from '../naming.ts';
import { given } from '../options.ts';
import { noteOf, verb, type Flag, type Options, type Session, type Told } from '../session.ts';
import { counted, hostZone, timesIn, type Times } from '../times.ts';
import { attemptsTable, deliveriesTable, runCell, tookWords } from '../views/run.ts';
import {
  comingOf,
  comingText,
  inOrder,
  named,
  policyWords,
  scheduleWords,
  taskCard,
  taskTable,
} from '../views/task.ts';
import { withTime } from './moments.ts';

export const limitFlag = {
  flags: '--limit <count>',
  about: 'rows at once, 1 to 200',
  whole: { min: 1, max: 200 },
} as const satisfies Flag;

export const pageFlags = [
  limitFlag,
  { flags: '--cursor <cursor>', about: 'continue where a page ended' },
] as const satisfies readonly Flag[];

export const countFlag = {
  flags: '--count <count>',
  about: 'how many runs, 1 to 100',
  whole: { min: 1, max: 100 },
} as const satisfies Flag;

const taskStates = ['all', 'enabled', 'disabled', 'active', 'paused', 'completed', 'deleted'] as const;

const statuses: readonly TaskRunStatus[] = [
  'pending',
  'dispatched',
  'succeeded',
  'failed',
  'skipped',
  'missed',
  'cancelled',
];

/** The verbs that look at a task and leave it as it is. */
export const lookingVerbs = [
  verb({
    usage: 'list',
    summary: 'list tasks, newest first',
    about:
      'The tasks of all threads; those of one with --thread-key. Those that have ended are only counted, unless --state asks for them.',
    examples: ['cronogram task list --state paused', 'cronogram task list --tag team --json'],
    flags: [
      { flags: '--state <state>', about: 'which tasks', choices: taskStates },
      { flags: '-q, --query <text>', about: 'text in the title or the instructions' },
      { flags: '--tag <tag>', about: 'with this tag' },
      { flags: '--subject <subject>', about: 'with this subject' },
      ...pageFlags,
      { flags: '--all', about: 'every page' },
    ],
    does: async (session, _args, { all = false, state, query: q, tag, subject, ...page }) => {
      const query = { state, q, tag, subject, thread_key: session.namedThread, ...pageOf(page) };
      // A program is told the page that it asked for, a person what is left to run.
      const folds = state === undefined && Object.keys(page).length === 0 && !session.isJson;
      const most = all ? pagesMax : folds ? foldedPagesMax : 1;
      const json = await listed(session, folds ? { ...query, limit: String(pageMax) } : query, most);
      // A task that is snoozed still comes.
      const isEnded = (task: Task) => folds && task.state === 'completed' && comingOf(task).length === 0;
      const ended = json.tasks.filter(isEnded);
      const tasks = json.tasks.filter((task) => !isEnded(task));
      const count = `${counted(ended.length, 'task')} that ${ended.length === 1 ? 'has' : 'have'} ended`;
      const note = noteOf(
        json.tasks.length === 0 ? 'Make one:\n  cronogram task create "every weekday at 9 stand up"' : null,
        ended.length === 0 ? null : `And ${count}: cronogram task list --state completed`,
        json.next_cursor === null ? null : `There is more: add --all, or --cursor ${json.next_cursor}`,
      );
      const text = tasks.length === 0 ? 'No tasks.\n' : await taskTable(session, tasks);
      return { json, text, ...note };
    },
  }),
  verb({
    usage: 'get <task>',
    summary: 'show everything about a task',
    examples: ['cronogram task get 3'],
    does: async (session, [name = '']) => {
      const answer = await session.client.call('getTask', { params: await paramsOf(session, name) });
      return { json: answer, text: await taskCard(session, answer.task) };
    },
  }),
  verb({
    usage: 'history <task>',
    summary: 'list what ran, and what did not and why',
    examples: ['cronogram task history 3 --status failed'],
    flags: [{ flags: '--status <status>', about: 'runs that ended so', choices: statuses }, ...pageFlags],
    does: async (session, [name = ''], { status, ...page }) => {
      const found = await taskNamed(session, name);
      const answer = await session.client.call('listTaskRuns', {
        params: { task_id: found.task_id },
        query: { status, ...pageOf(page) },
      });
      const { task_runs: rows } = answer;
      const columns = historyColumns(timesIn(found.schedule.timezone, session.clock.now()), rows);
      return listTold(session, { json: answer, none: emptyWords(named(found), status), rows, columns });
    },
  }),
  verb({
    usage: 'next <task>',
    summary: 'tell when a task runs next',
    examples: ['cronogram task next 3 --count 10'],
    flags: [countFlag],
    does: async (session, [name = ''], { count }) => {
      const found = await taskNamed(session, name);
      const answer = await session.client.call('listNextRuns', {
        params: { task_id: found.task_id },
        query: { count: count?.toString() },
      });
      const times = timesIn(found.schedule.timezone, session.clock.now());
      const coming = inOrder(answer.next, answer.snoozed).slice(0, count ?? previewCountDefault);
      const lines = coming.map((one) => comingText(one, times));
      const none = `${named(found)} has no next run: it is ${found.state}.`;
      return { json: answer, text: await sentence(session.terminal, lines.length === 0 ? none : lines.join('\n')) };
    },
  }),
  verb({
    usage: 'why <task> [at...]',
    summary: 'tell why a task ran, or did not, at an instant or of late',
    about:
      'Words such as "27 nov" or "last friday 9:00", and an instant without an offset, are read on the clock of the task, to the minute. Without one: what happened last, what is snoozed, and what comes next. With --from and --to a day alone is its first minute.',
    examples: [
      'cronogram task why 3 2027-01-31T09:00',
      'cronogram task why 3 last friday 9:00',
      'cronogram task why 3 --from 2027-01-01 --to 2027-02-01',
    ],
    flags: [
      { flags: '--from <instant>', about: 'the beginning of a stretch of time' },
      { flags: '--to <instant>', about: 'its end (default: now)' },
      ...pageFlags,
    ],
    does: async (session, [name = '', at], { from, to, ...page }) => {
      const { params, question } = await whyAsked(session, name, at);
      const asked = { ...question, ...given({ from: withTime(from), to: withTime(to) }), ...pageOf(page) };
      const isOfLate = Object.values(asked).every((one) => one === undefined);
      const query = isOfLate ? { lately: 'true' as const } : asked;
      const answer = await session.client.call('whyTask', { params, query });
      const lines = await Promise.all(
        answer.answers.map(({ line, evidence: { run_number: number } }) =>
          sentence(session.terminal, number === undefined ? line : `${line} Run ${number}.`),
        ),
      );
      return {
        json: answer,
        text: lines.length === 0 ? 'Nothing was due in that time.\n' : lines.join(''),
        ...more(answer.next_cursor),
      };
    },
  }),
  verb({
    usage: 'versions <task>',
    summary: 'list what a task was told to do over time',
    examples: ['cronogram task versions 3'],
    does: async (session, [name = '']) => {
      const found = await taskNamed(session, name);
      const answer = await session.client.call('listTaskVersions', { params: { task_id: found.task_id } });
      return { json: answer, text: await versionsText(session, found.schedule.timezone, answer) };
    },
  }),
];

/** Words are read on the clock of the task, as in the chat; an instant is left to the server. */
async function whyAsked(session: Session, name: string, at: string | undefined) {
  if (at === undefined || /^\d{4}-\d\d-\d\dT/.test(at))
    return { params: await paramsOf(session, name, deletedToo), question: { at } };
  const { task_id, schedule } = await taskNamed(session, name, deletedToo);
  const { questionOf } = await import('../../app/why/questions.ts');
  const question = questionOf(at, { timezone: schedule.timezone, now: await session.client.now() });
  if (question === null)
    throw usage(
      `"${at.slice(0, 60)}" is no moment that can be read. Write 2027-01-31T09:00, "27 nov" or "last friday 9:00".`,
    );
  return { params: { task_id }, question };
}

export function pageOf({ limit, cursor }: Options<typeof pageFlags>) {
  return { limit: limit?.toString(), cursor };
}

/** The note that says how to see the rest. */
function more(cursor: string | null): Pick<Told, 'note'> {
  return noteOf(cursor === null ? null : `There is more: add --cursor ${cursor}`);
}

interface Listed<Row> {
  readonly json: object & { readonly next_cursor?: string | null };
  /** The sentence where there are no rows. */
  readonly none: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
}

/** Rows as a table, and how to see the rest. */
export async function listTold<Row>({ terminal }: Session, { json, none, rows, columns }: Listed<Row>): Promise<Told> {
  const text = rows.length === 0 ? await sentence(terminal, none) : await table(terminal, columns, rows);
  return { json, text, ...more(json.next_cursor ?? null) };
}

/** More than this is for a program, which can read pages by itself. */
const pagesMax = 500;
/** A person who looks for what is left to run is not to wait for a thousand tasks that have ended. */
const foldedPagesMax = 10;

/** The page that was asked for, and those behind it, `most` pages in all. */
async function listed(session: Session, query: NonNullable<Asked<'listTasks'>['query']>, most: number) {
  const first = await session.client.call('listTasks', { query });
  const tasks = [...first.tasks];
  let cursor = first.next_cursor;
  for (let pages = 1; cursor !== null && pages < most; pages += 1) {
    const next: AnswerOf<'listTasks'> = await session.client.call('listTasks', { query: { ...query, cursor } });
    tasks.push(...next.tasks);
    cursor = next.next_cursor;
  }
  return { tasks, next_cursor: cursor };
}

type TaskRuns = AnswerOf<'listTaskRuns'>['task_runs'];
type TaskRunStatus = TaskRuns[number]['status'];
function emptyWords(name: string, status: TaskRunStatus | undefined): string {
  return status === undefined ? `${name} has not run yet.` : `No run of ${name} has the status ${status}.`;
}

function historyColumns(times: Times, runs: TaskRuns): readonly Column<TaskRuns[number]>[] {
  const short = shortIds(runs.flatMap((run) => run.run_id ?? []));
  const took = (run: TaskRuns[number]) => run.attempts.at(-1)?.duration_ms ?? null;
  return [
    { title: times.titled('SLOT'), least: 16, of: (run) => times.at(run.scheduled_for) },
    { title: 'NO', of: (run) => run.run_number?.toString() ?? null },
    { title: 'STATUS', of: (run) => runCell(run.status) },
    { title: 'SENT', of: (run) => sentWords(run.deliveries) },
    { title: 'TOOK', of: (run) => tookWords(took(run)) },
    {
      title: 'WHY',
      least: 12,
      wraps: true,
      of: (run) => run.error_message ?? run.reason?.replaceAll('_', ' ') ?? null,
    },
    { title: 'RUN', isExtra: true, of: (run) => run.run_id && short(run.run_id) },
  ];
}

/** Parts that arrived, of how many. */
export function sentWords(deliveries: AnswerOf<'getRun'>['deliveries']): Cell | string {
  if (deliveries.length === 0) return '-';
  const delivered = deliveries.filter(({ status }) => status === 'delivered').length;
  if (delivered === deliveries.length) return { text: delivered === 1 ? 'yes' : `${delivered}`, tone: 'good' };
  const stuck = deliveries.some(({ status }) => ['blocked', 'failed', 'unknown'].includes(status));
  return { text: `${delivered} of ${deliveries.length}`, tone: stuck ? 'bad' : 'warn' };
}

async function versionsText(
  { terminal, clock }: Session,
  timezone: string,
  { versions }: AnswerOf<'listTaskVersions'>,
): Promise<string> {
  const times = timesIn(timezone, clock.now());
  const cards = versions.map(async ({ version, at, actor, definition }) => {
    const { title, instructions, schedule, policies, subject, tags } = definition;
    return facts(terminal, [
      ['version', `${version}, ${times.about(at)} by ${actor}`],
      ['title', title],
      ['text', instructions === title ? null : instructions],
      ['schedule', `${scheduleWords(schedule, clock.now())} (${schedule.timezone})`],
      ['policies', policyWords(policies)],
      ['subject', subject],
      ['tags', tags.join(', ')],
    ]);
  });
  return (await Promise.all(cards)).join('\n');
}

export async function runText(session: Session, run: AnswerOf<'getRun'>): Promise<string> {
  const { terminal, clock } = session;
  const timezone = hostZone();
  const times = timesIn(timezone, clock.now());
  const nameOf = await taskNames(session, [run.task_id]);
  const head = await facts(terminal, [
    ['run', run.run_number === null ? run.run_id : `${run.run_id}, no. ${run.run_number}`],
    ['status', runCell(run.state)],
    ['task', run.task_id && nameOf(run.task_id)],
    ['source', run.source],
    ['error code', run.error_code],
    ['error', run.error_message === null ? null : { text: run.error_message, tone: 'bad' }],
    ['asked for', `${times.about(run.created_at)} (${times.zone})`],
    ['started', run.started_at === null ? null : times.at(run.started_at)],
    ['finished', run.finished_at === null ? null : times.at(run.finished_at)],
  ]);
  const attempts = run.attempts.length === 0 ? '' : `\n${await attemptsTable(session, run.attempts, timezone)}`;
  const deliveries = run.deliveries.length === 0 ? '' : `\n${await deliveriesTable(session, run.deliveries)}`;
  return `${head}${attempts}${deliveries}`;
}
