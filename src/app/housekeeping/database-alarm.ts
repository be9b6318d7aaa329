import type { AlarmFacts } from '../../domain/shown.ts';
import type { DatabaseLook } from '../operations/readiness.ts';
import { noticeTo, type ChatStore } from '../ports/chats.ts';
import type { Notepad, Place, Platform, World } from '../ports/outside.ts';
import type { Alarm, Ears } from '../ports/upkeep.ts';

export interface DatabaseAlarmDeps extends Pick<World, 'clock' | 'ids' | 'bell' | 'log'> {
  readonly store: Pick<ChatStore, 'addMessages'>;
  readonly databaseLook: DatabaseLook;
  /** Why nothing can be scheduled for want of the database: a small commit may find room where those find none. */
  readonly schedulerAway: () => string | null;
  /** Absent where there is no Telegram. */
  readonly platform: Pick<Platform, 'tell'> | null;
  readonly notepad: Notepad;
  readonly ears: () => Promise<Ears>;
}

/** A trouble that is seen twice in a row is told; a database that restarts is back by then. */
const looksMin = 2;

interface Trouble {
  readonly since: number;
  readonly facts: Extract<AlarmFacts, { readonly error: string }>;
  /** By owner. */
  readonly told: Readonly<Record<string, Told>>;
}

interface Told {
  readonly ear: Place;
  readonly messageId: number;
  /** The error that the message names. */
  readonly error: string;
}

/**
 * Owners are told in private when the database cannot be used, and in the same message when it can again: straight over
 * Telegram, because the outbox lies in that database. What was told stands on a notepad beside it, for the same reason.
 */
export function createDatabaseAlarm(deps: DatabaseAlarmDeps) {
  const { store, databaseLook, schedulerAway, notepad, ids, bell, log, clock } = deps;
  let trouble = read(notepad.read());
  let [looks, since] = [0, 0];
  /** Owners as they were when the database could still tell. */
  let ears: Ears = new Map();

  const keep = (next: Trouble | null) => {
    trouble = next;
    notepad.write(next === null ? '' : JSON.stringify(next));
  };
  const tellTrouble = async (state: string) => {
    const facts = factsOf(state);
    const before = trouble ?? { since, facts, told: {} };
    // A database that is silent may have said before what is wrong with it.
    const isNews = trouble === null || (trouble.facts.error !== facts.error && state !== 'stuck');
    if (isNews) log.error('database_unusable', { error: facts.error });
    const now = isNews ? { ...before, facts } : before;
    keep({ ...now, told: await tellEach(deps, now, ears) });
  };
  /** By the outbox, which can be used again. */
  const tellOver = async ({ since: from, facts, told }: Trouble) => {
    const over = clock.now();
    const shown = { view: 'alarm', since: from, over, facts } as const;
    const edits = ({ ear, messageId }: Told) => ({
      ...noticeTo(ear.thread, { id: ids.next(), shown }),
      kind: 'answer' as const,
      edits: messageId,
    });
    await store.addMessages(Object.values(told).map(edits), over);
    bell.ring('deliverer');
    keep(null);
  };

  return {
    /** Whether it can be used, as far as can be seen. */
    look: async (): Promise<boolean> => {
      const state = schedulerAway() ?? (await databaseLook());
      if (state === 'ok') {
        looks = 0;
        ears = await deps.ears();
        if (trouble !== null) await tellOver(trouble);
        return true;
      }
      looks += 1;
      if (looks === 1) since = clock.now();
      if (ears.size === 0) ears = await deps.ears().catch(() => ears);
      if (looks >= looksMin || trouble !== null) await tellTrouble(state);
      return false;
    },
    /** Nothing could be written, now or at the end of the process before. */
    isOpen: () => trouble !== null,
    open: (): readonly Pick<Alarm, 'about' | 'since' | 'facts'>[] =>
      looks === 0 || trouble === null ? [] : [{ about: '', ...trouble }],
  };
}

/** Tells whoever was not told yet, and changes what names another error. */
async function tellEach({ platform }: DatabaseAlarmDeps, trouble: Trouble, ears: Ears): Promise<Trouble['told']> {
  const { since, facts, told } = trouble;
  const view = { view: 'alarm', since, over: null, facts } as const;
  const after: Record<string, Told> = { ...told };
  const heard = Object.entries(told).map(([owner, { ear }]) => [owner, ear] as const);
  for (const [owner, ear] of new Map<string, Place | null>([...ears, ...heard])) {
    const before = told[owner];
    if (platform === null || ear === null || before?.error === facts.error) continue;
    const sent = await platform.tell(ear, view, before?.messageId ?? null);
    if (sent.is === 'sent') after[owner] = { ear, messageId: sent.messageId, error: facts.error };
  }
  return after;
}

function factsOf(state: string): Trouble['facts'] {
  if (state === 'stuck') return { cause: 'database', error: 'It does not answer.' };
  return { cause: isFull.test(state) ? 'disk' : 'database', error: state };
}

const isFull = /disk is full|ENOSPC/i;

/** A note that another version wrote, and this one cannot read, is as good as none. */
function read(text: string | null): Trouble | null {
  try {
    const trouble = JSON.parse(text ?? '') as Trouble;
    return typeof trouble.since === 'number' && typeof trouble.told === 'object' ? trouble : null;
  } catch {
    return null;
  }
}
