import { userIdOf, type Actor } from '../../domain/access.ts';
import { alarmEveryMs, alarmsOpenMax, stoppedTasksMax } from '../../domain/limits.ts';
import { seldomLookMs } from '../../domain/processes/limits.ts';
import type { AlarmCause, AlarmFacts } from '../../domain/shown.ts';
import { threadKeyOf, type Thread } from '../../domain/thread.ts';
import { noticeTo, type ChatStore, type NewMessage } from '../ports/chats.ts';
import type { Place, World } from '../ports/outside.ts';
import type { Processes } from '../ports/processes.ts';
import type { TaskStore } from '../ports/tasks.ts';
import {
  alarmPlaceOf,
  type Alarm,
  type AlarmPlace,
  type AlarmStore,
  type Ears,
  type Sighting,
  type UpkeepStore,
} from '../ports/upkeep.ts';
import { lastAudit } from './audit.ts';
import type { Chore } from './chore.ts';
import { createDatabaseAlarm, type DatabaseAlarmDeps } from './database-alarm.ts';
import { standingDifferences } from './slot-review.ts';

type EarStore = Pick<ChatStore, 'listOwners' | 'findChat'> & Pick<UpkeepStore, 'readNote'>;

interface KeeperDeps extends Pick<World, 'ids' | 'bell' | 'log'> {
  readonly store: Pick<AlarmStore, 'keepAlarm'>;
}

interface AlarmsDeps extends KeeperDeps, Omit<DatabaseAlarmDeps, 'ears'> {
  readonly processes: Pick<Processes, 'isRenewing'>;
  readonly store: DatabaseAlarmDeps['store'] & AlarmStore & CausesStore & EarStore & Pick<UpkeepStore, 'writeNote'>;
}

type OpenAlarm = Pick<Alarm, 'about' | 'since' | 'facts'>;

/** Trouble as /status and the API tell of it. */
export interface OpenAlarms {
  readonly open: readonly OpenAlarm[];
  /** Owners who want to hear of it and cannot be reached, so that only the log and this tell of it. */
  readonly unheard: readonly Actor[];
}

/**
 * Tells owners of trouble of the product itself, each where they want to hear of it: one message for each trouble, which is
 * changed when there is something new to say of it, and when it is over. It is kept in one commit with its messages, so that
 * no restart tells it again.
 */
export type Alarms = ReturnType<typeof createAlarms>;

export function createAlarms(deps: AlarmsDeps) {
  const { store, clock, log } = deps;
  const ears = () => earsOf(store);
  const database = createDatabaseAlarm({ ...deps, ears });
  const keeper = createKeeper(deps);
  const calm = createCalm(deps);
  let unheardBefore = '';

  const look = async (now: number): Promise<void> => {
    if (await calm.lasts(now)) return;
    calm.end();
    const signs = await calm.signs();
    if (!(await database.look())) return;
    const to = await ears();
    const unheard = unheardOf(to).join(' ');
    if (unheard !== unheardBefore && unheard !== '') log.warn('alarms_unheard', { owners: unheard, todo });
    unheardBefore = unheard;
    const alarms = await store.listAlarms();
    for (const cause of Object.keys(lastingCauses) as LastingCause[]) {
      const open = alarms.filter(({ facts, over }) => facts.cause === cause && over === null);
      const seen = await lastingCauses[cause](store, { now, open });
      await keeper.settle({ open, seen, to, now });
    }
    for (const alarm of alarms) if (alarm.over !== null && !isCurrent(alarm)) await store.keepAlarm(alarm, [], now);
    if (alarms.every((alarm) => alarm.over !== null && isCurrent(alarm))) calm.begin(signs, now);
  };

  return {
    look,
    /** Tells of trouble that is over by the time it is known: once, however often it is said. Chats that know of it are left out. */
    tell: async (seen: Sighting, over: number, known: readonly Thread[] = []): Promise<void> => {
      const isSame = ({ about, facts }: Alarm) => about === seen.about && facts.cause === seen.facts.cause;
      if ((await store.listAlarms()).some(isSame)) return;
      const isNews = (ear: Place | null) => !known.some(({ address }) => address === ear?.thread.address);
      const to = new Map([...(await ears())].filter(([, ear]) => isNews(ear)));
      await keeper.open({ ...seen, over, to, now: clock.now() });
    },
    isDatabaseAway: database.isOpen,
    open: async (): Promise<OpenAlarms> => {
      const kept = (await store.listAlarms()).filter(({ over }) => over === null);
      return { open: [...database.open(), ...kept], unheard: unheardOf(await ears()) };
    },
    placeOf: async (owner: Actor): Promise<AlarmPlace> => alarmPlaceOf(await store.readNote(placeNote(owner))),
    setPlace: (owner: Actor, place: AlarmPlace): Promise<void> =>
      store.writeNote(placeNote(owner), JSON.stringify(place), clock.now()),
    chore: {
      name: 'alarms',
      when: { every: alarmEveryMs },
      beside: true,
      step: async (now) => {
        await look(now);
        return { taken: 1, more: false };
      },
    } satisfies Chore as Chore,
  };
}

/**
 * While no alarm is open, one question tells whether anything has changed from which one could come: an idle process that shares its
 * database asks no more. Its renewals tell that the database can be used.
 */
function createCalm({ store, processes, schedulerAway }: AlarmsDeps) {
  let before: { readonly signs: string; readonly at: number } | null = null;
  // A database that does not answer has its own look.
  const signs = async () => (processes.isRenewing() ? store.alarmSigns().catch(() => null) : null);
  return {
    signs,
    begin: (found: string | null, at: number) => {
      before = found === null ? null : { signs: found, at };
    },
    end: () => {
      before = null;
    },
    lasts: async (now: number): Promise<boolean> => {
      if (before === null || schedulerAway() !== null || now - before.at >= seldomLookMs) return false;
      return (await signs()) === before.signs;
    },
  };
}

const todo = 'They hear of it once they have sent /start to the bot in private.';

function placeNote(owner: Actor): string {
  return `alarms:${owner}`;
}

async function earsOf(store: EarStore): Promise<Ears> {
  const ears = new Map<Actor, Place | null>();
  for (const { id } of await store.listOwners()) {
    const place = alarmPlaceOf(await store.readNote(placeNote(id)));
    if (place === 'off') continue;
    const chosen = place === 'private' ? null : await earAt(store, place);
    ears.set(id, chosen ?? (await earAt(store, { provider: 'telegram', address: String(userIdOf(id)), topic: null })));
  }
  return ears;
}

/** A group that has become a supergroup is found by the address that it had. */
async function earAt(store: EarStore, thread: Thread): Promise<Place | null> {
  const chat = await store.findChat(thread.address);
  if (chat === null || chat.state === 'gone' || chat.state === 'refused') return null;
  return { thread: { ...thread, address: chat.address }, timezone: chat.timezone };
}

function unheardOf(ears: Ears): Actor[] {
  return [...ears].flatMap(([owner, ear]) => (ear === null ? [owner] : []));
}

/* ---- what was told ---- */

function isCurrent({ told, current }: Pick<Alarm, 'told' | 'current'>): boolean {
  return Object.values(told).every((id) => current.includes(id));
}

interface Settling {
  readonly open: readonly Alarm[];
  readonly seen: readonly Sighting[];
  readonly to: Ears;
  readonly now: number;
}

type Opening = Sighting & Pick<Alarm, 'over'> & Pick<Settling, 'to' | 'now'>;

function createKeeper({ store, ids, bell, log }: KeeperDeps) {
  const keep = async (alarm: Alarm, to: Ears, now: number): Promise<void> => {
    const { told, messages } = wordsOf(alarm, to, () => ids.next());
    await store.keepAlarm({ ...alarm, told }, messages, now);
    bell.ring('deliverer');
  };
  const open = async ({ to, now, ...alarm }: Opening): Promise<void> => {
    const { cause } = alarm.facts;
    log.warn('alarm', { cause, about: alarm.about, is_over: alarm.over !== null });
    await keep({ ...alarm, told: {}, current: [] }, to, now);
  };
  /** A cause that is seen is told if it is new, to owners who have not heard of it, and changed where it was told; the rest is over. */
  const settle = async ({ open: before, seen, to, now }: Settling): Promise<void> => {
    const isSeen = new Set(seen.map(({ about }) => about));
    let room = alarmsOpenMax - before.length;
    for (const sighting of seen) {
      const known = before.find(({ about }) => about === sighting.about);
      if (known === undefined) {
        if ((room -= 1) >= 0) await open({ ...sighting, over: null, to, now });
        continue;
      }
      const isSame = JSON.stringify(known.facts) === JSON.stringify(sighting.facts);
      const isHeard = wordsOf(known, to, () => '').messages.length === 0;
      if (!isSame) await keep({ ...known, facts: sighting.facts, current: [] }, to, now);
      else if (!isHeard || !isCurrent(known)) await keep(known, to, now);
    }
    for (const alarm of before.filter(({ about }) => !isSeen.has(about))) {
      log.info('alarm_over', { cause: alarm.facts.cause, about: alarm.about });
      await keep({ ...alarm, over: now, current: [] }, new Map(), now);
    }
  };
  return { open, settle };
}

/** Messages for owners who were not told. Several who want to hear of it in one thread read the same one. */
function wordsOf(alarm: Alarm, to: Ears, nextId: () => string): Pick<Alarm, 'told'> & { messages: NewMessage[] } {
  const { since, over, facts } = alarm;
  const told: Record<string, string> = { ...alarm.told };
  const messages = new Map<string, NewMessage>();
  for (const [owner, ear] of to) {
    if (ear === null || told[owner] !== undefined || isKnownIn(facts, ear.thread)) continue;
    const key = threadKeyOf(ear.thread);
    const shown = { view: 'alarm', since, over, facts } as const;
    // As an answer: where the chat cannot be reached it is no use to try again and again.
    const message = messages.get(key) ?? { ...noticeTo(ear.thread, { id: nextId(), shown }), kind: 'answer' };
    messages.set(key, message);
    told[owner] = message.id;
  }
  return { told, messages: [...messages.values()] };
}

/** The pause of a task is told in its topic, so in its chat nobody needs to hear of it twice. */
function isKnownIn(facts: AlarmFacts, { address }: Thread): boolean {
  return facts.cause === 'auto_pause' && facts.tasks.every((task) => task.address === address);
}

/* ---- what can be wrong ---- */

type CausesStore = Pick<AlarmStore, 'stoppedTasks'> & Pick<UpkeepStore, 'readNote'> & Pick<TaskStore, 'readTask'>;

/** Causes of trouble that is over when it is known. */
type PassingCause = 'clock' | 'downtime';
/** Trouble with the database cannot be kept there, so it goes a way of its own. */
type DatabaseCause = 'database' | 'disk';
type LastingCause = Exclude<AlarmCause, PassingCause | DatabaseCause>;

interface Looking {
  readonly now: number;
  /** Alarms of the cause that are open. */
  readonly open: readonly Alarm[];
}

/** All trouble of a cause that there is now. What is not among it is over. */
type Look = (store: CausesStore, looking: Looking) => Promise<readonly Sighting[]>;

/** Each is told of what stands in the database, so that it knows after a restart what it knew before. */
const lastingCauses: Readonly<Record<LastingCause, Look>> = {
  audit: async (store) => {
    const { at: since, findings } = (await lastAudit(store)) ?? { at: 0, findings: [] };
    return findings
      .filter(({ check }) => check !== 'slots_differ')
      .map(({ check, count }) => ({ about: check, since, facts: { cause: 'audit', check, count } }));
  },
  second_opinion: async (store, { now }) =>
    (await standingDifferences(store, now)).map(
      ({ taskId, number, title, timezone, library, schedule, ours, theirs }) => ({
        about: `${taskId} ${schedule}`,
        since: now,
        facts: { cause: 'second_opinion', taskId, number, title, timezone, library, ours, theirs },
      }),
    ),
  auto_pause: async (store, { now, open }) => {
    const stopped = await store.stoppedTasks(stoppedTasksMax);
    const name = ({ id, pausedAt }: { readonly id: string; readonly pausedAt: number }) => `${id} ${pausedAt}`;
    const still = new Set(stopped.map(name));
    const told = new Set<string>();
    const standing = open.flatMap((alarm): Sighting[] => {
      if (alarm.facts.cause !== 'auto_pause') return [];
      for (const task of alarm.facts.tasks) told.add(name(task));
      // Beyond the limit nobody knows whether they still stand.
      const isOver = stopped.length < stoppedTasksMax && !alarm.facts.tasks.some((task) => still.has(name(task)));
      return isOver ? [] : [alarm];
    });
    const tasks = stopped.filter((task) => !told.has(name(task)));
    const [latest] = tasks;
    if (latest === undefined) return standing;
    return [...standing, { about: name(latest), since: now, facts: { cause: 'auto_pause', tasks } }];
  },
};
