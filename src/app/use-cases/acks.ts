import type { Bell, Clock, Ids } from '../ports/outside.ts';
import type { AckStore, NotedDone, DueAck, NagDecision } from '../ports/questions.ts';
import { planNag } from '../../domain/ack.ts';
import type { Counts } from '../ports/pipeline.ts';
import type { Actor } from '../../domain/access.ts';

/** What somebody said to a result: that it is done. */
interface DoneRequest {
  readonly taskId: string;
  readonly occurrenceId: string;
  readonly actor: Actor;
}

/** `isFirst` is false when somebody had said so before; then `by` and `at` tell who and when. */
export type Done = NotedDone;

/** Who has confirmed what. Who must be reminded of it is in nagging.ts. */
export interface Acks {
  done(request: DoneRequest): Promise<Done>;
  /** It was said by mistake. False when it is not done. */
  notDone(request: DoneRequest): Promise<boolean>;
}

interface Needs {
  readonly store: Pick<AckStore, 'noteDone' | 'takeBackDone'>;
  readonly clock: Clock;
  readonly bell: Bell;
}

export function createAcks({ store, clock, bell }: Needs): Acks {
  return {
    done: async (request) => {
      const done = await store.noteDone({ ...request, at: clock.now() });
      bell.ring('deliverer');
      return done;
    },
    notDone: async (request) => {
      const isBack = await store.takeBackDone({ ...request, at: clock.now() });
      bell.ring('acks');
      return isBack;
    },
  };
}

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
