import type { Change, Deed, InForce, Twice } from '../../app/ports/why.ts';
import type { Script } from '../engine/engine.ts';
import { columns, greatest, least, mapped, pick, type Answer, type Fields } from '../engine/fields.ts';
import { raw, sql, type Sql } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';
import { changesState } from '../tables/records.ts';
import { readFacts } from '../tasks/codec.ts';
import { deedFields } from './feeds.ts';

interface Stretch {
  readonly taskId: string;
  readonly from: number;
  readonly to: number;
  /** Oldest first, none of which overlap. */
  readonly twice: readonly Twice[];
}

/** Changes of a task of which each holds until the next one is made. */
interface Series<F> {
  readonly fields: F;
  readonly of: (taskId: string) => Sql;
  /** The order in which they were made. */
  readonly order: Sql;
}

const isChange = raw(changesState);

const states = {
  fields: deedFields,
  of: (taskId: string) => sql`from audit where task_id = ${taskId} and ${isChange}`,
  order: raw('id'),
};

const versions = {
  fields: {
    ...pick(columns.taskVersions, 'version', 'at'),
    definition: mapped(columns.taskVersions.definition, readFacts),
  },
  of: (taskId: string) => sql`from task_versions where task_id = ${taskId}`,
  order: raw('version'),
};

const firstAt = { at: least(columns.audit.at) };
const lastAt = { at: greatest(columns.audit.at) };

/** Two who act at once may be written in another order than their clocks say, but not farther apart than this. */
const slackMs = 60_000;

interface Found<R> {
  readonly found: readonly R[];
  /** True when no row came after those. */
  readonly toNow: boolean;
}

/**
 * Rows that held in a stretch: from the last that came before it to the first after it. Where one of the two lies in a
 * time that came twice, all of that time is read, because what was made later holds, whatever its clock said.
 */
function* heldIn<F extends Fields>(
  { fields, of, order }: Series<F>,
  { taskId, from, to, twice }: Stretch,
): Script<Found<Answer<F>>> {
  const source = of(taskId);
  const before = yield* one(select(lastAt)`${source} and at < ${from}`);
  let first = (before?.at ?? from) - slackMs;
  for (const back of twice.toReversed()) if (back.from <= first && first <= back.to) first = back.from;
  const after = function* (at: number): Script<number | null> {
    return (yield* one(select(firstAt)`${source} and at > ${at}`))?.at ?? null;
  };
  let last = yield* after(to);
  for (const back of twice) if (last !== null && back.from <= last && last <= back.to) last = yield* after(back.to);
  const end = last ?? Number.MAX_SAFE_INTEGER;
  const found = yield* all(select(fields)`${source} and at >= ${first} and at <= ${end} order by ${order}`);
  return { found, toNow: last === null };
}

/** The changes of the state of a task around a stretch. */
export function* changesOf(stretch: Stretch): Script<{ readonly changes: readonly Change[]; readonly toNow: boolean }> {
  const { taskId } = stretch;
  const { found, toNow } = yield* heldIn(states, stretch);
  const changes: Change[] = [];
  for (const deed of found) {
    const isBack = deed.stateBefore === 'deleted' && deed.stateAfter === 'paused';
    changes.push({
      ...deed,
      lastSlotAt: deed.stateBefore === 'completed' ? yield* lastSlotBefore(taskId, deed.at) : null,
      pause: isBack ? yield* pauseBefore(taskId, deed.id) : null,
    });
  }
  return { changes, toNow };
}

/** A task that was paused before it was deleted is paused again when it is restored, by whoever had paused it then. */
function* pauseBefore(taskId: string, id: string): Script<Deed | null> {
  const pause = yield* one(
    select(deedFields)`${states.of(taskId)} and id < ${Number(id)}
      and state_after = 'paused' and state_before is distinct from 'deleted' order by at desc, id desc limit 1`,
  );
  return pause ?? null;
}

/** The last slot completes a task; no person does. */
export function* lastSlotBefore(taskId: string, at: number): Script<number | null> {
  const slot = yield* one(
    select({ at: columns.occurrences.slotAt })`from occurrences where task_id = ${taskId} and slot_at <= ${at}
      and source in ('schedule', 'catch_up') order by slot_at desc limit 1`,
  );
  const gap = yield* one(
    select({ at: columns.gaps.toAt })`from gaps where task_id = ${taskId} and from_at <= ${at}
      order by from_at desc limit 1`,
  );
  const instants = [slot, gap].flatMap((found) => found?.at ?? []);
  return instants.length === 0 ? null : Math.max(...instants);
}

/** Versions of the task in force around a stretch. */
export function* versionsOf(stretch: Stretch): Script<InForce[]> {
  const { found } = yield* heldIn(versions, stretch);
  return found.flatMap(({ definition, ...made }) => (isDefinition(definition) ? [{ ...made, definition }] : []));
}

function isDefinition(facts: unknown): facts is InForce['definition'] {
  const { schedule, policies, action } = (facts ?? {}) as Partial<InForce['definition']>;
  return typeof schedule?.kind === 'string' && typeof policies === 'object' && typeof action?.kind === 'string';
}

const backFields = { from: columns.setBacks.fromAt, to: columns.setBacks.toAt };

/** Few are kept, and none of them overlap when they have been read. */
export function* setBacks(): Script<Twice[]> {
  const apart: Twice[] = [];
  for (const back of yield* all(select(backFields)`from set_backs order by from_at`)) {
    const last = apart.at(-1);
    if (last === undefined || back.from > last.to) apart.push(back);
    else apart[apart.length - 1] = { from: last.from, to: Math.max(last.to, back.to) };
  }
  return apart;
}
