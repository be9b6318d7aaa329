import type { ActionWords } from '../../../app/actions/form.ts';
import { dayOfWall, pad } from '../../../domain/schedule/time/calendar.ts';
import { toWall } from '../../../domain/schedule/time/zone.ts';
import { WEEKDAY_NAMES } from '../../../domain/schedule/words/words.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Answer, ChatContext } from '../context.ts';
import { wordsOfKind } from '../kit/action.ts';
import { redrawn, silence } from '../kit/answers.ts';
import { settingHere } from '../kit/card.ts';
import { capital, dateIn, dayText, type Setting, wordsOf } from '../kit/clock.ts';
import {
  putDraft,
  type MakingStep,
  type StepOf,
  isForUs,
  messageOf,
  opened,
  saidIn,
  shownBefore,
  shownIn,
  rhythms,
  weekdays,
  type PartStep,
  type Plan,
  titleOf,
} from '../kit/drafts.ts';
import { button, dataOf, shortId, type Rows, inRows } from '../kit/press.ts';
import { blocks, bold, type Rich, drawn, lines, quote, shortened } from '../kit/rich.ts';
import { texts } from '../texts.ts';
import type { Where } from './english.ts';
import { proposalDrawn, checkStep } from './preview.ts';

interface Showing {
  readonly draftId: string;
  readonly step: MakingStep;
  /** Words before it: what was wrong, or that an earlier draft was dropped. */
  readonly before?: Rich | null;
  /** Said in the place of the question, which was read a moment ago. */
  readonly instead?: Rich;
}

export function whereOf({ place }: ChatContext): Where {
  return place.chat.kind === 'private' ? 'private' : 'group';
}

export async function stepDrawn(ctx: ChatContext, showing: Showing): Promise<Drawn> {
  const { draftId, step, before = null, instead } = showing;
  if (step.step === 'preview') {
    checkStep(step);
    return proposalDrawn(ctx, { draftId, step, before });
  }
  const form = ctx.kinds.formOf(step.kept.kind ?? '');
  const about = form === undefined ? {} : { about: wordsOfKind(form) };
  const { words, rows } = questionOf({ draftId, where: whereOf(ctx), ...about, ...settingHere(ctx) }, step);
  return drawn(instead ?? blocks(before, words), rows);
}

/**
 * A new message below the words of the person; the one with the step before goes, so that there is one to look at. For words
 * that were edited, the message that came of them shows what comes of them now.
 */
export async function spoken(ctx: ChatContext, showing: Omit<Showing, 'draftId'>): Promise<Answer> {
  const { step } = showing;
  const before = opened(ctx.mends ?? null);
  const messageId = before === null ? null : await messageOf(ctx, before);
  const id = messageId === null || ctx.mends === undefined ? ctx.ids.next() : ctx.mends.id;
  const gone = shownBefore(ctx, step.kept);
  const said = step.kept.said ?? saidIn(ctx);
  const next = { ...step, kept: { ...shownIn(ctx, step.kept, null), ...(said === undefined ? {} : { said }) } };
  const shown = await stepDrawn(ctx, { ...showing, draftId: id, step: next });
  const draft = putDraft(ctx, id, next, (ctx.mends ?? ctx.answers)?.id);
  if (messageId !== null) return { replies: [{ is: 'edit', messageId, shown }], draft };
  return {
    replies: [
      // The message has the id of its draft, so that each leads to the other.
      { is: 'message', shown, id },
      ...(gone === null ? [] : [{ is: 'remove', messageId: gone } as const]),
    ],
    draft,
  };
}

/** Answers words that cannot be read as what was asked for. In a group they may not have been meant for us at all. */
export async function missed(ctx: ChatContext, step: MakingStep, fault: Rich): Promise<Answer> {
  if (!isForUs(ctx)) return silence;
  const isWhole = step.step === 'ask' || step.step === 'time';
  return spoken(ctx, { step, ...(isWhole ? { instead: fault } : { before: fault }) });
}

/** The same message shows the next step. Its buttons belong to the same draft, so that two quick presses both count. */
export async function turned(ctx: ChatContext, draftId: string, step: MakingStep): Promise<Answer> {
  // A message that one person alone sees goes by itself, and by another number.
  const messageId = ctx.ephemeralId === null ? ctx.messageId : null;
  const next = { ...step, kept: shownIn(ctx, step.kept, messageId) };
  return {
    ...redrawn(ctx, await stepDrawn(ctx, { draftId, step: next })),
    draft: putDraft(ctx, draftId, next),
  };
}

/* ---- the question of each step, drawn from its draft alone, so that it can be drawn again at any time ---- */

interface Asking extends Setting {
  readonly draftId: string;
  readonly where: Where;
  /** Of what is to be done, where that is not to say a text. */
  readonly about?: ActionWords;
}

interface Question {
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

function rhythmRows(asking: Asking): Rows {
  return inRows(
    rhythms.map((rhythm) => choice(asking, texts.wizard.rhythms[rhythm], 'r', rhythm)),
    2,
  );
}

/** The question of a step, and the buttons that answer it. */
function questionOf(asking: Asking, step: Exclude<MakingStep, { step: 'preview' }>): Question {
  const { wizard, making } = texts;
  const { where, now, dates, about } = asking;
  const { media } = step.kept;
  switch (step.step) {
    case 'ask': {
      const hasSubject = [step.kept.text, media, step.kept.action].some((one) => one !== undefined);
      const title = titleOf({ ...step.kept, text: step.kept.text ?? '' });
      const words = hasSubject
        ? lines(title === '' ? wizard.heading : making.preview(title), wizard.askTimeOf(where, making.timeTries))
        : askedAll(asking);
      return { words, rows: [...rhythmRows(asking), [cancel(asking)]] };
    }
    case 'text': {
      const { schedule, assumed } = step.when;
      const told = assumed.length === 0 ? null : making.assumed(assumed.join(', '));
      const when = wordsOf(schedule, now, dates);
      const words =
        about === undefined
          ? blocks(wizard.textAsked(when, schedule.timezone), told, wizard.text(where))
          : blocks(making.zone(`${when} (${schedule.timezone})`), told, whatAsked(about, where));
      return { words, rows: [step.plan === undefined ? [cancel(asking)] : wayOut(asking)] };
    }
    case 'time': {
      const words = making.askTime(titleOf({ ...step.kept, text: step.text }), making.timeTries);
      return { words, rows: [...rhythmRows(asking), step.when === undefined ? [cancel(asking)] : wayOut(asking)] };
    }
    case 'retext':
      return {
        words:
          about === undefined
            ? wizard.retext(titleOf({ ...step.kept, text: step.text }), where)
            : whatAsked(about, where),
        rows: [wayOut(asking)],
      };
    case 'question':
      return { words: questionWords(step, where), rows: questionRows(asking, step) };
    default: {
      const { words, rows } = parts[step.step](asking, step.plan);
      return { words, rows: [...rows, wayOut(asking)] };
    }
  }
}

/** Nothing is known yet. */
function askedAll({ where, about }: Asking): Rich {
  const { wizard, action } = texts;
  if (about === undefined) return wizard.ask(where);
  return action.askWhen(
    about.when,
    wizard.how[where],
    about.examples.slice(0, 3).map(([words]) => argsOf(words)),
  );
}

function argsOf(words: string): string {
  return words.replace(/^\/\w+ /, '');
}

function whatAsked({ ask, tries }: ActionWords, where: Where): Rich {
  return texts.action.asked(ask, capital(texts.wizard.how[where]), tries);
}

function questionWords({ ask, phrase, kept }: StepOf<'question'>, where: Where): Rich {
  const { asked } = texts;
  const about = phrase === '' ? (kept.text ?? kept.name ?? '') : phrase;
  return blocks(
    kept.media === undefined || phrase !== ''
      ? bold(ask)
      : asked.file(kept.album === undefined ? kept.media.kind : 'album'),
    about === '' ? null : quote(shortened(about, 200)),
    asked.answer(where),
  );
}

/** Two in a row fit on a phone. */
function questionRows(asking: Asking, { phrase, offers }: StepOf<'question'>): Rows {
  const all = offers.map(({ text }, index) => choice(asking, text, 'take', index));
  const pick = phrase === '' ? choice(asking, texts.pick.pick, 'pick') : null;
  return [...inRows(all, 2), [pick, cancel(asking)]];
}

const parts: Readonly<Record<PartStep, (asking: Asking, plan: Plan) => Question>> = {
  days: (asking, { days }) => {
    const { wizard } = texts;
    const all = weekdays.map((day, index) => {
      const isOn = days.includes(day);
      const name = wizard.weekdays[index] ?? day;
      return choice(asking, isOn ? wizard.chosen(name) : name, 'd', index, isOn ? 0 : 1);
    });
    return { words: wizard.days(asking.where), rows: [...inRows(all, 4), [choice(asking, wizard.next, 'next')]] };
  },
  month: (asking) => {
    const { wizard } = texts;
    const all = Array.from({ length: 31 }, (_none, index) => choice(asking, String(index + 1), 'm', index + 1));
    return {
      words: wizard.month(asking.where),
      rows: [...inRows(all, 7), [choice(asking, wizard.lastDay, 'm', 'last')]],
    };
  },
  date: (asking) => {
    const { wizard } = texts;
    const soon = [20, 60].map((minutes) => choice(asking, wizard.in[minutes === 20 ? 20 : 60], 'in', minutes));
    const days = Array.from({ length: 6 }, (_none, ahead) =>
      choice(asking, dayName(asking, ahead), 'on', dateIn(asking, ahead)),
    );
    return { words: wizard.date(asking.where), rows: [soon, ...inRows(days, 3)] };
  },
  hour: (asking, plan) => {
    const hours = Array.from({ length: 18 }, (_none, index) => index + 6);
    const rows = inRows(
      hours.map((hour) => choice(asking, `${pad(hour, 2)}:00`, 'h', hour)),
      6,
    );
    return { words: texts.wizard.hour(leadText(plan, asking), asking.where), rows };
  },
  minute: (asking, plan) => {
    const minutes = [0, 10, 15, 20, 30, 40, 45, 50];
    const hour = pad(plan.hour ?? 0, 2);
    const rows = inRows(
      minutes.map((minute) => choice(asking, `${hour}:${pad(minute, 2)}`, 't', minute)),
      4,
    );
    return { words: texts.wizard.minute(leadText(plan, asking), asking.where), rows };
  },
};

/** A day such as `2026-11-23`, counted from 1970. */
function dayIn(date: string): number {
  return dayOfWall(Date.parse(`${date}T00:00:00Z`));
}

function dayName(asking: Asking, ahead: number): string {
  const { wizard } = texts;
  if (ahead < 2) return ahead === 0 ? wizard.today : wizard.tomorrow;
  return dayText(dayOfWall(toWall(asking.timezone, asking.now)) + ahead, asking);
}

/** The day or the days as people read them, before there is a time. */
function leadText({ rhythm, lead = '' }: Plan, asking: Asking): string {
  if (rhythm === 'once') return dayText(dayIn(lead), asking);
  const names = WEEKDAY_NAMES.map((name) => name.toLowerCase());
  return capital(lead.replace(new RegExp(`\\b(?:${names.join('|')})\\b`, 'g'), capital));
}
