import type { Actor } from '../../domain/access.ts';
import { alarmEveryMs } from '../../domain/limits.ts';
import { createDatabaseLook, type DatabaseLookDeps } from '../operations/readiness.ts';
import type { ChatStore } from '../ports/chats.ts';
import type { Log, Platform } from '../ports/outside.ts';
import type { Chore } from './chore.ts';

interface AlarmDeps extends DatabaseLookDeps {
  readonly store: DatabaseLookDeps['store'] & Pick<ChatStore, 'listOwners'>;
  readonly platform: Pick<Platform, 'tell'>;
  readonly log: Log;
}

/** A trouble that is seen twice in a row is told; a database that restarts is back by then. */
const looksMin = 2;

type Trouble = 'silent' | 'failing';

/** A database that did not answer may name the reason later, and with it what to do. */
function isNews(before: Trouble | null, now: Trouble): boolean {
  return before === null || (before === 'silent' && now === 'failing');
}

/**
 * Owners are told in private when the database cannot be used, and when it can again: once each time, straight over Telegram,
 * because the outbox lies in that database.
 */
export function createAlarm(deps: AlarmDeps): Chore {
  const { store, platform, log } = deps;
  const look = createDatabaseLook(deps);
  const told = new Map<Actor, Trouble>();
  let owners: readonly Actor[] = [];
  let looks = 0;
  let logged: Trouble | null = null;

  const tell = async (state: string) => {
    const trouble = state === 'stuck' ? 'silent' : 'failing';
    const reason = trouble === 'silent' ? 'My database does not answer.' : state;
    if (isNews(logged, trouble)) log.error('database_unusable', { error: reason });
    logged = trouble;
    const words = `I cannot do my work: ${reason} No slot is lost: those that come due meanwhile are decided when I can work again.`;
    for (const owner of owners)
      if (isNews(told.get(owner) ?? null, trouble) && (await platform.tell(owner, words))) told.set(owner, trouble);
  };
  const tellOver = async () => {
    logged = null;
    for (const owner of told.keys()) {
      if (await platform.tell(owner, 'My database can be used again, and I go on.')) told.delete(owner);
    }
  };

  return {
    name: 'alarm',
    when: { every: alarmEveryMs },
    beside: true,
    step: async () => {
      const state = await look();
      looks = state === 'ok' ? 0 : looks + 1;
      if (looks >= looksMin) await tell(state);
      if (state === 'ok') {
        owners = (await store.listOwners()).map(({ id }) => id);
        await tellOver();
      }
      return { taken: looks, more: false };
    },
  };
}
