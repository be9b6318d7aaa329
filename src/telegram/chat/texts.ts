import { AsyncLocalStorage } from 'node:async_hooks';
import { englishDigest } from '../../app/words/digest.ts';
import { englishWhy } from '../../app/words/why.ts';
import type { ChatSettings } from '../../domain/chat-settings.ts';
import { englishPolicyFaults } from '../../domain/policy-faults.ts';
import { englishAdvice } from '../../domain/schedule/advice.ts';
import { english as englishSchedules } from '../../domain/schedule/words/english.ts';
import type { Translated } from '../../domain/schedule/words/forms.ts';
import { englishReader } from '../../domain/when/english.ts';
import * as edit from './edit/english.ts';
import * as help from './help/english.ts';
import * as kit from './kit/english.ts';
import * as newTask from './new-task/english.ts';
import * as place from './place/english.ts';
import * as results from './results/english.ts';
import * as settings from './settings/english.ts';
import * as task from './task/english.ts';
import * as trust from './trust/english.ts';
import * as usage from './usage/english.ts';

/** Texts by subject. */
const englishTexts = {
  task: task.taskTexts,
  grants: trust.grantTexts,
  context: trust.contextTexts,
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
  secrets: settings.secretTexts,
  server: place.serverTexts,
  usage: usage.usageTexts,
  spending: usage.spendingTexts,
  purge: place.purgeTexts,
  topic: place.topicTexts,
  clean: place.cleanTexts,
  digest: settings.digestTexts,
  allow: place.allowTexts,
  access: kit.accessTexts,
  refusal: kit.refusalTexts,
  action: kit.actionTexts,
  chat: kit.chatTexts,
  clock: kit.clockTexts,
  intake: kit.intakeTexts,
  deed: kit.deedTexts,
  help: help.helpTexts,
  reply: task.replyTexts,
  undo: task.undoTexts,
  field: edit.fieldTexts,
  pick: task.pickTexts,
  retime: edit.retimeTexts,
  rhythms: edit.rhythmTexts,
  agenda: task.agendaTexts,
  out: kit.outTexts,
  reminder: results.reminderTexts,
  schedule: englishSchedules,
  advice: englishAdvice,
  policyFault: englishPolicyFaults,
  news: englishDigest,
  why: englishWhy,
  reading: englishReader,
} as const;

/** Every word that the bot says in chats; a text that is missing in a language does not compile. */
export type Texts = Translated<typeof englishTexts>;

/** A language in which people are spoken to. */
export interface Locale {
  /** BCP 47: the chat's setting, and for dates, numbers and plural forms. */
  readonly tag: string;
  readonly texts: Texts;
}

export const english: Locale = { tag: 'en', texts: englishTexts };

/** Chooses the language of a chat by its settings; English where it has chosen none that is there. */
export type LocaleOf = (settings: Pick<ChatSettings, 'language'>) => Locale;

export function localeAmong(locales: readonly Locale[]): LocaleOf {
  return ({ language }) => locales.find(({ tag }) => tag === language) ?? english;
}

/** The languages that are offered. */
export const localeOf: LocaleOf = localeAmong([english]);

const speaking = new AsyncLocalStorage<Locale>();

/** Speaks that language in all that the work does, also after it has waited for something. */
export function inLocale<T>(locale: Locale, work: () => T): T {
  return speaking.run(locale, work);
}

export function currentLocale(): Locale {
  return speaking.getStore() ?? english;
}

/** The texts in the language of the update that is handled, or of the message that is drawn. */
export const texts: Texts = new Proxy<Texts>(englishTexts, {
  get: (_english, subject): unknown => Reflect.get(currentLocale().texts, subject),
});
