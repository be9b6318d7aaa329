import type { Membership, Platform } from '../../app/ports/outside.ts';
import type { TelegramApi } from '../api.ts';
import type { Unanswered } from '../errors.ts';
import { standingOf } from './payload.ts';

/** Refusals that say that the person is not there, and was perhaps never. */
const nobody = /user not found|participant_id_invalid|user_id_invalid|member not found/i;

/** What the platform says about people, when it is asked. */
export function createPlatform(api: TelegramApi): Platform {
  return {
    member: async (address, userId) => {
      const id = userIdOf(userId);
      if (id === null) return { is: 'unreachable' };
      const answer = await api.ask((raw, signal) => raw.getChatMember({ chat_id: address, user_id: id }, signal));
      if (answer.is !== 'ok') return withoutAnswer(answer);
      return { is: 'known', status: standingOf(answer.value) };
    },
  };
}

/** A group may hide its members from the bot; that says nothing about the person. */
function withoutAnswer(answer: Unanswered): Membership {
  if (answer.is === 'refused' && nobody.test(answer.error)) return { is: 'known', status: 'out' };
  return { is: 'unreachable' };
}

export function userIdOf(actor: string): number | null {
  const id = /^telegram:user:(\d+)$/.exec(actor)?.[1];
  return id === undefined ? null : Number(id);
}
