import type { ChatTasksQuery, OpenSnooze } from '../../../app/ports/chats.ts';
import type { Button, Drawn } from '../../../domain/shown.ts';
import { staleSince, type Task } from '../../../domain/task.ts';
import { pageSize, taskButton } from '../kit/answers.ts';
import { taskName } from '../kit/card.ts';
import { aboutMoment, distance, scheduleShort, type Setting, zoneOf } from '../kit/clock.ts';
import { button, dataOf, shortId, inRows } from '../kit/press.ts';
import { blocks, lines, type Rich, drawn } from '../kit/rich.ts';
import { texts } from '../texts.ts';

export type Filter = ChatTasksQuery['filter'] | 'mine';

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
}

export function listDrawn(listing: Listing, facts: ListFacts): Drawn {
  const { list } = texts;
  if (facts.total === 0) {
    const isBare = listing.filter === 'all' && listing.text === null;
    return drawn(emptyText(listing), isBare ? [emptyRow()] : filterRows(listing));
  }
  const pages = Math.ceil(facts.total / pageSize);
  const canTurn = dataOf('list', listing.filter, pages, listing.text ?? '') !== null;
  const heading = list.heading(
    listing.text === null ? list.what[listing.filter] : list.matching(listing.text),
    facts.total,
  );
  return drawn(
    blocks(
      heading,
      lines(...facts.tasks.map((task) => list.row(taskName(task), rowState(task, facts)))),
      lines(list.zone(facts.timezone), pages > 1 && !canTurn ? list.more(facts.tasks.length, facts.total) : null),
    ),
    [
      ...inRows(
        facts.tasks.map((task) => taskButton(task, dataOf('task', shortId(task.id)))),
        2,
      ),
      pages > 1 && canTurn ? pageRow(listing, pages) : [],
      ...filterRows(listing),
    ],
  );
}

function emptyText({ filter, text }: Listing): Rich {
  const { list } = texts;
  if (filter === 'all' && text === null) return list.none();
  return lines(list.heading(text === null ? list.what[filter] : list.matching(text), 0), list.noneOf);
}

/** The word for how it stands, and when it comes next or what it does. */
function rowState(task: Task, facts: ListFacts): string {
  const { list } = texts;
  const words = scheduleShort(task, facts.now, facts.dates);
  if (task.state === 'paused') return lined(list.paused, words, staleText(task, facts));
  if (task.state !== 'active') return list.completed;
  const { consecutiveFailures } = task.counters;
  const state = consecutiveFailures > 0 ? list.failing(consecutiveFailures) : list.active;
  return lined(state, staleText(task, facts), nextText(task, facts) ?? words, snoozeText(task, facts));
}

function lined(...parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null).join(', ');
}

function staleText(task: Task, facts: ListFacts): string | null {
  const since = staleSince(task, facts.now);
  return since === null ? null : texts.list.stale(at(task, since, facts));
}

function nextText(task: Task, facts: ListFacts): string | null {
  if (task.nextAt === null) return null;
  return texts.list.nextAt(distance(task.nextAt, facts.now), at(task, task.nextAt, facts));
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
