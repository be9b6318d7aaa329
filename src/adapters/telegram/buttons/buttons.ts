import { pressed } from '../commands/refusals.ts';
import type { PressedHandler } from '../conversation.ts';
import { cancelPressed, createPressed, plainPressed, retimePressed } from './drafts.ts';
import { setupPressed, zonePressed, zonesPressed, zoneYesPressed } from './places.ts';
import type { Verb } from './press.ts';
import {
  donePressed,
  errorPressed,
  lastErrorPressed,
  laterPressed,
  resultPressed,
  retryPressed,
  seenPressed,
  snoozePressed,
} from './results.ts';
import {
  deletePressed,
  editPressed,
  editWhatPressed,
  historyPressed,
  listPressed,
  pausePressed,
  restorePressed,
  resumePressed,
  runPressed,
  skipPressed,
  taskPressed,
  undoPressed,
  unknownPressed,
  whyPressed,
} from './tasks.ts';
import { arrivedPressed, resendPressed, unblockPressed } from './waiting.ts';

const handlers: Readonly<Record<Verb, PressedHandler>> = {
  create: createPressed,
  plain: plainPressed,
  retime: retimePressed,
  cancel: cancelPressed,
  zoneyes: zoneYesPressed,
  zones: zonesPressed,
  zone: zonePressed,
  task: taskPressed,
  run: runPressed,
  pause: pausePressed,
  resume: resumePressed,
  skip: skipPressed,
  edit: editPressed,
  editwhat: editWhatPressed,
  history: historyPressed,
  why: whyPressed,
  delete: deletePressed,
  restore: restorePressed,
  undo: undoPressed,
  list: listPressed,
  done: donePressed,
  seen: seenPressed,
  snooze: snoozePressed,
  later: laterPressed,
  result: resultPressed,
  retry: retryPressed,
  error: errorPressed,
  lasterror: lastErrorPressed,
  unblock: unblockPressed,
  arrived: arrivedPressed,
  resend: resendPressed,
  setup: setupPressed,
};

/** Every verb of every button that was ever sent. */
export const buttons: ReadonlyMap<string, PressedHandler> = new Map(
  Object.entries(handlers).map(([verb, handler]) => [verb, pressed(handler)]),
);

/** For a button that nobody knows any more: how things stand now. */
export const unknownPress: PressedHandler = pressed(unknownPressed);
