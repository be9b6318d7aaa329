import type { NoOpinion, Opinion, SecondOpinion } from '../../app/housekeeping/second-opinion.ts';
import { slotOpinionMaxMs } from '../../domain/limits.ts';
import type { Work, Worked } from '../pool/pool.ts';

/** Asks a child of the pool for the second opinion, because its libraries may hang, and grow without end. */
export function createSecondOpinion(
  run: (work: Work<'slots'>) => Promise<Worked<Opinion>>,
  maxMs = slotOpinionMaxMs,
): SecondOpinion {
  return {
    slotsOf: async (question) => {
      const worked = await run({ kind: 'slots', ask: question, owner: null, maxMs });
      return worked.is === 'done' ? worked.answer : { is: 'none', reason: reasons[worked.is] };
    },
  };
}

const reasons: Readonly<Record<Exclude<Worked<Opinion>['is'], 'done'>, NoOpinion>> = {
  late: 'timeout',
  died: 'died',
  lost: 'died',
  away: 'away',
  spent: 'away',
};
