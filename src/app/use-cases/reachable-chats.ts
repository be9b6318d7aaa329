import type { Shown } from '../../domain/shown.ts';
import type { ChatStore, Chat, NewMessage } from '../ports/chats.ts';
import type { Clock, Log, Bell, Ids } from '../ports/outside.ts';

/**
 * Chats that can be reached no more, and those that can be reached again. Both may be told several times, by the platform
 * and by sends that fail; each has one effect.
 */
export interface Chats {
  /** Its tasks are paused, and the owners are told. */
  gone(chatId: string, cause: string): Promise<void>;
  /** What was held back goes out; its tasks stay paused until a person resumes them, and the chat is told so. */
  back(chatId: string): Promise<void>;
}

interface ChatsNeeds {
  readonly store: Pick<ChatStore, 'chatGone' | 'chatBack' | 'retryBlocked'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly bell: Bell;
  readonly log: Log;
}

export function createChats({ store, clock, ids, bell, log }: ChatsNeeds): Chats {
  const word = (to: Chat, shown: Shown): NewMessage => ({
    id: ids.next(),
    kind: 'notice',
    thread: { provider: 'telegram', address: to.address, topic: null },
    taskId: null,
    shown,
    edits: null,
    expiresAt: null,
  });
  return {
    gone: async (chatId, cause) => {
      const paused = await store.chatGone({
        chatId,
        cause,
        at: clock.now(),
        wordTo: (owner, gone, count) =>
          word(owner, { view: 'chatGone', title: gone.title ?? gone.address, paused: count, cause }),
      });
      if (paused === null) return;
      log.warn('chat_gone', { chat_id: chatId, cause, tasks_paused: paused });
      bell.ring('deliverer');
      bell.ring('scheduler');
    },
    back: async (chatId) => {
      const at = clock.now();
      const paused = await store.chatBack({
        chatId,
        at,
        // Where nobody was let in and nothing was lost, nobody has missed us.
        word: (chat, count) =>
          chat.state !== 'approved' && count === 0 ? null : word(chat, { view: 'chatBack', paused: count }),
      });
      if (paused === null) return;
      const retried = await store.retryBlocked({ chatId, taskId: null, inDoubt: false }, at);
      log.info('chat_back', { chat_id: chatId, tasks_paused: paused, parts_retried: retried });
      bell.ring('deliverer');
    },
  };
}
