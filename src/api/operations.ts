import type { Operation } from './operation.ts';
import { createTask, listTasks, listThreadTasks, getTask, deleteTask, listTaskVersions, updateTask } from './tasks.ts';
import {
  runTaskNow,
  cancelTask,
  answerTask,
  pauseTask,
  resumeTask,
  skipTask,
  unskipTask,
  snoozeTask,
  restoreTask,
  undoTask,
} from './verbs.ts';
import { purgeThread, pauseThread, resumeThread } from './threads.ts';
import { listTaskRuns, listNextRuns, getRun, cancelRun, retryRun, replayRun } from './runs.ts';
import { whyTask, listEvents, listAudit, listDowntimes } from './truth.ts';
import { previewSchedule } from './schedules.ts';
import { runAudit, reconcile } from './upkeep.ts';
import { isLive, isHealthy, isReady, getVersion, getDescription } from './health.ts';

/** Everything that can be asked over HTTP, by its id. */
export const operations = {
  createTask,
  listTasks,
  listThreadTasks,
  getTask,
  deleteTask,
  listTaskVersions,
  updateTask,
  runTaskNow,
  cancelTask,
  answerTask,
  pauseTask,
  resumeTask,
  skipTask,
  unskipTask,
  snoozeTask,
  restoreTask,
  undoTask,
  purgeThread,
  pauseThread,
  resumeThread,
  listTaskRuns,
  listNextRuns,
  getRun,
  cancelRun,
  retryRun,
  replayRun,
  whyTask,
  listEvents,
  listAudit,
  listDowntimes,
  previewSchedule,
  runAudit,
  reconcile,
  isLive,
  isHealthy,
  isReady,
  getVersion,
  getDescription,
} as const satisfies Readonly<Record<string, Operation>>;
