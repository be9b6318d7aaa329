import {
  downtimeChatsMax,
  downtimeToldMs,
  downtimeToldTasksMax,
  signOfLifeMs,
  signOfLifeRetryMs,
} from '../../domain/limits.ts';
import type { DowntimeCause } from '../../domain/shown.ts';
import { isDeliverable, threadKeyOf } from '../../domain/thread.ts';
import type { Alarms } from '../housekeeping/alarms.ts';
import type { Chore } from '../housekeeping/chore.ts';
import { noticeTo, type NewMessage } from '../ports/chats.ts';
import type { Ids, World } from '../ports/outside.ts';
import type { Processes } from '../ports/processes.ts';
import type { Cost, DowntimeCounts, DowntimeStore, OpenDowntime, Opened } from '../ports/upkeep.ts';

/**
 * The times in which the server was down, or nothing could be written, and what they cost. A process leaves a sign of life every
 * half minute. The next start, or the first sign that can be written again, opens a row for the time since the last one, and
 * when every slot of that time has been decided about, the row gets its report: once, together with an event and with a word
 * in each chat that it concerns, and to the owners.
 *
 * A process that dies before it has reported leaves its row open, and the next start makes that row reach to itself.
 */
export type Downtimes = ReturnType<typeof createDowntimes>;

interface DowntimeDeps extends Pick<World, 'clock' | 'ids' | 'log' | 'bell'> {
  readonly store: DowntimeStore;
  readonly alarms: Pick<Alarms, 'tell' | 'isDatabaseAway'>;
  readonly processes: Pick<Processes, 'isKeeper' | 'isRenewing'>;
  /** Why nothing can be scheduled for want of the database; null while it can. */
  readonly schedulerAway: () => string | null;
}

export function createDowntimes(deps: DowntimeDeps) {
  const { store, clock, log } = deps;
  const opening = createOpening(deps);
  /** Whether a row may be open: each was opened here. */
  const report = { isOpen: true };
  const sign = createSign(deps, opening);
  return {
    /** Whether the server is at work as far as can be seen, so that a sign of life may be left. */
    signs: sign.isWell,
    /** At the start, before the scheduler. It does not throw. */
    open: () => opening.begin().catch((error: unknown) => log.warn('downtime_not_opened', { error: String(error) })),
    /** At a clean stop, last of all. A store that is away by now knows when it was last reached, which is as good. */
    close: () =>
      store.markAlive(clock.now()).catch((error: unknown) => log.warn('sign_of_life_failed', { error: String(error) })),
    chores: [signOfLife(deps, { opening, report, sign }), reporter(deps, report)],
  };
}

interface Report {
  isOpen: boolean;
}

/**
 * A start is not held up by a store that cannot commit. The sign of life of the process before stays until the row could be
 * opened, with the instant and the id of this start: whatever it schedules meanwhile has an id after that.
 */
function createOpening({ store, clock, ids, log, alarms, processes }: DowntimeDeps) {
  const id = ids.next();
  let startedAt: number | null = null;
  let cause: DowntimeCause | null = null;
  let isOpen = false;
  const open = async (): Promise<void> => {
    startedAt ??= clock.now();
    // A process that ended while nothing could be written has noted that beside the database.
    cause ??= alarms.isDatabaseAway() ? 'database' : null;
    const opened = await store.openDowntime(id, startedAt, cause);
    isOpen = true;
    if (opened.is === 'clockBack') log.warn('clock_was_set', { step_ms: startedAt - opened.aliveAt });
    tellOpened(log, opened);
  };
  return {
    isOpen: () => isOpen,
    open,
    /** A downtime begins unless others were at work all the time. */
    begin: async (): Promise<void> => {
      if (processes.isKeeper()) await open();
      else isOpen = true;
    },
  };
}

function tellOpened(log: DowntimeDeps['log'], opened: Opened): void {
  if (opened.is !== 'opened') return;
  const { id, from, to, cause } = opened.downtime;
  log.info('downtime_opened', { downtime_id: id, ms: to - from, cause });
}

interface SignDeps {
  readonly opening: ReturnType<typeof createOpening>;
  readonly report: Report;
  readonly sign: ReturnType<typeof createSign>;
}

/** The first sign that could not be written: whatever is decided after that has an id after it. */
function createSign({ ids, schedulerAway }: DowntimeDeps, opening: SignDeps['opening']) {
  let failed: string | null = null;
  return {
    failed: () => failed,
    fail: () => {
      failed ??= ids.next();
    },
    succeed: () => {
      failed = null;
    },
    isWell: () => opening.isOpen() && failed === null && schedulerAway() === null,
  };
}

function signOfLife(deps: DowntimeDeps, { opening, report, sign }: SignDeps): Chore {
  const { store, log, schedulerAway, processes } = deps;
  return {
    name: 'sign_of_life',
    when: { every: signOfLifeMs },
    retryMs: signOfLifeRetryMs,
    step: async (now) => {
      try {
        if (!opening.isOpen()) await opening.open();
        // Small commits may still find room where those of the scheduler find none.
        if (schedulerAway() !== null) {
          sign.fail();
          return { taken: 0, more: false, afterMs: signOfLifeRetryMs };
        }
        const failed = sign.failed();
        if (failed !== null) {
          tellOpened(log, await store.openDowntime(failed, now, 'database'));
          report.isOpen = true;
          // The renewals of the process leave it, where they get through.
        } else if (!processes.isRenewing()) await store.markAlive(now);
        sign.succeed();
        return { taken: 1, more: false };
      } catch (error) {
        sign.fail();
        throw error;
      }
    },
  };
}

/** Slots that are decided about come in quickly, and nobody waits for the report longer than for those. */
const lookAgainMs = 1000;

function reporter({ store, ids, log, bell, alarms }: DowntimeDeps, report: Report): Chore {
  return {
    name: 'downtime_report',
    when: { asked: () => report.isOpen },
    step: async (now) => {
      const open = await store.lastDowntime();
      report.isOpen = open !== null;
      if (open === null || !(await store.isDecided(open.to))) return { taken: 0, more: false, afterMs: lookAgainMs };
      const chats = chatsOf(await store.costOf(open));
      const counts = countsOf(chats);
      const messages = wordsOf(ids, open, chats);
      if (isNews(open, counts)) {
        const { id: about, from: since, to, cause: why } = open;
        const facts = { cause: 'downtime', why, to, ...counts } as const;
        await alarms.tell(
          { about, since, facts },
          to,
          messages.map(({ thread }) => thread),
        );
      }
      await store.reportDowntime({ id: open.id, counts, at: now, messages });
      report.isOpen = false;
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
function wordsOf(ids: Ids, open: OpenDowntime, chats: readonly Chat[]): NewMessage[] {
  const { from, to, cause } = open;
  return chats
    .filter(({ thread, isMute }) => isDeliverable(thread) && !isMute)
    .slice(0, downtimeChatsMax)
    .filter((chat) => isNews(open, chat))
    .map(({ thread, missed, late, asked, skipped, tasks }) => {
      const named = [...tasks]
        .toSorted(([a], [b]) => a - b)
        .slice(0, downtimeToldTasksMax)
        .map(([number, title]) => ({ number, title }));
      const moreTasks = tasks.size - named.length;
      const counts = { missed, late, asked, skipped };
      const why = cause === null ? {} : { cause };
      const shown = { view: 'downtime', from, to, ...why, ...counts, tasks: named, moreTasks } as const;
      return noticeTo(thread, { id: ids.next(), shown });
    });
}

function isNews({ from, to }: OpenDowntime, { missed, asked }: Pick<DowntimeCounts, 'missed' | 'asked'>): boolean {
  return to - from >= downtimeToldMs || missed + asked > 0;
}
