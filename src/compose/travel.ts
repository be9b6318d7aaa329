import { within } from '../app/pipeline/collector.ts';
import type { Stopwatch, Timer } from '../app/ports/outside.ts';
import type { Store } from '../app/ports/store.ts';
import { AppError } from '../domain/errors.ts';
import type { JumpTarget, Travel } from '../sandbox/world/world.ts';
import { createTravelTime, type TravelTime } from '../system/clock.ts';
import { createIds } from '../system/ids.ts';
import type { Loop } from '../system/loop.ts';
import type { Rooms, World } from './assembly.ts';
import type { Wire } from './chat.ts';
import type { TelegramIn } from './conversation.ts';

/** A part that must come to rest before time may move on. */
interface Busy {
  /** It can do nothing more at this instant. */
  readonly isAtRest: () => boolean;
}

interface TravelDeps {
  /** The time that is moved; see `TravelTime`. */
  readonly time: { now(): number; skip(ms: number): void; skipped(): number } & Stopwatch & Timer;
  readonly busy: readonly Busy[];
  /** Resolves when nothing runs, is being sent, or is being answered. */
  idle(): Promise<void>;
  /** The next instant at which a room has something to do. */
  nextAt(now: number): Promise<number | null>;
  /** The next slot of a task. */
  nextSlotAt(now: number): Promise<number | null>;
  /** Wakes every loop. */
  ring(): void;
  /** Keeps how far time was moved in all, so that a restart does not bring it back. */
  remember(skippedMs: number): Promise<void>;
}

/** A call that hangs must not hold up a jump for ever: past this it is left behind, as in real life. */
const restMaxMs = 20_000;
/** A jump across more instants than this is cut short, and can be asked for again. */
const visitsMax = 20_000;
/** Consecutive looks that must find everything at rest, because one thing hands over to another. */
const looksAtRest = 3;

/** Moves the clock to a later instant and lets everything happen that is due on the way, each thing at its own time. */
function createTravel(deps: TravelDeps): Travel {
  const { time } = deps;
  let jumping: Promise<unknown> = Promise.resolve();
  const target = async (to: JumpTarget): Promise<number> => {
    if (to !== 'next') return 'at' in to ? to.at : time.now() + to.byMs;
    const next = await deps.nextSlotAt(time.now());
    if (next === null)
      throw refused('No task has a run ahead. Make one first, for example: /new in 1 minute say hello');
    return next;
  };
  const jump = async (to: JumpTarget) => {
    await rest(deps);
    const end = await target(to);
    if (end < time.now()) throw new AppError('too_late', 'The clock never goes back. Choose a later instant.');
    return visit(deps, end);
  };
  return {
    now: () => time.now(),
    nextAt: () => deps.nextSlotAt(time.now()),
    // One at a time: a second jump begins where the first has ended.
    jump: (to) => {
      const mine = jumping.then(() => jump(to));
      jumping = mine.catch(() => undefined);
      return mine;
    },
  };
}

async function visit(deps: TravelDeps, end: number): Promise<{ now: number; visited: number }> {
  const { time } = deps;
  let visited = 0;
  while (visited < visitsMax) {
    await rest(deps);
    const next = await deps.nextAt(time.now());
    if (next === null || next > end) break;
    // Work that is due and waits for something else is not waited for: the next instant may bring it.
    await moveTo(deps, Math.max(next, time.now() + 1));
    visited += 1;
  }
  await moveTo(deps, end);
  await rest(deps);
  return { now: time.now(), visited };
}

async function moveTo(deps: TravelDeps, at: number): Promise<void> {
  const { time } = deps;
  time.skip(Math.max(0, at - time.now()));
  await deps.remember(time.skipped());
  deps.ring();
}

/** Until nothing is left to do at this instant. */
async function rest(deps: TravelDeps): Promise<void> {
  const { time, busy } = deps;
  const started = time.elapsed();
  for (let looks = 0; looks < looksAtRest && time.elapsed() - started < restMaxMs;) {
    await within(time, restMaxMs, deps.idle());
    await time.yield();
    looks = busy.every(({ isAtRest }) => isAtRest()) ? looks + 1 : 0;
  }
}

function refused(message: string): AppError {
  return new AppError('invalid_request', message, { details: { field: 'to' } });
}

export function timeOf({ clock, stopwatch, timer }: World): TravelTime {
  return createTravelTime({
    now: () => clock.now(),
    elapsed: () => stopwatch.elapsed(),
    after: (ms, call) => timer.after(ms, call),
    yield: () => timer.yield(),
  });
}

/** Everything that asks for the time gets the one that can be moved; ids count up with it. */
export function travelling(world: World, time: TravelTime): World {
  return { ...world, clock: time, stopwatch: time, timer: time, ids: createIds(() => time.now()) };
}

const skippedNote = 'sandbox_skipped_ms';

/** The clock never goes back, also over a restart: what was skipped before is skipped again. */
export async function skippedBefore(store: Pick<Store, 'readNote'>): Promise<number> {
  return Number((await store.readNote(skippedNote)) ?? 0);
}

interface Travelling {
  readonly time: TravelTime;
  readonly loops: readonly Loop[];
  readonly rooms: Rooms;
  readonly conversation: TelegramIn;
  readonly wire: Wire;
  readonly store: Store;
}

export function travelOf({ time, loops, rooms, conversation, wire, store }: Travelling): Travel {
  // A chore is due every half minute; it is done when the clock stands, and nobody watches it in between.
  const visited = loops.filter(({ name }) => name !== 'housekeeper');
  const asked = [rooms.scheduler, rooms.runner, rooms.deliverer, rooms.nagging];
  return createTravel({
    time,
    busy: [
      ...visited.map(({ isAsleep }) => ({ isAtRest: isAsleep })),
      { isAtRest: () => wire.sandbox?.world.hasOpenUpdates() !== true },
    ],
    idle: async () => {
      await conversation.idle();
      await rooms.runner.idle();
      await rooms.deliverer.idle();
    },
    nextAt: async (now) => earliest(await Promise.all(asked.map((room) => room.nextAt(now)))),
    nextSlotAt: (now) => rooms.scheduler.nextAt(now),
    ring: () => {
      for (const loop of loops) loop.ring();
    },
    remember: (skippedMs) => store.writeNote(skippedNote, String(skippedMs), time.now()),
  });
}

function earliest(instants: readonly (number | null)[]): number | null {
  const known = instants.filter((at): at is number => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}
