import { chatTexts, deedTexts } from './english/chat.ts';
import { helpTexts } from './english/help.ts';
import { editTexts, makingTexts } from './english/making.ts';
import { noticeTexts, setupTexts } from './english/notice.ts';
import { buttonTexts, historyTexts, listTexts, statusWords, taskTexts } from './english/task.ts';

/** Every word that the bot says, by subject. Another language is another object of this shape. */
const english = {
  task: taskTexts,
  status: statusWords,
  button: buttonTexts,
  list: listTexts,
  history: historyTexts,
  making: makingTexts,
  edit: editTexts,
  notice: noticeTexts,
  setup: setupTexts,
  chat: chatTexts,
  deed: deedTexts,
  help: helpTexts,
} as const;

export type Texts = typeof english;

export const texts: Texts = english;
