import type { Database } from 'better-sqlite3';
import type { Policies } from '../../src/domain/policy.ts';
import type { Schedule } from '../../src/domain/schedule/schedule.ts';
import { scheduleOf, type Row } from '../invariants/rows.ts';

/** What the simulation did, and what it saw in the database after each step. */
export interface Journal {
  readonly lines: readonly string[];
  tell(line: string): void;
  /** What happened to each task, in order, as its audit rows say. */
  readonly turns: ReadonlyMap<string, readonly Turn[]>;
  readonly walls: readonly Wall[];
  /** Looks at the database: new audit rows, and what the tasks are like by now. Answers what was wrong already. */
  observe(settled: boolean): readonly string[];
  /** Everything that tasks were ever to say, by task. */
  readonly texts: ReadonlyMap<string, ReadonlySet<string>>;
  readonly deadBoots: Set<string>;
  /** How often other rules of time came with a new process. */
  zoneRules: number;
  /** The wall clock was set back at least once. */
  readonly setBack: boolean;
  /** A process ended before it could notice that. */
  readonly blind: boolean;
  clockWentBack(): void;
  clockWentForward(): void;
  /** A process ended; what it had not noticed nobody will. */
  processEnded(): void;
  readonly dealt: { thrown: number; lost: number; kills: number };
  /** What a client was told to be done, and must be true for ever. */
  readonly promised: Promised;
}

export interface Promised {
  readonly created: Map<string, string>;
  readonly runsByHand: Set<string>;
  /** Requests to run by hand that may have had an effect: those without a key, and the different keys. */
  readonly asked: Map<string, number>;
  /** Messages of clients by their text, and the run that was told of each; null while nobody was told of one. */
  readonly posted: Map<string, string | null>;
}

/** An audit row of a task, with the definition that has held since. */
export interface Turn {
  readonly auditId: number;
  readonly at: number;
  readonly verb: string;
  readonly actor: string;
  /** The ids that were given out before it are smaller, those after it are greater. */
  readonly mark: string;
  readonly stateBefore: string | null;
  readonly state: string;
  /** When a pause was to end by itself. */
  readonly resumeAt: number | null;
  /** When the pause before it was to end, as was seen last: the return of an owner ends one at once, and no audit row tells of that. */
  readonly endOfPause: number | null;
  readonly schedule: Schedule;
  readonly policies: Policies;
  /** The count for `max_runs` started again. */
  readonly retimed: boolean;
}

/** A time that the wall clock showed to a process that may have acted on it. */
export interface Wall {
  readonly auditId: number;
  readonly at: number;
  /** Everything that was due by then had been taken up. */
  readonly settled: boolean;
}

/** A task, and how many of its live runs hold a place in `max_runs`. */
type Seen = Row<'tasks'> & { readonly held: number };

interface JournalDeps {
  readonly database: Database;
  readonly now: () => number;
  /** The last id that was given out. */
  readonly mark: () => string;
}

/** The longest pause between two tries that the definitions here allow: 15 minutes, and as much again by chance. */
const pauseOfRunMaxMs = 31 * 60_000;
/** What is blocked is looked at every ten minutes, and nothing waits longer than that. */
const pauseOfPartMaxMs = 11 * 60_000;

/** What is done beside the schedule changes nothing about when a task is on. */
const beside = new Set(['run_now', 'snooze', 'retry', 'replay', 'cancel', 'answer', 'attach', 'grant', 'revoke']);

export function openJournal({ database, now, mark }: JournalDeps): Journal {
  const newAudit = database.prepare('select * from audit where id > ? order by id');
  const allTasks = database.prepare(
    `select t.*, (select count(*) from runs r join occurrences o on o.id = r.occurrence_id
       where r.task_id = t.id and r.status in ('queued', 'running', 'backoff', 'waiting')
         and o.source in ('schedule', 'catch_up') and r.task_version >= t.bounded_since) as held from tasks t`,
  );
  const crowded = database.prepare(
    `select r.task_id from runs r where r.exclusive = 1 and r.status in ('queued', 'running', 'backoff', 'waiting')
       and exists (select 1 from runs e where e.task_id = r.task_id and e.id < r.id
         and e.status in ('queued', 'running', 'backoff', 'waiting'))`,
  );
  const lines: string[] = [];
  const turns = new Map<string, Turn[]>();
  const walls: Wall[] = [];
  const texts = new Map<string, Set<string>>();
  let known = new Map<string, Seen>();
  let auditId = 0;
  let [setBack, unnoticed, ahead, blind] = [false, false, false, false];
  // A run that waits for somebody to allow its effect has a day for that.
  const farRun = database
    .prepare(
      `select id from runs where status in ('queued', 'backoff') and ready_at > ?
         and json_extract(coalesce(approval, '{}'), '$.decide_by') is null`,
    )
    .pluck();
  const farPart = database
    // The end of quiet hours means what the clock on the wall says; an approval is waited for.
    .prepare(
      `select id from deliveries where status in ('pending', 'blocked', 'unknown') and ready_at > ?
         and coalesce(held_until, 0) <> ready_at and coalesce(cause, '') <> 'approval'`,
    )
    .pluck();

  /** A pause that was counted from now must not grow when the clock goes back under a living process. */
  const farAhead = (): string[] => {
    const found = [farRun.get(now() + pauseOfRunMaxMs), farPart.get(now() + pauseOfPartMaxMs)];
    return found.filter((id) => typeof id === 'string').map((id) => `${id} is put off too far ahead`);
  };

  const takeTurn = (entry: Row<'audit'>, tasks: ReadonlyMap<string, Row<'tasks'>>) => {
    const task = tasks.get(entry.task_id ?? '');
    if (task === undefined || beside.has(entry.verb)) return;
    const turn = turnOf(entry, { task, before: known.get(task.id), mark: mark() });
    turns.set(task.id, [...(turns.get(task.id) ?? []), turn]);
  };

  const observe = (settled: boolean): string[] => {
    const audit = newAudit.all(auditId) as Row<'audit'>[];
    const tasks = allTasks.all() as Seen[];
    const fresh = new Map(tasks.map((task) => [task.id, task]));
    for (const [index, entry] of audit.entries()) {
      auditId = entry.id;
      // A pause that ends in the course of a change ends before it, with the definition that the task had until then.
      const isFollowed = audit.slice(index + 1).some(({ task_id }) => task_id === entry.task_id);
      takeTurn(entry, isFollowed ? new Map([...fresh, ...known]) : fresh);
    }
    for (const { id, instructions } of tasks) texts.set(id, (texts.get(id) ?? new Set()).add(instructions));
    walls.push({ auditId, at: now(), settled });
    const wrong = tasks.flatMap((task) => wrongIn(task, known.get(task.id)));
    for (const { task_id } of crowded.all() as { task_id: string }[])
      wrong.push(`task ${task_id} has a live run that excludes others, and an older one beside it`);
    known = fresh;
    if (settled) [unnoticed, ahead] = [false, false];
    if (settled && !blind) wrong.push(...farAhead());
    return wrong;
  };

  return {
    lines,
    tell: (line) => {
      lines.push(`${new Date(now()).toISOString()} ${line}`);
    },
    turns,
    walls,
    observe,
    texts,
    deadBoots: new Set(),
    zoneRules: 0,
    get setBack() {
      return setBack;
    },
    get blind() {
      return blind;
    },
    clockWentBack: () => {
      setBack = true;
      unnoticed = true;
      // Two steps between two looks at the clock are seen as one, and what was planned in between as it stands.
      blind ||= ahead;
    },
    clockWentForward: () => {
      ahead = true;
    },
    processEnded: () => {
      blind ||= unnoticed;
    },
    dealt: { thrown: 0, lost: 0, kills: 0 },
    promised: { created: new Map(), runsByHand: new Set(), asked: new Map(), posted: new Map() },
  };
}

interface Change {
  readonly task: Row<'tasks'>;
  readonly before: Row<'tasks'> | undefined;
  readonly mark: string;
}

function turnOf(entry: Row<'audit'>, { task, before, mark }: Change): Turn {
  const policies = JSON.parse(task.policies) as Policies;
  const schedule = scheduleOf(task);
  const { id: auditId, at, verb, actor } = entry;
  const state = entry.state_after ?? task.state;
  // What had revived a completed task and is taken back leaves it completed, with its count.
  const isOverAgain = verb === 'undo' && entry.state_before === 'active' && state === 'completed';
  const retimed = before === undefined || (!isOverAgain && isRetimed(verb, { policies, schedule }, before));
  const resumeAt = task.resume_at;
  const endOfPause = before?.resume_at ?? null;
  return {
    auditId,
    at,
    verb,
    actor,
    mark,
    stateBefore: entry.state_before,
    state,
    resumeAt,
    endOfPause,
    schedule,
    policies,
    retimed,
  };
}

function isRetimed(verb: string, now: Pick<Turn, 'policies' | 'schedule'>, task: Row<'tasks'>): boolean {
  const before = JSON.parse(task.policies) as Policies;
  const bounds = ({ start_at, until }: Policies) => `${Date.parse(start_at ?? '')} ${Date.parse(until ?? '')}`;
  if (JSON.stringify(now.schedule) !== JSON.stringify(scheduleOf(task))) return true;
  if (bounds(now.policies) !== bounds(before)) return true;
  return verb === 'upsert' && now.policies.max_runs !== before.max_runs;
}

/** What must hold at any time, not only at the end. */
function wrongIn(task: Seen, before: Seen | undefined): string[] {
  const wrong: string[] = [];
  if ((task.state === 'active') !== (task.next_at !== null))
    wrong.push(`task ${task.id} is ${task.state} with next_at ${task.next_at}`);
  if (before === undefined) return wrong;
  if (task.version < before.version) wrong.push(`the version of task ${task.id} went back`);
  // An edit takes up the slots that are due as the task was before it.
  const most = Math.max(maxRunsOf(task), maxRunsOf(before));
  if (placesOf(task) > most && placesOf(task) > placesOf(before))
    wrong.push(`task ${task.id} has ${task.bounded_runs} runs and holds places for ${task.held} more, of ${most}`);
  if (task.bounded_runs < 0) wrong.push(`task ${task.id} counts ${task.bounded_runs} runs`);
  return wrong;
}

/** Places in `max_runs` that are taken. */
function placesOf({ bounded_runs: counted, held }: Seen): number {
  return counted + held;
}

function maxRunsOf({ policies }: Row<'tasks'>): number {
  return (JSON.parse(policies) as Policies).max_runs ?? Infinity;
}
