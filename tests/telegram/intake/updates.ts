import type { NewUpdate } from '../../../src/app/ports/chats.ts';
import { ada, lab } from './doorway.ts';

/** Updates as the platform writes them, for what the sandbox would not do by itself. */

interface Facts {
  readonly id: number;
  readonly text?: string;
  readonly from?: number;
  readonly chat?: number;
  readonly topic?: number;
  readonly more?: Readonly<Record<string, unknown>>;
}

export function messageUpdate({ id, text = '/new', from = ada, chat = lab, topic, more = {} }: Facts) {
  const command = /^\/\w+(@\w+)?/.exec(text)?.[0];
  return {
    update_id: id,
    message: {
      message_id: 5000 + id,
      date: 1_799_000_000,
      chat:
        chat > 0
          ? { id: chat, type: 'private', first_name: 'Somebody' }
          : { id: chat, type: 'supergroup', title: 'The Lab' },
      from: personOf(from),
      text,
      ...(topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }),
      ...(command === undefined ? {} : { entities: [{ type: 'bot_command', offset: 0, length: command.length }] }),
      ...more,
    },
  };
}

export function personOf(id: number) {
  const name = { 1001: 'Ada', 1002: 'Ben', 1003: 'Mallory' }[id] ?? 'Somebody';
  return { id, is_bot: false, first_name: name };
}

/** As it stands in the store. */
export function stored(update: { readonly update_id: number }): NewUpdate {
  return { id: update.update_id, payload: JSON.stringify(update), address: null, messageId: null, lane: null };
}
