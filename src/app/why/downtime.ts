import { downtimePageMax, signOfLifeMs } from '../../domain/limits.ts';
import { threadKeyOf } from '../../domain/thread.ts';
import type { Chore, Done } from '../housekeeping/chore.ts';
import type { Bell, Clock, Ids, Log } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { DowntimeStore, MadeShelf, MadeSince, OpenDowntime, TaskHome } from '../ports/why.ts';
import { emptyTally, reportOf, wordsOf, type ThreadTally } from './downtime-report.ts';

/**
 * The times in which nobody was there, and what they cost. A process leaves a sign of life every half minute. The next
 * start opens a row for the time since the last one, before anything is scheduled, and when every slot of that time has been
 * decided about, the row gets its report: once, together with an event and with a word in each chat that it concerns.
 *
 * A process that dies before it has reported leaves its row open. The next one opens another, for its own time, and reports
 * both: no two of them overlap, so each slot counts for the one in which it lies.
 */
export interface Downtimes {
  /** At the start, before the scheduler. It does not throw. */
  open(): Promise<void>;
  /** At a clean stop, last of all. */
  close(): Promise<void>;
  readonly chores: readonly Chore[];
}

interface Needs {
  readonly store: DowntimeStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly bell: Bell;
}

export function createDowntimes(needs: Needs): Downtimes {
  const { store, clock, log } = needs;
  const door = createOpening(needs);
  return {
    open: () => door.open().catch((error: unknown) => log.warn('downtime_not_opened', { error: String(error) })),
    // A store that is away by now knows when it was last reached, which is as good.
    close: () =>
      store.markAlive(clock.now()).catch((error: unknown) => log.warn('sign_of_life_failed', { error: String(error) })),
    chores: [signOfLife(needs, door), reporter(needs)],
  };
}

interface Opening {
  open(): Promise<void>;
  readonly isOpen: () => boolean;
}

/**
 * A start is not held up by a store that cannot commit. The sign of life of the process before stays until the row could be
 * opened, with the instant and the id of this start: whatever it schedules meanwhile has an id after that.
 */
function createOpening({ store, clock, ids, log }: Needs): Opening {
  const id = ids.next();
  let startedAt: number | null = null;
  let isOpen = false;
  return {
    isOpen: () => isOpen,
    open: async () => {
      startedAt ??= clock.now();
      const opened = await store.openDowntime(id, startedAt);
      isOpen = true;
      if (opened.is === 'clockBack') log.warn('clock_was_set_back', { by_ms: opened.aliveAt - startedAt });
      if (opened.is === 'opened') {
        const { from, to } = opened.downtime;
        log.info('downtime_opened', { downtime_id: id, ms: to - from });
      }
    },
  };
}

function signOfLife({ store }: Needs, door: Opening): Chore {
  return {
    name: 'sign_of_life',
    when: { every: signOfLifeMs },
    step: async (now) => {
      if (!door.isOpen()) await door.open();
      await store.markAlive(now);
      return { taken: 1, more: false };
    },
  };
}

/** Slots that are decided about come in quickly, and nobody waits for the report longer than for those. */
const lookAgainMs = 1000;

/** Reads what was made since the first open row, a page in each step, and writes the reports at the end of it. */
function reporter({ store, ids, log, bell }: Needs): Chore {
  let count: Count | null = null;
  /** Only a start opens a row. */
  let isOpen = true;

  const begin = async (): Promise<Done> => {
    const open = await store.openDowntimes();
    const last = open.at(-1);
    isOpen = last !== undefined;
    if (last === undefined || !(await store.isDecided(last.to))) return { taken: 0, more: false, afterMs: lookAgainMs };
    count = startCount(open);
    return { taken: 0, more: true };
  };

  const readOn = async (current: Count): Promise<Counts> => {
    const page = await store.madeSince(current.shelf, current.after, downtimePageMax);
    await add(current, page);
    current.after = page.at(-1)?.id ?? current.after;
    if (page.length === downtimePageMax) return { taken: page.length, more: true };
    const shelf = nextShelf[current.shelf];
    if (shelf === null) {
      // What is still waiting has no run yet that would tell of it.
      await add(current, await store.waitingSnoozes(current.open.at(-1)?.to ?? 0, downtimePageMax));
      current.isRead = true;
    }
    Object.assign(current, { shelf: shelf ?? current.shelf, after: current.open[0]?.id ?? '' });
    return { taken: page.length, more: true };
  };

  const add = async (current: Count, page: readonly MadeSince[]): Promise<void> => {
    const homes = await store.homesOf(unknownIn(current, page));
    for (const [taskId, home] of homes) current.homes.set(taskId, home);
    for (const made of page) addTo(current, made);
  };

  const report = async ({ open, tallies }: Count, now: number): Promise<Counts> => {
    for (const downtime of open) {
      const { id, from, to } = downtime;
      const tally = tallies.get(id) ?? new Map<string, ThreadTally>();
      const told = reportOf(tally);
      const messages = wordsOf(ids, downtime, tally);
      if (!(await store.reportDowntime({ id, report: told, at: now, messages }))) continue;
      log.info('downtime', { downtime_id: id, ms: to - from, threads: told.threads.length, ...told.counts });
      if (messages.length > 0) bell.ring('deliverer');
    }
    count = null;
    isOpen = false;
    return { taken: open.length, more: false };
  };

  return {
    name: 'downtime_report',
    when: { asked: () => isOpen },
    step: async (now) => {
      if (count === null) return begin();
      return count.isRead ? report(count, now) : readOn(count);
    },
  };
}

/** A count under way. */
interface Count {
  readonly open: readonly OpenDowntime[];
  readonly homes: Map<string, TaskHome>;
  /** By downtime. */
  readonly tallies: Map<string, Map<string, ThreadTally>>;
  shelf: MadeShelf;
  after: string;
  isRead: boolean;
}

const nextShelf: Readonly<Record<MadeShelf, MadeShelf | null>> = {
  occurrences: 'gaps',
  gaps: 'snoozes',
  snoozes: null,
};

/** Ids count up with time, so whatever this process and those before it made of that time has an id after the first row's. */
function startCount(open: readonly OpenDowntime[]): Count {
  const after = open[0]?.id ?? '';
  return { open, homes: new Map(), tallies: new Map(), shelf: 'occurrences', after, isRead: false };
}

/** How many slots of a row lie in a downtime. Those of a gap that reaches into several are counted as evenly spread. */
function slotsWithin({ slotAt, lastAt, count }: MadeSince, { from, to }: OpenDowntime): number {
  if (slotAt >= from && lastAt < to) return count;
  if (slotAt >= to || lastAt < from) return 0;
  const step = (lastAt - slotAt) / Math.max(1, count - 1);
  const before = (instant: number) => Math.min(count, Math.max(0, Math.ceil((instant - slotAt) / step)));
  return before(to) - before(from);
}

/** A slot that came right before the last sign of life may not have been taken up any more. */
const lastMomentsMs = 2 * signOfLifeMs;

/** What a start made of the moments before its downtime belongs to that, too; what was there by then was taken up in time. */
function windowOf({ open }: Count, index: number, made: MadeSince): OpenDowntime | null {
  const downtime = open[index];
  if (downtime === undefined || made.id <= downtime.id) return downtime ?? null;
  const earlier = open[index - 1]?.to ?? Number.NEGATIVE_INFINITY;
  return { ...downtime, from: Math.max(downtime.from - lastMomentsMs, Math.min(earlier, downtime.from)) };
}

function countedIn(count: Count, made: MadeSince): { readonly downtime: OpenDowntime; readonly slots: number }[] {
  return count.open.flatMap((downtime, index) => {
    const window = windowOf(count, index, made);
    const slots = window === null ? 0 : slotsWithin(made, window);
    return slots === 0 ? [] : [{ downtime, slots }];
  });
}

function unknownIn(count: Count, page: readonly MadeSince[]): string[] {
  const ours = page.filter((made) => !count.homes.has(made.taskId) && countedIn(count, made).length > 0);
  return [...new Set(ours.map(({ taskId }) => taskId))];
}

function addTo(count: Count, made: MadeSince): void {
  const home = count.homes.get(made.taskId);
  // A task that is gone has nobody left to tell.
  if (home === undefined) return;
  const threadKey = threadKeyOf(home.thread);
  for (const { downtime, slots } of countedIn(count, made)) {
    const byThread = count.tallies.get(downtime.id) ?? new Map<string, ThreadTally>();
    count.tallies.set(downtime.id, byThread);
    const tally = byThread.get(threadKey) ?? emptyTally(home);
    byThread.set(threadKey, tally);
    tally[made.became] += slots;
    tally.tasks.set(made.taskId, home);
  }
}
