import type { ChatTasks } from '../../../app/ports/chats.ts';
import type { Planned } from '../../../app/ports/why.ts';
import { underRight, upcoming, upcomingAfter } from '../../../app/tasks/upcoming.ts';
import { DAY_MS } from '../../../domain/schedule/time/calendar.ts';
import type { Drawn } from '../../../domain/shown.ts';
import type { Task } from '../../../domain/task.ts';
import type { ChatContext } from '../context.ts';
import { settingHere, taskName } from '../kit/card.ts';
import { aboutMoment, clockIn, dayMoment, scheduleShort, type Setting } from '../kit/clock.ts';
import { dayIn, startOf } from '../kit/days.ts';
import { button, dataOf } from '../kit/press.ts';
import { blocks, bold, lines, type Rich, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

interface AgendaFacts {
  readonly planned: readonly Planned[];
  readonly snoozed: readonly { readonly task: Task; readonly at: number }[];
  readonly setting: Setting;
  readonly span: AgendaSpan;
}

const agendaSpans = { day: DAY_MS, week: 7 * DAY_MS } as const;
export type AgendaSpan = keyof typeof agendaSpans;

export function isSpan(word: string): word is AgendaSpan {
  return word === 'day' || word === 'week';
}

/** As many as one looks through; one task can be asked about by itself. */
const linesMax = 20;
/** Of a task that runs more often on one day only the first time is told, and how it goes on. */
const perDayMax = 3;
const slotsMax = 60;

/** Slots; a task that fills the list is looked at anew on each day that follows. */
function slotsOf(planned: Planned, setting: Setting, until: number): readonly number[] {
  const first = upcoming(planned, slotsMax);
  const last = first.at(-1);
  const inTime = first.filter((at) => at <= until);
  if (last === undefined || first.length < slotsMax || last > until) return inTime;
  // The last day that was looked at is known in part only.
  const known = Math.max(dayIn(setting, first[0] ?? last), dayIn(setting, last) - 1);
  const found = inTime.filter((at) => dayIn(setting, at) <= known);
  for (let day = known + 1; day <= dayIn(setting, until); day += 1) {
    const more = upcomingAfter(planned, startOf(day, setting) - 1, perDayMax + 1);
    found.push(...more.filter((at) => at <= until && dayIn(setting, at) === day));
  }
  return found;
}

interface Line {
  readonly number: number;
  readonly at: number;
  readonly words: Rich;
}

/** More than fit on the agenda, because one that is paused may come later than it could. */
const plannedMax = 60;
const pausedShown = 10;

/** The coming runs of all tasks of a chat. Those that are paused are told, because they are missing. */
export async function agendaOf(span: AgendaSpan, { place, store, clock }: ChatContext): Promise<Drawn> {
  const { agenda } = texts;
  const { chat } = place;
  const setting = settingHere({ place, clock });
  const { now } = setting;
  const planned = await store.plannedBefore(chat.id, now + agendaSpans[span], plannedMax);
  const snoozed = await store.snoozedBefore(chat.id, now + agendaSpans[span], plannedMax);
  const asked = { chatId: chat.id, filter: 'paused', ownerId: null, text: null, offset: 0 } as const;
  const paused = await store.chatTasks({ ...asked, limit: pausedShown });
  const facts = { planned, snoozed, setting, span };
  const all = linesOf(facts).toSorted((a, b) => a.at - b.at);
  const shown = all.slice(0, linesMax);
  const hidden = all[linesMax];
  const other =
    span === 'day' ? button(agenda.toWeek, dataOf('agenda', 'week')) : button(agenda.toDay, dataOf('agenda', 'day'));
  return drawn(
    blocks(
      bold(agenda[span]),
      ...(shown.length === 0 ? [agenda.none] : dayBlocks(shown, setting)),
      noRightText(facts),
      pausedText(paused, setting),
      lines(hidden === undefined ? null : agenda.more(hidden.number), texts.making.zone(setting.timezone)),
    ),
    [[other]],
  );
}

function pausedText({ tasks, total }: ChatTasks, setting: Setting): Rich | null {
  const { agenda } = texts;
  if (tasks.length === 0) return null;
  const told = tasks.map((task) =>
    agenda.pausedOne(taskName(task), task.resumeAt === null ? null : endText(task.resumeAt, setting)),
  );
  return agenda.paused(told, total - told.length);
}

/** Tasks whose runs will be skipped are told, because they are missing in the list. */
function noRightText({ planned, setting, span }: AgendaFacts): Rich | null {
  const until = setting.now + agendaSpans[span];
  const cut = planned.filter(({ task, ahead }) => {
    const first = task.nextAt ?? task.resumeAt;
    return ahead.rightEndsAt !== null && first !== null && Math.max(first, ahead.rightEndsAt) <= until;
  });
  if (cut.length === 0) return null;
  const shown = cut.slice(0, pausedShown).map(({ task }) => taskName(task));
  return texts.agenda.noRight(shown, cut.length - shown.length);
}

/** A pause until a day ends when that begins. */
function endText(instant: number, setting: Setting): string {
  const isDay = startOf(dayIn(setting, instant), setting) === instant;
  return isDay ? dayMoment(instant, setting) : aboutMoment(instant, setting);
}

function dayBlocks(shown: readonly Line[], setting: Setting): readonly Rich[] {
  return byDay(shown, ({ at }) => dayIn(setting, at)).map((rows) =>
    lines(bold(dayMoment(rows[0].at, setting)), ...rows.map(({ words }) => words)),
  );
}

/** Those of each day, in their order. */
function byDay<T>(all: readonly T[], dayOf: (one: T) => number): readonly (readonly [T, ...T[]])[] {
  const days = new Map<number, [T, ...T[]]>();
  for (const one of all) {
    const rows = days.get(dayOf(one));
    if (rows === undefined) days.set(dayOf(one), [one]);
    else rows.push(one);
  }
  return [...days.values()];
}

function linesOf({ planned, snoozed, setting, span }: AgendaFacts): readonly Line[] {
  const { agenda } = texts;
  const until = setting.now + agendaSpans[span];
  const clock = (at: number) => clockIn(setting.timezone, at);
  const again = snoozed
    .filter(({ at }) => at > setting.now && at <= until)
    .map(({ task, at }) => ({ number: task.number, at, words: agenda.snoozed(clock(at), taskName(task)) }));
  return [...planned.flatMap((one) => linesOfTask(one, setting, until)), ...again];
}

function linesOfTask(planned: Planned, setting: Setting, until: number): readonly Line[] {
  const { agenda } = texts;
  const { task } = planned;
  const clock = (at: number) => clockIn(setting.timezone, at);
  const name = taskName(task);
  const { number } = task;
  const running = underRight(slotsOf(planned, setting, until), planned.ahead);
  return byDay(running, (at) => dayIn(setting, at)).flatMap((slots) => {
    const [first] = slots;
    if (slots.length <= perDayMax) return slots.map((at) => ({ number, at, words: agenda.row(clock(at), name) }));
    return [
      {
        number,
        at: first,
        words: agenda.many(clock(first), name, scheduleShort(task, setting.now, setting.dates) ?? ''),
      },
    ];
  });
}
