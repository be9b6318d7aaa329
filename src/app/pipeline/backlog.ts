import { backlogEveryMs, backlogOldMs, backlogResultsMin } from '../../domain/limits.ts';
import { isDeliverable } from '../../domain/thread.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { Chore } from '../housekeeping/chore.ts';
import type { Pacer } from './pacer.ts';
import type { Bell, Ids } from '../ports/outside.ts';

interface Needs {
  readonly store: Pick<ChatStore, 'waitingResults' | 'addMessages'>;
  readonly pacer: Pick<Pacer, 'heldChats'>;
  readonly ids: Ids;
  readonly bell: Bell;
}

/**
 * Tells a chat whose results wait for the platform's leave how many there are and since when, once until they are through.
 * Only a chat that must wait just now can have such a backlog, so nobody else's results are looked at.
 */
export function createBacklogWord({ store, pacer, ids, bell }: Needs): Chore {
  const told = new Set<string>();
  let nextAt = 0;
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
    step: async (now) => {
      nextAt = now + backlogEveryMs;
      const chats = new Set([...pacer.heldChats(), ...told]);
      for (const chatId of chats) if (!(await look(chatId, now))) told.delete(chatId);
      return { taken: chats.size, more: false };
    },
    nextAt: async (now) => {
      // Kept, so that a clock that was set back does not put the next look off.
      nextAt = Math.min(nextAt, now + backlogEveryMs);
      // While nobody must wait there is nothing to look at, and the housekeeper asks again soon enough.
      return told.size === 0 && pacer.heldChats().size === 0 ? null : nextAt;
    },
  };
}
