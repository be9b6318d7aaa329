import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import type { Clock } from '../ports/outside.ts';
import type { TaskRun } from '../ports/runs.ts';
import type { TaskStore } from '../ports/tasks.ts';
import type { TruthStore } from '../ports/why.ts';
import { upcoming } from '../tasks/upcoming.ts';
import type { Answer } from './answers.ts';
import type { Why } from './why.ts';

/**
 * What a person wants to know who names no time: how the last runs went, whatever stood in the way since, and what comes
 * next or will be left out. A busy task has more to tell of its last day than anybody reads, so its newest is told.
 */
export interface Lately {
  readonly from: number;
  readonly to: number;
  readonly answers: readonly Answer[];
}

interface Needs {
  readonly store: Pick<TruthStore, 'readPlanned'> & Pick<TaskStore, 'listTaskRuns'>;
  readonly clock: Clock;
  readonly why: Why;
}

/** Runs that are always told, however long ago they were. */
const runsTold = 3;
const rowsRead = 40;
/** Rows of the last day that are told. */
const rowsTold = 8;
const aheadTold = 3;

export async function latelyOf(needs: Needs, taskId: string): Promise<Lately> {
  const now = needs.clock.now();
  const { past, coming, ran } = await rowsOf(needs, taskId, now);
  const from = Math.max(now - DAY_MS, past[rowsTold - 1]?.slotAt ?? 0);
  const day = await needs.why.range({ taskId, from, to: now, after: null, limit: rowsRead, isBrief: true });
  const answers = new Map<string, Answer>();
  const add = (answer: Answer) => answers.set(keyOf(answer), answer);
  for (const answer of day.answers) add(answer);
  for (const row of ran) {
    if (!answers.has(row.id)) (await answersAt(needs, taskId, row.slotAt)).filter((one) => isOf(one, row)).map(add);
  }
  for (const slot of await aheadOf(needs, { taskId, coming })) {
    (await answersAt(needs, taskId, slot)).filter((one) => one.slot === slot).map(add);
  }
  const told = [...answers.values()].filter(({ decision }) => ran.length === 0 || decision !== 'not_created');
  const ordered = told.toSorted((a, b) => placeOf(a) - placeOf(b));
  return { from: Math.min(from, placeOf(ordered[0])), to: now, answers: ordered };
}

interface Rows {
  readonly past: readonly TaskRun[];
  readonly coming: readonly TaskRun[];
  readonly ran: readonly TaskRun[];
}

async function rowsOf({ store }: Needs, taskId: string, now: number): Promise<Rows> {
  const { items, next } = await store.listTaskRuns({ taskId, status: null, limit: rowsRead, cursor: null });
  const past = items.filter(({ slotAt }) => slotAt <= now);
  const coming = items.filter(({ slotAt }) => slotAt > now);
  const ran = past.filter(({ runId }) => runId !== null).slice(0, runsTold);
  if (ran.length === runsTold || next === null) return { past, coming, ran };
  // So much was left out since that the runs lie farther back.
  const older = await store.listTaskRuns({ taskId, status: 'succeeded', limit: runsTold, cursor: null });
  const more = older.items.filter(({ id }) => !ran.some((one) => one.id === id));
  return { past, coming, ran: [...ran, ...more].slice(0, runsTold) };
}

async function answersAt({ why }: Needs, taskId: string, slotAt: number): Promise<readonly Answer[]> {
  return (await why.at(taskId, slotAt)).answers;
}

function isOf({ evidence }: Answer, { id }: TaskRun): boolean {
  return evidence.taskRunId === id;
}

/** What is left out, what was put off until then, and the next that runs. */
async function aheadOf(
  { store }: Needs,
  { taskId, coming }: { readonly taskId: string; readonly coming: readonly TaskRun[] },
): Promise<readonly number[]> {
  const planned = await store.readPlanned(taskId);
  const next = planned === null || planned.task.state === 'deleted' ? [] : upcoming(planned, 1);
  const waiting = coming.filter(({ status }) => status === 'pending').map(({ slotAt }) => slotAt);
  const skipped = coming.filter(({ reason }) => reason === 'skip').map(({ slotAt }) => slotAt);
  return [...new Set([...skipped.toReversed().slice(0, aheadTold), ...waiting, ...next])];
}

function keyOf({ evidence, decision, at, from }: Answer): string {
  return evidence.taskRunId ?? `${decision}:${at ?? ''}:${from ?? ''}`;
}

/** A stretch stands where it begins. */
function placeOf(answer: Answer | undefined): number {
  return answer?.at ?? answer?.from ?? 0;
}
