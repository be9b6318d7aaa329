import { AppError, assert } from '../../domain/errors.ts';
import type { Action } from './action.ts';

/** Exactly one executor for each kind of action. */
export interface Actions {
  get(kind: string): Action | undefined;
  /** Throws `invalid_action` and names what exists. */
  require(kind: string): Action;
}

export function createActions(actions: readonly Action[]): Actions {
  const byKind = new Map(actions.map((action) => [action.kind, action]));
  assert(byKind.size === actions.length, 'two actions of one kind');
  return {
    get: (kind) => byKind.get(kind),
    require: (kind) => {
      const action = byKind.get(kind);
      if (action !== undefined) return action;
      const known = [...byKind.keys()].join(', ');
      throw new AppError('invalid_action', `There is no action "${kind.slice(0, 40)}". Known are: ${known}.`, {
        details: { field: 'action.kind' },
      });
    },
  };
}
