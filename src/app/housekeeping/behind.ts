import type { Counts } from '../ports/pipeline.ts';

interface Stepping {
  step(now: number, limit: number): Promise<Counts>;
}

/** A room that tells, besides doing its work, whether its last step has left something undone. */
export interface Behind<R> {
  readonly room: R;
  /** True until the first step has ended; a room whose steps fail is not working anything off, and so not behind. */
  readonly behind: () => boolean;
}

export function watchedRoom<R extends Stepping>(room: R): Behind<R> {
  let more = true;
  return {
    room: {
      ...room,
      step: async (now, limit) => {
        try {
          const counts = await room.step(now, limit);
          more = counts.more;
          return counts;
        } catch (error) {
          more = false;
          throw error;
        }
      },
    },
    behind: () => more,
  };
}
