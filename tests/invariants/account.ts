import type { Policies } from '../../src/domain/policy.ts';
import { liveStatuses } from '../../src/domain/run.ts';
import type { Bounds, Schedule } from '../../src/domain/schedule/schedule.ts';
import { groupBy, type Row, type Rows } from './rows.ts';

/** A stretch in which a task was on, with one schedule. */
export interface Period {
  readonly schedule: Schedule;
  readonly bounds: Bounds;
  /** It begins after this instant. */
  readonly from: number;
  /** A slot may have been taken up after this one. */
  readonly mayFrom: number;
  /** Up to here every slot must have been taken up. */
  readonly must: number;
  /** Up to here a slot may have been taken up. */
  readonly may: number;
}

/** What differs between a life that was simulated and a server that was killed, for all proofs together. */
export interface Circumstances {
  /** The last instant of which the scheduler was told, if everything has come to its end since. */
  readonly restsAt: number | null;
  /** Where the clock was set back, instants tell nothing about the order. */
  readonly setBack: boolean;
  /** Whether the process that had begun an attempt is gone. */
  readonly wasKilled: (attempt: Row<'attempts'>) => boolean;
  /** When a task was on; null where its slots hang on how long its runs take. */
  readonly periodsOf: (task: Row<'tasks'>) => readonly Period[] | null;
  /** Whether a slot that has no row should have one, where everything else says so. */
  readonly isOwed: (slot: number, task: Row<'tasks'>) => boolean;
  /** The ids of runs that count for `max_runs` come after this; null where nobody knows. */
  readonly countsAfter: (task: Row<'tasks'>) => string | null;
  /** Whether a part of its topic had to come before every later one. */
  readonly isInTurn: (part: Row<'deliveries'>) => boolean;
  /** Whether a part was only there when a later one had come already. */
  readonly cameLater: (part: Row<'deliveries'>, next: Row<'deliveries'>) => boolean;
  /** What a client was told to be done, and must be true for ever. */
  readonly promised: {
    /** Ids of tasks. */
    readonly created: Iterable<string>;
    /** Ids of occurrences. */
    readonly runsByHand: Iterable<string>;
  };
}

/** What a life left behind. */
export interface Account extends Circumstances {
  readonly rows: Rows;
  readonly tasks: ReadonlyMap<string, Row<'tasks'>>;
  readonly runs: ReadonlyMap<string, Row<'runs'>>;
  readonly occurrences: ReadonlyMap<string, Row<'occurrences'>>;
  readonly runsOf: ReadonlyMap<string, readonly Row<'runs'>[]>;
  readonly attemptsOf: ReadonlyMap<string, readonly Row<'attempts'>[]>;
  readonly occurrencesOf: ReadonlyMap<string, readonly Row<'occurrences'>[]>;
  readonly partsOf: ReadonlyMap<string, readonly Row<'deliveries'>[]>;
  /** The platform's address of each chat. */
  readonly address: ReadonlyMap<string, string>;
}

export function accountOf<T extends Circumstances>(rows: Rows, circumstances: T): Account & T {
  return {
    ...circumstances,
    rows,
    tasks: new Map(rows.tasks.map((task) => [task.id, task])),
    runs: new Map(rows.runs.map((run) => [run.id, run])),
    occurrences: new Map(rows.occurrences.map((one) => [one.id, one])),
    runsOf: groupBy(rows.runs, ({ task_id }) => task_id),
    attemptsOf: groupBy(rows.attempts, ({ run_id }) => run_id),
    occurrencesOf: groupBy(rows.occurrences, ({ task_id }) => task_id),
    partsOf: groupBy(rows.deliveries, ({ run_id }) => run_id),
    address: new Map(rows.chats.map(({ id, address }) => [id, address])),
  };
}

export const isLive = ({ status }: Row<'runs'>) => (liveStatuses as readonly string[]).includes(status);

/** A slot asked for it, and not a person. */
export function isPlanned({ source }: Row<'occurrences'>): boolean {
  return source === 'schedule' || source === 'catch_up';
}

/** A run that a slot asked for, and that `max_runs` counts. */
export function isBounded(run: Row<'runs'>, { occurrences }: Pick<Account, 'occurrences'>): boolean {
  const occurrence = occurrences.get(run.occurrence_id ?? '');
  return occurrence !== undefined && isPlanned(occurrence);
}

export const hasBegun = ({ attempts }: Row<'runs'>) => attempts > 0;

export const policiesOf = ({ policies }: Row<'tasks'>) => JSON.parse(policies) as Policies;
