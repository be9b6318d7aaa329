import { pressed } from './kit/refusals.ts';
import type { PressedHandler } from './conversation.ts';
import { deliverPressed, discardPressed, missedPressed } from './results/asking.ts';
import { cancelPressed, createPressed, plainPressed, retimePressed } from './new-task/draft-buttons.ts';
import { allowPressed } from './place/allowing-button.ts';
import { digestPressed } from './settings/digest-buttons.ts';
import { purgePressed } from './place/purging-button.ts';
import { setPressed } from './settings/buttons.ts';
import { keepPressed, topicDeletePressed } from './place/topic-buttons.ts';
import { setupPressed, testPressed, zonePressed, zonesPressed, zoneYesPressed } from './place/buttons.ts';
import type { Verb } from './kit/press.ts';
import { wizardPressed } from './new-task/wizard-buttons.ts';
import {
  donePressed,
  errorPressed,
  lastErrorPressed,
  notDonePressed,
  retryPressed,
  seenPressed,
} from './results/buttons.ts';
import { fieldPressed, fieldSetPressed } from './edit/buttons.ts';
import { pauseToPressed } from './task/pausing.ts';
import { hoursPressed, keptPressed, makeOncePressed } from './edit/retiming-buttons.ts';
import { whichPressed } from './task/which-button.ts';
import { laterPressed, pickPressed, resultPressed, snoozePressed } from './results/snoozing.ts';
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
} from './task/buttons.ts';
import { arrivedPressed, resendPressed, unblockPressed } from './results/waiting.ts';

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
