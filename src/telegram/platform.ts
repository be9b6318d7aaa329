import type { Clock, Platform } from '../app/ports/outside.ts';
import { userIdOf } from '../domain/access.ts';
import type { AsideApi } from './api.ts';
import { contentOf } from './delivery/calls.ts';
import { draw } from './delivery/draw.ts';
import { memberStatusOf } from './intake/payload.ts';

/** Refusals that say that the person is not there, and was perhaps never. */
const nobody = /user not found|participant_id_invalid|user_id_invalid|member not found/i;

interface PlatformDeps {
  readonly clock: Clock;
  readonly defaultTimezone: string;
}

/** Telegram as the use cases know it: who is in a chat, and a word to one person, beside the outbox. */
export function createPlatform(aside: AsideApi, { clock, defaultTimezone }: PlatformDeps): Platform {
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
    tell: async ({ thread, timezone }, view, edits) => {
      const about = { task: null, now: clock.now(), timezone: timezone ?? defaultTimezone, next: [] };
      const drawn = draw(view, about);
      if (drawn === null) return { is: 'moot', error: 'nothing to show' };
      const message = { chat_id: thread.address, ...contentOf(drawn) };
      if (edits !== null) {
        const edit = { ...message, message_id: edits };
        const answer = await aside.ask((raw, signal) => raw.editMessageText(edit, signal));
        // A change whose answer was lost may be there already, and is none then.
        const isThere = answer.is === 'ok' || /message is not modified/i.test(answer.error);
        return isThere ? { is: 'sent', messageId: edits } : answer;
      }
      const place = thread.topic === null ? {} : { message_thread_id: thread.topic };
      const answer = await aside.ask((raw, signal) => raw.sendMessage({ ...message, ...place }, signal));
      return answer.is === 'ok' ? { is: 'sent', messageId: answer.value.message_id } : answer;
    },
  };
}
