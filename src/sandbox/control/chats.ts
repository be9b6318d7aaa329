import { SandboxRefusal, type ChatShown, type World } from '../world/world.ts';

/**
 * The short key of a chat: of a private one, the person's (`ada`); of a group, its title in small letters without "The",
 * joined by `_` (`lab`, `no_rights`, `plain`). A group that was migrated leaves its key to its successor.
 */
export function keyOf(chat: ChatShown): string {
  if (chat.person !== null) return chat.person;
  const words = chat.title
    .toLowerCase()
    .replace(/^the\s+/, '')
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  return chat.migratedTo === null ? words : `${words}_old`;
}

/** A chat by its id or its short key. */
export function chatOf(world: World, name: number | string): ChatShown {
  const chats = world.chats();
  const id = typeof name === 'string' && /^-?\d{1,16}$/.test(name) ? Number(name) : name;
  const found = chats.find((chat) => chat.id === id || keyOf(chat) === String(name).toLowerCase());
  if (found !== undefined) return found;
  const shown = String(name).slice(0, 40);
  throw new SandboxRefusal('no_chat', `There is no chat "${shown}". The chats are: ${chats.map(keyOf).join(', ')}.`);
}
