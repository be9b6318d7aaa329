import type { TelegramApi } from '../api.ts';
import type { ConversationRooms, SetUp } from '../conversation.ts';
import type { Me } from './identity.ts';

const unknown = { topicsEnabled: null, canManageTopics: null, canPin: null };

/** Asks the platform how the bot stands in a chat: whether topics are on, and what it may do there. */
export function createSetUp(api: TelegramApi, me: () => Me): ConversationRooms['setUp'] {
  return async ({ chat, isForum }): Promise<SetUp> => {
    if (chat.kind === 'private') {
      const answer = await api.ask((raw, signal) => raw.getMe(signal));
      const topicsEnabled = answer.is === 'ok' ? answer.value.has_topics_enabled === true : null;
      return { ...unknown, isPrivate: true, isForum, topicsEnabled };
    }
    const asked = { chat_id: chat.address, user_id: me().id };
    const answer = await api.ask((raw, signal) => raw.getChatMember(asked, signal));
    if (answer.is !== 'ok') return { ...unknown, isPrivate: false, isForum };
    const member = answer.value;
    const isAdmin = member.status === 'administrator';
    return {
      isPrivate: false,
      isForum,
      topicsEnabled: null,
      canManageTopics: isAdmin && member.can_manage_topics === true,
      canPin: isAdmin && member.can_pin_messages === true,
    };
  };
}
