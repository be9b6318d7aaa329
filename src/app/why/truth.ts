import { AppError } from '../../domain/errors.ts';
import { isTimezone } from '../../domain/schedule/schedule.ts';
import { parseInstant } from '../../domain/schedule/time/zone.ts';
import type { Clock } from '../ports/outside.ts';
import type { TaskStore } from '../ports/tasks.ts';
import type { TruthStore } from '../ports/why.ts';
import { upcoming } from '../tasks/upcoming.ts';
import { latelyOf, type Lately } from './lately.ts';
import { createWhy, summaryOf, type Place, type Why, type WhyAnswers, type WhyPage } from './why.ts';

/** What can be asked about what was, is and will be. */
export interface Truth extends Pick<TruthStore, 'readEvents' | 'readAudit' | 'listDowntimes'> {
  /** Answers a question that names its instants as texts; without any of them it is about the last day. */
  why(taskId: string, question: Question): Promise<WhyTold>;
  /** What there is to tell where no time is named, in brief. */
  lately(taskId: string): Promise<WhyAnswers & Lately>;
  /** The slots to come, as far as they can be told. */
  upcoming(taskId: string, count: number): Promise<readonly number[]>;
}

/** An instant with its offset, or what the clock of the task's zone shows. */
export interface Question {
  readonly at?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly after: Window | null;
  readonly limit: number;
}

/** A place in a list about a stretch of time. */
export interface Window extends Place {
  readonly from: number;
  readonly to: number;
}

export interface WhyTold extends WhyPage {
  readonly from: number;
  readonly to: number;
}

interface Needs {
  readonly store: TruthStore & Pick<TaskStore, 'readTask' | 'listTaskRuns'>;
  readonly clock: Clock;
  readonly retentionMs: number;
}

const dayMs = 86_400_000;

export function createTruth(needs: Needs): Truth {
  const { store, clock } = needs;
  const why = createWhy(needs);
  return {
    why: async (taskId, question) => {
      const task = await store.readTask(taskId);
      if (task === null) throw noTask();
      const zone = isTimezone(task.schedule.timezone) ? task.schedule.timezone : 'UTC';
      return answer(why, taskId, readQuestion(question, zone, clock.now()));
    },
    lately: async (taskId) => {
      const task = await store.readTask(taskId);
      if (task === null) throw noTask();
      const told = await latelyOf({ store, clock, why }, taskId);
      return { ...told, timezone: task.schedule.timezone, summary: summaryOf(told.answers) };
    },
    upcoming: async (taskId, count) => {
      const planned = await store.readPlanned(taskId);
      if (planned === null || planned.task.state === 'deleted') throw noTask();
      return upcoming(planned, count);
    },
    readEvents: (query) => store.readEvents(query),
    readAudit: (query) => store.readAudit(query),
    listDowntimes: (limit) => store.listDowntimes(limit),
  };
}

function noTask(): AppError {
  return new AppError('not_found', 'There is no such task.');
}

type Asked =
  | { readonly at: number }
  | { readonly from: number; readonly to: number; readonly after: Place | null; readonly limit: number };

function readQuestion({ at, from, to, after, limit }: Question, zone: string, now: number): Asked {
  if (at !== undefined && (from !== undefined || to !== undefined || after !== null)) {
    throw refused('at', 'Send at alone to ask about one instant, or from and to to ask about a stretch of time.');
  }
  if (at !== undefined) return { at: instantOf('at', at, zone) };
  // A page that follows is about the stretch of the first one, which may have been counted from an earlier now.
  if (after !== null) return { from: after.from, to: after.to, after, limit };
  const end =
    to === undefined
      ? Math.max(now, from === undefined ? now : instantOf('from', from, zone))
      : instantOf('to', to, zone);
  const begin = from === undefined ? end - dayMs : instantOf('from', from, zone);
  if (begin > end) throw refused('from', 'from lies after to; swap them.');
  return { from: begin, to: end, after: null, limit };
}

function instantOf(field: 'at' | 'from' | 'to', text: string, zone: string): number {
  try {
    return parseInstant(text, zone, 'once_at');
  } catch (error) {
    // The domain knows what is wrong with the text, but not which field it stood in.
    if (error instanceof AppError) throw refused(field, `${field}: ${error.message}`);
    throw error;
  }
}

function refused(field: string, message: string): AppError {
  return new AppError('invalid_request', message, { details: { field } });
}

async function answer(why: Why, taskId: string, asked: Asked): Promise<WhyTold> {
  if (!('at' in asked)) return { ...(await why.range({ taskId, ...asked })), from: asked.from, to: asked.to };
  const answers = await why.at(taskId, asked.at);
  return { ...answers, next: null, from: asked.at, to: asked.at };
}
