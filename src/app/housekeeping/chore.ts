import { nightStartMs } from '../../domain/limits.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { UpkeepStore } from '../ports/upkeep.ts';

/**
 * One piece of keeping the place in order. A step is bounded, so that no transaction of it holds up the event loop; `more`
 * means that it wants to go on after everybody else had a turn.
 */
export interface Chore {
  readonly name: string;
  step(now: number, limit: number): Promise<Counts>;
  /** When it is due next: an instant that has passed means now, null means not until somebody rings. */
  nextAt(now: number): Promise<number | null>;
}

const dayMs = 86_400_000;

interface Needs {
  readonly store: Pick<UpkeepStore, 'readNote' | 'writeNote'>;
}

interface Nightwork {
  readonly name: string;
  /** After the start of the night, so that the chores of a night follow each other. */
  readonly afterMs: number;
  /** The night's work is done when a step leaves nothing more. */
  readonly step: (now: number, limit: number) => Promise<Counts>;
}

/**
 * Work of the night. When it finished last stands in a note, so a restart neither repeats nor forgets a night, and a
 * machine that slept through it catches up soon after. A new database has its first night ahead of it.
 */
export function nightly({ store }: Needs, { name, afterMs, step }: Nightwork): Chore {
  const note = `chore:${name}`;
  let finishedAt: number | null = null;

  const finish = async (now: number) => {
    await store.writeNote(note, String(now), now);
    finishedAt = now;
  };

  const dueAt = async (now: number): Promise<number> => {
    finishedAt ??= Number((await store.readNote(note)) ?? Number.NaN);
    // A finish in the future was written by a clock that was wrong; it must not cost the nights until then, and it is
    // mended at once, because every later look would find it in the future again.
    if (!(finishedAt <= now)) await finish(now);
    return nightAfter(finishedAt, afterMs);
  };

  return {
    name,
    step: async (now, limit) => {
      if ((await dueAt(now)) > now) return { taken: 0, more: false };
      const counts = await step(now, limit);
      if (!counts.more) await finish(now);
      return { taken: Math.max(counts.taken, 1), more: counts.more };
    },
    nextAt: dueAt,
  };
}

/** The first time of night strictly after an instant. */
function nightAfter(instant: number, afterMs: number): number {
  const offset = nightStartMs + afterMs;
  return (Math.floor((instant - offset) / dayMs) + 1) * dayMs + offset;
}
