import { AppError } from '../../domain/errors.ts';
import type { ScopesOf } from '../../domain/grant.ts';
import { policyOf, retryWindowMs, type Policies } from '../../domain/policy.ts';
import { minGapMs, nextSlot, nextSlots, type Schedule } from '../../domain/schedule/schedule.ts';
import { DAY_MS } from '../../domain/schedule/time/calendar.ts';
import { budgetKinds, type BudgetKind, type BudgetPeriod, type Costs } from '../../domain/spending/usage.ts';
import type { ActionSpec } from '../../domain/task.ts';
import type { Estimates } from '../ports/metering.ts';
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

export function kindsOf(actions: Actions, estimates: Estimates): Kinds {
  return {
    forms: actions.forms,
    formOf: (kind) => actions.get(kind)?.form,
    outlook: (spec, planned) => outlookOf(actions.get(spec.kind), { spec, costs: estimates.costsOf(spec) }, planned),
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
  readonly kind: BudgetKind;
  /** Of money alone. */
  readonly currency: string | null;
  /** Of one run without a fault, at most. */
  readonly perRun: number;
  /** As often as its schedule has it run; null for what runs once. */
  readonly often: Often | null;
  /** By all runs of its first day, and of its first 30 days. */
  readonly within: Readonly<Record<BudgetPeriod, number>>;
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

interface Estimated {
  readonly spec: ActionSpec;
  readonly costs: Costs | null;
}

function outlookOf(action: Action | undefined, { spec, costs }: Estimated, planned: Planned): Outlook | null {
  const preview = previewOf(action, spec);
  if (action === undefined || preview === undefined || (preview.reaches.length === 0 && costs === null)) return null;
  const { schedule, policies } = planned;
  const policy = policyOf(policies, { actionKind: spec.kind, minGapMs: minGapMs(schedule) });
  const madeUp = policy.missed === 'all' || policy.missed === 'ask' ? policy.missedLimit : null;
  const catchUp = schedule.kind === 'once' || costs === null ? null : madeUp;
  const often = schedule.kind === 'once' ? null : oftenIn(planned);
  const within = schedule.kind === 'once' ? { day: 1, month: 1 } : within30Days(planned);
  return {
    reaches: preview.reaches,
    secrets: preview.secrets ?? [],
    changesThings: isEffect(action, spec),
    repeatable: action.repeatable(spec),
    attempts: policy.retry.attempts,
    retryWindowMs: retryWindowMs(policy),
    costs: budgetKinds.flatMap((kind) => {
      const perRun = costs?.[kind] ?? 0;
      if (perRun === 0) return [];
      return {
        kind,
        currency: kind === 'money' ? (costs?.currency ?? null) : null,
        perRun,
        often: often === null ? null : { ...often, count: often.count * perRun },
        within: { day: within.day * perRun, month: within.month * perRun },
        atOnce: catchUp === null ? null : catchUp * perRun,
      };
    }),
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
function oftenIn(planned: Planned): Often {
  const gap = minGapMs(planned.schedule) ?? 0;
  const [per, ms] = stretches.find(([, length]) => gap <= length) ?? (['year', 365 * DAY_MS] as const);
  return { count: slotsWithin(planned, ms).length, per };
}

function within30Days(planned: Planned): Record<BudgetPeriod, number> {
  const slots = slotsWithin(planned, 30 * DAY_MS);
  const [first = 0, last = 0] = [slots[0], slots.at(-1)];
  const day = slots.filter((slot) => slot < first + DAY_MS).length;
  // More are not counted but reckoned by the pace of those.
  const pace = (slots.length - 1) / (last - first);
  return { day, month: slots.length < countedMax ? slots.length : Math.ceil(30 * DAY_MS * pace) };
}

function slotsWithin({ schedule, policies, now }: Planned, ms: number): readonly number[] {
  const bounds = policyOf(policies, { actionKind: '', minGapMs: null });
  const first = nextSlot(schedule, now, bounds) ?? now;
  return nextSlots(schedule, first - 1, { count: countedMax, bounds, upTo: first + ms - 1 });
}

/** Once a minute for a day. */
const countedMax = 1440;
