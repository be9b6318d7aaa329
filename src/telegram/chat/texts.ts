import * as edit from './edit/english.ts';
import * as help from './help/english.ts';
import * as kit from './kit/english.ts';
import * as newTask from './new-task/english.ts';
import * as place from './place/english.ts';
import * as results from './results/english.ts';
import * as settings from './settings/english.ts';
import * as task from './task/english.ts';

/** Every word that the bot says, by subject. Another language is another object of this shape. */
const english = {
  task: task.taskTexts,
  status: task.statusWords,
  button: task.buttonTexts,
  list: task.listTexts,
  history: task.historyTexts,
  making: newTask.makingTexts,
  asked: newTask.askedTexts,
  wizard: newTask.wizardTexts,
  edit: edit.editTexts,
  notice: results.noticeTexts,
  alarm: results.alarmTexts,
  setup: place.setupTexts,
  settings: settings.settingsTexts,
  server: place.serverTexts,
  usage: place.usageTexts,
  purge: place.purgeTexts,
  topic: place.topicTexts,
  digest: settings.digestTexts,
  allow: place.allowTexts,
  chat: kit.chatTexts,
  deed: kit.deedTexts,
  help: help.helpTexts,
  reply: task.replyTexts,
  undo: task.undoTexts,
  field: edit.fieldTexts,
  pick: task.pickTexts,
  retime: edit.retimeTexts,
  agenda: task.agendaTexts,
  out: kit.outTexts,
  reminder: results.reminderTexts,
} as const;

export type Texts = typeof english;

export const texts: Texts = english;
