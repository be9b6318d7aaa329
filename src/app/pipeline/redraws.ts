import type { Rate } from '../../domain/pacing/pace.ts';
import type { World } from '../ports/outside.ts';
import type { StandingStore } from '../ports/upkeep.ts';

interface RedrawsDeps extends Pick<World, 'stopwatch'> {
  readonly store: StandingStore;
  /** The pace of one group. */
  readonly group: Rate;
}

/** Of each chat one message is drawn anew in a look: four a minute, where a group has twenty calls. */
const everyMs = 15_000;
/** In all chats: three a second, where the bot has thirty calls. */
const drawnMax = 50;
/** Half of a group's calls stay free of drawings, so that a burst of results finds room. */
const share = 0.5;

/**
 * Keeps messages true that tell how something stands. What has changed is owed in the database, so a restart forgets nothing;
 * a look takes one message of each chat in which nothing else is to be sent, so nothing ever waits for a drawing.
 */
export function createRedraws({ store, stopwatch, group }: RedrawsDeps) {
  const room = (group.calls * 60_000 * share) / group.withinMs;
  let [after, restsUntil] = ['', -Infinity];
  const restMs = () => Math.max(restsUntil - stopwatch.elapsed(), 0);
  return {
    /** How many it has put into the outbox. */
    look: async (now: number): Promise<number> => {
      if (restMs() > 0) return 0;
      restsUntil = stopwatch.elapsed() + everyMs;
      const look = await store.drawAnew({ now, limit: drawnMax, after, room });
      after = look.after;
      return look.drawn;
    },
    nextAt: async (now: number): Promise<number | null> => {
      const dueAt = await store.nextRedrawAt();
      return dueAt === null ? null : Math.max(dueAt, now + Math.ceil(restMs()));
    },
  };
}
