import type { ChatTasksQuery, OpenSnooze } from '../../../app/ports/chats.ts';
import type { Button, Drawn } from '../../../domain/shown.ts';
import { failuresPause, staleSince, type Task } from '../../../domain/task.ts';
import { pageSize, taskButton } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { aboutMoment, age, distance, scheduleCadence, type Setting, zoneOf } from '../kit/clock.ts';
import type { LastRun } from '../kit/last-run.ts';
import { button, dataOf, shortId, inRows } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

/** `all` folds away what has ended. */
export type Filter = Exclude<ChatTasksQuery['filter'], 'open'> | 'mine';

export interface Listing {
  readonly filter: Filter;
  readonly text: string | null;
  /** Counts from 0. */
  readonly page: number;
}

export interface ListFacts extends Setting {
  readonly tasks: readonly Task[];
  readonly total: number;
  /** To when tasks are snoozed, by their ids. */
  readonly snoozes?: ReadonlyMap<string, readonly OpenSnooze[]>;
  /** Tasks that are folded away, because nothing comes of them any more. */
  readonly ended?: number;
  readonly rows?: ReadonlyMap<string, RowFacts>;
  /** The subject that was asked for, in each way in which the tasks spell it. */
  readonly subjects?: readonly string[];
}

/** Facts of a row that the task itself does not tell. */
export interface RowFacts {
  /** False where its next run is skipped, because nothing gives the task a right to it. */
  readonly mayRun: boolean;
  /** The person who paused it; null where nobody did, or nobody knows how they are called. */
  readonly pausedBy: string | null;
  /** Whether somebody has said that its last run was done. */
  readonly done: LastRun['done'];
}

export function listDrawn(listing: Listing, facts: ListFacts): Drawn {
  const { list } = texts;
  const { ended = 0 } = facts;
  const folded = ended === 0 ? null : list.ended(ended);
  const foldedRow = ended === 0 ? [] : [button(list.showEnded(ended), dataOf('list', 'completed', 0, ''))];
  if (facts.total === 0) {
    const isBare = listing.filter === 'all' && listing.text === null;
    const rows = isBare ? [emptyRow()] : filterRows(listing);
    return drawn(blocks(isBare && ended > 0 ? list.noneOpen : emptyText(listing), folded), [foldedRow, ...rows]);
  }
  const pages = Math.ceil(facts.total / pageSize);
  const canTurn = dataOf('list', listing.filter, pages, listing.text ?? '') !== null;
  const heading = list.heading(whatOf(listing, facts.subjects), facts.total);
  return drawn(
    blocks(
      heading,
      lines(...facts.tasks.map((task) => list.row(taskName(task), cellsOf(task, facts)))),
      folded,
      lines(list.zone(facts.timezone), pages > 1 && !canTurn ? list.more(facts.tasks.length, facts.total) : null),
    ),
    [
      ...inRows(
        facts.tasks.map((task) => taskButton(task, dataOf('task', shortId(task.id)))),
        2,
      ),
      pages > 1 && canTurn ? pageRow(listing, pages) : [],
      foldedRow,
      ...filterRows(listing),
    ],
  );
}

function emptyText(listing: Listing): Rich {
  const { list } = texts;
  if (listing.filter === 'all' && listing.text === null) return list.none();
  return lines(list.heading(whatOf(listing), 0), list.noneOf);
}

function whatOf({ filter, text }: Listing, subjects: readonly string[] = []): string {
  const { list } = texts;
  if (subjects.length > 0) return list.about(subjects);
  return text === null ? list.what[filter] : list.matching(text);
}

/** Cells of a row: a sign of how it stands, what it does when, what comes next, and what became of its last run. */
function cellsOf(task: Task, facts: ListFacts): readonly string[] {
  const { list } = texts;
  const { state, counters, action, nextAt } = task;
  const kind = action.kind === 'message' ? null : action.kind;
  const { consecutiveFailures: failures } = counters;
  const snoozed = snoozeText(task, facts);
  if (state !== 'active' && state !== 'paused') {
    return cells(snoozed === null ? list.sign.ended : list.sign.active, kind, snoozed, lastText(task, facts));
  }
  const last = failures > 0 ? failingText(task, facts) : lastText(task, facts);
  if (state === 'paused') {
    const sign = list.sign.paused;
    return cells(sign, kind, rhythmOf(task, facts), pausedText(task, facts), staleText(task, facts), last);
  }
  const isOnce = task.schedule.kind === 'once' && nextAt !== null;
  const when = isOnce ? at(task, nextAt, facts) : rhythmOf(task, facts);
  const sign = failures > 0 ? list.sign.failing : list.sign.active;
  return cells(sign, kind, when, nextText(task, facts), snoozed, staleText(task, facts), last);
}

/** How long it is until it runs; null where nothing is planned. */
function nextText({ id, nextAt, schedule }: Task, { now, rows }: ListFacts): string | null {
  const { list } = texts;
  if (rows?.get(id)?.mayRun === false) return list.mayNotRun;
  if (nextAt === null) return null;
  const coming = distance(nextAt, now);
  return schedule.kind === 'once' ? list.comes(coming) : list.next(coming);
}

/** The sign belongs to what stands behind it. */
function cells(sign: string, ...parts: readonly (string | null)[]): readonly string[] {
  const [first = '', ...others] = parts.filter((part) => part !== null);
  return [`${sign} ${first}`, ...others];
}

function rhythmOf(task: Task, { now, dates, timezone }: ListFacts): string | null {
  const words = scheduleCadence(task, now, dates);
  const zone = zoneOf(task);
  return words === null || zone === timezone ? words : `${words} (${zone})`;
}

function pausedText(task: Task, facts: ListFacts): string {
  const { list } = texts;
  const { resumeAt, pausedReason } = task;
  if (pausedReason === failuresPause) return list.pausedForFailures;
  const by = facts.rows?.get(task.id)?.pausedBy ?? null;
  return list.paused(by, resumeAt === null ? null : at(task, resumeAt, facts));
}

function failingText({ lastRunAt, counters }: Task, { now }: ListFacts): string {
  return texts.list.failing(counters.consecutiveFailures, lastRunAt === null ? null : age(lastRunAt, now));
}

function lastText({ id, lastRunAt, lastRunStatus }: Task, { now, rows }: ListFacts): string {
  const { list } = texts;
  if (lastRunAt === null || lastRunStatus === null) return list.never;
  const ago = age(lastRunAt, now);
  if (lastRunStatus !== 'succeeded') return list.last[lastRunStatus](ago);
  const done = rows?.get(id)?.done ?? 'notAsked';
  return done === 'open' || done === 'notDone' ? list.last[done](ago) : list.last.succeeded(ago);
}

function staleText(task: Task, facts: ListFacts): string | null {
  const since = staleSince(task, facts.now);
  return since === null ? null : texts.list.stale(at(task, since, facts));
}

function snoozeText(task: Task, facts: ListFacts): string | null {
  const [first, ...others] = (facts.snoozes?.get(task.id) ?? []).filter((one) => !one.isHeld && one.at > facts.now);
  return first === undefined ? null : texts.list.snoozed(at(task, first.at, facts), others.length);
}

function at(task: Task, instant: number, { now, timezone, dates }: ListFacts): string {
  const zone = zoneOf(task);
  const named = zone === timezone ? '' : ` (${zone})`;
  return `${aboutMoment(instant, { timezone: zone, now, dates })}${named}`;
}

function pageRow({ filter, text, page }: Listing, pages: number): (Button | null)[] {
  const { button: words } = texts;
  const to = (target: number) => dataOf('list', filter, target, text ?? '');
  return [
    page > 0 ? button(words.previous, to(page - 1)) : null,
    button(words.page(page + 1, pages), to(page)),
    page < pages - 1 ? button(words.following, to(page + 1)) : null,
  ];
}

const filters: readonly (readonly Filter[])[] = [
  ['all', 'active', 'paused'],
  ['failing', 'completed', 'mine'],
];

export function isFilter(word: string): word is Filter {
  return filters.flat().some((filter) => filter === word);
}

function filterRows({ filter, text }: Listing): (Button | null)[][] {
  const { filters: words, chosen } = texts.button;
  return filters.map((row) =>
    row.map((each) => {
      const isChosen = each === filter && text === null;
      return button(isChosen ? chosen(words[each]) : words[each], dataOf('list', each, 0, ''));
    }),
  );
}

/** Buttons for a chat that has no task yet. */
function emptyRow(): (Button | null)[] {
  return [button(texts.button.newTask, dataOf('make'))];
}
