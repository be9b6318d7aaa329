import type { Actor } from '../../domain/actor.ts';

/** Missed slots about which a task asks whether they are to run after all: its policy says `missed: ask`. */
export interface OpenQuestion {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** When the last of them is moot. */
  readonly decideBy: number;
}

/** What becomes of the slots that were missed: the latest of them runs, all of them do, or none. */
export type MissedAnswer = 'latest' | 'all' | 'none';

/** How somebody has decided about such slots. */
export interface AnsweredQuestion {
  readonly by: Actor;
  readonly at: number;
  readonly choice: MissedAnswer;
}

export interface QuestionStore {
  /** Null when nothing of the task waits for an answer. */
  readQuestion(taskId: string): Promise<OpenQuestion | null>;
  /** The last answer since the instant; null when there was none. */
  lastAnswer(taskId: string, since: number): Promise<AnsweredQuestion | null>;
}
