import { AppError } from '../../domain/errors.ts';
import type { ScopesOf } from '../../domain/grant.ts';
import { policyOf, retryWindowMs, type Policies } from '../../domain/policy.ts';
import { minGapMs, nextSlot, nextSlots, type Schedule } from '../../domain/schedule/schedule.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { SecretSent } from '../ports/secrets.ts';
import { type Action, type ActionPreview, type Actions, isEffect } from './action.ts';
import type { ActionForm } from './form.ts';

/** The kinds of actions as the rooms around the pipeline know them: they can be told of, and not be done. */
export interface Kinds {
  readonly forms: readonly ActionForm[];
  formOf(kind: string): ActionForm | undefined;
  /** Null for what reaches nothing and costs nothing, as most tasks do. */
  outlook(spec: ActionSpec, planned: Planned): Outlook | null;
  /** Scopes that a run needs. */
  readonly scopesOf: ScopesOf;
  /** Secrets that a run sends, as far as the settings tell. */
  secretsOf(spec: ActionSpec): readonly SecretSent[];
  /** Whether the call itself is the effect. */
  changesThings(spec: ActionSpec): boolean;
}

export function kindsOf(actions: Actions): Kinds {
  return {
    forms: actions.forms,
    formOf: (kind) => actions.get(kind)?.form,
    outlook: (spec, planned) => outlookOf(actions.get(spec.kind), spec, planned),
    scopesOf: actions.scopesOf,
    secretsOf: (spec) => previewOf(actions.get(spec.kind), spec)?.secrets ?? [],
    changesThings: (spec) => isEffect(actions.get(spec.kind), spec),
  };
}

/** The reach and the cost of a task, as people are told before it is made. */
export interface Outlook {
  readonly reaches: readonly string[];
  readonly secrets: readonly SecretSent[];
  readonly changesThings: boolean;
  readonly repeatable: boolean;
  /** Tries of one run, and the time within which the last of them ends. */
  readonly attempts: number;
  readonly retryWindowMs: number;
  readonly costs: readonly Cost[];
  /** Runs that are made up at once after an outage, where the policy says so; null where they cost nothing more. */
  readonly catchUp: number | null;
}

export interface Cost {
  readonly kind: string;
  /** Of one run without a fault. */
  readonly perRun: number;
  /** As often as its schedule has it run; null for what runs once. */
  readonly often: Often | null;
  /** At once, after an outage; null where nothing is made up. */
  readonly atOnce: number | null;
}

export interface Often {
  readonly count: number;
  readonly per: 'day' | 'month' | 'year';
}

export interface Planned {
  readonly schedule: Schedule;
  readonly policies: Policies;
  readonly now: number;
}

function outlookOf(action: Action | undefined, spec: ActionSpec, planned: Planned): Outlook | null {
  const preview = previewOf(action, spec);
  if (action === undefined || preview === undefined || preview.reaches.length + preview.costs.length === 0) return null;
  const { schedule, policies } = planned;
  const policy = policyOf(policies, { actionKind: spec.kind, minGapMs: minGapMs(schedule) });
  const madeUp = policy.missed === 'all' || policy.missed === 'ask' ? policy.missedLimit : null;
  const catchUp = schedule.kind === 'once' || preview.costs.length === 0 ? null : madeUp;
  const often = schedule.kind === 'once' ? null : oftenIn(planned);
  return {
    reaches: preview.reaches,
    secrets: preview.secrets ?? [],
    changesThings: isEffect(action, spec),
    repeatable: action.repeatable(spec),
    attempts: policy.retry.attempts,
    retryWindowMs: retryWindowMs(policy),
    costs: preview.costs.map(({ kind, quantity }) => ({
      kind,
      perRun: quantity,
      often: often === null ? null : { ...often, count: often.count * quantity },
      atOnce: catchUp === null ? null : catchUp * quantity,
    })),
    catchUp,
  };
}

/** Settings that can never be carried out reach nothing; creation says what is wrong with them. */
function previewOf(action: Action | undefined, spec: ActionSpec): ActionPreview | undefined {
  try {
    return action?.preview?.(spec);
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

const stretches = [
  ['day', DAY_MS],
  ['month', 30 * DAY_MS],
  ['year', 365 * DAY_MS],
] as const;

/** The shortest of them in which it runs again: from its first slot on, so that what begins next week is told as it will be. */
function oftenIn({ schedule, policies, now }: Planned): Often {
  const bounds = policyOf(policies, { actionKind: '', minGapMs: null });
  const first = nextSlot(schedule, now, bounds) ?? now;
  const gap = minGapMs(schedule) ?? 0;
  const [per, ms] = stretches.find(([, length]) => gap <= length) ?? (['year', 365 * DAY_MS] as const);
  const slots = nextSlots(schedule, first - 1, { count: countedMax, bounds, upTo: first + ms - 1 });
  return { count: slots.length, per };
}

/** Once a minute for a day. */
const countedMax = 1440;
