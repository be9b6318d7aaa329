import { AppError, missing } from '../../domain/errors.ts';
import type { DeedVerb } from '../../domain/event.ts';
import { undoMs } from '../../domain/limits.ts';
import type { Policies } from '../../domain/policy.ts';
import { inputOf, isSlot, minGapMs } from '../../domain/schedule/schedule.ts';
import type { Task } from '../../domain/task.ts';
import { policyFor } from '../pipeline/run-requests.ts';
import type { Ids } from '../ports/outside.ts';
import { noChange, type AuditRow, type TaskChange } from '../ports/tasks.ts';
import { endingSnooze, planSnooze } from './by-hand.ts';
import type { Rules } from './definition.ts';
import { editTask, editableFields, type TaskPatch, type Editable } from './edit.ts';
import { scopesFor } from './grants.ts';
import { planSkip, planUnskip, skippedAt, slotsTold, toldSlots } from './skip.ts';
import { nextOpenSlot, planDelete, planPause, planRestore, planResume, type VerbScene } from './verbs.ts';

/** Verbs whose change can be taken back. An effect outside, such as a run, cannot. */
export const undoable: ReadonlySet<DeedVerb> = new Set([
  'edit',
  'upsert',
  'pause',
  'resume',
  'delete',
  'restore',
  'skip',
  'unskip',
  'snooze',
]);

/** Changes that are not taken back but followed by another one. */
const lasting: Readonly<Partial<Record<DeedVerb, string>>> = {
  attach: 'A task that was attached to a chat stays there. While it has no topic, attach it to another chat instead.',
  context: 'A context cannot be undone, because runs go on from it. Set its fields anew.',
  grant: 'A grant cannot be undone. Revoke it, or give the task another one.',
  revoke: 'A grant that was revoked stays so. Give the task a fresh one.',
};

export interface Undoing extends VerbScene {
  readonly rules: Rules;
  readonly ids: Ids;
}

export interface Undone {
  readonly change: TaskChange;
  readonly entry: AuditRow;
  /** Why nothing was left to do: it was taken back before, or what it did has come to its end. */
  readonly moot: 'before' | 'over' | null;
}

/**
 * Takes back one change: the one that is named, or the latest that was not taken back yet. What was taken back already
 * stays as it is, so that pressing twice has one effect.
 */
export function planUndo(undoing: Undoing, entryId: string | null): Undone {
  const { scene, now } = undoing;
  const entry = entryToUndo(scene.recent, { entryId, now, isDeleted: scene.task.state === 'deleted' });
  if (undoneIn(scene.recent).has(entry.id)) return { change: noChange, entry, moot: 'before' };
  const change = reversed(undoing, entry);
  // The effect of the change is gone already: the slot has passed, the snooze has run, somebody else took it back.
  if (change.audit === null) return { change, entry, moot: 'over' };
  return {
    entry,
    moot: null,
    change: {
      ...change,
      askAgain: entry.at,
      audit: {
        verb: 'undo',
        before: change.audit.before,
        after: { ...change.audit.after, undoes: entry.id, undone: entry.verb },
      },
    },
  };
}

interface Wanted {
  readonly entryId: string | null;
  readonly now: number;
  readonly isDeleted: boolean;
}

function entryToUndo(recent: readonly AuditRow[], { entryId, now, isDeleted }: Wanted): AuditRow {
  const undone = undoneIn(recent);
  const candidates = recent.filter(({ verb }) => undoable.has(verb));
  const entry =
    entryId === null ? candidates.find(({ id }) => !undone.has(id)) : candidates.find(({ id }) => id === entryId);
  // For a task that is gone nothing exists but its way back.
  if (isDeleted && entry?.verb !== 'delete') throw missing('task');
  if (entry === undefined) {
    const lasts = lasting[recent.find(({ id }) => id === entryId)?.verb ?? 'create'];
    if (lasts !== undefined) throw new AppError('nothing_to_undo', lasts);
    throw new AppError(
      'nothing_to_undo',
      'There is nothing to undo. Runs cannot be taken back, and neither can old changes.',
      { details: { reason: 'no_change' } },
    );
  }
  if (now - entry.at > undoMs) {
    throw new AppError(
      'too_late',
      'That is more than 24 hours ago, and too much has happened since. Change it by hand.',
      { details: { reason: 'change_old' } },
    );
  }
  return entry;
}

function undoneIn(recent: readonly AuditRow[]): ReadonlySet<string> {
  return new Set(recent.filter(({ verb }) => verb === 'undo').map(({ after }) => String(after?.['undoes'])));
}

function reversed(undoing: Undoing, entry: AuditRow): TaskChange {
  switch (entry.verb) {
    case 'delete':
      return planRestore(undoing);
    case 'restore':
      return planDelete(undoing);
    case 'skip':
      return planUnskip(undoing, slotsTold(entry.after));
    case 'unskip':
      return skippedAgain(undoing, entry);
    case 'snooze':
      return unsnoozed(undoing, entry);
    default:
      return setBack(undoing, entry);
  }
}

/** Fields and state as they were, through the same checks as any other change: a time may have passed meanwhile. */
function setBack(undoing: Undoing, entry: AuditRow): TaskChange {
  const { task } = undoing.scene;
  const { verb, before, stateBefore } = entry;
  // An old context would bring back what runs have done since.
  const fields = editableFields.filter((field) => field !== 'context' && before !== null && field in before);
  const back: Partial<Editable> = Object.fromEntries(fields.map((field) => [field, before?.[field]]));
  const given = slotsTold(before);
  if (stateBefore === 'completed' && task.state === 'active')
    return skipAgain(undoing, completedAgain(undoing, back), given);
  const isSwitch = fields.length === 0 && (verb === 'pause' || verb === 'resume');
  if (isSwitch) return switchedBack(undoing, entry);
  return skipAgain(undoing, editTask(undoing.rules, undoing, patchBack(task, back, entry)).change, given);
}

/** Skips that the change had given up come back with the timing that they belong to, as far as they are still to come. */
function skipAgain({ ids, scene, now }: Undoing, change: TaskChange, given: readonly number[]): TaskChange {
  const task = { ...scene.task, ...change.set };
  const ahead = given.filter((slot) => slot > now && isSlot(task.schedule, slot, policyFor(task)));
  if (ahead.length === 0 || change.audit === null) return change;
  const lost = new Set(change.unskip);
  const taken = new Set([...[...scene.taken].filter((slot) => !lost.has(slot)), ...ahead]);
  const nextAt = nextOpenSlot(task, now, taken);
  // Where all that was left had been skipped, nothing is left again.
  const state = nextAt === null ? 'completed' : 'active';
  return {
    ...change,
    reskip: ahead.filter((slot) => lost.has(slot) || !scene.taken.has(slot)).map((slot) => skippedAt(ids, slot)),
    set: {
      ...change.set,
      ...(task.state === 'active' ? { state, nextAt } : {}),
      skipsUntil: Math.max(...ahead, ...scene.skipped),
    },
    audit: { ...change.audit, after: { ...change.audit.after, ...toldSlots(ahead) } },
  };
}

/** A task that was at its end goes back to it. Nothing of it runs then, so no time of it can be past. */
function completedAgain({ scene, claims, rules }: Undoing, back: Partial<Editable>): TaskChange {
  const { schedule, action } = back;
  const before = Object.fromEntries(
    editableFields.filter((field) => field in back).map((field) => [field, scene.task[field]]),
  );
  return {
    ...noChange,
    claims,
    set: {
      ...back,
      ...(schedule === undefined ? {} : { minGapMs: minGapMs(schedule) }),
      state: 'completed',
      nextAt: null,
    },
    stamp: 'updated',
    unskip: scene.skipped,
    scopes: action === undefined ? null : scopesFor(rules, scene, { action }),
    audit: { verb: 'undo', before, after: back },
  };
}

/** On again, or off as it was: for the same reason, and until the same end where that is still to come. */
function switchedBack(undoing: Undoing, { verb, before, stateBefore }: AuditRow): TaskChange {
  const until = instantIn(before);
  const isOver = until !== null && until <= undoing.now;
  if (stateBefore !== 'paused' || (verb === 'pause' && isOver)) return planResume(undoing);
  const change = planPause(undoing, isOver ? null : until);
  const reason = before?.['reason'];
  if (change.audit === null || typeof reason !== 'string') return change;
  return { ...change, set: { ...change.set, pausedReason: reason } };
}

/** The snooze that the entry made ends, or goes back to where the entry had moved it from. */
function unsnoozed(undoing: Undoing, entry: AuditRow): TaskChange {
  const { scene, ids, now } = undoing;
  const own = scene.snoozes.find(({ slotAt }) => slotAt === instantIn(entry.after));
  if (own === undefined) return noChange;
  const until = instantIn(entry.before);
  const isBack = until !== null && until > now;
  const change = isBack ? planSnooze(ids, { ...undoing, scene: { ...scene, result: own.replayOf } }, until) : noChange;
  return {
    ...change,
    ...endingSnooze(undoing, own.slotAt, 'undone'),
    audit: { verb: 'undo', before: entry.after, after: entry.before },
    told: null,
  };
}

function instantIn(facts: AuditRow['before']): number | null {
  const until = facts?.['until'];
  return typeof until === 'string' ? Date.parse(until) : null;
}

/** Slots that have passed meanwhile ran, or did not; only those to come can be skipped again. */
function skippedAgain(undoing: Undoing, entry: AuditRow): TaskChange {
  const ahead = slotsTold(entry.after).filter((slot) => slot > undoing.now);
  return ahead.length === 0 ? noChange : planSkip(undoing.ids, undoing, { count: ahead.length, from: null });
}

function patchBack(task: Task, back: Partial<Editable>, { before, stateBefore, stateAfter }: AuditRow): TaskPatch {
  const wasSwitched = stateBefore !== stateAfter && (stateBefore === 'active' || stateBefore === 'paused');
  const { schedule, policies, ...fields } = back;
  const end = before?.['grant_expires_at'];
  return {
    ...fields,
    ...(end === undefined ? {} : { grantExpiresAt: typeof end === 'string' ? Date.parse(end) : null }),
    ...(schedule === undefined ? {} : { schedule: inputOf(schedule) }),
    ...(policies === undefined ? {} : { policies: replacing(task.policies, policies) }),
    ...(wasSwitched ? { enabled: stateBefore === 'active' } : {}),
  };
}

/** Names every policy: those that were not chosen before go back to their defaults. */
function replacing(current: Policies, before: Policies): NonNullable<TaskPatch['policies']> {
  return { ...Object.fromEntries(Object.keys(current).map((key) => [key, null])), ...before };
}
