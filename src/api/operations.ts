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
import { purgeThread, pauseThread, resumeThread, cancelThread } from './threads.ts';
import { postMessage } from './messages.ts';
import { listTaskRuns, listNextRuns, listRuns, getRun, getRunResult, cancelRun, retryRun, replayRun } from './runs.ts';
import { whyTask, listEvents, listAudit, listDowntimes } from './truth.ts';
import { previewSchedule } from './schedules.ts';
import { runAudit, reconcile } from './upkeep.ts';
import { isLive, isHealthy, isReady, getVersion, getDescription } from './health.ts';
import { attachTask } from './attach.ts';
import { pauseTasks, resumeTasks, cancelTasks } from './bulk.ts';
import { listGrants, createGrant, revokeGrant } from './grants.ts';
import { getStatus, getUsage, tick } from './status.ts';

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
  cancelThread,
  postMessage,
  listRuns,
  getRunResult,
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
  attachTask,
  pauseTasks,
  resumeTasks,
  cancelTasks,
  listGrants,
  createGrant,
  revokeGrant,
  getStatus,
  getUsage,
  tick,
  isLive,
  isHealthy,
  isReady,
  getVersion,
  getDescription,
} as const satisfies Readonly<Record<string, Operation>>;
