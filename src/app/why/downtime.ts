import { downtimeChatsMax, downtimeToldMs, downtimeToldTasksMax, signOfLifeMs } from '../../domain/limits.ts';
import { isDeliverable, threadKeyOf } from '../../domain/thread.ts';
import type { Chore } from '../housekeeping/chore.ts';
import { noticeTo, type NewMessage } from '../ports/chats.ts';
import type { Ids, World } from '../ports/outside.ts';
import type { Cost, DowntimeCounts, DowntimeStore, OpenDowntime } from '../ports/upkeep.ts';

/**
 * The times in which nobody was there, and what they cost. A process leaves a sign of life every half minute. The next
 * start opens a row for the time since the last one, before anything is scheduled, and when every slot of that time has been
 * decided about, the row gets its report: once, together with an event and with a word in each chat that it concerns.
 *
 * A process that dies before it has reported leaves its row open, and the next start makes that row reach to itself.
 */
export type Downtimes = ReturnType<typeof createDowntimes>;

interface DowntimeDeps extends Pick<World, 'clock' | 'ids' | 'log' | 'bell'> {
  readonly store: DowntimeStore;
}

export function createDowntimes(deps: DowntimeDeps) {
  const { store, clock, log } = deps;
  const opening = createOpening(deps);
  return {
    /** At the start, before the scheduler. It does not throw. */
    open: () => opening.open().catch((error: unknown) => log.warn('downtime_not_opened', { error: String(error) })),
    /** At a clean stop, last of all. A store that is away by now knows when it was last reached, which is as good. */
    close: () =>
      store.markAlive(clock.now()).catch((error: unknown) => log.warn('sign_of_life_failed', { error: String(error) })),
    chores: [signOfLife(deps, opening), reporter(deps)],
  };
}

/**
 * A start is not held up by a store that cannot commit. The sign of life of the process before stays until the row could be
 * opened, with the instant and the id of this start: whatever it schedules meanwhile has an id after that.
 */
function createOpening({ store, clock, ids, log }: DowntimeDeps) {
  const id = ids.next();
  let startedAt: number | null = null;
  let isOpen = false;
  return {
    isOpen: () => isOpen,
    open: async (): Promise<void> => {
      startedAt ??= clock.now();
      const opened = await store.openDowntime(id, startedAt);
      isOpen = true;
      if (opened.is === 'clockBack') log.warn('clock_was_set_back', { by_ms: opened.aliveAt - startedAt });
      if (opened.is === 'opened') {
        const { id: downtimeId, from, to } = opened.downtime;
        log.info('downtime_opened', { downtime_id: downtimeId, ms: to - from });
      }
    },
  };
}

function signOfLife({ store }: DowntimeDeps, opening: ReturnType<typeof createOpening>): Chore {
  return {
    name: 'sign_of_life',
    when: { every: signOfLifeMs },
    step: async (now) => {
      if (!opening.isOpen()) await opening.open();
      await store.markAlive(now);
      return { taken: 1, more: false };
    },
  };
}

/** Slots that are decided about come in quickly, and nobody waits for the report longer than for those. */
const lookAgainMs = 1000;

function reporter({ store, ids, log, bell }: DowntimeDeps): Chore {
  /** Only a start opens a row. */
  let isOpen = true;
  return {
    name: 'downtime_report',
    when: { asked: () => isOpen },
    step: async (now) => {
      const open = await store.lastDowntime();
      isOpen = open !== null;
      if (open === null || !(await store.isDecided(open.to))) return { taken: 0, more: false, afterMs: lookAgainMs };
      const chats = chatsOf(await store.costOf(open));
      const counts = countsOf(chats);
      const messages = wordsOf(ids, open, chats);
      await store.reportDowntime({ id: open.id, counts, at: now, messages });
      isOpen = false;
      log.info('downtime', { downtime_id: open.id, ms: open.to - open.from, chats: chats.length, ...counts });
      if (messages.length > 0) bell.ring('deliverer');
      return { taken: 1, more: false };
    },
  };
}

type Tally = { -readonly [K in keyof DowntimeCounts]: number };

const noCounts: DowntimeCounts = { missed: 0, late: 0, asked: 0, skipped: 0 };

/** The cost of a downtime to the tasks of one chat. */
interface Chat extends Tally, Pick<Cost, 'thread' | 'isMute'> {
  /** By number. */
  readonly tasks: Map<number, string>;
}

/** The chats that lost most come first. */
function chatsOf(costs: readonly Cost[]): Chat[] {
  const chats = new Map<string, Chat>();
  for (const { thread, isMute, number, title, became, count } of costs) {
    const key = threadKeyOf(thread);
    const chat = chats.get(key) ?? { thread, isMute, tasks: new Map<number, string>(), ...noCounts };
    chats.set(key, chat);
    chat[became] += count;
    chat.tasks.set(number, title);
  }
  const slotsIn = ({ missed, late, asked, skipped }: Chat) => missed + late + asked + skipped;
  return [...chats.values()].toSorted((a, b) => slotsIn(b) - slotsIn(a));
}

function countsOf(chats: readonly Chat[]): DowntimeCounts {
  const sum = (became: keyof Tally) => chats.reduce((slots, chat) => slots + chat[became], 0);
  return { missed: sum('missed'), late: sum('late'), asked: sum('asked'), skipped: sum('skipped') };
}

/**
 * The word about it in each chat that it concerns, in its base thread. A late result says so itself, and what a policy
 * skipped it might have skipped anyway, so a chat that lost nothing else hears of a long downtime only.
 */
function wordsOf(ids: Ids, { from, to }: OpenDowntime, chats: readonly Chat[]): NewMessage[] {
  const isLong = to - from >= downtimeToldMs;
  return chats
    .filter(({ thread, isMute }) => isDeliverable(thread) && !isMute)
    .slice(0, downtimeChatsMax)
    .filter(({ missed, asked }) => isLong || missed + asked > 0)
    .map(({ thread, missed, late, asked, skipped, tasks }) => {
      const named = [...tasks]
        .toSorted(([a], [b]) => a - b)
        .slice(0, downtimeToldTasksMax)
        .map(([number, title]) => ({ number, title }));
      const moreTasks = tasks.size - named.length;
      const shown = { view: 'downtime', from, to, missed, late, asked, skipped, tasks: named, moreTasks } as const;
      return noticeTo(thread, { id: ids.next(), shown });
    });
}
