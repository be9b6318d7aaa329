import type { Chat, NewMessage } from '../../../src/app/ports/chats.ts';
import type { Thread } from '../../../src/domain/thread.ts';
import { nine } from '../../support/builders.ts';
import type { World } from '../../support/store-worlds.ts';

export const owner = 'telegram:user:7';
export const someone = 'telegram:user:8';

export function aChat({ store, make }: Pick<World, 'store' | 'make'>, address = '-100', at = nine): Promise<Chat> {
  return store.noteChat({ newId: make.id(), address, title: 'Garden', kind: 'group', at });
}

export function threadOf(address: string, topic: number | null = null): Thread {
  return { provider: 'telegram', address, topic };
}

export function aMessage({ make }: Pick<World, 'make'>, facts: Partial<NewMessage> = {}): NewMessage {
  return {
    id: make.id(),
    kind: 'answer',
    thread: threadOf('-100'),
    taskId: null,
    shown: { text: 'Here you are.' },
    edits: null,
    expiresAt: null,
    ...facts,
  };
}

/** What stands in the outbox, oldest first, as far as a test asks for it. */
export async function outbox<R extends object>(world: World, columns: string, where = '1 = 1'): Promise<R[]> {
  return world.query<R>(`select ${columns} from deliveries where ${where} order by id`);
}
