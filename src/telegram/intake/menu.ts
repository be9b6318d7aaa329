import type { World } from '../../app/ports/outside.ts';
import { userIdOf } from '../../domain/access.ts';
import { errorText } from '../../domain/errors.ts';
import type { AsideApi } from '../api.ts';
import type { Command } from '../chat/context.ts';
import { isTokenRefused } from '../errors.ts';
import { retrying, type Pauses } from './backoff.ts';
import type { InStore } from './deps.ts';

interface MenuDeps extends Pick<World, 'clock' | 'digest' | 'log'> {
  readonly aside: AsideApi;
  readonly store: Pick<InStore, 'readNote' | 'writeNote' | 'listOwners'>;
  readonly pauses: Pauses;
  readonly commands: readonly Command[];
}

type Scope =
  | { readonly type: 'default' | 'all_private_chats' | 'all_group_chats' | 'all_chat_administrators' }
  | { readonly type: 'chat'; readonly chat_id: number };

/** A menu can wait, so a failure is tried again in peace. */
const retryMs = 600_000;

/** The menus that Telegram shows, one for each circle of people. They are a convenience: nothing waits for them. */
export function createMenu(deps: MenuDeps) {
  const { log, pauses } = deps;
  let isWanted = false;
  let running: Promise<void> | null = null;

  const run = async () => {
    while (isWanted && !pauses.ended()) {
      isWanted = false;
      await retrying(
        pauses,
        () => setMenus(deps),
        (error) => {
          log.warn('menu_not_set', { error: errorText(error) });
          return retryMs;
        },
      );
    }
    running = null;
  };

  return {
    /** Looks at them now, because the owners have changed or the server was started. */
    refresh: () => {
      isWanted = true;
      running ??= run();
    },
    /** Resolves when nothing is under way. */
    done: async () => {
      await running;
    },
  };
}

async function setMenus(deps: MenuDeps): Promise<void> {
  const owners = (await deps.store.listOwners()).flatMap(({ id }) => userIdOf(id) ?? []);
  const failed: string[] = [];
  for (const [scope, circle] of menus(owners)) {
    const error = await setMenu(deps, scope, circle);
    if (error !== null) failed.push(error);
  }
  if (failed.length > 0) throw new Error([...new Set(failed)].join('; '));
}

type Circle = readonly Command['menu'][];

/** In a private chat everybody manages everything that is there. */
function menus(owners: readonly number[]): readonly (readonly [Scope, Circle])[] {
  return [
    [{ type: 'default' }, ['everybody']],
    [{ type: 'all_private_chats' }, ['everybody', 'admins']],
    [{ type: 'all_group_chats' }, ['everybody']],
    [{ type: 'all_chat_administrators' }, ['everybody', 'admins']],
    ...owners.map((chat_id) => [{ type: 'chat', chat_id }, ['everybody', 'admins', 'owners']] as const),
  ];
}

/** Telegram is asked only when something is new: it limits how often that may be. Answers what went wrong. */
async function setMenu(deps: MenuDeps, scope: Scope, circle: Circle): Promise<string | null> {
  const { aside, store, clock, digest } = deps;
  const commands = deps.commands
    .filter(({ menu }) => circle.includes(menu))
    .map(({ name: command, description, isReading }) => ({
      command,
      description: description(),
      // Telegram then keeps the word of the person from the others as well.
      ...(isReading === true ? { is_ephemeral: true } : {}),
    }));
  const key = `telegram:menu:${scope.type === 'chat' ? scope.chat_id : scope.type}`;
  const hash = digest.of(JSON.stringify(commands));
  if ((await store.readNote(key)) === hash) return null;
  const answer = await aside.ask((raw, signal) => raw.setMyCommands({ commands, scope }, signal));
  // An owner who has never written to the bot has no chat with it yet, and gets the menu of everybody until the next start.
  if (answer.is === 'refused' && scope.type === 'chat' && !isTokenRefused(answer)) return null;
  if (answer.is !== 'ok') return answer.error;
  await store.writeNote(key, hash, clock.now());
  return null;
}
