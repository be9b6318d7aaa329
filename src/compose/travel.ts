import { waitAtMost } from '../app/pipeline/workers.ts';
import type { Store } from '../app/ports/store.ts';
import { AppError } from '../domain/errors.ts';
import type { JumpTarget, Travel } from '../sandbox/world/world.ts';
import { createTravelTime, type TravelTime } from '../system/clock.ts';
import { createIds } from '../system/ids.ts';
import type { Loop } from '../system/loop.ts';
import type { Rooms, World } from './assembly.ts';
import type { TelegramIn } from './telegram-in.ts';
import type { Wire } from './telegram-or-sandbox.ts';

interface TravelDeps {
  readonly time: TravelTime;
  readonly loops: readonly Loop[];
  readonly rooms: Rooms;
  readonly telegramIn: Pick<TelegramIn, 'idle'>;
  readonly wire: Pick<Wire, 'sandbox'>;
  readonly store: Pick<Store, 'writeNote'>;
}

/** A call that hangs must not hold up a jump for ever: past this it is left behind, as in real life. */
const restMaxMs = 20_000;
/** A jump across more instants than this is cut short, and can be asked for again. */
const visitsMax = 20_000;
/** Consecutive looks that must find everything at rest, because one thing hands over to another. */
const looksAtRest = 3;

/** Moves the clock to a later instant and lets everything happen that is due on the way, each thing at its own time. */
export function travelOf(deps: TravelDeps): Travel {
  const { time, rooms } = deps;
  const nextAt = () => rooms.scheduler.nextAt(time.now());
  let jumping: Promise<unknown> = Promise.resolve();
  const target = async (to: JumpTarget): Promise<number> => {
    if (to !== 'next') return 'at' in to ? to.at : time.now() + to.byMs;
    const next = await nextAt();
    if (next === null)
      throw new AppError(
        'invalid_request',
        'No task has a run ahead. Make one first, for example: /new in 1 minute: it works',
        { details: { field: 'to' } },
      );
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
    nextAt,
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
    const next = await nextWorkAt(deps);
    if (next === null || next > end) break;
    // Work that is due and waits for something else is not waited for: the next instant may bring it.
    await moveTo(deps, Math.max(next, time.now() + 1));
    visited += 1;
  }
  await moveTo(deps, end);
  await rest(deps);
  return { now: time.now(), visited };
}

async function nextWorkAt({ time, rooms }: TravelDeps): Promise<number | null> {
  const asked = [rooms.scheduler, rooms.runner, rooms.deliverer, rooms.nagging];
  const instants = await Promise.all(asked.map((room) => room.nextAt(time.now())));
  const known = instants.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** The length of all jumps is kept, so that a restart does not bring it back. */
async function moveTo({ time, store, loops }: TravelDeps, at: number): Promise<void> {
  time.skip(Math.max(0, at - time.now()));
  await store.writeNote(skippedNote, String(time.skipped()), time.now());
  for (const loop of loops) loop.ring();
}

/** Until nothing is left to do at this instant: nothing runs, is being sent, or is being answered. */
async function rest({ time, loops, rooms, telegramIn, wire }: TravelDeps): Promise<void> {
  // A chore is due every half minute; it is done when the clock stands, and its instants are not visited.
  const visited = loops.filter(({ name }) => name !== 'housekeeper');
  const idle = async () => {
    await telegramIn.idle();
    await rooms.runner.idle();
    await rooms.deliverer.idle();
  };
  const started = time.elapsed();
  for (let looks = 0; looks < looksAtRest && time.elapsed() - started < restMaxMs;) {
    await waitAtMost(time, restMaxMs, idle());
    await time.yield();
    const isAtRest = visited.every((loop) => loop.isAsleep()) && wire.sandbox?.world.hasOpenUpdates() !== true;
    looks = isAtRest ? looks + 1 : 0;
  }
}

export function timeOf({ clock, stopwatch, timer }: World): TravelTime {
  return createTravelTime({
    now: () => clock.now(),
    elapsed: () => stopwatch.elapsed(),
    after: (ms, call) => timer.after(ms, call),
    yield: () => timer.yield(),
  });
}

/** The world on a clock that can be moved; ids count up with it. */
export function travelling(world: World, time: TravelTime): World {
  return { ...world, clock: time, stopwatch: time, timer: time, ids: createIds(() => time.now()) };
}

const skippedNote = 'sandbox_skipped_ms';

/** The clock never goes back, also over a restart: what was skipped before is skipped again. */
export async function skippedBefore(store: Pick<Store, 'readNote'>): Promise<number> {
  return Number((await store.readNote(skippedNote)) ?? 0);
}
