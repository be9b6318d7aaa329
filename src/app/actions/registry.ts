import type { Action } from './action.ts';
import { digestAction, type ReadDigest } from './digest.ts';
import type { ActionForm } from './form.ts';
import { forms } from './forms.ts';
import { httpAction, type HttpDeps } from './http/http.ts';
import { messageAction } from './message.ts';

/** All that actions are made with; each takes what it needs. */
export interface ActionDeps extends HttpDeps {
  readonly readDigest: ReadDigest;
}

/** A kind of action: what there is to know of it, and how it is made. Everything else follows from that. */
export interface ActionEntry {
  readonly form: ActionForm;
  readonly make: (deps: ActionDeps) => Action;
}

const makers: Readonly<Record<keyof typeof forms, ActionEntry['make']>> = {
  message: ({ templates, lastOf }) => messageAction(templates, lastOf),
  digest: ({ readDigest }) => digestAction(readDigest),
  http: httpAction,
};

export const registry: readonly ActionEntry[] = Object.values(forms).map((form) => ({ form, make: makers[form.kind] }));

export function actionsIn(entries: readonly ActionEntry[], deps: ActionDeps): readonly Action[] {
  return entries.map(({ form, make }) => ({ ...make(deps), form }));
}
