import { planNag } from '../../domain/ack.ts';
import type { Bell, Ids } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { AckStore, DueAck, NagDecision } from '../ports/questions.ts';

/**
 * Reminds people of what nobody has confirmed. What it leaves behind are rows: the reminder, the removal of the one before,
 * and the instant of the next are one transaction, so that a reminder is neither lost nor doubled by a crash.
 */
export interface Nagging {
  step(now: number, limit: number): Promise<Counts>;
  nextAt(now: number): Promise<number | null>;
}

interface NaggingNeeds {
  readonly store: Pick<AckStore, 'claimNags' | 'nextNagAt'>;
  readonly ids: Ids;
  readonly bell: Bell;
}

export function createNagging({ store, ids, bell }: NaggingNeeds): Nagging {
  return {
    step: async (now, limit) => {
      const counts = await store.claimNags({ now, limit }, (due) => due.map((one) => decisionOf(ids, one, now)));
      if (counts.taken > 0) bell.ring('deliverer');
      return counts;
    },
    nextAt: () => store.nextNagAt(),
  };
}

function decisionOf(ids: Ids, due: DueAck, now: number): NagDecision {
  const { occurrenceId } = due;
  const plan = planNag(due, now);
  switch (plan.is) {
    case 'nag':
      return { occurrenceId, ...plan, deliveryId: ids.next() };
    case 'giveUp':
      return { occurrenceId, is: 'giveUp', lineId: ids.next(), wordId: ids.next() };
    case 'later':
    case 'drop':
      return { occurrenceId, ...plan };
  }
}
