import { policyOf, type Policies } from '../../../src/domain/policy.ts';
import type { Row } from '../journal.ts';

interface Input {
  readonly action: { readonly kind: string; readonly repeatable?: boolean };
  readonly policies?: Policies;
  readonly late: boolean;
}

/** How often a run may be tried, and whether it may be done again when nobody knows how far it came. */
export function limitsOfWork(run: Pick<Row<'runs'>, 'input'>): {
  readonly attempts: number;
  readonly repeatable: boolean;
} {
  const { action, policies } = JSON.parse(run.input) as Input;
  const { retry } = policyOf(policies ?? {}, { actionKind: action.kind, minGapMs: null });
  return { attempts: retry.attempts, repeatable: action.kind === 'message' || action.repeatable !== false };
}
