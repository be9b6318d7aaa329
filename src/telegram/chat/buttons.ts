import type { PressedHandler } from './conversation.ts';
import { fieldPressed, fieldSetPressed, hoursPressed, keptPressed, makeOncePressed } from './edit/buttons.ts';
import { pressed } from './kit/answers.ts';
import type { Verb } from './kit/press.ts';
import { cancelPressed, createPressed, plainPressed, retimePressed, wizardPressed } from './new-task/buttons.ts';
import { allowPressed } from './place/allowing.ts';
import { setupPressed, testPressed, zonePressed, zonesPressed, zoneYesPressed } from './place/buttons.ts';
import { purgePressed, keepPressed, topicDeletePressed } from './place/removals.ts';
import {
  deliverPressed,
  discardPressed,
  missedPressed,
  arrivedPressed,
  resendPressed,
  unblockPressed,
} from './results/asking.ts';
import {
  donePressed,
  errorPressed,
  lastErrorPressed,
  notDonePressed,
  retryPressed,
  seenPressed,
} from './results/buttons.ts';
import { laterPressed, pickPressed, resultPressed, snoozePressed } from './results/snoozing.ts';
import { digestPressed } from './settings/digest.ts';
import { setPressed } from './settings/settings.ts';
import {
  agendaPressed,
  deletePressed,
  editPressed,
  editWhatPressed,
  historyPressed,
  listPressed,
  makePressed,
  pausePressed,
  restorePressed,
  resumePressed,
  runPressed,
  skipPressed,
  taskPressed,
  undoPressed,
  unknownPressed,
  whyPressed,
  whichPressed,
} from './task/buttons.ts';
import { pauseToPressed } from './task/doing.ts';

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
  set: setPressed,
  test: testPressed,
  topicdelete: topicDeletePressed,
  keep: keepPressed,
  purge: purgePressed,
  digest: digestPressed,
  allow: allowPressed,
  wizard: wizardPressed,
  field: fieldPressed,
  fieldset: fieldSetPressed,
  pick: pickPressed,
  pauseto: pauseToPressed,
  agenda: agendaPressed,
  make: makePressed,
  notdone: notDonePressed,
  missed: missedPressed,
  deliver: deliverPressed,
  discard: discardPressed,
  makeonce: makeOncePressed,
  hours: hoursPressed,
  kept: keptPressed,
  which: whichPressed,
};

/** Every verb of every button that was ever sent. */
export const buttons: ReadonlyMap<string, PressedHandler> = new Map(
  Object.entries(handlers).map(([verb, handler]) => [verb, pressed(handler)]),
);

/** For a button that nobody knows any more: how things stand now. */
export const unknownPress: PressedHandler = pressed(unknownPressed);
