import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { raw } from '../engine/sql.ts';
import { insert, one, select } from '../engine/statements.ts';

const scope = 'system';

/** Notes of the product to itself, and what keeping the place in order needs. */
export const upkeepStore = { readNote, writeNote, ping };

export function* readNote(key: string): Script<string | null> {
  const found = yield* one(select(pick(columns.kv, 'value'))`from kv where scope = ${scope} and key = ${key}`);
  return found?.value ?? null;
}

export function* writeNote(key: string, value: string, now: number): Script<void> {
  yield* insert(
    'kv',
    { scope, key, value, updatedAt: now },
    raw('on conflict (scope, key) do update set value = excluded.value, updated_at = excluded.updated_at'),
  );
}

const keptScope = 'kept';

/** The last slot of a task that went as the task keeps no more; a note for as long as the server itself would have kept it. */
export function* noteKept(
  taskId: string,
  slotAt: number,
  { now, until }: { readonly now: number; readonly until: number },
): Script<void> {
  yield* insert(
    'kv',
    { scope: keptScope, key: taskId, value: String(slotAt), expiresAt: until, updatedAt: now },
    raw(`on conflict (scope, key) do update set expires_at = excluded.expires_at, updated_at = excluded.updated_at,
      value = case when excluded.value > kv.value then excluded.value else kv.value end`),
  );
}

/** Null where nothing of the task has gone before its time. */
export function* lastNotKept(taskId: string): Script<number | null> {
  const found = yield* one(select(pick(columns.kv, 'value'))`from kv where scope = ${keptScope} and key = ${taskId}`);
  return found === undefined ? null : Number(found.value);
}

/** The last sign of life of a process, as the clock on the wall told it then. */
const aliveNote = 'alive_at';

export function* aliveAt(): Script<number | null> {
  const note = yield* readNote(aliveNote);
  return note === null ? null : Number(note);
}

export function markAlive(now: number): Script<void> {
  return writeNote(aliveNote, String(now), now);
}

function* ping(now: number): Script<void> {
  yield* writeNote('ping', String(now), now);
}
