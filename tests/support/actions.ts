import type { Action, Job, Outcome } from '../../src/app/actions/action.ts';
import { httpForm } from '../../src/app/actions/http/form.ts';
import { registry, type ActionEntry } from '../../src/app/actions/registry.ts';
import { AppError } from '../../src/domain/errors.ts';
import { actionScope, type ScopesOf } from '../../src/domain/grant.ts';

/** The scopes of actions that reach nothing. */
export const scopesOf: ScopesOf = ({ kind }) => [actionScope(kind)];

/** Calls that a stand-in was asked to make, and what it answers to the next of them. */
export interface Calls {
  readonly jobs: Job[];
  answer: (job: Job) => Outcome | Promise<Outcome>;
}

export function calls(answer: Calls['answer'] = () => ({ is: 'done', text: 'answered', httpStatus: 200 })): Calls {
  return { jobs: [], answer };
}

/** The form of http calls with nothing behind it that could reach a network. */
function httpStandIn(made: Calls, more: Partial<Action> = {}): ActionEntry {
  return {
    form: httpForm,
    make: () => ({
      kind: 'http',
      check: ({ url }) => {
        if (typeof url === 'string' && /^https?:/.test(url)) return [];
        throw new AppError('invalid_action', 'action.url: this is no address.', { details: { field: 'action.url' } });
      },
      repeatable: () => true,
      changesThings: ({ method = 'GET' }) => method !== 'GET' && method !== 'HEAD',
      preview: ({ url }) => ({
        reaches: [URL.parse(String(url))?.host ?? 'a host that a template names'],
        costs: [{ kind: 'requests', quantity: 1 }],
      }),
      run: (job) => {
        made.jobs.push(job);
        return made.answer(job);
      },
      ...more,
    }),
  };
}

export function withHttp(made: Calls, more: Partial<Action> = {}): readonly ActionEntry[] {
  return [...registry.filter(({ form }) => form.kind !== 'http'), httpStandIn(made, more)];
}
