import { iso } from '../../domain/schedule/time/calendar.ts';
import { outcomeAt } from '../../domain/task.ts';
import type { LastResult } from '../ports/runs.ts';
import type { Job } from './action.ts';

/** Templates of tasks, whatever they do: which texts are one, and what they know. */

export function isTemplate(text: string): boolean {
  return text.includes('{{') || text.includes('{%');
}

export type LastOf = (taskId: string) => Promise<LastResult | null>;

/** Whether it asks for the last result: a name of its own, and neither the filter nor the end of a loop. */
export function namesLast(text: string): boolean {
  return /(?<![.|]\s*)\blast\b/.test(text);
}

type Told = Pick<Job, 'input' | 'runId' | 'taskId' | 'runNumber' | 'attempt' | 'startedAt'>;

/** The variables that a run gives each template of its task. */
export function variablesOf({ input, runId, taskId, runNumber, attempt, startedAt }: Told, last: LastResult | null) {
  const slot = isoOrNull(input.slotAt);
  const { number, title, timezone } = input;
  return {
    task: { id: taskId, number, title, timezone, tz: timezone },
    run: {
      id: runId,
      number: runNumber,
      attempt,
      source: input.again?.kind ?? input.source ?? 'schedule',
      slot,
      scheduled_for: slot,
      started_at: iso(startedAt),
      late: input.late,
    },
    context: input.context ?? {},
    last: lastVariables(last ?? noResult, startedAt),
  };
}

const noResult: LastResult = { lastOutcome: null, skippedAt: null, number: null, at: null, output: null };

/** Null and not absent, so that the first run of a task may ask for them. */
function lastVariables(last: LastResult, now: number) {
  const { number, at, output } = last;
  const outcome = outcomeAt(last, now);
  return { text: output?.['text'] ?? null, data: output?.['data'] ?? null, at: isoOrNull(at), outcome, number };
}

/** An example of what the first run of a task gives a template. */
export const sampleVariables = variablesOf(
  {
    input: {
      title: 'Title',
      instructions: '',
      action: { kind: 'message' },
      timezone: 'UTC',
      number: 1,
      slotAt: 0,
      late: false,
      delivers: true,
    },
    runId: 'run',
    taskId: 'task',
    runNumber: 1,
    attempt: 1,
    startedAt: 0,
  },
  null,
);

function isoOrNull(at: number | null): string | null {
  return at === null ? null : iso(at);
}
