import { planNag } from '../../domain/ack.ts';
import type { Ids, World } from '../ports/outside.ts';
import type { Counts } from '../ports/pipeline.ts';
import type {
  AckStore,
  Approval,
  ApprovalStore,
  Approved,
  DoneNote,
  DueAck,
  NagDecision,
  NotedDone,
} from '../ports/questions.ts';

type AcksDeps = Pick<World, 'clock' | 'bell'> & { readonly store: Pick<AckStore, 'noteDone' | 'takeBackDone'> };

/** A result that a person confirms, or does not confirm after all. */
type DoneRequest = Omit<DoneNote, 'at'>;

/** Confirmations of results. */
export type Acks = ReturnType<typeof createAcks>;

export function createAcks({ store, clock, bell }: AcksDeps) {
  return {
    done: async (request: DoneRequest): Promise<NotedDone> => {
      const done = await store.noteDone({ ...request, at: clock.now() });
      bell.ring('deliverer');
      return done;
    },
    /** Takes back a Done that was said by mistake. False when there is none. */
    notDone: async (request: DoneRequest): Promise<boolean> => {
      const isBack = await store.takeBackDone({ ...request, at: clock.now() });
      bell.ring('acks');
      return isBack;
    },
  };
}

type NaggingDeps = Pick<World, 'ids' | 'bell'> & { readonly store: Pick<AckStore, 'claimNags' | 'nextNagAt'> };

/**
 * Reminds people of what nobody has confirmed. What it leaves behind are rows: the reminder, the removal of the one before,
 * and the instant of the next are one transaction, so that a reminder is neither lost nor doubled by a crash.
 */
export type Nagging = ReturnType<typeof createNagging>;

export function createNagging({ store, ids, bell }: NaggingDeps) {
  return {
    step: async (now: number, limit: number): Promise<Counts> => {
      const counts = await store.claimNags({ now, limit }, (due) => due.map((one) => decisionOf(ids, one, now)));
      if (counts.taken > 0) bell.ring('deliverer');
      return counts;
    },
    nextAt: (_now: number): Promise<number | null> => store.nextNagAt(),
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

type ApprovalsDeps = Pick<World, 'clock' | 'bell'> & { readonly store: ApprovalStore };

/** Decisions about results that wait for one. */
export type Approvals = ReturnType<typeof createApprovals>;

export function createApprovals({ store, clock, bell }: ApprovalsDeps) {
  return {
    decide: async (approval: Approval): Promise<Approved> => {
      const approved = await store.decideApproval({ ...approval, at: clock.now() });
      bell.ring('deliverer');
      bell.ring('runner');
      return approved;
    },
  };
}
