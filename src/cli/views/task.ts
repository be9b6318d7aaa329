import { type ActionForm, settingLines } from '../../app/actions/form.ts';
import { forms } from '../../app/actions/forms.ts';
import { AppError } from '../../domain/errors.ts';
import { describe, parseSchedule } from '../../domain/schedule/schedule.ts';
import type { ActionSpec } from '../../domain/task.ts';
import { facts, table, type Cell, type Column, type Fact, flat, shown, toned } from '../layout.ts';
import { shortIds, type Task } from '../naming.ts';
import { given } from '../options.ts';
import type { Session } from '../session.ts';
import { hostZone, timesIn, type Times } from '../times.ts';

type Schedule = Task['schedule'];
type Looking = Pick<Session, 'terminal' | 'clock'>;

/** `#3 Stand up`, as a task is called within a sentence. */
export function named({ number, title }: Pick<Task, 'number' | 'title'>): string {
  return `#${number} ${flat(title)}`;
}

/** A task as it is called at the end of a sentence: a title that ends one by itself needs no full stop. */
export function namedLast(task: Pick<Task, 'number' | 'title'>): string {
  const name = named(task);
  return /[.!?…]$/.test(name) ? name : `${name}.`;
}

/** When it runs, in words; as it was written where it cannot be read. */
export function scheduleWords(schedule: Schedule, now: number): string {
  const { kind, timezone, ...fields } = schedule;
  const times = timesIn(timezone, now);
  if (kind === 'once' && fields.once_at !== null) return `once on ${times.at(fields.once_at)}`;
  try {
    return describe(parseSchedule({ kind, timezone, ...given(fields) }, now), { day: (day) => times.day(day), now });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return writtenSchedule(schedule);
  }
}

/** The schedule as it was typed. */
function writtenSchedule({ kind, once_at, cron, rrule, interval }: Schedule): string {
  return `${kind} ${once_at ?? cron ?? rrule ?? interval ?? ''}`.trim();
}

function stateOf(task: Pick<Task, 'state' | 'counters' | 'stale_since'>): Cell {
  if (task.state === 'active') {
    if (task.counters.consecutive_failures > 0) return { text: 'failing', tone: 'bad' };
    return task.stale_since === null ? { text: 'active', tone: 'good' } : { text: 'stale', tone: 'warn' };
  }
  return { text: task.state, tone: task.state === 'paused' ? 'warn' : 'dim' };
}

/**
 * Numbers name tasks within their thread, so each thread has a table of its own, below its name where that is not the thread
 * of bare numbers. Where there is room the ids are told too.
 */
export async function taskTable(
  { terminal, clock, threadKey }: Looking & Pick<Session, 'threadKey'>,
  tasks: readonly Task[],
): Promise<string> {
  const now = clock.now();
  const short = shortIds(tasks.map((task) => task.task_id));
  const zone = usualZone(tasks);
  const next = (task: Task): Cell => {
    const { timezone } = task.schedule;
    const [first] = comingOf(task);
    if (first === undefined) return { text: '-', tone: 'dim' };
    const at = `${timesIn(timezone, now).at(first.at)}${timezone === zone ? '' : ` ${timezone}`}`;
    return { text: first.isSnoozed ? `${at}, snoozed` : at };
  };
  const columns: readonly Column<Task>[] = [
    { title: '#', of: (task) => String(task.number) },
    { title: 'TITLE', least: 14, of: (task) => task.title },
    { title: 'WHEN', least: 16, wraps: true, of: (task) => scheduleWords(task.schedule, now) },
    { title: timesIn(zone, now).titled('NEXT'), least: 16, wraps: true, of: next },
    { title: 'STATE', of: stateOf },
    { title: 'ID', isExtra: true, of: (task) => short(task.task_id) },
  ];
  const threads = [...new Set(tasks.map((task) => task.creator_thread_key))];
  const isPlain = threads.length === 1 && threads[0] === threadKey;
  const parts = threads.map(async (thread) => {
    const head = isPlain ? '' : `${toned(shown(thread), 'strong', terminal.hasColours)}\n`;
    const among = tasks.filter((task) => task.creator_thread_key === thread);
    return head + (await table(terminal, columns, among));
  });
  return (await Promise.all(parts)).join('\n');
}

/** Instants at which something comes of a task, soonest first: of its schedule, and of results that are snoozed. */
export function inOrder(next: readonly string[], snoozed: readonly string[]) {
  return [...next.map((at) => ({ at, isSnoozed: false })), ...snoozed.map((at) => ({ at, isSnoozed: true }))].toSorted(
    (a, b) => Date.parse(a.at) - Date.parse(b.at),
  );
}

export function comingOf({ next_run_at: at, snoozed_to: snoozed = [] }: Pick<Task, 'next_run_at' | 'snoozed_to'>) {
  return inOrder(at === null ? [] : [at], snoozed);
}

export function comingText({ at, isSnoozed }: ReturnType<typeof inOrder>[number], times: Times): string {
  return isSnoozed ? `${times.full(at)}, snoozed` : times.full(at);
}

/** The zone of most tasks; the others tell theirs. */
function usualZone(tasks: readonly Task[]): string {
  const zones = tasks.map(({ schedule }) => schedule.timezone);
  const count = (zone: string) => zones.filter((one) => one === zone).length;
  return [...new Set(zones)].toSorted((a, b) => count(b) - count(a))[0] ?? hostZone();
}

/** All facts of one task. */
export async function taskCard({ terminal, clock }: Looking, task: Task): Promise<string> {
  const now = clock.now();
  const times = timesIn(task.schedule.timezone, now);
  const head = `${toned(named(task), 'strong', terminal.hasColours)}\n`;
  const text = task.instructions === task.title ? null : task.instructions;
  const all = [
    ['text', text],
    ...workFacts(task, now),
    ...placeFacts(task),
    ['created', times.about(task.created_at)],
  ] as const;
  return head + (await facts(terminal, all));
}

function workFacts(task: Task, now: number): readonly Fact[] {
  const times = timesIn(task.schedule.timezone, now);
  const { counters } = task;
  const failures = counters.failures === 0 ? '' : `, ${counters.failures} failed`;
  const { last_outcome: outcome, last_run_status: ended, last_run_at: at } = task;
  const since = outcome === 'skipped' || outcome === 'missed' ? `, since then ${outcome}` : '';
  const coming = comingOf(task);
  const last = at === null ? null : `${since === '' ? outcome : ended}, ${times.about(at)}${since}`;
  return [
    ['state', stateCell(task, now)],
    ['schedule', `${scheduleWords(task.schedule, now)} (${task.schedule.timezone})`],
    ['written', task.schedule.kind === 'once' ? null : writtenSchedule(task.schedule)],
    ['next', coming.length === 0 ? 'none' : coming.map((one) => comingText(one, times)).join('; ')],
    ['last', last],
    ['stale since', task.stale_since === null ? null : times.about(task.stale_since)],
    ['last error', task.last_error_message === null ? null : { text: task.last_error_message, tone: 'bad' }],
    ['runs', counters.runs === 0 ? 'none yet' : `${counters.runs}${failures}`],
    ['action', actionWords(task.action)],
    ['policies', policyWords(task.policies)],
    ['subject', task.subject],
    ['tags', task.tags.join(', ')],
  ];
}

function stateCell(task: Task, now: number): Cell {
  const cell = stateOf(task);
  const reason = task.paused_reason === null ? '' : `, ${task.paused_reason.replaceAll('_', ' ')}`;
  const until = task.resume_at === null ? '' : `, until ${timesIn(task.schedule.timezone, now).at(task.resume_at)}`;
  return task.state === 'paused' ? { ...cell, text: `paused${reason}${until}` } : cell;
}

function placeFacts(task: Task): readonly Fact[] {
  return [
    ['id', task.task_id],
    ['thread', task.creator_thread_key],
    ['results in', task.execution_thread_key === task.creator_thread_key ? null : task.execution_thread_key],
    ['owner', task.owner_user_key],
  ];
}

/** An action in short, and its settings; null for a task that says a text. */
export function actionWords(action: ActionSpec, among: readonly ActionForm[] = Object.values(forms)): string | null {
  if (action.kind === 'message' && Object.keys(action).length === 1) return null;
  const form = among.find(({ kind }) => kind === action.kind);
  const told = new Set(form?.fields.flatMap(({ name, inBrief }) => (inBrief === true ? name : [])));
  const settings = settingLines(form ?? { fields: [] }, action).filter(
    ([name]) => form?.brief === undefined || !told.has(name),
  );
  return [
    form?.brief?.(action) ?? action.kind,
    ...settings.map(([name, value]) => `${name}: ${value.replaceAll('\n', ', ')}`),
  ].join('; ');
}

export function policyWords(policies: Readonly<Record<string, unknown>>): string {
  return Object.entries(policies)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** How a task stands after a verb: whether it is paused, and when it runs next. */
export function stateFacts(task: Task, now: number): readonly Fact[] {
  const times = timesIn(task.schedule.timezone, now);
  if (task.state === 'paused') {
    return [['paused', task.resume_at === null ? 'until somebody resumes it' : `until ${times.full(task.resume_at)}`]];
  }
  return [['next', task.next_run_at === null ? 'none' : times.full(task.next_run_at)]];
}

export function warningText(warnings: readonly string[]): string | null {
  return warnings.length === 0 ? null : warnings.map((warning) => `Note: ${warning}`).join('\n');
}
