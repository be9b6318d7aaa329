import { backlogEveryMs, backlogOldMs, backlogResultsMin } from '../../domain/limits.ts';
import { isDeliverable } from '../../domain/thread.ts';
import type { Pacer } from '../pipeline/pacer.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { World } from '../ports/outside.ts';
import type { Chore } from './chore.ts';

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
