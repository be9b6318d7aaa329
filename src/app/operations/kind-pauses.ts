import type { Actor } from '../../domain/access.ts';
import { AppError } from '../../domain/errors.ts';
import type { KindPause, Standstill } from '../../domain/processes/process.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Hints } from '../ports/hints.ts';
import type { World } from '../ports/outside.ts';
import type { KindChanged, KindPauseStore, Processes } from '../ports/processes.ts';
import type { Downtimes } from '../why/downtime.ts';
import { aloneProcess, createProcesses, type ProcessFacts } from './processes.ts';

/** Kinds of actions that an operator has paused: their runs wait, in every process, until the kind is resumed. */
export type KindPauses = ReturnType<typeof createKindPauses>;

interface KindPausesDeps extends Pick<World, 'clock' | 'timer' | 'log'> {
  readonly store: KindPauseStore;
  readonly hints: Hints;
  readonly processes: Pick<Processes, 'live' | 'pausedSince' | 'onRenewal'>;
  /** Kinds of actions that this release knows. */
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
  readonly hosts: { freed(): void };
}

type KnownProcess = Omit<Parameters<typeof createProcesses>[0], 'id' | 'facts' | 'onFree' | 'onDue' | 'signs'> &
  Omit<KindPausesDeps, 'processes' | 'onResumed'> & { readonly bootId: string; readonly process?: ProcessFacts };

/** This process among the others, and the kinds that are paused for all of them. */
export function createStanding(deps: KnownProcess, rooms: () => Hearing) {
  const { bootId: id, process: facts = aloneProcess } = deps;
  const processes = createProcesses({
    ...deps,
    id,
    facts,
    onFree: (gone) => [rooms().hosts.freed(), rooms().jobs.freed(gone)],
    onDue: (due) => rooms().jobs.due(due),
    signs: () => rooms().downtimes.signs(),
  });
  const kindPauses = createKindPauses({ ...deps, processes, onResumed: () => rooms().jobs.resumed() });
  return { processes, kindPauses, pausedKinds: kindPauses.paused, takes: facts.takes };
}

const hint = 'changed:kinds';
/** A look that failed comes again so soon. */
const againMs = 1000;

/** Paused kinds, as this process knows them. */
function createKnown({ store, hints, processes, timer, log, onResumed }: KindPausesDeps) {
  let known: readonly KindPause[] = [];
  let looking: Promise<void> | null = null;
  let isStale = false;

  const lookUntilFresh = async () => {
    try {
      while (isStale) {
        isStale = false;
        const found = await store.pausedKinds();
        const isAnyResumed = known.some(({ kind }) => !found.some((one) => one.kind === kind));
        known = found;
        if (isAnyResumed) onResumed();
      }
    } finally {
      looking = null;
    }
  };
  const look = (): Promise<void> => {
    isStale = true;
    looking ??= lookUntilFresh();
    return looking;
  };
  const heard = async (): Promise<void> => {
    try {
      await look();
    } catch (error) {
      log.warn('paused_kinds_unread', { error: String(error) });
      timer.after(againMs, () => void heard());
    }
  };
  hints.on(hint, () => void heard());
  // A hint may be lost; each renewal of the lease tells as well.
  const names = () => known.map(({ kind }) => kind).toSorted();
  processes.onRenewal((renewal) => {
    if (renewal !== null && renewal.pausedKinds !== names().join()) void heard();
  });
  return { look, heard, all: () => known };
}

function createKindPauses(deps: KindPausesDeps) {
  const { store, hints, processes, clock } = deps;
  const known = createKnown(deps);
  const changed = async (made: KindChanged): Promise<KindChanged> => {
    hints.publish(hint);
    await known.heard();
    return made;
  };
  const deed = (kind: string, { actor, traceId = null }: By) => ({ kind, by: actor, at: clock.now(), traceId });
  const knownKinds = async () => [
    ...new Set([...deps.kinds, ...(await processes.live()).flatMap(({ kinds }) => kinds)]),
  ];

  return {
    /** Reads what is paused, before anything begins. */
    look: known.look,
    /** As this process knows it, which is a moment behind. */
    paused: (): readonly string[] => known.all().map(({ kind }) => kind),
    /** The longest first. */
    list: () => store.pausedKinds(),
    /** The reason why no run of the kind begins, in whichever process; without a kind, no run at all. */
    standstill: async (kind: string | null): Promise<Standstill | null> => {
      const since = await processes.pausedSince();
      if (since !== null) return { is: 'no_worker', since };
      const pause = known.all().find((one) => one.kind === kind);
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
