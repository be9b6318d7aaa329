import type { Schedule } from '../../src/domain/schedule/schedule.ts';
import { accountOf, isBounded, isLive, policiesOf, type Account, type Period } from '../invariants/account.ts';
import { proveCalls, type Witness } from '../invariants/calls.ts';
import { proveParts } from '../invariants/deliveries.ts';
import { groupBy, scheduleOf, tell, type Breach, type Row, type Rows } from '../invariants/rows.ts';
import { boundsOf, isDelay, proveSlots, type SlotProof } from '../invariants/slots.ts';
import { boundedRuns, isSpent, proveTasks } from '../invariants/tasks.ts';
import { proveWork } from '../invariants/work.ts';
import { proveDeliveries } from './delivery-proof.ts';
import type { LogLine } from './program.ts';
import type { Seen } from './telegram.ts';

/** What is known of a server beside its rows. */
export interface History {
  /** The clock was set back, so slots whose rows stand already may lie in an outage. */
  readonly setBack?: boolean;
  /** When it was asked to stop, and when it had. */
  readonly stop: { readonly asked: number; readonly ended: number };
  /** Instants at which a process was killed. */
  readonly kills?: readonly number[];
  /** Times without a database, until all was as before. */
  readonly outages?: readonly { readonly from: number; readonly to: number }[];
  readonly log?: readonly LogLine[];
  readonly promised?: Account['promised'];
}

/** A process takes slots up a moment after their time, so those of its last moment may or may not be there. */
const momentMs = 1500;

/** Every promise that the rows, the log and the chats break together. */
export function breachesOf(rows: Rows, seen: Seen, history: History): readonly Breach[] {
  const account = openAccount(rows, history);
  const proofs = [proveWork, proveTasks, proveParts, oneAtATime, limitsAreKept];
  return [
    ...proveSlots(account).breaches,
    ...proofs.flatMap((prove) => prove(account)),
    ...proveDeliveries(account, seen),
    ...logIsCalm(history.log ?? []),
  ];
}

/** What a target outside has to say to the rows. */
export function callsOf(rows: Rows, history: History, witness: Witness): readonly Breach[] {
  return proveCalls(openAccount(rows, history), witness);
}

export function slotsOf(rows: Rows, history: History): SlotProof {
  return proveSlots(openAccount(rows, history));
}

function openAccount(
  rows: Rows,
  { stop, setBack = false, kills = [], outages = [], promised = { created: [], runsByHand: [] } }: History,
): Account {
  const interruptions = [...kills, ...outages.flatMap(({ from, to }) => secondsFrom(from, to))];
  const audit = groupBy(rows.audit, ({ task_id }) => task_id);
  const account: Account = accountOf(rows, {
    restsAt: null,
    setBack,
    wasKilled: ({ started_at: from, finished_at: to }: Row<'attempts'>) =>
      interruptions.some((kill) => kill >= from - momentMs && kill <= (to ?? kill) + momentMs),
    periodsOf: (task: Row<'tasks'>) => {
      const periods = periodsOf(task, { entries: audit.get(task.id) ?? [], account, stop, outages });
      return periods.some(({ schedule }) => isDelay(schedule)) ? null : periods;
    },
    isOwed: () => true,
    // Tasks with a limit are left alone from their creation on.
    countsAfter: (task: Row<'tasks'>) => (policiesOf(task).max_runs === undefined ? null : ''),
    isInTurn: () => true,
    // What a run brought is as old as its end, and is there only when the database has taken it.
    cameLater: (part, next) =>
      isAllowed(account.tasks.get(part.task_id ?? '')) &&
      outages.some(
        ({ from, to }) => part.created_at > from - momentMs && part.created_at < to && (next.sent_at ?? 0) > from,
      ),
    promised,
  });
  return account;
}

const isAllowed = (task: Row<'tasks'> | undefined) => task !== undefined && policiesOf(task).overlap === 'allow';

interface Around {
  readonly entries: readonly Row<'audit'>[];
  readonly account: Account;
  readonly stop: History['stop'];
  readonly outages: NonNullable<History['outages']>;
}

type Facts = { readonly schedule?: Schedule };

const factsOf = (text: string | null) => (text === null ? {} : (JSON.parse(text) as Facts));
/** The periods in which the task was on, each with its schedule, as the audit tells them. */
function periodsOf(task: Row<'tasks'>, { entries, account, stop, outages }: Around): Period[] {
  const periods: Period[] = [];
  const bounds = boundsOf(policiesOf(task));
  const known = task.state === 'active' ? stop.asked - momentMs : Infinity;
  let schedule = firstSchedule(task, entries);
  let since: number | null = null;
  const end = (to: number, slackMs: number) => {
    if (since === null) return;
    // A clock that was set back by an hour comes to the slots of the hour before the beginning.
    const mayFrom = account.setBack ? since - 3_600_000 : since;
    periods.push({ schedule, bounds, from: since, mayFrom, must: Math.min(to, known), may: to + slackMs });
  };
  for (const entry of entries) {
    const fresh = factsOf(entry.after).schedule;
    const turnsOn = entry.verb === 'create' || entry.verb === 'resume';
    if (!turnsOn && !isOff(entry) && fresh === undefined) continue;
    end(entry.at, slackOf(entry, outages));
    since = turnsOn || (since !== null && !isOff(entry)) ? entry.at : null;
    schedule = fresh ?? schedule;
  }
  end(lastOf(task, account) ?? stop.ended, 0);
  return periods;
}

const isOff = ({ verb }: Row<'audit'>) => verb === 'pause' || verb === 'delete' || verb === 'quarantine';

/** The row shows the last schedule, and the first change of it what was there before. */
function firstSchedule(task: Row<'tasks'>, entries: readonly Row<'audit'>[]): Schedule {
  return entries.flatMap(({ before }) => factsOf(before).schedule ?? [])[0] ?? scheduleOf(task);
}

/** A task is paused by its failure as of the end of its run, and takes slots until that end is written. */
function slackOf({ verb, actor, at }: Row<'audit'>, outages: Around['outages']): number {
  if (verb !== 'pause' || actor !== 'system') return 0;
  const outage = outages.find(({ from, to }) => at > from - momentMs && at < to);
  return momentMs + (outage === undefined ? 0 : outage.to - at);
}

/** Instants that are a second apart. */
export function secondsFrom(from: number, to: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / 1000) + 1 }, (_value, index) => from + index * 1000);
}

/** A task with a limit of runs has no slots after the last one. */
function lastOf(task: Row<'tasks'>, account: Account): number | null {
  if (task.state !== 'completed' || !isSpent(task, account)) return null;
  const slots = (account.occurrencesOf.get(task.id) ?? []).map(({ slot_at }) => slot_at);
  return Math.max(task.created_at, ...slots);
}

function limitsAreKept(account: Account): Breach[] {
  const wrong = account.rows.tasks.filter((task) => {
    const { max_runs: most } = policiesOf(task);
    if (most === undefined) return false;
    // What runs once is completed by its schedule.
    const isShort = task.state === 'completed' && task.schedule_kind !== 'once' && !isSpent(task, account);
    const held = (account.runsOf.get(task.id) ?? []).filter((run) => isLive(run) && isBounded(run, account)).length;
    return isShort || (boundedRuns(task, account) ?? 0) + held > most;
  });
  return tell('max_runs was not kept', wrong);
}

const jumpMinMs = 30 * 60_000;

/** Where only one run may live, each ends before the next one is made, which bears the time at which its step began. */
function oneAtATime({ runsOf }: Account): Breach[] {
  const crowded = [...runsOf.values()].flatMap((runs) => {
    // By their times, which a clock that was set back turns around together with the ends.
    const exclusive = runs
      .filter((run) => run.exclusive === 1)
      .toSorted((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
    return exclusive.flatMap((run, index) => {
      const next = exclusive[index + 1];
      // A run of many minutes, or one that waited for them, saw the clock jump ahead, and tells nothing about when it ended.
      const sawJump = (run.finished_at ?? 0) - run.created_at > jumpMinMs;
      const isOver = next === undefined || sawJump || (run.finished_at ?? Infinity) <= next.created_at + momentMs;
      return isOver ? [] : [[run, next]];
    });
  });
  return tell('two live runs of a task that allows one', crowded);
}

/** A kill is no fault of a row: nothing may have failed inside the process. */
function logIsCalm(log: readonly LogLine[]): Breach[] {
  const calm = new Set(['info', 'warn', 'debug', 'cut']);
  const expected = new Set(['late_results_dropped', 'loop_recovered']);
  return tell(
    'the log tells of a fault',
    log.filter(({ level, event }) => !calm.has(level) && !expected.has(event)),
  );
}
