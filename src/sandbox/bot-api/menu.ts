import { people } from '../world/first-world.ts';
import type { BotCommandRow, ChatRow } from '../world/rows.ts';
import type { State } from '../world/state.ts';

/** The language of everybody here, as their apps tell it. */
export const language = 'en';

/** The commands that this person is offered in this group: those of the narrowest scope that has any. */
export function commandsFor({ settings }: State, chat: ChatRow, key: string): readonly BotCommandRow[] {
  const status = chat.members[key];
  const isAdmin = status === 'creator' || status === 'administrator';
  const id = people.find((each) => each.key === key)?.id ?? 0;
  const scopes = [
    `chat_member ${chat.id} ${id}`,
    ...(isAdmin ? [`chat_administrators ${chat.id}`] : []),
    `chat ${chat.id}`,
    ...(isAdmin ? ['all_chat_administrators'] : []),
    'all_group_chats',
    'default',
  ];
  const keys = scopes.flatMap((scope) => [`${scope} ${language}`, `${scope} `]);
  const found = keys.find((each) => (settings.commands[each] ?? []).length > 0);
  return found === undefined ? [] : (settings.commands[found] ?? []);
}
