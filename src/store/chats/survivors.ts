import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { list } from '../engine/sql.ts';
import { all, one, select } from '../engine/statements.ts';

/** Aliases of this provider name rows that are gone: what was under way for them finds the chat that took them in. */
export const merged = 'merged';

/** Null where the chat has become one with no other. */
export function* survivorOf(chatId: string): Script<string | null> {
  const found = yield* one(
    select(pick(columns.chatAliases, 'chatId'))`from chat_aliases where provider = ${merged} and address = ${chatId}`,
  );
  return found?.chatId ?? null;
}

/** The same thing in the chat where its rows are by now. */
export function* inItsChat<T extends { readonly chatId: string }>(thing: T): Script<T> {
  const survivor = yield* survivorOf(thing.chatId);
  return survivor === null ? thing : { ...thing, chatId: survivor };
}

/** The chats that took in some of these, by their ids. */
export function* survivorsOf(chatIds: readonly string[]): Script<ReadonlyMap<string, string>> {
  const ids = [...new Set(chatIds)];
  if (ids.length === 0) return new Map();
  const found = yield* all(
    select(
      pick(columns.chatAliases, 'address', 'chatId'),
    )`from chat_aliases where provider = ${merged} and address in ${list(ids)}`,
  );
  return new Map(found.map(({ address, chatId }) => [address, chatId]));
}
