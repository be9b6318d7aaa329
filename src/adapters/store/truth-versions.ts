import type { InForce, TruthQuery } from '../../app/truth/store.ts';
import type { Task } from '../../domain/task.ts';
import { factsIn } from './truth-deeds.ts';
import { row, rows, type Script } from './engine.ts';

interface VersionColumns {
  readonly version: number;
  readonly at: number;
  readonly definition: string;
}

/** What was in force at the beginning of the stretch, and what came in the course of it and next after it. */
export function* versionsOf({ taskId, from, limit }: TruthQuery, end: number, task: Task): Script<InForce[]> {
  const columns = 'version, at, definition';
  const earlier = yield* row<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at < ?i order by version desc limit 1`,
    taskId,
    from,
  );
  const later = yield* rows<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at >= ?i and at <= ?i order by version limit ?i`,
    taskId,
    from,
    end,
    limit + 1,
  );
  const next = yield* row<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at > ?i order by version limit 1`,
    taskId,
    end,
  );
  const all = [earlier, ...later, next].filter((one): one is VersionColumns => one !== undefined);
  const known = all.flatMap(readVersion);
  return earlier === undefined ? [...(yield* beforeVersions(task, from)), ...known] : known;
}

/** From before versions were kept: the next change of the schedule says what it took the place of. */
function* beforeVersions(task: Task, from: number): Script<InForce[]> {
  const edit = yield* row<{ before: string }>(
    `select before from audit where task_id = ?t and at >= ?i and verb in ('edit', 'upsert') and before like '%"schedule":%'
     order by at, id limit 1`,
    task.id,
    from,
  );
  const first = yield* row<VersionColumns>(
    `select version, at, definition from task_versions where task_id = ?t order by version limit 1`,
    task.id,
  );
  const [base] = first === undefined ? [] : readVersion(first);
  const before = factsIn(edit?.before ?? null);
  const definition = { ...(base?.definition ?? task), ...before };
  return isDefinition(definition) ? [{ version: null, at: Number.NEGATIVE_INFINITY, definition }] : [];
}

function readVersion({ version, at, definition }: VersionColumns): InForce[] {
  const facts = factsIn(definition);
  return isDefinition(facts) ? [{ version, at, definition: facts }] : [];
}

function isDefinition(facts: unknown): facts is InForce['definition'] {
  const { schedule, policies, action } = (facts ?? {}) as Partial<InForce['definition']>;
  return typeof schedule?.kind === 'string' && typeof policies === 'object' && typeof action?.kind === 'string';
}
