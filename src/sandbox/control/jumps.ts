import { AppError } from '../../domain/errors.ts';
import { durationMs } from '../../domain/duration.ts';
import type { JumpTarget, Travel } from '../world/travel.ts';
import { SandboxRefusal } from '../world/world.ts';

/** A task that runs every minute has half a million slots in a year, and a jump visits each of them. */
const jumpMaxMs = 400 * 86_400_000;

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

/** Jumps one at a time: two at once could not both say truly where the clock stands. */
export function createJumps(
  travel: Travel | null,
): (to: string) => Promise<{ readonly now: number; readonly visited: number; readonly nextAt: number | null }> {
  let isUnderWay = false;
  return async (to) => {
    if (travel === null) {
      throw new SandboxRefusal('not_allowed', 'This sandbox runs on the real clock, which cannot jump.');
    }
    if (isUnderWay)
      throw new SandboxRefusal('not_allowed', 'A jump is under way. Wait for its answer, then jump again.');
    const target = targetOf(to, travel.now());
    isUnderWay = true;
    try {
      const landed = await travel.jump(target);
      return { ...landed, nextAt: await travel.nextAt() };
    } finally {
      isUnderWay = false;
    }
  };
}

/** Reads where to jump. The past is refused here already, so that every clock refuses it with the same words. */
function targetOf(to: string, now: number): JumpTarget {
  if (to === 'next') return 'next';
  const at = instant.test(to) ? Date.parse(to) : Number.NaN;
  const target = Number.isNaN(at) ? { byMs: lengthOf(to) } : { at };
  const byMs = 'at' in target ? target.at - now : target.byMs;
  if (byMs < 0) {
    const place = new Date(now).toISOString();
    throw new AppError(
      'too_late',
      `The clock stands at ${place} and never goes back. Name a later instant, or "next".`,
    );
  }
  if (byMs > jumpMaxMs) {
    throw new AppError('invalid_request', 'to: a jump goes at most 400 days. Go there in several jumps.');
  }
  return target;
}

function lengthOf(to: string): number {
  try {
    return durationMs(to);
  } catch (cause) {
    const message =
      'to: must be an instant with a zone ("2027-01-31T09:00:00Z"), "next", or a duration such as "PT1H" or "P1D".';
    throw new AppError('invalid_request', message, { cause });
  }
}
