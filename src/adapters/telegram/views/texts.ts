import { agendaTexts, fieldTexts, pickTexts, replyTexts, undoTexts } from './english/acting.ts';
import { chatTexts, deedTexts } from './english/chat.ts';
import { helpTexts } from './english/help.ts';
import { editTexts, makingTexts } from './english/making.ts';
import { noticeTexts } from './english/notice.ts';
import { outTexts } from './english/out.ts';
import { allowTexts, digestTexts, purgeTexts, serverTexts, topicTexts, usageTexts } from './english/place.ts';
import { reminderTexts } from './english/reminder.ts';
import { retimeTexts } from './english/retime.ts';
import { settingsTexts } from './english/settings.ts';
import { setupTexts } from './english/setup.ts';
import { wizardTexts } from './english/wizard.ts';
import { buttonTexts, historyTexts, listTexts, statusWords, taskTexts } from './english/task.ts';

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
