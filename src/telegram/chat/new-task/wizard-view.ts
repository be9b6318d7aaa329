import type { DateStyle } from '../../../domain/chat-settings.ts';
import { civilFromDays, dayOfWall, pad, weekdayOf } from '../../../domain/schedule/time/calendar.ts';
import { toWall } from '../../../domain/schedule/time/zone.ts';
import { MONTH_NAMES, WEEKDAY_NAMES } from '../../../domain/schedule/words/words.ts';
import type { Media } from '../../../domain/shown.ts';
import { capital, dateIn, wordsOf } from '../kit/clock.ts';
import { rhythms, weekdays, type PartStep, type Plan, type StepOf, titleOf } from '../kit/drafts.ts';
import { button, dataOf, shortId, type Rows } from '../kit/press.ts';
import { lines, type Rich } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import type { Where } from './english.ts';

/** The steps of making a task by buttons. Each is drawn from its draft alone, so that it can be drawn again at any time. */

export interface Asking {
  readonly draftId: string;
  readonly where: Where;
  readonly timezone: string;
  readonly now: number;
  readonly dates: DateStyle;
}

export interface Question {
  readonly words: Rich;
  readonly rows: Rows;
}

function choice({ draftId }: Asking, text: string, ...args: readonly (string | number)[]) {
  return button(text, dataOf('wizard', shortId(draftId), ...args));
}

function cancel({ draftId }: Asking) {
  return button(texts.button.cancel, dataOf('cancel', shortId(draftId)));
}

function wayOut(asking: Asking): Rows[number] {
  return [choice(asking, texts.button.back, 'back'), cancel(asking)];
}

/** Rows of at most so many. */
function grid<T>(items: readonly T[], width: number): T[][] {
  const rows: T[][] = [];
  for (let at = 0; at < items.length; at += width) rows.push(items.slice(at, at + width));
  return rows;
}

function rhythmRows(asking: Asking): Rows {
  return grid(
    rhythms.map((rhythm) => choice(asking, texts.wizard.rhythms[rhythm], 'r', rhythm)),
    2,
  );
}

export interface Subject {
  readonly text: string | undefined;
  readonly media: Media | undefined;
}

/** What is there already: the text that somebody else wrote, or the picture that came first. */
function subjectLine({ text, media }: Subject): Rich {
  const { wizard } = texts;
  const title = titleOf({ text: text ?? '', media });
  return title === '' ? { text: wizard.heading, entities: [] } : wizard.headingOf(title);
}

export function askQuestion(asking: Asking, subject: Subject): Question {
  const { wizard, making } = texts;
  const hasText = subject.text !== undefined || subject.media !== undefined;
  const words = hasText
    ? lines(subjectLine(subject), wizard.askTimeOf(asking.where, making.timeTries))
    : wizard.ask(asking.where);
  return { words, rows: [...rhythmRows(asking), [cancel(asking)]] };
}

/** The new time of a task that has its text, with the way back to the preview where there was one. */
export function timeQuestion(asking: Asking, title: string, hasBefore: boolean): Question {
  const { making } = texts;
  const words = making.askTime(title, making.timeTries);
  return { words, rows: [...rhythmRows(asking), hasBefore ? wayOut(asking) : [cancel(asking)]] };
}

type Part = StepOf<PartStep>;

/** What is asked, and the buttons that answer it. */
export function partQuestion(asking: Asking, { step, plan }: Pick<Part, 'step' | 'plan'>): Question {
  const { words, rows } = parts[step](asking, plan);
  return { words, rows: [...rows, wayOut(asking)] };
}

const parts: Readonly<Record<PartStep, (asking: Asking, plan: Plan) => Question>> = {
  days: (asking, { days }) => {
    const { wizard } = texts;
    const all = weekdays.map((day, index) => {
      const isOn = days.includes(day);
      const name = wizard.weekdays[index] ?? day;
      return choice(asking, isOn ? wizard.chosen(name) : name, 'd', index, isOn ? 0 : 1);
    });
    return { words: wizard.days(asking.where), rows: [...grid(all, 4), [choice(asking, wizard.next, 'next')]] };
  },
  month: (asking) => {
    const { wizard } = texts;
    const all = Array.from({ length: 31 }, (_none, index) => choice(asking, String(index + 1), 'm', index + 1));
    return {
      words: wizard.month(asking.where),
      rows: [...grid(all, 7), [choice(asking, wizard.lastDay, 'm', 'last')]],
    };
  },
  date: (asking) => {
    const { wizard } = texts;
    const soon = [20, 60].map((minutes) => choice(asking, wizard.in[minutes === 20 ? 20 : 60], 'in', minutes));
    const days = Array.from({ length: 6 }, (_none, ahead) =>
      choice(asking, dayName(asking, ahead), 'on', dateIn(asking, ahead)),
    );
    return { words: wizard.date(asking.where), rows: [soon, ...grid(days, 3)] };
  },
  hour: (asking, plan) => {
    const hours = Array.from({ length: 18 }, (_none, index) => index + 6);
    const rows = grid(
      hours.map((hour) => choice(asking, `${pad(hour, 2)}:00`, 'h', hour)),
      6,
    );
    return { words: texts.wizard.hour(leadText(plan), asking.where), rows };
  },
  minute: (asking, plan) => {
    const minutes = [0, 10, 15, 20, 30, 40, 45, 50];
    const hour = pad(plan.hour ?? 0, 2);
    const rows = grid(
      minutes.map((minute) => choice(asking, `${hour}:${pad(minute, 2)}`, 't', minute)),
      4,
    );
    return { words: texts.wizard.minute(leadText(plan), asking.where), rows };
  },
};

/** A day such as `2026-11-23`, counted from 1970. */
function dayIn(date: string): number {
  return dayOfWall(Date.parse(`${date}T00:00:00Z`));
}

function dayName({ timezone, now }: Asking, ahead: number): string {
  const { wizard } = texts;
  if (ahead < 2) return ahead === 0 ? wizard.today : wizard.tomorrow;
  return dayText(dayOfWall(toWall(timezone, now)) + ahead);
}

function dayText(days: number): string {
  const { month, day } = civilFromDays(days);
  return `${WEEKDAY_NAMES[weekdayOf(days)]?.slice(0, 3) ?? ''} ${day} ${MONTH_NAMES[month - 1]?.slice(0, 3) ?? ''}`;
}

/** The day or the days as people read them, before there is a time. */
function leadText({ rhythm, lead = '' }: Plan): string {
  if (rhythm === 'once') return dayText(dayIn(lead));
  const names = WEEKDAY_NAMES.map((name) => name.toLowerCase());
  return capital(lead.replace(new RegExp(`\\b(?:${names.join('|')})\\b`, 'g'), capital));
}

export function textQuestion(asking: Asking, { when, plan }: StepOf<'text'>): Question {
  const { schedule } = when;
  const words = texts.wizard.text(wordsOf(schedule, asking.now, asking.dates), schedule.timezone, asking.where);
  return { words, rows: [plan === undefined ? [cancel(asking)] : wayOut(asking)] };
}

export function retextQuestion(asking: Asking, title: string): Question {
  return { words: texts.wizard.retext(title, asking.where), rows: [wayOut(asking)] };
}

export function offerQuestion(asking: Asking, media: Media): Question {
  const { wizard } = texts;
  const words = { text: wizard.offer(media.kind), entities: [] };
  return { words, rows: [[choice(asking, wizard.scheduleThis, 'begin'), cancel(asking)]] };
}
