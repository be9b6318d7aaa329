import { settingsOf, type DateStyle } from '../../domain/chat-settings.ts';
import type { ChatFacts, ChatNews } from '../ports/chat-facts.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { TruthStore } from '../ports/why.ts';
import { upcoming } from '../tasks/upcoming.ts';

/** What a digest is made of. */
export interface DigestFacts extends ChatNews {
  /** Until when `coming` looks ahead: the next digest. */
  readonly until: number;
  /** The next run of each task, and how many follow it until then. */
  readonly coming: readonly {
    readonly number: number;
    readonly title: string;
    readonly at: number;
    readonly later: number;
  }[];
  /** Tasks that were too many to be looked at. */
  readonly moreComing: number;
  readonly dates: DateStyle;
}

export interface DigestQuery {
  readonly chatId: string;
  readonly taskId: string;
  readonly since: number;
  readonly now: number;
}

/** Reads what has become of the tasks of a chat, and what is coming. */
export interface DigestSource {
  read(query: DigestQuery): Promise<DigestFacts>;
}

interface Needs {
  readonly store: Pick<ChatFacts, 'chatNews' | 'chatSettings'> &
    Pick<ChatStore, 'chatTasks'> &
    Pick<TruthStore, 'readPlanned'>;
}

/** Nobody reads more lines of one kind. */
const rowsMax = 50;
/** Runs of one task that are counted. */
const slotsMax = 100;
const dayMs = 86_400_000;

/** What a digest tells, read from the store. */
export function createDigestSource({ store }: Needs): DigestSource {
  return {
    read: async (query) => {
      const { chatId, taskId: except, since } = query;
      const until = await nextDigest({ store }, query);
      return {
        ...(await store.chatNews({ chatId, since, except, limit: rowsMax })),
        ...(await comingUntil({ store }, query, until)),
        until,
        dates: settingsOf(await store.chatSettings(chatId)).dates,
      };
    },
  };
}

/** The last digest of all looks a day ahead. */
async function nextDigest({ store }: Needs, { taskId, now }: DigestQuery): Promise<number> {
  const planned = await store.readPlanned(taskId);
  const next = planned === null ? undefined : upcoming(planned, 1)[0];
  return next !== undefined && next > now ? next : now + dayMs;
}

async function comingUntil(
  { store }: Needs,
  { chatId, taskId, now }: DigestQuery,
  until: number,
): Promise<Pick<DigestFacts, 'coming' | 'moreComing'>> {
  // By their next run, so that what is left out comes last.
  const query = { chatId, filter: 'active', ownerId: null, text: null, offset: 0, limit: rowsMax } as const;
  const { tasks, total } = await store.chatTasks(query);
  const coming: DigestFacts['coming'][number][] = [];
  for (const { id, number, title } of tasks) {
    if (id === taskId) continue;
    const planned = await store.readPlanned(id);
    const [at, ...later] = (planned === null ? [] : upcoming(planned, slotsMax)).filter(
      (slot) => slot > now && slot <= until,
    );
    if (at !== undefined) coming.push({ number, title, at, later: later.length });
  }
  return { coming: coming.toSorted((a, b) => a.at - b.at), moreComing: Math.max(0, total - tasks.length) };
}
