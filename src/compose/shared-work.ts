import { noHints, type Hints } from '../app/ports/hints.ts';
import type { LoopName } from '../app/ports/outside.ts';
import type { Config } from '../config/config.ts';
import { does } from '../domain/processes/process.ts';
import type { EventStreams } from '../http/events.ts';
import type { Opened } from '../store/engine/open.ts';
import type { Loop } from '../system/loop.ts';
import type { Outside, Rooms } from './assembly.ts';

/** Jobs and hints of several processes; a process alone has none. */
export function sharedWorkOf(
  { work }: Opened,
  role: Config['ROLE'],
  onEnd: (error: Error) => void,
): Pick<Outside, 'workEngine' | 'hints'> {
  if (work === null) return {};
  const turns = (loop: LoopName) => does(role, loop === 'deliverer' ? 'deliver' : 'work');
  return {
    hints: work.hints,
    workEngine: (bell, processId) => work.engineOf({ processId, bell, turns, onEnd }),
  };
}

export function hintsOf({ work }: Opened): Hints {
  return work?.hints ?? noHints;
}

interface Hearing {
  readonly rooms: Rooms;
  readonly loops: readonly Loop[];
  readonly streams: EventStreams;
}

/** Wakes loops and streams for what happens outside of their own rooms. */
export function hearOthers(opened: Opened, { rooms, loops, streams }: Hearing): void {
  const hints = hintsOf(opened);
  opened.onEvents(() => {
    streams.hint();
    hints.publish('events');
  });
  hints.on('events', streams.hint);
  for (const loop of loops) {
    const { name } = loop;
    if (name === 'scheduler' || name === 'acks') hints.on(name, () => loop.ring());
  }
  opened.onDoubt(() => {
    rooms.jobs.lookAround();
    for (const loop of loops) loop.ring();
  });
}
