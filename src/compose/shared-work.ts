import { noHints, type Hints } from '../app/ports/hints.ts';
import type { LoopName } from '../app/ports/outside.ts';
import type { Store } from '../app/ports/store.ts';
import type { Config } from '../config/config.ts';
import { AppError } from '../domain/errors.ts';
import { does } from '../domain/processes/process.ts';
import type { EventStreams } from '../http/events.ts';
import type { Opened } from '../store/engine/open.ts';
import type { Loop } from '../system/loop.ts';
import type { Outside, Rooms, World } from './assembly.ts';

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

type BotDeps = Pick<World, 'clock'> & { readonly store: Pick<Store, 'readNote' | 'writeNote' | 'listProcesses'> };

/** The chats of a database are those of one bot. Another one takes its place when none of the processes live that serve the first. */
export async function requireOneBot({ clock, store }: BotDeps, token: string | undefined): Promise<void> {
  const bot = token?.split(':')[0];
  if (bot === undefined) return;
  const known = await store.readNote(botNote);
  if (known === bot) return;
  const now = clock.now();
  const others = (await store.listProcesses(null)).filter((one) => one.leaseUntil > now && does(one.role, 'deliver'));
  if (known !== null && others.length > 0) {
    const places = others.map(({ role, host, pid }) => `${role} on ${host}, pid ${pid}`).join('; ');
    throw new AppError(
      'invalid_request',
      `TELEGRAM_BOT_TOKEN is that of bot ${bot}, and the processes that share this database serve bot ${known} (${places}). Start this one with the token of theirs, or stop them before another bot takes over.`,
    );
  }
  await store.writeNote(botNote, bot, now);
}

const botNote = 'bot';

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
