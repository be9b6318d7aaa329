import type { Actor } from '../../domain/access.ts';
import { AppError, invalid } from '../../domain/errors.ts';
import type { ScopesOf } from '../../domain/grant.ts';
import * as limits from '../../domain/limits.ts';
import {
  checkJitter,
  checkPolicies,
  checkUnchanged,
  policyOf,
  type Policies,
  type Policy,
} from '../../domain/policy.ts';
import { type AdviceWords, englishAdvice } from '../../domain/schedule/advice.ts';
import {
  inputOf,
  minGapMs,
  nextSlot,
  parseSchedule,
  type Schedule,
  type ScheduleInput,
  refusals,
  warnings,
  type Refusal,
  type Warning,
} from '../../domain/schedule/schedule.ts';
import { refuseSecrets } from '../../domain/secrets/mentions.ts';
import type { Amount } from '../../domain/spending/usage.ts';
import {
  addressed,
  checkLabels,
  checkSize,
  checkTexts,
  titleFrom,
  type ActionSpec,
  type Definition,
} from '../../domain/task.ts';
import { type Assumed, readAnywhere } from '../../domain/when/asked.ts';
import type { Setting } from '../../domain/when/setting.ts';
import type { ActionForm } from '../actions/form.ts';
import type { WrittenText } from '../ports/outside.ts';

/** The fields of a task that a client may set; their shape was checked by the adapter that read it. */
export interface TaskInput {
  readonly title?: string | undefined;
  readonly instructions: string;
  readonly action?: ActionSpec | undefined;
  readonly schedule: ScheduleInput;
  readonly policies?: Policies | undefined;
  readonly subject?: string | null | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  /** The end of its right to run: null for none, and what the chat has chosen where it is absent. */
  readonly grantExpiresAt?: number | null | undefined;
}

/** A definition with its time in plain words, and with whatever else they say. */
export interface TaskInWords extends Omit<TaskInput, 'instructions' | 'schedule'> {
  readonly when: string;
  readonly timezone: string;
  readonly language?: string | undefined;
  /** The text of the task; without it the words behind the time are taken. */
  readonly instructions?: string | undefined;
}

/** The meaning of the words at this moment; a policy that is named goes before one that they ask for. */
export function inFields(input: TaskInput | TaskInWords, here: Pick<Setting, 'now' | 'slashes' | 'parts'>): InFields {
  if (!('when' in input)) return { fields: input, assumed: [] };
  const { when, timezone, language, instructions, policies, ...fields } = input;
  const read = readAnywhere(when, { ...here, timezone, language });
  if (instructions !== undefined && read.text !== '') {
    throw invalid('when', 'when: a text stands behind the time, and in instructions too. Keep one.');
  }
  const said = instructions ?? read.text;
  return {
    assumed: read.assumed,
    fields: {
      // The title says what, and not for whom.
      ...(read.forWhom === null ? {} : { title: titleFrom(said) }),
      ...fields,
      instructions: addressed(read.forWhom, said),
      schedule: inputOf(read.schedule),
      policies: { ...read.policies, ...policies },
    },
  };
}

interface InFields {
  readonly fields: TaskInput;
  readonly assumed: readonly Assumed[];
}

export interface Checked {
  readonly definition: Definition;
  readonly policy: Policy;
  readonly minGapMs: number | null;
  readonly warnings: readonly Warning[];
}

/** The rules need no executor of an action: a kind that is unknown, or whose check fails, is refused. */
export interface ActionRules {
  readonly scopesOf: ScopesOf;
  require(kind: string): {
    check(spec: ActionSpec, instructions: string, hosts?: readonly string[] | null): readonly WrittenText[];
    timeoutMs?(spec: ActionSpec): number | null;
    preview?(spec: ActionSpec): { readonly costs: readonly Amount[] };
    readonly form?: Pick<ActionForm, 'text' | 'title'>;
  };
}

export interface Rules {
  readonly actions: ActionRules;
  readonly minIntervalMs: number;
  readonly retentionDays: number;
  /** For warnings and refusals of schedules; English without them. */
  readonly words?: AdviceWords | undefined;
  /** For a task that repeats and names no limit; 0 leaves it without. */
  readonly maxRunsDefault: number;
  /** Hosts to which the chat of the task keeps its tasks; null where it does not. */
  readonly hosts?: readonly string[] | null | undefined;
  /** Templates and expressions that were tried, and are sound, by `triedAs`. */
  readonly parsed: ReadonlySet<string>;
}

/** Ends a check that meets a text of which nobody knows whether it is sound. */
class Unparsed extends AppError {
  readonly written: WrittenText;

  constructor(written: WrittenText) {
    super('internal', 'a template was not parsed');
    this.written = written;
  }
}

/** A text is known by its place too: what one place evaluates may be unknown in another. */
function triedAs({ language, field, text }: WrittenText): string {
  return `${language} ${field} ${text}`;
}

/** The side that tries what people write, by its language. */
export interface Trials {
  check(written: WrittenText, owner: Actor): Promise<void>;
}

/**
 * Templates are parsed in another process, for which no transaction may wait: so work that meets one is broken off, and
 * done again when that was parsed.
 */
export async function withTemplates<T>(
  { rules, templates }: { readonly rules: Omit<Rules, 'parsed'>; readonly templates: Trials },
  owner: Actor,
  work: (rules: Rules) => Promise<T>,
): Promise<T> {
  const parsed = new Set<string>();
  for (;;) {
    try {
      return await work({ ...rules, parsed });
    } catch (error) {
      if (!(error instanceof Unparsed)) throw error;
      await templates.check(error.written, owner);
      parsed.add(triedAs(error.written));
    }
  }
}

/** Refusals of a new task come from here, before anything is written. */
export function defineTask(rules: Rules, input: TaskInput, now: number): Checked {
  const action = input.action ?? { kind: 'message' };
  const title = (input.title ?? titleFor(rules, input.instructions, action)).trim();
  const subject = input.subject ?? null;
  const tags = input.tags ?? [];
  const policies = limited(rules, input.policies ?? {}, input.schedule.kind);
  if (input.title !== undefined) refuseSecrets('title', input.title);
  checkContent(rules, { title, instructions: input.instructions, action, policies });
  checkLabels(subject, tags);
  checkPolicies(policies);
  if (input.context !== undefined) checkSize('context', input.context, limits.contextBytesMax);
  const schedule = parseSchedule(input.schedule, now);
  const definition = { title, instructions: input.instructions, action, schedule, policies, subject, tags };
  const timing = checkTiming(rules, { schedule, policies, action }, now);
  const others = adviceOn(rules, { ...definition, policy: timing.policy }, () => true);
  return { definition, ...timing, warnings: [...timing.warnings, ...others] };
}

/** The beginning of the text; what is done, where there is none. */
function titleFor({ actions }: Rules, instructions: string, action: ActionSpec): string {
  return titleFrom(instructions) || (actions.require(action.kind).form?.title?.(action) ?? '');
}

type Advised = Pick<Definition, 'action' | 'schedule' | 'policies'> & { readonly policy: Policy };

/** Of the policies that were given, those that do not work as they read, or bring more than one expects. */
export function adviceOn(rules: Rules, task: Advised, isGiven: (name: keyof Policies) => boolean): readonly Warning[] {
  return [
    ...(isGiven('keep') ? keptShorter(rules, task.policies) : []),
    ...(isGiven('timeout') ? cutShort(rules, task.action, task.policy) : []),
    ...(isGiven('missed') || isGiven('missed_limit') ? catchUpCosts(rules, task) : []),
  ];
}

/** The operator says how long anything is kept at most, and may say so later than the task was made: so it is told, not refused. */
function keptShorter({ retentionDays, words = englishAdvice }: Rules, { keep }: Policies): readonly Warning[] {
  if (keep?.days === undefined || keep.days <= retentionDays) return [];
  return [{ code: 'kept_shorter', message: words.keptShorter(keep.days, retentionDays) }];
}

/** The attempt ends before the action would. */
function cutShort(
  { actions, words = englishAdvice }: Rules,
  action: ActionSpec,
  { timeoutMs }: Policy,
): readonly Warning[] {
  const own = actions.require(action.kind).timeoutMs?.(action) ?? null;
  if (own === null || own <= timeoutMs) return [];
  return [{ code: 'timeout_cut', message: words.timeoutCut(own, timeoutMs) }];
}

/** The most that slots which are made up after an outage bring at once. */
function catchUpCosts(
  { actions, words = englishAdvice }: Rules,
  { action, schedule, policy }: Advised,
): readonly Warning[] {
  const isMadeUp = schedule.kind !== 'once' && (policy.missed === 'all' || policy.missed === 'ask');
  const costs = isMadeUp ? (actions.require(action.kind).preview?.(action).costs ?? []) : [];
  if (costs.length === 0) return [];
  const told = costs.map(({ kind, quantity }) => `${policy.missedLimit * quantity} ${kind}`);
  return [{ code: 'catch_up_costs', message: words.catchUpCosts(policy.missedLimit, told) }];
}

/** The operator may set an end to every task that repeats. It stands among the policies of the task, where people see it. */
export function limited({ maxRunsDefault }: Rules, policies: Policies, kind: string): Policies {
  const isFree = maxRunsDefault === 0 || kind === 'once' || typeof policies.max_runs === 'number';
  return isFree ? policies : { ...policies, max_runs: maxRunsDefault };
}

type Content = Pick<Definition, 'title' | 'instructions' | 'action' | 'policies'>;

export function checkContent(rules: Rules, content: Content, isSame = false): void {
  // Work that is in force was checked when it was given, and its kind may be gone by now.
  const form = isSame ? undefined : rules.actions.require(content.action.kind).form;
  const mayBeBlank = isSame || content.action['media'] !== undefined || form?.text === 'note';
  checkTexts(content.title, content.instructions, { mayBeBlank });
  checkUnchanged(content.policies, content.action);
  if (isSame) return;
  checkSize('action', content.action, limits.actionBytesMax);
  const written = rules.actions
    .require(content.action.kind)
    .check(content.action, content.instructions, rules.hosts ?? null);
  const untried = written.find((one) => !rules.parsed.has(triedAs(one)));
  if (untried !== undefined) throw new Unparsed(untried);
}

type Timing = Pick<Definition, 'schedule' | 'policies' | 'action'>;

export function checkTiming(
  rules: Rules,
  { schedule, policies, action }: Timing,
  now: number,
): Omit<Checked, 'definition'> {
  const { minIntervalMs, words } = rules;
  const gap = minGapMs(schedule);
  const policy = policyOf(policies, { actionKind: action.kind, minGapMs: gap });
  checkJitter(policy, gap);
  const [refusal] = refusals(schedule, { now, minIntervalMs, bounds: policy, words });
  if (refusal !== undefined) throw refused(refusal);
  return { policy, minGapMs: gap, warnings: warnings(schedule, { now, bounds: policy, words }) };
}

function refused({ reason, message }: Refusal): AppError {
  return new AppError('invalid_schedule', message, { details: { field: 'schedule', reason } });
}

/** The first slot of a task that was checked; a schedule without one was refused before. */
export function firstSlot(schedule: Schedule, policy: Policy, now: number): number {
  const first = nextSlot(schedule, now, policy);
  if (first !== null) return first;
  throw new AppError(
    'schedule_exhausted',
    'This schedule has no slot left. Give it a new schedule, or widen its bounds.',
  );
}
