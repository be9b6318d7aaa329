import type { Schedule, ScheduleKind } from '../../domain/schedule/shapes.ts';

/** Asks which slots of a schedule come next; the answer comes from a program that shares nothing with our own engines. */
export interface SlotQuestion {
  readonly schedule: Schedule;
  /** Slots after this instant count, up to and including `upTo`. */
  readonly after: number;
  readonly upTo: number;
  readonly count: number;
  /** Our own answer, for a library that can also say yes or no to a single instant. */
  readonly ours: readonly number[];
  /** The time on the clock of the zone at which we show a `once`; null for the other kinds. */
  readonly shown: number | null;
}

/** The library that answers for each kind of schedule. */
export const libraries = {
  once: 'luxon',
  cron: 'croner',
  rrule: 'rrule',
  interval: 'luxon',
} as const satisfies Readonly<Record<ScheduleKind, string>>;

export type Library = (typeof libraries)[ScheduleKind];

/**
 * Why there is no opinion. `known_fault`: the library is known to be wrong about it. `clock_change`: the clocks change near
 * every slot. `undecided`: the library contradicts itself. `refused`: it does not take the schedule. `timeout`: it took too
 * long and was ended. `died`: it ended by itself. `away`: it could not be started, or it is being closed.
 */
export type NoOpinion = 'known_fault' | 'clock_change' | 'undecided' | 'refused' | 'timeout' | 'died' | 'away';

export type Opinion =
  | {
      readonly is: 'slots';
      readonly slots: readonly number[];
      /** Instants of either answer about which the library does not count. */
      readonly unsure: readonly number[];
    }
  | { readonly is: 'none'; readonly reason: NoOpinion };

/** The program that computes slots once more. It never throws: one that cannot answer has no opinion. */
export interface SecondOpinion {
  slotsOf(question: SlotQuestion): Promise<Opinion>;
}
