import type { ChatTasksQuery } from '../../../app/chat-store.ts';
import type { Task } from '../../../domain/task.ts';
import type { Button, Drawn } from '../../../domain/shown.ts';
import { button, dataOf, shortId, type Verb } from '../buttons/press.ts';
import { moment, zoneOf } from './clock.ts';
import { drawn } from './drawing.ts';
import { blocks, lines, oneLine, say, type Rich } from './rich.ts';
import { taskName } from './card.ts';
import { texts } from './texts.ts';

/** As many as a phone shows without scrolling. */
export const pageSize = 8;

export type Filter = ChatTasksQuery['filter'] | 'mine';

export interface Listing {
  readonly filter: Filter;
  readonly text: string | null;
  /** Counts from 0. */
  readonly page: number;
}

export interface ListFacts {
  readonly tasks: readonly Task[];
  readonly total: number;
  readonly now: number;
  readonly timezone: string;
}

export function listDrawn(listing: Listing, facts: ListFacts): Drawn {
  const { list } = texts;
  if (facts.total === 0) {
    const isBare = listing.filter === 'all' && listing.text === null;
    return drawn(emptyText(listing), isBare ? [] : [filterRow(listing)]);
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
      lines(
        list.zone(facts.timezone),
        pages > 1 && canTurn ? list.page(listing.page + 1, pages) : null,
        pages > 1 && !canTurn ? list.more(facts.tasks.length, facts.total) : null,
      ),
    ),
    [
      ...pairs(facts.tasks.map((task) => taskButton(task, 'task'))),
      pages > 1 ? pageRow(listing, pages) : [],
      filterRow(listing),
    ],
  );
}

function emptyText({ filter, text }: Listing): Rich {
  const { list } = texts;
  if (filter === 'all' && text === null) return list.none();
  return lines(list.heading(text === null ? list.what[filter] : list.matching(text), 0), list.noneOf);
}

function rowState(task: Task, { now, timezone }: ListFacts): string {
  const { list } = texts;
  if (task.state === 'paused') return list.paused;
  if (task.state !== 'active') return list.completed;
  const zone = zoneOf(task);
  const named = zone === timezone ? '' : ` (${zone})`;
  const at = task.nextAt === null ? null : `${moment(task.nextAt, { timezone: zone, now })}${named}`;
  const { consecutiveFailures } = task.counters;
  if (consecutiveFailures > 0) return list.failing(consecutiveFailures, at);
  return at === null ? texts.task.active : list.nextAt(at);
}

function pageRow({ filter, text, page }: Listing, pages: number): (Button | null)[] {
  const { button: words } = texts;
  const to = (target: number) => dataOf('list', filter, target, text ?? '');
  return [
    page > 0 ? button(words.previous, to(page - 1)) : null,
    page < pages - 1 ? button(words.following, to(page + 1)) : null,
  ];
}

const filters: readonly Filter[] = ['all', 'active', 'paused', 'failing', 'mine'];

function filterRow({ filter, text }: Listing): (Button | null)[] {
  const { filters: words } = texts.button;
  return filters.map((each) =>
    each === filter && text === null ? null : button(words[each], dataOf('list', each, 0, '')),
  );
}

function taskButton(task: Task, verb: Verb): Button | null {
  return button(texts.task.plainName(task.number, oneLine(task.title, 30)), dataOf(verb, shortId(task.id)));
}

function pairs(all: readonly (Button | null)[]): (Button | null)[][] {
  const rows: (Button | null)[][] = [];
  for (let index = 0; index < all.length; index += 2) rows.push(all.slice(index, index + 2));
  return rows;
}

/** Asks which task is meant; each button does at once what was asked for. */
export function choiceDrawn(lead: Rich | string, tasks: readonly Task[], verb: Verb): Drawn {
  return drawn(say`${lead}`, pairs(tasks.map((task) => taskButton(task, verb))));
}
