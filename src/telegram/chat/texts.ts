import { retimeTexts, editTexts, fieldTexts } from './edit/english.ts';
import { helpTexts } from './help/english.ts';
import { chatTexts, deedTexts, outTexts } from './kit/english.ts';
import { makingTexts, wizardTexts } from './new-task/english.ts';
import { allowTexts, purgeTexts, serverTexts, topicTexts, usageTexts, setupTexts } from './place/english.ts';
import { noticeTexts, reminderTexts } from './results/english.ts';
import { settingsTexts, digestTexts } from './settings/english.ts';
import {
  buttonTexts,
  historyTexts,
  listTexts,
  statusWords,
  taskTexts,
  agendaTexts,
  pickTexts,
  replyTexts,
  undoTexts,
} from './task/english.ts';

/** Every word that the bot says, by subject. Another language is another object of this shape. */
const english = {
  task: taskTexts,
  status: statusWords,
  button: buttonTexts,
  list: listTexts,
  history: historyTexts,
  making: makingTexts,
  wizard: wizardTexts,
  edit: editTexts,
  notice: noticeTexts,
  setup: setupTexts,
  settings: settingsTexts,
  server: serverTexts,
  usage: usageTexts,
  purge: purgeTexts,
  topic: topicTexts,
  digest: digestTexts,
  allow: allowTexts,
  chat: chatTexts,
  deed: deedTexts,
  help: helpTexts,
  reply: replyTexts,
  undo: undoTexts,
  field: fieldTexts,
  pick: pickTexts,
  retime: retimeTexts,
  agenda: agendaTexts,
  out: outTexts,
  reminder: reminderTexts,
} as const;

export type Texts = typeof english;

export const texts: Texts = english;
