import {
  downtimeNamedTasksMax,
  downtimeThreadsMax,
  downtimeToldMs,
  downtimeToldTasksMax,
} from '../../domain/limits.ts';
import { isDeliverable, threadKeyOf, type Thread } from '../../domain/thread.ts';
import type { NewMessage } from '../ports/chats.ts';
import type { Ids } from '../ports/outside.ts';
import type { DowntimeCounts, DowntimeReport, DowntimeThread, OpenDowntime, TaskHome } from '../ports/why.ts';

type Tally = { -readonly [K in keyof DowntimeCounts]: number };

/** What a downtime cost the tasks that are at home in one thread. */
export interface ThreadTally extends Tally {
  readonly thread: Thread;
  readonly isMute: boolean;
  readonly tasks: Map<string, TaskHome>;
}

type ByThread = ReadonlyMap<string, ThreadTally>;

export function emptyTally({ thread, isMute }: TaskHome): ThreadTally {
  return { thread, isMute, missed: 0, late: 0, asked: 0, skipped: 0, tasks: new Map() };
}

/** The threads that lost most come first; the others are counted. */
export function reportOf(tallies: ByThread): DowntimeReport {
  const counts: Tally = { missed: 0, late: 0, asked: 0, skipped: 0 };
  for (const tally of tallies.values()) add(counts, tally);
  const threads = [...tallies]
    .map(([threadKey, tally]) => threadOf(threadKey, tally))
    .toSorted((a, b) => slotsIn(b) - slotsIn(a));
  return {
    counts,
    threads: threads.slice(0, downtimeThreadsMax),
    moreThreads: Math.max(0, threads.length - downtimeThreadsMax),
  };
}

function add(sum: Tally, more: DowntimeCounts): void {
  for (const became of ['missed', 'late', 'asked', 'skipped'] as const) sum[became] += more[became];
}

function slotsIn({ missed, late, asked, skipped }: DowntimeCounts): number {
  return missed + late + asked + skipped;
}

function threadOf(threadKey: string, { tasks, missed, late, asked, skipped }: ThreadTally): DowntimeThread {
  const taskIds = [...tasks.keys()].slice(0, downtimeNamedTasksMax);
  return { threadKey, missed, late, asked, skipped, taskIds, moreTasks: tasks.size - taskIds.length };
}

/**
 * The word about it in each chat that it concerns, in its base thread. A late result says so itself, and what a policy
 * skipped it might have skipped anyway, so a chat that lost nothing else hears of a long downtime only.
 */
export function wordsOf(ids: Ids, downtime: OpenDowntime, tallies: ByThread): NewMessage[] {
  const isLong = downtime.to - downtime.from >= downtimeToldMs;
  return chatsIn(tallies)
    .filter(({ missed, asked }) => isLong || missed + asked > 0)
    .map((chat) => wordOf(ids, downtime, chat));
}

/** Those that hear of it, most lost first; as many as a report keeps. */
function chatsIn(tallies: ByThread): ThreadTally[] {
  const chats = new Map<string, ThreadTally>();
  for (const tally of tallies.values()) {
    if (!isDeliverable(tally.thread) || tally.isMute) continue;
    const thread = { ...tally.thread, topic: null };
    const key = threadKeyOf(thread);
    const chat = chats.get(key) ?? { ...tally, thread, missed: 0, late: 0, asked: 0, skipped: 0, tasks: new Map() };
    chats.set(key, chat);
    add(chat, tally);
    for (const [taskId, home] of tally.tasks) chat.tasks.set(taskId, home);
  }
  return [...chats.values()].toSorted((a, b) => slotsIn(b) - slotsIn(a)).slice(0, downtimeThreadsMax);
}

function wordOf(ids: Ids, { from, to }: OpenDowntime, chat: ThreadTally): NewMessage {
  const { thread, missed, late, asked, skipped, tasks } = chat;
  const named = [...tasks.values()]
    .toSorted((a, b) => a.number - b.number)
    .slice(0, downtimeToldTasksMax)
    .map(({ number, title }) => ({ number, title }));
  const moreTasks = tasks.size - named.length;
  return {
    id: ids.next(),
    kind: 'notice',
    thread,
    taskId: null,
    shown: { view: 'downtime', from, to, missed, late, asked, skipped, tasks: named, moreTasks },
    edits: null,
    expiresAt: null,
  };
}
