import type { Claimable } from '../../app/ports/processes.ts';
import type { Script } from '../engine/engine.ts';
import { columns, least, pick } from '../engine/fields.ts';
import { allOf, raw } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { isLostIn } from '../tables/work.ts';
import { claimableIn } from './codec.ts';
import { hostReads } from './hosts.ts';

/** Looks of a runner that change nothing. */
export const runLooks = { cancelRequested, nextRunAt, ...hostReads };

const { runs } = columns;

export const lost = raw(`r.status = 'running' and ${isLostIn('r')}`);

function* cancelRequested(bootId: string): Script<readonly string[]> {
  const found = yield* all(
    select(pick(runs, 'id'))`from runs
      where status = 'running' and boot_id = ${bootId} and cancel_requested_at is not null`,
  );
  return found.map(({ id }) => id);
}

/**
 * The next instant at which a run becomes ready; null when there is none. What is ready now but was not taken is held by
 * its lane or for want of room, and is rung for when its holder ends. A run that was left behind is ready at once.
 */
function* nextRunAt(now: number, claimable?: Claimable): Script<number | null> {
  const isOurs = allOf(lost, claimableIn(claimable));
  const left = yield* one(select(pick(runs, 'id'))`from runs r where ${isOurs} limit 1`);
  if (left !== undefined) return now;
  const found = yield* one(
    select({ at: least(runs.readyAt) })`from runs where status in ('queued', 'backoff') and ready_at > ${now}`,
  );
  return found?.at ?? null;
}
