import { DAY_MS, HOUR_MS } from './calendar.ts';
import {
  GAP_REACH_MS,
  nextTransition,
  offsetAt,
  passesOf,
  resolveAtTransition,
  resolveShifted,
  toWall,
  transitionAround,
} from './zone.ts';

/** The wall times of a schedule, which know no zone. */
export interface WallTimes {
  /** The first wall time at or after `from`, or null when there is none inside the horizon. */
  readonly next: (from: number) => number | null;
  /** The smallest distance at which another wall time can follow. */
  readonly grain: number;
}

/**
 * First pass of an overlap; moved by the size of a gap. A moved wall time can land behind a later one, so the search begins
 * as far back as the last gap reaches and looks on until nothing earlier can follow.
 */
export function nextShifted(times: WallTimes, timezone: string, after: number): number | null {
  const earliest = Math.min(offsetAt(timezone, after), offsetAt(timezone, after - GAP_REACH_MS));
  let best: number | null = null;
  for (let wall = times.next(after + earliest); wall !== null; wall = times.next(wall + times.grain)) {
    if (best !== null && wall > toWall(timezone, best)) return best;
    const instant = resolveShifted(timezone, wall);
    if (instant > after && (best === null || instant < best)) best = instant;
    if (best === instant && toWall(timezone, instant) === wall) return best;
  }
  return best;
}

/** First pass of an overlap; at the instant of the change in a gap, unless that is another date. */
export function nextOnClock(times: WallTimes, timezone: string, after: number): number | null {
  for (let wall = times.next(toWall(timezone, after)); wall !== null; wall = times.next(wall + times.grain)) {
    const instant = resolveAtTransition(timezone, wall);
    if (instant !== null && instant > after) return instant;
  }
  return null;
}

/** Both passes of an overlap; nothing in a gap. */
export function nextElapsed(times: WallTimes, timezone: string, after: number): number | null {
  const forward = nextPass(times, timezone, { wall: toWall(timezone, after) + 1, after });
  const change = overlapBegun(timezone, after);
  if (change === null || (forward !== null && forward < change.at)) return forward;
  const again = nextPass(times, timezone, { wall: change.at + change.after, after: change.at - 1 });
  if (forward === null || again === null) return forward ?? again;
  return Math.min(forward, again);
}

/** The first pass after an instant of the wall times from `wall` on. */
function nextPass(
  times: WallTimes,
  timezone: string,
  from: { readonly wall: number; readonly after: number },
): number | null {
  let wall = times.next(from.wall);
  while (wall !== null) {
    const passes = passesOf(timezone, wall);
    const instant = passes.find((pass) => pass > from.after);
    if (instant !== undefined) return instant;
    const gap = passes.length === 0 ? transitionAround(timezone, wall) : null;
    wall = times.next(gap === null ? wall + times.grain : Math.max(wall + times.grain, gap.at + gap.after));
  }
  return null;
}

/** The change that ends the first pass of an overlap, when `after` lies inside that pass. */
function overlapBegun(timezone: string, after: number): { at: number; after: number } | null {
  const reach = after + DAY_MS + HOUR_MS;
  const now = offsetAt(timezone, after);
  if (offsetAt(timezone, reach) >= now) return null;
  const change = nextTransition(timezone, after, reach);
  if (change === null || change.after >= now) return null;
  return after + now >= change.at + change.after ? change : null;
}
