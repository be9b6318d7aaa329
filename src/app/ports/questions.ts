import type { Actor } from '../../domain/access.ts';
import type { OpenAck } from '../../domain/ack.ts';
import type { Shown } from '../../domain/shown.ts';
import type { Stamp } from '../../domain/task.ts';
import type { Batch, Counts } from './pipeline.ts';
import type { SlotAck } from './runs.ts';

/** The store as confirmations and reminders see it. */

/** An open one whose instant has come, under its lock. */
export interface DueAck extends OpenAck {
  readonly occurrenceId: string;
}

export type NagDecision = { readonly occurrenceId: string } & (
  | { readonly is: 'later'; readonly at: number }
  /** The reminder takes the place of the one before, which is removed. */
  | { readonly is: 'nag'; readonly deliveryId: string; readonly number: number; readonly nextAt: number }
  /** A line in the topic, and a word to an admin. */
  | { readonly is: 'giveUp'; readonly lineId: string; readonly wordId: string }
  | { readonly is: 'drop' }
);

export interface DoneNote {
  readonly taskId: string;
  readonly occurrenceId: string;
  readonly actor: Actor;
  readonly at: number;
  /** The message on which Done was pressed: its answer changes it. */
  readonly pressed?: number;
}

/** The message in which the last part of the result stands. */
export interface ResultShown {
  readonly messageId: number;
  readonly shown: Shown;
  readonly at: number;
}

export interface NotedDone extends Stamp {
  /** False when somebody had said so before; then `by` and `at` tell who and when. */
  readonly isFirst: boolean;
  /** Null where it never arrived, or nothing is known of it any more. */
  readonly result: ResultShown | null;
  /** When the result was to come again, had it not been done. */
  readonly endedSnoozes: readonly number[];
}

/** How it stands with one occurrence, for whoever draws a reminder of it. */
export interface AckView extends SlotAck {
  readonly result: ResultShown | null;
  readonly chatTitle: string | null;
}

/** A result that nobody has said Done of, newest first. */
export interface OpenResult {
  readonly taskId: string;
  readonly occurrenceId: string;
  /** Its task asks for Done. */
  readonly isAsked: boolean;
}

export interface OpenResultsQuery {
  readonly chatId: string;
  /** Slots since then. */
  readonly since: number;
  readonly limit: number;
}

export interface AckStore {
  /** Notes that it is done, and takes away the reminders of it; who came first stays. */
  noteDone(done: DoneNote): Promise<NotedDone>;
  /** Takes that back. False when it is not done. */
  takeBackDone(back: DoneNote): Promise<boolean>;
  /** The confirmation of it; null when nobody was asked and nobody has said anything. */
  readAck(of: Pick<DoneNote, 'taskId' | 'occurrenceId'>): Promise<AckView | null>;
  openResults(query: OpenResultsQuery): Promise<readonly OpenResult[]>;
  /** Locks open ones whose instant has come, and writes what `plan` decided: each reminder with the removal of the last. */
  claimNags(at: Batch, plan: (due: readonly DueAck[]) => readonly NagDecision[]): Promise<Counts>;
  /** When somebody is to be reminded next, or null. */
  nextNagAt(): Promise<number | null>;
}

/** Missed slots about which a task asks whether they are to run after all: its policy says `missed: ask`. */
export interface OpenQuestion {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** When the last of them is moot. */
  readonly decideBy: number;
}

/** The fate of the slots that were missed: the latest of them runs, all of them do, or none. */
export type MissedAnswer = 'latest' | 'all' | 'none';

/** How somebody has decided about such slots. */
export interface AnsweredQuestion extends Stamp {
  readonly choice: MissedAnswer;
}

export interface QuestionStore {
  /** Null when nothing of the task waits for an answer. */
  readQuestion(taskId: string): Promise<OpenQuestion | null>;
  /** The last answer since the instant; null when there was none. */
  lastAnswer(taskId: string, since: number): Promise<AnsweredQuestion | null>;
}

/** Results that are shown only when somebody has looked at them before: their task says `approval: required`. */

export interface Approval {
  readonly runId: string;
  readonly actor: Actor;
  /** False discards the result. */
  readonly isGiven: boolean;
}

/** The decision, of now or of before; or nobody made one in time, or there is nothing to decide about. */
export type Approved =
  | (Stamp & {
      readonly is: 'decided';
      readonly isGiven: boolean;
      readonly isFirst: boolean;
      /** Something was to happen, rather than to be shown. */
      readonly isEffect?: true;
    })
  | { readonly is: 'expired' }
  | { readonly is: 'none' };

export interface ApprovalStore {
  /** Lets the parts of the run go to the topic of its task, or its effect happen, or ends them; the first decision counts. */
  decideApproval(approval: Approval & { readonly at: number }): Promise<Approved>;
}
