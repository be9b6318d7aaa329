import type { Schedule } from '../../src/domain/schedule/schedule.ts';
import { groupBy, type Breach, type Row, type Rows } from './rows.ts';

/**
 * Every slot of every enabled task has exactly one row, or lies inside exactly one gap. The slots are computed here from
 * the stored schedule, by arithmetic of this file alone, for the periods in which the audit says that the task was on.
 */

interface Period {
  readonly schedule: Schedule;
  readonly from: number;
  readonly to: number;
}

/** The server takes slots up a moment after their time, so those of its last moment may or may not be there. */
const lastMomentMs = 1500;

export interface SlotCount {
  readonly slots: number;
  readonly tasks: number;
  readonly inGaps: number;
  readonly breaches: readonly Breach[];
}

export function proveSlots(rows: Rows, stop: { readonly asked: number; readonly ended: number }): SlotCount {
  const audit = groupBy(rows.audit, (row) => row.task_id);
  const occurrences = groupBy(rows.occurrences, (row) => row.task_id);
  const gaps = groupBy(rows.gaps, (row) => row.task_id);
  const breaches: Breach[] = [];
  let [slots, inGaps, tasks] = [0, 0, 0];
  for (const task of rows.tasks) {
    const entries = [...(audit.get(task.id) ?? [])].sort((a, b) => a.id - b.id);
    const rowsOfTask = (occurrences.get(task.id) ?? []).filter(({ source }) => source !== 'run_now');
    const found = { task, entries, rows: rowsOfTask, gaps: gaps.get(task.id) ?? [], stop };
    const periods = periodsOf(found);
    if (periods.some(({ schedule }) => schedule.kind === 'interval' && schedule.from === 'completion')) continue;
    const proof = compare(found, periods);
    tasks += 1;
    slots += proof.slots;
    inGaps += proof.inGaps;
    breaches.push(...proof.breaches);
  }
  return { slots, inGaps, tasks, breaches };
}

interface Found {
  readonly task: Row<'tasks'>;
  readonly entries: readonly Row<'audit'>[];
  readonly rows: readonly Row<'occurrences'>[];
  readonly gaps: readonly Row<'gaps'>[];
  readonly stop: { readonly asked: number; readonly ended: number };
}

type Facts = { readonly schedule?: Schedule };

const factsOf = (text: string | null) => (text === null ? {} : (JSON.parse(text) as Facts));

/** The periods in which the task was on, each with its schedule; a period begins after its first instant. */
function periodsOf({ task, entries, rows, stop }: Found): Period[] {
  const periods: Period[] = [];
  let schedule = firstSchedule(task, entries);
  let since: number | null = null;
  for (const { verb, at, after } of entries) {
    const fresh = factsOf(after).schedule;
    const turnsOn = verb === 'create' || verb === 'resume';
    if (since !== null && (turnsOn || isOff(verb) || fresh !== undefined)) {
      periods.push({ schedule, from: since, to: at });
      since = isOff(verb) ? null : at;
    }
    schedule = fresh ?? schedule;
    if (turnsOn) since = at;
  }
  const end = isSpent(task) ? Math.max(task.created_at, ...rows.map(({ slot_at }) => slot_at)) : stop.ended;
  if (since !== null) periods.push({ schedule, from: since, to: end });
  return periods;
}

/** What it was created with: the row shows the last schedule, and the first change of it what was there before. */
function firstSchedule(task: Row<'tasks'>, entries: readonly Row<'audit'>[]): Schedule {
  const schedules = entries.flatMap(({ before }) => factsOf(before).schedule ?? []);
  return schedules[0] ?? scheduleOf(task);
}

const isOff = (verb: string) => verb === 'pause' || verb === 'delete' || verb === 'quarantine';

/** A task with a limit of runs has no slots after the last one. */
function isSpent(task: Row<'tasks'>): boolean {
  return task.state === 'completed' && 'max_runs' in (JSON.parse(task.policies) as object);
}

function scheduleOf(task: Row<'tasks'>): Schedule {
  const { timezone, once_at: onceAt, cron, rrule, interval, start_at: startAt } = task;
  if (onceAt !== null) return { kind: 'once', onceAt, timezone };
  if (cron !== null) return { kind: 'cron', cron, timezone };
  if (rrule !== null) return { kind: 'rrule', rrule, timezone };
  const from = task.interval_from === 'completion' ? 'completion' : 'start';
  return { kind: 'interval', interval: interval ?? '', startAt: startAt ?? 0, from, timezone };
}

/** The slots in (from, to], for the kinds of schedules that these scenarios use. */
function slotsIn(schedule: Schedule, from: number, to: number): number[] {
  if (schedule.kind === 'once') return schedule.onceAt > from && schedule.onceAt <= to ? [schedule.onceAt] : [];
  const { anchor, step } = gridOf(schedule);
  const slots: number[] = [];
  const first = Math.max(0, Math.floor((from - anchor) / step) + 1);
  for (let slot = anchor + first * step; slot <= to; slot += step) slots.push(slot);
  return slots;
}

function gridOf(schedule: Exclude<Schedule, { kind: 'once' }>): { anchor: number; step: number } {
  if (schedule.kind === 'interval')
    return { anchor: schedule.startAt, step: 1000 * numberIn(/^PT(\d+)S$/, schedule.interval) };
  if (schedule.kind === 'cron') {
    if (schedule.cron !== '* * * * *') throw new Error(`These scenarios do not use the cron ${schedule.cron}.`);
    return { anchor: 0, step: 60_000 };
  }
  const start =
    /DTSTART;TZID=UTC:(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(schedule.rrule)?.slice(1).map(Number) ?? [];
  const [year = 0, month = 1, ...rest] = start;
  return {
    anchor: Date.UTC(year, month - 1, ...rest),
    step: 1000 * numberIn(/FREQ=SECONDLY;INTERVAL=(\d+)/, schedule.rrule, 1),
  };
}

function numberIn(pattern: RegExp, text: string, otherwise = Number.NaN): number {
  const found = pattern.exec(text)?.[1];
  const number = found === undefined ? otherwise : Number(found);
  if (Number.isNaN(number)) throw new Error(`These scenarios do not use ${text}.`);
  return number;
}

function compare(found: Found, periods: readonly Period[]): Omit<SlotCount, 'tasks'> {
  const { task, rows, gaps, stop } = found;
  const expected = new Set(periods.flatMap(({ schedule, from, to }) => slotsIn(schedule, from, to)));
  const breaches: Breach[] = [];
  const tell = (promise: string, detail: object) => {
    breaches.push({
      promise,
      rows: { task: task.title, id: task.id, state: task.state, reason: task.paused_reason, ...detail },
    });
  };
  const placed = new Set(rows.map(({ slot_at }) => slot_at));
  const foreign = [...placed].filter((slot) => !expected.has(slot) && !isBeforePause(found, slot));
  if (foreign.length > 0) tell('a row stands at an instant that is no slot', { slots: foreign.map(iso) });
  let inGaps = 0;
  for (const gap of gaps) {
    const inside = [...expected].filter((slot) => slot >= gap.from_at && slot <= gap.to_at);
    if (inside.length !== gap.count) tell('a gap counts other slots than there were', { gap, slots: inside.length });
    const twice = inside.filter((slot) => placed.has(slot));
    if (twice.length > 0) tell('a slot has a row or lies in a gap before', { gap, slots: twice.map(iso) });
    for (const slot of inside) placed.add(slot);
    inGaps += inside.length;
  }
  const isRecent = (slot: number) => slot > stop.asked - lastMomentMs && task.state === 'active';
  const lost = [...expected].filter((slot) => !placed.has(slot) && !isRecent(slot));
  if (lost.length > 0) tell('a slot is lost', { slots: lost.map(iso), periods });
  return { slots: expected.size, inGaps, breaches };
}

/** A task is paused by its failure as of the end of its run, and takes slots until that end is written. */
function isBeforePause({ entries }: Found, slot: number): boolean {
  const pauses = entries.filter(({ verb, actor }) => verb === 'pause' && actor === 'system');
  return pauses.some(({ at }) => slot > at && slot <= at + lastMomentMs);
}

const iso = (at: number) => new Date(at).toISOString();
