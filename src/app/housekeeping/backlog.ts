import { backlogEveryMs, backlogOldMs, backlogResultsMin } from '../../domain/limits.ts';
import { HOUR_MS } from '../../domain/schedule/time/calendar.ts';
import { isDeliverable } from '../../domain/thread.ts';
import type { Pacer } from '../pacing/pacer.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { World } from '../ports/outside.ts';
import type { GrantStore } from '../ports/tasks.ts';
import type { Chore } from './chore.ts';

/** It looks at each start as well, so that an end that came near while the server was away is told all the same. */
export function grantsEndingChore({
  store,
  bell,
}: Pick<World, 'bell'> & { readonly store: Pick<GrantStore, 'tellGrantsEnding'> }): Chore {
  return {
    name: 'grants',
    when: { every: HOUR_MS },
    step: async (now, limit) => {
      const told = await store.tellGrantsEnding({ now, limit });
      if (told.taken > 0) bell.ring('deliverer');
      return told;
    },
  };
}

interface BacklogDeps extends Pick<World, 'ids' | 'bell'> {
  readonly store: Pick<ChatStore, 'waitingResults' | 'addMessages'>;
  readonly pacer: Pick<Pacer, 'heldChats'>;
}

/**
 * Tells a chat whose results wait for their turn with Telegram how many there are and since when, once until they are through.
 * Only a chat that must wait just now can have such a backlog, so nobody else's results are looked at.
 */
export function createBacklogWord({ store, pacer, ids, bell }: BacklogDeps): Chore {
  const told = new Set<string>();
  const look = async (chatId: string, now: number): Promise<boolean> => {
    const waiting = await store.waitingResults(chatId, now - backlogOldMs);
    if (waiting === null || waiting.count < backlogResultsMin) return false;
    if (told.has(chatId) || !isDeliverable(waiting.thread)) return true;
    const { count, oldestAt, thread } = waiting;
    const shown = { view: 'backlog', waiting: count, oldestAt } as const;
    const expiresAt = now + backlogEveryMs * 2;
    const message = { id: ids.next(), kind: 'answer', thread, taskId: null, shown, edits: null, expiresAt } as const;
    await store.addMessages([message], now);
    bell.ring('deliverer');
    told.add(chatId);
    return true;
  };
  return {
    name: 'backlog',
    when: { asked: () => told.size > 0 || pacer.heldChats().size > 0 },
    step: async (now) => {
      const chats = new Set([...pacer.heldChats(), ...told]);
      for (const chatId of chats) if (!(await look(chatId, now))) told.delete(chatId);
      return { taken: chats.size, more: false, afterMs: backlogEveryMs };
    },
  };
}
