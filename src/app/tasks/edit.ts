import { isSpent } from '../../domain/due.ts';
import type { TaskVerb } from '../../domain/event.ts';
import * as limits from '../../domain/limits.ts';
import { checkJitter, checkPolicies, policyOf, type Policies, type Policy } from '../../domain/policy.ts';
import { englishAdvice } from '../../domain/schedule/advice.ts';
import {
  anchorOf,
  nextSlot,
  parseSchedule,
  type Schedule,
  type ScheduleInput,
  type Warning,
} from '../../domain/schedule/schedule.ts';
import { checkLabels, checkSize, ownerGonePause, type Definition, type Task } from '../../domain/task.ts';
import { isSlotOf } from '../pipeline/slot-plans.ts';
import { noChange, type TaskChange, type TaskFields, type TaskScene } from '../ports/tasks.ts';
import {
  adviceOn,
  checkContent,
  checkTiming,
  limited,
  type Checked,
  type Rules,
  type TaskInput,
} from './definition.ts';
import { grantEndIn, scopesFor } from './grants.ts';
import { toldSlots } from './skip.ts';
import {
  exhausted,
  goingOn,
  isUnreadable,
  nextOpenSlot,
  pauseFacts,
  unreadableRow,
  type ClaimedScene,
  type VerbScene,
} from './verbs.ts';

/** The fields a person named; the others stay. Null in a policy takes it back to its default. */
export type TaskPatch = { readonly [K in Exclude<keyof TaskInput, 'policies'>]?: TaskInput[K] | undefined } & {
  readonly policies?: { readonly [K in keyof Policies]?: Policies[K] | null } | undefined;
  readonly enabled?: boolean | undefined;
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Fields = Mutable<Partial<TaskFields>>;

export interface Edited {
  readonly change: TaskChange;
  readonly warnings: readonly Warning[];
  /** Each field that was named and did change, before and after. */
  readonly changes: Changes;
}

export type Changes = Readonly<Record<string, { readonly before: unknown; readonly after: unknown }>>;

/** A partial change: the next slot moves only when the timing really changed, or when the task is switched on. */
export function editTask(rules: Rules, verbScene: VerbScene, asked: TaskPatch): Edited {
  const { scene, claims, now } = verbScene;
  const { task } = scene;
  const patch = limitedPatch(rules, task, asked);
  refuseUnreadable(task, patch);
  const merged = mergePatch(task, patch, now);
  const isSame = patch.instructions === undefined && patch.action === undefined;
  checkContent(rules, merged, isSame);
  checkLabels(merged.subject, merged.tags);
  checkPolicies(merged.policies);
  if (patch.context !== undefined) checkSize('context', patch.context, limits.contextBytesMax);
  const end = grantEndIn(scene, patch.grantExpiresAt, now);
  const retimed = timingChanged(task, merged);
  const checked = retimed ? checkTiming(rules, merged, now) : null;
  const policy = policyOf(merged.policies, {
    actionKind: merged.action.kind,
    minGapMs: checked?.minGapMs ?? task.minGapMs,
  });
  checkJitter(policy, checked?.minGapMs ?? task.minGapMs);
  const kept = retimed ? keptSkips(scene, { merged, policy, now }) : scene.taken;
  const turned = nextState(verbScene, { scene, merged, policy, retimed, kept, wanted: patch.enabled, now });
  const changes = { ...changesOf(task, merged), ...end.changes };
  // Slots that were skipped belong to the old timing.
  const lost = scene.skipped.filter((slot) => !kept.has(slot));
  if (isMoot(task, changes, turned.set)) {
    return { change: { ...noChange, claims }, warnings: [], changes };
  }
  return {
    change: {
      ...noChange,
      stamp: turned.stamp,
      endWaiting: turned.stamp === 'paused' ? 'paused' : null,
      claims,
      set: { ...fieldsToSet(task, patch, { merged, checked }), ...turned.set },
      unskip: [...lost, ...freedSlots(scene, kept, { ...merged, ...turned.set })],
      scopes: scopesFor(rules, scene, merged),
      grantEnd: end.grantEnd,
      audit: auditOf(task, turned, changes, lost),
    },
    warnings: [
      ...(checked?.warnings ?? []),
      ...lostSkips(rules, lost.length),
      ...adviceOn(rules, { ...merged, policy }, (name) => isGiven(patch, name)),
    ],
    changes,
  };
}

/**
 * Where only the zone or the bounds are others, what was skipped stays so if there still is a slot at that instant, unless
 * nothing would be left to run. Slots of another schedule are other slots; what is lost is told, and not guessed at.
 */
function keptSkips(
  scene: TaskScene,
  { merged, policy, now }: Pick<Turning, 'merged' | 'policy' | 'now'>,
): ReadonlySet<number> {
  const { task, skipped } = scene;
  const ran = takenBesideSkips(scene);
  const zoned = { ...merged.schedule, timezone: task.schedule.timezone };
  if (isUnreadable(task) || !sameSchedule(zoned, task.schedule)) return ran;
  const kept = skipped.filter((slot) => nextSlot(merged.schedule, slot - 1, policy) === slot);
  const all = new Set([...ran, ...kept]);
  return nextOpenSlot({ ...merged, minGapMs: task.minGapMs }, now, all) === null ? ran : all;
}

/** Slots to come that have run already, by a clock that was ahead: their rows stay under any timing. */
function takenBesideSkips({ taken, skipped, unused }: TaskScene): ReadonlySet<number> {
  return new Set([...taken].filter((slot) => !skipped.includes(slot) && !unused.includes(slot)));
}

/** Slots of the new timing at which a snooze stood that was never run. */
function freedSlots(
  { unused }: TaskScene,
  kept: ReadonlySet<number>,
  { schedule, nextAt = null }: { readonly schedule: Schedule; readonly nextAt?: number | null },
): readonly number[] {
  return unused.filter((slot) => !kept.has(slot) && isSlotOf({ schedule, nextAt }, slot));
}

/** Another action is looked at under all policies. */
function isGiven({ action, policies }: TaskPatch, name: keyof Policies): boolean {
  return (action !== undefined && name !== 'keep') || policies?.[name] !== undefined;
}

function lostSkips({ words = englishAdvice }: Rules, count: number): readonly Warning[] {
  return count === 0 ? [] : [{ code: 'skips_dropped', message: words.skipsDropped(count) }];
}

/** A task whose row cannot be read is mended only by a schedule that can; then every field is written anew. */
function refuseUnreadable(task: Task, patch: TaskPatch): void {
  if (isUnreadable(task) && patch.schedule === undefined) throw unreadableRow(task);
}

/** A change of what the limit of the operator is about brings it in. */
function limitedPatch(rules: Rules, task: Task, patch: TaskPatch): TaskPatch {
  if (patch.policies === undefined && patch.schedule === undefined) return patch;
  const merged = mergePolicies(task.policies, patch.policies);
  const { max_runs: limit } = limited(rules, merged, patch.schedule?.kind ?? task.schedule.kind);
  return limit === merged.max_runs ? patch : { ...patch, policies: { ...patch.policies, max_runs: limit } };
}

function mergePatch(task: Task, patch: TaskPatch, now: number): Editable {
  return {
    title: patch.title?.trim() ?? task.title,
    instructions: patch.instructions ?? task.instructions,
    action: patch.action ?? task.action,
    schedule: patch.schedule === undefined ? task.schedule : newSchedule(task.schedule, patch.schedule, now),
    policies: mergePolicies(task.policies, patch.policies),
    subject: patch.subject === undefined ? task.subject : patch.subject,
    tags: patch.tags ?? task.tags,
    context: patch.context ?? task.context,
  };
}

/**
 * A schedule that means the same as the old one is no change. An anchor that nobody named is taken from the old schedule before the
 * two are compared, or sending a definition again would move its slots, and a COUNT would never come to its end.
 */
function newSchedule(old: Schedule, input: ScheduleInput, now: number): Schedule {
  const fresh = parseSchedule(input, now);
  const anchor = readableAnchor(old);
  const again = anchor === null || fresh.kind !== old.kind ? fresh : parseSchedule(input, anchor);
  return sameSchedule(again, old) ? old : fresh;
}

/** An old schedule that cannot be read counts from nowhere. */
function readableAnchor(old: Schedule): number | null {
  try {
    return anchorOf(old);
  } catch {
    return null;
  }
}

function sameSchedule(a: Schedule, b: Schedule): boolean {
  const facts = (schedule: Schedule) => JSON.stringify(Object.entries(schedule).sort(([x], [y]) => (x < y ? -1 : 1)));
  return facts(a) === facts(b);
}

function mergePolicies(old: Policies, patch: TaskPatch['policies']): Policies {
  if (patch === undefined) return old;
  const merged = Object.entries({ ...old, ...patch }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(merged) as Policies;
}

function timingChanged(task: Task, merged: Definition): boolean {
  // A bound in other words is the same as long as its instant is.
  const bounds = ({ start_at, until }: Policies) => `${Date.parse(start_at ?? '')} ${Date.parse(until ?? '')}`;
  return merged.schedule !== task.schedule || bounds(merged.policies) !== bounds(task.policies);
}

interface Merged {
  readonly merged: Editable;
  /** Null when the timing stays as it is. */
  readonly checked: Pick<Checked, 'minGapMs'> | null;
}

function fieldsToSet(task: Task, patch: TaskPatch, { merged, checked }: Merged): Fields {
  return {
    ...(isUnreadable(task) ? { ...merged, pausedReason: 'manual' } : {}),
    ...namedFields(patch, merged),
    ...(checked === null ? {} : { minGapMs: checked.minGapMs, boundedRuns: 0 }),
  };
}

function namedFields(patch: TaskPatch, merged: Editable): Fields {
  return Object.fromEntries(
    editableFields.filter((field) => patch[field] !== undefined).map((field) => [field, merged[field]]),
  );
}

interface Turning {
  readonly scene: TaskScene;
  readonly merged: Definition;
  readonly policy: Policy;
  readonly retimed: boolean;
  /** Slots with a row of their own, as far as the timing has them. */
  readonly kept: ReadonlySet<number>;
  readonly wanted: boolean | undefined;
  readonly now: number;
}

interface Turned {
  readonly set: Fields;
  readonly stamp: TaskChange['stamp'];
  readonly verb: TaskVerb;
}

/** On, off, or as it was; a completed task that was given something to do goes on by itself. */
function nextState(claimed: ClaimedScene, turning: Turning): Turned {
  const { task } = turning.scene;
  const state = task.state === 'active' && claimed.nextAt === null ? 'completed' : task.state;
  if (state === 'active') return activeState(turning);
  const waits = task.pausedReason === ownerGonePause;
  if (turning.wanted === false && state === 'paused' && (task.resumeAt !== null || waits)) {
    const pausedReason = waits ? 'manual' : task.pausedReason;
    return { set: { resumeAt: null, pausedReason }, stamp: 'paused', verb: 'pause' };
  }
  const turnsOn = turning.wanted === true || (state === 'completed' && revives(turning));
  if (!turnsOn) return { set: {}, stamp: 'updated', verb: 'edit' };
  const nextAt = nextOf(turning);
  return {
    set: goingOn(nextAt),
    stamp: 'resumed',
    verb: 'resume',
  };
}

function activeState(turning: Turning): Turned {
  if (turning.wanted === false) {
    return { set: { state: 'paused', nextAt: null, pausedReason: 'manual' }, stamp: 'paused', verb: 'pause' };
  }
  // A limit that was lowered to what has run already leaves nothing to run, and no slot has to come to find that out.
  const isOver = !turning.retimed && isSpent(turning.policy, turning.scene.task.counters.boundedRuns);
  const over = isOver ? ({ state: 'completed', nextAt: null } as const) : {};
  return { set: turning.retimed ? { nextAt: nextOf(turning) } : over, stamp: 'updated', verb: 'edit' };
}

function revives(turning: Turning): boolean {
  const { scene, merged, retimed, wanted } = turning;
  const widened = retimed || scene.task.policies.max_runs !== merged.policies.max_runs;
  return wanted !== false && widened && hasSomethingLeft(turning);
}

function hasSomethingLeft({ merged, policy, scene, retimed, now }: Turning): boolean {
  // With another timing the count of runs starts again.
  const counted = retimed ? 0 : scene.task.counters.boundedRuns;
  return !isSpent(policy, counted) && nextSlot(merged.schedule, now, policy) !== null;
}

function nextOf(turning: Turning): number {
  const { scene, merged, kept, now } = turning;
  const next = nextOpenSlot({ ...merged, minGapMs: scene.task.minGapMs }, now, kept);
  if (next !== null && hasSomethingLeft(turning)) return next;
  throw exhausted();
}

function auditOf(task: Task, { verb }: Turned, changes: Changes, lost: readonly number[]): TaskChange['audit'] {
  const after = sideOf(changes, 'after');
  return {
    verb,
    before: {
      ...sideOf(changes, 'before'),
      ...toldSlots(lost),
      ...(verb !== 'edit' && task.state === 'paused' ? pauseFacts(task) : {}),
    },
    after: verb === 'pause' ? { ...after, reason: 'manual' } : after,
  };
}

export type Editable = Definition & Pick<Task, 'context'>;

export const editableFields = [
  'title',
  'instructions',
  'action',
  'schedule',
  'policies',
  'subject',
  'tags',
  'context',
] as const;

/** The fields that are not what they were, before and after: what people are shown, and what undoing goes back to. */
function changesOf(before: Editable, after: Editable): Changes {
  const changed = editableFields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));
  return Object.fromEntries(changed.map((field) => [field, { before: before[field], after: after[field] }]));
}

/** A definition that is sent again as it stands is no change; a row that could not be read is written anew all the same. */
function isMoot(task: Task, changes: Changes, turned: Fields = {}): boolean {
  return Object.keys({ ...changes, ...turned }).length === 0 && !isUnreadable(task);
}

function sideOf(changes: Changes, side: 'before' | 'after'): Record<string, unknown> {
  return Object.fromEntries(Object.entries(changes).map(([field, change]) => [field, change[side]]));
}

interface Replacing {
  readonly scene: TaskScene;
  readonly rules: Pick<Rules, 'actions'>;
  readonly checked: Checked;
  readonly input: TaskInput;
  readonly now: number;
}

/**
 * An upsert puts a whole new definition in the place of the old one. The count of runs starts again only when the schedule
 * or its bounds changed, so that sending the same definition twice changes nothing.
 */
export function replaceDefinition(
  claimed: ClaimedScene,
  { scene, rules, checked, input: { schedule: input, context, grantExpiresAt: end }, now }: Replacing,
): TaskChange {
  const { task } = scene;
  const fresh = checked.definition;
  const schedule = newSchedule(task.schedule, input, now);
  const retimed = timingChanged(task, { ...fresh, schedule }) || task.policies.max_runs !== fresh.policies.max_runs;
  const kept = takenBesideSkips(scene);
  const nextAt = nextOpenSlot({ ...fresh, schedule, minGapMs: checked.minGapMs }, now, kept);
  if (retimed && nextAt === null) throw exhausted();
  const lost = retimed ? scene.skipped : [];
  const { grantEnd, changes: ended } = grantEndIn(scene, end, now);
  const changes = { ...changesOf(task, { ...fresh, schedule, context: context ?? task.context }), ...ended };
  if (isMoot(task, changes)) return { ...noChange, claims: claimed.claims };
  return {
    ...noChange,
    claims: claimed.claims,
    set: {
      ...fresh,
      schedule,
      minGapMs: checked.minGapMs,
      ...(context === undefined ? {} : { context }),
      ...(isUnreadable(task) ? { context: context ?? task.context, pausedReason: 'manual' } : {}),
      ...(retimed ? { boundedRuns: 0 } : {}),
      ...(retimed && task.state !== 'paused' ? { state: 'active', nextAt } : {}),
    },
    stamp: 'updated',
    unskip: retimed ? [...lost, ...freedSlots(scene, kept, { schedule, nextAt })] : [],
    scopes: scopesFor(rules, scene, fresh),
    grantEnd,
    audit: {
      verb: 'upsert',
      before: { ...sideOf(changes, 'before'), ...toldSlots(lost) },
      after: sideOf(changes, 'after'),
    },
  };
}
