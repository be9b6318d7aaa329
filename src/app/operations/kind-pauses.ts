import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import type { KindPause, Standstill } from '../../domain/processes/process.ts';
import type { Hosts } from '../actions/http/hosts/hosts.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Hints } from '../ports/hints.ts';
import type { World } from '../ports/outside.ts';
import type { KindChanged, KindPauseStore, Processes } from '../ports/processes.ts';
import type { Downtimes } from '../why/downtime.ts';
import { createProcesses } from './processes.ts';

/** Kinds of actions that an operator has paused: their runs wait, in every process, until the kind is resumed. */
export type KindPauses = ReturnType<typeof createKindPauses>;

interface KindPausesDeps extends Pick<World, 'clock' | 'timer' | 'log'> {
  readonly store: KindPauseStore;
  readonly hints: Hints;
  readonly processes: Pick<Processes, 'live' | 'pausedSince' | 'onRenewal'>;
  /** All that this release knows. */
  readonly kinds: readonly string[];
  /** Some kind goes on, whoever has resumed it. */
  readonly onResumed: () => void;
}

interface By {
  readonly actor: Actor;
  readonly traceId?: string | null | undefined;
}

/** Rooms that hear from the process, which are made later. */
interface Hearing {
  readonly jobs: Pick<Jobs, 'freed' | 'due' | 'resumed'>;
  readonly downtimes: Pick<Downtimes, 'signs'>;
  readonly hosts: Pick<Hosts, 'freed'>;
}

type KnownProcess = Omit<Parameters<typeof createProcesses>[0], 'onFree' | 'onDue' | 'signs'> &
  Omit<KindPausesDeps, 'processes' | 'onResumed'>;

/** This process among the others, and the kinds that are paused for all of them. */
export function createStanding(deps: KnownProcess, rooms: () => Hearing) {
  const processes = createProcesses({
    ...deps,
    onFree: (gone) => [rooms().hosts.freed(), rooms().jobs.freed(gone)],
    onDue: (due) => rooms().jobs.due(due),
    signs: () => rooms().downtimes.signs(),
  });
  const kindPauses = createKindPauses({ ...deps, processes, onResumed: () => rooms().jobs.resumed() });
  return { processes, kindPauses, pausedKinds: kindPauses.paused };
}

const hint = 'changed:kinds';
/** A look that failed comes again so soon. */
const againMs = 1000;

function createKindPauses({ store, hints, processes, clock, timer, log, ...deps }: KindPausesDeps) {
  let known: readonly KindPause[] = [];
  let looking: Promise<void> | null = null;
  let isStale = false;

  const look = (): Promise<void> => {
    isStale = true;
    looking ??= lookUntilFresh().finally(() => (looking = null));
    return looking;
  };
  const lookUntilFresh = async () => {
    while (isStale) {
      isStale = false;
      const found = await store.pausedKinds();
      const isAnyResumed = known.some(({ kind }) => !found.some((one) => one.kind === kind));
      known = found;
      if (isAnyResumed) deps.onResumed();
    }
  };
  const heard = () => {
    look().catch((error: unknown) => {
      log.warn('paused_kinds_unread', { error: String(error) });
      timer.after(againMs, heard);
    });
  };
  hints.on(hint, heard);
  // A hint may be lost; each renewal of the lease tells as well.
  processes.onRenewal((renewal) => {
    if (
      renewal !== null &&
      renewal.pausedKinds !==
        known
          .map(({ kind }) => kind)
          .toSorted()
          .join()
    )
      heard();
  });

  const changed = async (made: KindChanged): Promise<KindChanged> => {
    hints.publish(hint);
    // What was written holds, also where this process learns of it a moment later.
    heard();
    await looking?.catch(() => undefined);
    return made;
  };
  const deed = (kind: string, { actor, traceId = null }: By) => ({ kind, by: actor, at: clock.now(), traceId });
  const knownKinds = async () => [
    ...new Set([...deps.kinds, ...(await processes.live()).flatMap(({ kinds }) => kinds)]),
  ];

  return {
    /** Reads what is paused, before anything begins. */
    look,
    /** As this process knows it, which is a moment behind. */
    paused: (): readonly string[] => known.map(({ kind }) => kind),
    /** The longest first. */
    list: () => store.pausedKinds(),
    /** What keeps runs of the kind from beginning, in whichever process; without a kind, runs of all. */
    standstill: async (kind: string | null): Promise<Standstill | null> => {
      const since = await processes.pausedSince();
      if (since !== null) return { is: 'no_worker', since };
      const pause = known.find((one) => one.kind === kind);
      return pause === undefined ? null : { is: 'kind_paused', ...pause };
    },
    /** Whether this release, or a process that lives, does such actions. */
    isKnown: async (kind: string): Promise<boolean> => (await knownKinds()).includes(kind),
    /** One that is paused stays paused since then, and by whom it was. */
    pause: async (kind: string, by: By): Promise<KindChanged> => {
      const all = await knownKinds();
      if (!all.includes(kind)) throw noSuchKind(kind, all);
      return changed(await store.pauseKind(deed(kind, by)));
    },
    resume: async (kind: string, by: By): Promise<KindChanged> => {
      const made = await store.resumeKind(deed(kind, by));
      const all = made.entryId === null ? await knownKinds() : [kind];
      if (!all.includes(kind)) throw noSuchKind(kind, all);
      return changed(made);
    },
  };
}

function noSuchKind(kind: string, kinds: readonly string[]): AppError {
  const known = kinds.toSorted();
  const words = `There is no kind of action "${kind.slice(0, 60)}". Kinds are: ${known.join(', ')}.`;
  return new AppError('not_found', words, { details: { field: 'kind', known } });
}
