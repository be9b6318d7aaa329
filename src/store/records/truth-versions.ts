import type { InForce, TruthQuery, Twice } from '../../app/ports/why.ts';
import type { Task } from '../../domain/task.ts';
import { readFacts } from '../tasks/codec.ts';
import { row, rows, type Script } from '../engine/engine.ts';
import { cutAt, readTo, standing, stepsBack } from './truth-windows.ts';

interface VersionColumns {
  readonly version: number;
  readonly at: number;
  readonly definition: string;
}

/** More than this in one stretch is for the next page. */
const versionsMax = 200;

interface Versions {
  readonly versions: InForce[];
  readonly readTo: number | null;
  readonly twice: Twice[];
}

/**
 * What was in force at the beginning of the stretch, and what came in the course of it and next after it. Versions count
 * up, and the clock may have been set back between two of them: what came later rules the time that came twice.
 */
export function* versionsOf({ taskId, from }: TruthQuery, end: number, task: Task): Script<Versions> {
  const columns = 'version, at, definition';
  const earlier = yield* row<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at < ?i order by version desc limit 1`,
    taskId,
    from,
  );
  const within = yield* rows<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at >= ?i and at <= ?i and version > ?i
     order by at, version limit ?i`,
    taskId,
    from,
    end,
    earlier?.version ?? -1,
    versionsMax + 1,
  );
  const cut = cutAt(within, versionsMax);
  const later = cut === null ? within : within.filter(({ at }) => at < cut);
  const next = yield* row<VersionColumns>(
    `select ${columns} from task_versions where task_id = ?t and at > ?i and version > ?i order by at, version limit 1`,
    taskId,
    cut === null ? end : cut - 1,
    Math.max(earlier?.version ?? -1, ...later.map(({ version }) => version)),
  );
  const all = [earlier, ...later, next].filter((one): one is VersionColumns => one !== undefined);
  const known = standing(all, ({ version }) => version).flatMap(readVersion);
  const before = earlier === undefined ? yield* beforeVersions(task, from) : [];
  return { versions: [...before, ...known], readTo: readTo(cut, from), twice: yield* twiceOf(taskId) };
}

const twiceLookMax = 1000;

function* twiceOf(taskId: string): Script<Twice[]> {
  const made = yield* rows<{ at: number }>(
    `select at from task_versions where task_id = ?t order by version desc limit ?i`,
    taskId,
    twiceLookMax,
  );
  return stepsBack(made.toReversed());
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
  const before = readFacts(edit?.before ?? null);
  const definition = { ...(base?.definition ?? task), ...before };
  return isDefinition(definition) ? [{ version: null, at: Number.NEGATIVE_INFINITY, definition }] : [];
}

function readVersion({ version, at, definition }: VersionColumns): InForce[] {
  const facts = readFacts(definition);
  return isDefinition(facts) ? [{ version, at, definition: facts }] : [];
}

function isDefinition(facts: unknown): facts is InForce['definition'] {
  const { schedule, policies, action } = (facts ?? {}) as Partial<InForce['definition']>;
  return typeof schedule?.kind === 'string' && typeof policies === 'object' && typeof action?.kind === 'string';
}
