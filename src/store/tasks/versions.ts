import type { ChangeRequest } from '../../app/ports/tasks.ts';
import type { Definition, Task } from '../../domain/task.ts';
import { row, type Script, write } from '../engine/engine.ts';

/** The definition alone, in the form in which a version keeps it. */
function definitionText(definition: Definition): string {
  const { title, instructions, action, schedule, policies, subject, tags } = definition;
  return JSON.stringify({ title, instructions, action, schedule, policies, subject, tags });
}

type By = Pick<ChangeRequest, 'actor' | 'at'>;

export function* addVersion({ actor, at }: By, task: Definition & Pick<Task, 'id' | 'version'>): Script<void> {
  yield* write(
    `insert into task_versions (task_id, version, at, actor, definition) values (?t, ?i, ?i, ?t, ?t)
     on conflict (task_id, version) do nothing`,
    task.id,
    task.version,
    at,
    actor,
    definitionText(task),
  );
}

/** Keeps what a task was told to do, whenever that changed. A task from before there were versions gets its first one now. */
export function* keepVersion(by: By, before: Task, after: Task): Script<void> {
  if (definitionText(before) === definitionText(after)) return;
  const known = yield* row(`select version from task_versions where task_id = ?t limit 1`, before.id);
  if (known === undefined) yield* addVersion({ actor: before.updated.by, at: before.updated.at }, before);
  yield* addVersion(by, after);
}
