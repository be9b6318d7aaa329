import type { TaskChange } from '../../app/ports/tasks.ts';
import { scheduleColumns } from './codec.ts';
import { rows, type Script, type Value } from '../engine/engine.ts';

export type Columns = Readonly<Record<string, Value>>;

export function definitionColumns(change: TaskChange['set']): Columns {
  return {
    ...(change.title === undefined ? {} : { title: change.title }),
    ...(change.instructions === undefined ? {} : { instructions: change.instructions }),
    ...(change.action === undefined ? {} : { action: JSON.stringify(change.action) }),
    ...(change.schedule === undefined ? {} : scheduleColumns(change.schedule)),
    ...(change.policies === undefined ? {} : { policies: JSON.stringify(change.policies) }),
    ...(change.subject === undefined ? {} : { subject: change.subject }),
    ...(change.tags === undefined ? {} : { tags: JSON.stringify(change.tags) }),
  };
}

export function fieldColumns(change: TaskChange['set']): Columns {
  return {
    ...definitionColumns(change),
    ...(change.state === undefined ? {} : { state: change.state }),
    ...(change.nextAt === undefined ? {} : { next_at: change.nextAt }),
    ...(change.minGapMs === undefined ? {} : { min_gap_ms: change.minGapMs }),
    ...(change.autoPause === undefined ? {} : { auto_pause: change.autoPause }),
    ...(change.pausedReason === undefined ? {} : { paused_reason: change.pausedReason }),
    ...(change.skipsUntil === undefined ? {} : { skips_until: change.skipsUntil }),
    ...(change.resumeAt === undefined ? {} : { resume_at: change.resumeAt }),
    ...(change.context === undefined ? {} : { context: JSON.stringify(change.context) }),
    ...(change.boundedRuns === undefined ? {} : { bounded_runs: change.boundedRuns }),
    ...(change.consecutiveFailures === undefined ? {} : { consecutive_failures: change.consecutiveFailures }),
  };
}

export function placeholder(value: Value): string {
  return typeof value === 'number' ? '?i' : '?t';
}

export function* insertRow(table: string, columns: Columns): Script<void> {
  const present = Object.entries(columns).filter(([, value]) => value !== null);
  const names = present.map(([name]) => name).join(', ');
  const values = present.map(([, value]) => placeholder(value)).join(', ');
  yield* rows(`insert into ${table} (${names}) values (${values})`, ...present.map(([, value]) => value));
}
