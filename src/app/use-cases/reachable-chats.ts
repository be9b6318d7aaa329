import type { Shown } from '../../domain/shown.ts';
import { noticeTo, type Chat, type ChatStore, type NewMessage } from '../ports/chats.ts';
import type { World } from '../ports/outside.ts';

/**
 * Chats that can be reached no more, and those that can be reached again. Both may be told several times, by Telegram
 * and by sends that fail; each has one effect.
 */
export type Chats = ReturnType<typeof createChats>;

type ChatsDeps = Pick<World, 'clock' | 'ids' | 'bell' | 'log'> & {
  readonly store: Pick<ChatStore, 'chatGone' | 'chatBack' | 'retryBlocked'>;
};

export function createChats({ store, clock, ids, bell, log }: ChatsDeps) {
  const word = ({ address }: Chat, shown: Shown): NewMessage =>
    noticeTo({ provider: 'telegram', address, topic: null }, { id: ids.next(), shown });
  return {
    /** Its tasks are paused, and the owners are told. */
    gone: async (chatId: string, cause: string): Promise<void> => {
      const paused = await store.chatGone({
        chatId,
        cause,
        at: clock.now(),
        wordTo: (owner, gone, count) =>
          word(owner, {
            view: 'chatGone',
            title: gone.title ?? gone.address,
            paused: count,
            cause,
            address: gone.address,
          }),
      });
      if (paused === null) return;
      log.warn('chat_gone', { chat_id: chatId, cause, tasks_paused: paused });
      bell.ring('deliverer');
      bell.ring('scheduler');
    },
    /** Results that were held back go out; its tasks stay paused until a person resumes them, and the chat is told so. */
    back: async (chatId: string): Promise<void> => {
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
