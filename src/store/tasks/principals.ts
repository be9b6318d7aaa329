import { row, rows, type Script } from '../engine/engine.ts';

/** The row of a principal, made when it is seen for the first time, under its lock. */
export function* lockUser(id: string, now: number): Script<void> {
  const role = id.startsWith('system') ? 'system' : 'user';
  yield* rows(
    `insert into users (id, role, created_at, updated_at) values (?t, ?t, ?i, ?i) on conflict (id) do nothing`,
    id,
    role,
    now,
    now,
  );
  yield* row(`select id from users where id = ?t [for no key update]`, id);
}
