import type { Actor } from '../../domain/access.ts';
import type { World } from '../ports/outside.ts';

/** Results that are shown only when somebody has looked at them before: their task says `approval: required`. */

export interface Approval {
  readonly runId: string;
  readonly actor: Actor;
  /** False discards the result. */
  readonly isGiven: boolean;
}

/** Somebody has decided, now or before; or nobody did in time, or there is nothing to decide about. */
export type Approved =
  | {
      readonly is: 'decided';
      readonly isGiven: boolean;
      readonly by: Actor;
      readonly at: number;
      readonly isFirst: boolean;
    }
  | { readonly is: 'expired' }
  | { readonly is: 'none' };

export interface ApprovalStore {
  /** Lets the parts of the run go to the topic of its task, or ends them; the first decision counts. */
  decideApproval(approval: Approval & { readonly at: number }): Promise<Approved>;
}

type ApprovalsDeps = Pick<World, 'clock' | 'bell'> & { readonly store: ApprovalStore };

export type Approvals = ReturnType<typeof createApprovals>;

export function createApprovals({ store, clock, bell }: ApprovalsDeps) {
  return {
    decide: async (approval: Approval): Promise<Approved> => {
      const approved = await store.decideApproval({ ...approval, at: clock.now() });
      bell.ring('deliverer');
      return approved;
    },
  };
}
