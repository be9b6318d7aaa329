import type { Job, Offer } from '../../app/ports/hints.ts';
import { beyond } from '../engine/caller.ts';
import type { Engine, Script } from '../engine/engine.ts';

/** Everything that one transaction has offered, each run and chat once. */
export interface Offered {
  /** Ids of runs by their kinds of action. */
  readonly runs: ReadonlyMap<string, ReadonlySet<string>>;
  readonly chats: ReadonlySet<string>;
  readonly isCancel: boolean;
}

/** Takes what transactions have offered. */
export interface Counter {
  /** Written in the transaction itself; absent where nothing is written. */
  readonly add?: (offered: Offered) => Script<void>;
  /** The transaction is committed. */
  readonly added: (offered: Offered) => void;
}

/** Ids that share a job: enough to spare most of what a job costs, few enough for several workers to share what is due at once. */
const idsPerJob = 20;
/** The kind of rows from before runs had one. */
const oldestKind = 'message';

/** The engine, whose transactions put what they offer on the counter: at the end of each, and so with it or not at all. */
export function offering(engine: Engine, counter: Counter): Engine {
  return {
    ...engine,
    transact: async (script) => {
      let made = new Gathered();
      const answer = await engine.transact(() => {
        // A script is played again after a conflict.
        made = new Gathered();
        return gathering(script(), made, counter);
      });
      if (made.isAny()) counter.added(made);
      return answer;
    },
  };
}

function* gathering<T>(script: Script<T>, made: Gathered, counter: Counter): Script<T> {
  let step = script.next();
  while (step.done !== true) {
    if (step.value.does === 'offer') {
      made.take(step.value.offer);
      step = script.next(null as never);
    } else step = script.next(yield step.value);
  }
  if (made.isAny() && counter.add !== undefined) yield* beyond(counter.add(made));
  return step.value;
}

class Gathered implements Offered {
  readonly runs = new Map<string, Set<string>>();
  readonly chats = new Set<string>();
  isCancel = false;

  take({ runs = [], chats = [], isCancel }: Offer): void {
    for (const { id, kind } of runs) {
      const ids = this.runs.get(kind ?? oldestKind) ?? new Set();
      this.runs.set(kind ?? oldestKind, ids.add(id));
    }
    for (const chatId of chats) this.chats.add(chatId);
    this.isCancel ||= isCancel === true;
  }

  isAny(): boolean {
    return this.runs.size + this.chats.size > 0 || this.isCancel;
  }
}

type Unnamed = Job extends infer J ? (J extends Job ? Omit<J, 'id'> : never) : never;

/** Jobs of what was offered. Those of one kind have ids of that kind alone, so that a worker is given what it can do. */
export function jobsOf({ runs, chats }: Offered): Unnamed[] {
  return [
    ...[...runs].flatMap(([kind, ids]) => inChunks(ids).map((chunk) => ({ kind, runs: chunk }))),
    ...inChunks(chats).map((chunk) => ({ chats: chunk })),
  ];
}

function inChunks(ids: ReadonlySet<string>): string[][] {
  const all = [...ids];
  return Array.from({ length: Math.ceil(all.length / idsPerJob) }, (_, index) =>
    all.slice(index * idsPerJob, (index + 1) * idsPerJob),
  );
}
