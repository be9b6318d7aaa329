import type { Attempt, Delivery } from '../../app/ports/runs.ts';
import { readAttempt, readDelivery, type AttemptRow, type DeliveryRow } from './codec.ts';
import { listOf, rows, type Engine, type Script } from '../engine/engine.ts';

interface RunParts {
  readonly attempts: ReadonlyMap<string, readonly Attempt[]>;
  readonly deliveries: ReadonlyMap<string, readonly Delivery[]>;
}

export function partsOf(engine: Engine, runIds: readonly string[]): Promise<RunParts> {
  return engine.read(() => readParts(runIds));
}

/** What runs tried and what they brought, by the id of the run. */
export function* readParts(runIds: readonly string[]): Script<RunParts> {
  if (runIds.length === 0) return { attempts: new Map(), deliveries: new Map() };
  const { marks, values } = listOf(runIds);
  const tries = yield* rows<AttemptRow>(
    `select * from attempts where run_id in (${marks}) order by run_id, attempt`,
    ...values,
  );
  const parts = yield* rows<DeliveryRow>(
    `select d.*, c.provider, c.address from deliveries d join chats c on c.id = d.chat_id
     where d.run_id in (${marks}) and d.kind = 'result' order by d.run_id, d.id`,
    ...values,
  );
  return {
    attempts: grouped(tries.map((one) => [one.run_id, readAttempt(one)])),
    deliveries: grouped(parts.map((one) => [one.run_id ?? '', readDelivery(one)])),
  };
}

function grouped<T>(pairs: readonly (readonly [string, T])[]): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const [key, value] of pairs) {
    const group = groups.get(key) ?? [];
    group.push(value);
    groups.set(key, group);
  }
  return groups;
}
