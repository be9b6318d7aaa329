import { agendaTexts, fieldTexts, pickTexts, replyTexts, undoTexts } from './task/acting-english.ts';
import { chatTexts, deedTexts } from './kit/english.ts';
import { helpTexts } from './help/english.ts';
import { editTexts, makingTexts } from './new-task/english.ts';
import { noticeTexts } from './results/notice-english.ts';
import { outTexts } from './kit/english-out.ts';
import { allowTexts, digestTexts, purgeTexts, serverTexts, topicTexts, usageTexts } from './place/english.ts';
import { reminderTexts } from './results/reminder-english.ts';
import { retimeTexts } from './edit/english.ts';
import { settingsTexts } from './settings/english.ts';
import { setupTexts } from './place/setup-english.ts';
import { wizardTexts } from './new-task/wizard-english.ts';
import { buttonTexts, historyTexts, listTexts, statusWords, taskTexts } from './task/english.ts';

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
