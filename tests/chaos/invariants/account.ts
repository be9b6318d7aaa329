import type { Row } from '../journal.ts';
import type { World } from '../world.ts';

const names = ['tasks', 'chats', 'occurrences', 'gaps', 'runs', 'attempts', 'deliveries', 'audit', 'acks'] as const;
type Rows = { readonly [N in (typeof names)[number]]: readonly Row<N>[] };

/** What a world left behind, for all proofs together. */
export interface Account {
  readonly world: World;
  readonly rows: Rows;
  /** The last instant of which the scheduler was told. */
  readonly restsAt: number;
  readonly runs: ReadonlyMap<string, Row<'runs'>>;
  readonly occurrences: ReadonlyMap<string, Row<'occurrences'>>;
  readonly runsOf: ReadonlyMap<string, readonly Row<'runs'>[]>;
  readonly attemptsOf: ReadonlyMap<string, readonly Row<'attempts'>[]>;
  readonly occurrencesOf: ReadonlyMap<string, readonly Row<'occurrences'>[]>;
}

export function openAccount(world: World, restsAt: number): Account {
  const read = names.map((name) => [name, world.database.prepare(`select * from ${name}`).all()] as const);
  const rows = Object.fromEntries(read) as unknown as Rows;
  return {
    world,
    rows,
    restsAt,
    runs: new Map(rows.runs.map((run) => [run.id, run])),
    occurrences: new Map(rows.occurrences.map((one) => [one.id, one])),
    runsOf: groupBy(rows.runs, ({ task_id }) => task_id),
    attemptsOf: groupBy(rows.attempts, ({ run_id }) => run_id),
    occurrencesOf: groupBy(rows.occurrences, ({ task_id }) => task_id),
  };
}

export function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | null): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === null) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** One sentence for each thing that breaks a promise; few of them tell as much as all. */
export function tell<T>(promise: string, found: readonly T[]): string[] {
  return found.slice(0, 3).map((one) => `${promise}: ${typeof one === 'string' ? one : JSON.stringify(one)}`);
}

/** A row without the texts that fill a screen and prove nothing. */
export function brief<T extends object>(row: T): Partial<T> {
  const long = new Set(['input', 'content', 'output', 'payload_hash', 'idempotency_key', 'instructions']);
  const kept = Object.entries(row).filter(([name, value]) => !long.has(name) && value !== null);
  return Object.fromEntries(kept) as Partial<T>;
}

export const iso = (at: number) => new Date(at).toISOString();

/**
 * A run counts once it has ended by itself; one that was called off before or between its attempts does not. Where it was
 * called off while its last attempt failed, the rows do not tell whether that would have been the end.
 */
export function counts(run: Row<'runs'>, attempts: readonly Row<'attempts'>[]): 'yes' | 'no' | 'perhaps' {
  if (run.status === 'succeeded' || run.status === 'failed') return 'yes';
  const last = attempts.find(({ attempt }) => attempt === run.attempts)?.status;
  if (run.status !== 'cancelled' || last === undefined || last === 'interrupted') return 'no';
  return last === 'failed' || last === 'timed_out' ? 'perhaps' : 'yes';
}

export const isLive = ({ status }: Row<'runs'>) => ['queued', 'running', 'backoff', 'waiting'].includes(status);

/** A run that a slot asked for, and that `max_runs` counts. */
export function isBounded(run: Row<'runs'>, { occurrences }: Account): boolean {
  const occurrence = occurrences.get(run.occurrence_id ?? '');
  return occurrence !== undefined && isPlanned(occurrence);
}

/** A slot asked for it, and not a person. */
export function isPlanned({ source }: Row<'occurrences'>): boolean {
  return source === 'schedule' || source === 'catch_up';
}
