import type { Platform } from '../app/ports/outside.ts';
import { userIdOf } from '../domain/access.ts';
import { messagePartLengthMax } from '../domain/limits.ts';
import type { AsideApi } from './api.ts';
import { memberStatusOf } from './intake/payload.ts';

/** Refusals that say that the person is not there, and was perhaps never. */
const nobody = /user not found|participant_id_invalid|user_id_invalid|member not found/i;

/** Telegram as the use cases know it: who is in a chat, and a word to one person, beside the outbox. */
export function createPlatform(aside: AsideApi): Platform {
  return {
    member: async (address, userId) => {
      const id = userIdOf(userId);
      if (id === null) return { is: 'refused', error: 'no person of this platform' };
      const answer = await aside.ask((raw, signal) => raw.getChatMember({ chat_id: address, user_id: id }, signal));
      if (answer.is === 'ok') {
        // An account that was deleted stays in the lists of members, without a name.
        const isDeleted = answer.value.user.first_name === '';
        return { is: 'known', status: isDeleted ? 'out' : memberStatusOf(answer.value) };
      }
      // A group may hide its members from the bot; that says nothing about the person.
      const isNobody = answer.is === 'refused' && nobody.test(answer.error);
      return isNobody ? { is: 'known', status: 'out' } : answer;
    },
    tell: async (userId, words) => {
      const id = userIdOf(userId);
      const text = words.slice(0, messagePartLengthMax);
      return (
        id !== null && (await aside.ask((raw, signal) => raw.sendMessage({ chat_id: id, text }, signal))).is === 'ok'
      );
    },
  };
}
