import type { Watched } from '../../app/ports/blobs.ts';
import type { RunEnd } from '../../app/ports/pipeline.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { list, raw } from '../engine/sql.ts';
import { all, insertAll, one, select } from '../engine/statements.ts';

/** Values that tasks watch: written with the end of a run, and forgotten when a task begins to watch something else. */
export const watchReads = { watchedBy };

function* watchedBy(taskId: string): Script<Watched | null> {
  const fields = pick(columns.watches, 'hash', 'value', 'at');
  return (yield* one(select(fields)`from watches where task_id = ${taskId}`)) ?? null;
}

/** The last of several wins. A run of before its task began to watch something else has seen another thing. */
export function* writeWatches(ends: readonly Pick<RunEnd, 'run' | 'watched'>[]): Script<void> {
  const seen = new Map(
    ends.flatMap(({ run, watched }) => (watched === undefined ? [] : [[run.taskId ?? '', { run, watched }]])),
  );
  if (seen.size === 0) return;
  const tasks = yield* all(
    select(pick(columns.tasks, 'id', 'chatId', 'watchedSince'))`from tasks where id in ${list([...seen.keys()])}`,
  );
  const rows = tasks.flatMap(({ id: taskId, chatId, watchedSince }) => {
    const { run, watched } = seen.get(taskId) ?? {};
    if (watched === undefined || (run?.taskVersion ?? 0) < watchedSince) return [];
    const { hash, value, at } = watched;
    return [{ taskId, chatId, hash, value, at }];
  });
  yield* insertAll(
    'watches',
    rows,
    raw(`on conflict (task_id) do update set
      chat_id = excluded.chat_id, hash = excluded.hash, value = excluded.value, at = excluded.at`),
  );
}
