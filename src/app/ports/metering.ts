import type { Actor } from '../../domain/access.ts';
import type { BudgetState } from '../../domain/spending/budget.ts';
import type { BudgetKind, BudgetPeriod, BudgetScope, Costs, Sum } from '../../domain/spending/usage.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { Thread } from '../../domain/thread.ts';
import type { CounterLabels, CounterName, TimingLabels, TimingName } from '../operations/metrics.ts';

/** Counts what happens, for whoever watches the place. Nothing of it waits, throws or is read back. */
export interface Meter {
  count<N extends CounterName>(name: N, labels: CounterLabels<N>, by?: number): void;
  /** How long something took, or how late it came. */
  took<N extends TimingName>(name: N, labels: TimingLabels<N>, ms: number): void;
}

/** For whoever composes a part of the product that nobody watches. */
export const silentMeter: Meter = { count: () => undefined, took: () => undefined };

/** How much work stands in the store. Each number is counted up to a limit, so that no look costs more than a step does. */
export interface Workload {
  readonly due: Pile;
  /** Occurrences that wait for admission. */
  readonly pending: number;
  readonly runs: Readonly<Record<LiveRun, Pile>>;
  /** `pending` from when it could go out, the others from when they were made. */
  readonly deliveries: Readonly<Record<OpenDelivery, Pile>>;
  /** The same work by what is to be done. */
  readonly byKind: readonly KindPile[];
  readonly inbox: Pile;
  /** When the oldest live run, or open part, was made. */
  readonly oldestWorkAt: number | null;
  readonly databaseBytes: number;
}

export interface Pile {
  readonly count: number;
  /** The instant of the oldest; null when there is none. */
  readonly since: number | null;
}

export interface KindPile {
  readonly state: 'due' | 'pending' | LiveRun;
  readonly kind: string;
  readonly count: number;
}

export type LiveRun = 'queued' | 'running' | 'backoff';
export type OpenDelivery = 'pending' | 'sending' | 'unknown' | 'blocked';

/** Tasks of one page, by state, kind of schedule and kind of action. */
export interface TaskTally {
  readonly counts: readonly Tally[];
  /** The last task of the page; null when it is the last page. */
  readonly last: string | null;
}

export interface Tally {
  readonly state: string;
  readonly schedule: string;
  readonly action: string;
  readonly count: number;
}

/** The counts that the meter asks of the store. */
export interface WorkloadStore {
  workload(now: number, countedMax: number): Promise<Workload>;
  taskTally(after: string, limit: number): Promise<TaskTally>;
}

/* ---- what is spent, and what may be ---- */

/** The most that an attempt may spend, told before there is one. */
export interface Estimates {
  /** Null for what costs nothing, as most tasks do. */
  costsOf(spec: ActionSpec): Costs | null;
}

/** Amounts are summed up where every given condition holds; the stretch holds its beginning and not its end. */
export interface SpentQuery {
  readonly thread: Thread | null;
  readonly ownerId: Actor | null;
  readonly taskId: string | null;
  readonly from: number;
  readonly to: number;
}

export interface SpentByTask extends Sum {
  readonly taskId: string;
  /** Null where the task is gone. */
  readonly number: number | null;
  readonly title: string | null;
}

/** Of a quarter of an hour, of which the days of every zone consist. */
export interface SpentByQuarter extends Sum {
  readonly from: number;
}

/** A budget as it is shown. */
export interface BudgetView extends BudgetState {
  readonly id: string;
  /** The chat of a chat or a task; null for a person. */
  readonly thread: Thread | null;
  /** The title of the task, or the name of the person; null where nobody knows it. */
  readonly name: string | null;
  /** Of a task. */
  readonly number: number | null;
  readonly timezone: string;
  readonly setBy: Actor;
  readonly setAt: number;
}

/** Budgets of these accounts; a chat has with its own those of its tasks. */
export interface BudgetQuery {
  readonly thread: Thread | null;
  readonly ownerId: Actor | null;
  readonly taskId: string | null;
  readonly now: number;
  readonly limit: number;
}

/** A budget of a chat or a person; those of tasks follow their policies. */
export interface NewBudget {
  readonly scope: BudgetScope;
  readonly account: string;
  readonly chatId: string | null;
  readonly kind: BudgetKind;
  readonly per: BudgetPeriod;
  readonly quantity: number;
  readonly currency: string | null;
  /** Of a person; elsewhere the chat's own is meant where it has one. */
  readonly timezone: string;
}

export interface BudgetChange {
  readonly scope: Exclude<BudgetScope, 'task'>;
  readonly account: string;
  /** Those that are named; null is every one there is. */
  readonly per: BudgetPeriod | null;
  /** Of these kinds the ones that are not set go. */
  readonly kinds: readonly BudgetKind[];
  readonly set: readonly NewBudget[];
  readonly actor: Actor;
  readonly at: number;
}

export interface SpendingStore {
  spentOf(query: SpentQuery): Promise<readonly Sum[]>;
  spentInChat(chatId: string, since: number): Promise<readonly Sum[]>;
  /** The most first. */
  spentByTask(query: SpentQuery, limit: number): Promise<readonly SpentByTask[]>;
  spentByQuarter(query: SpentQuery): Promise<readonly SpentByQuarter[]>;
  listBudgets(query: BudgetQuery): Promise<readonly BudgetView[]>;
  /** Answers how many are gone. */
  changeBudgets(change: BudgetChange): Promise<number>;
  /** Our own id of a chat, made where it is not there yet. */
  chatIdOf(thread: Thread, newId: string, at: number): Promise<string>;
}
