import { AppError } from '../../domain/errors.ts';
import type { TaskVerb } from '../../domain/event.ts';
import { actionScope } from '../../domain/grant.ts';
import { autoPauseDefault, undoMs } from '../../domain/limits.ts';
import type { Policies } from '../../domain/policy.ts';
import { inputOf, minGapMs } from '../../domain/schedule/schedule.ts';
import type { Definition, Task } from '../../domain/task.ts';
import type { Ids } from '../ports/outside.ts';
import { noChange, type AuditRow, type TaskChange } from '../ports/tasks.ts';
import { planSnooze } from './by-hand.ts';
import type { Rules } from './definition.ts';
import { editTask, toldFields, type TaskPatch } from './edit.ts';
import { planSkip, planUnskip, slotsTold } from './skip.ts';
import { planDelete, planPause, planRestore, planResume, type VerbScene, notFound } from './verbs.ts';

/** What an entry of the audit did, taken back. What has an effect outside, such as a run, cannot be. */
export const undoable: ReadonlySet<TaskVerb> = new Set([
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

/** What is not taken back but followed by something else. */
const lasting: Readonly<Partial<Record<TaskVerb, string>>> = {
  attach: 'A task that was attached to a chat stays there. While it has no topic, attach it to another chat instead.',
  grant: 'A grant cannot be undone. Revoke it, or give the task another one.',
  revoke: 'A grant that was revoked stays so. Give the task a fresh one.',
};

/** What can give a task that was completed something to do. */
const revived: ReadonlySet<TaskVerb> = new Set(['edit', 'upsert', 'resume']);

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
  // What the change did is gone already: the slot has passed, the snooze has run, somebody else took it back.
  if (change.audit === null) return { change, entry, moot: 'over' };
  return {
    entry,
    moot: null,
    change: {
      ...change,
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
  if (isDeleted && entry?.verb !== 'delete') throw notFound();
  if (entry === undefined) {
    const lasts = lasting[recent.find(({ id }) => id === entryId)?.verb ?? 'create'];
    if (lasts !== undefined) throw new AppError('nothing_to_undo', lasts);
    throw new AppError(
      'nothing_to_undo',
      'There is nothing to undo. Runs cannot be taken back, and neither can old changes.',
    );
  }
  if (now - entry.at > undoMs) {
    throw new AppError(
      'too_late',
      'That is more than 24 hours ago, and too much has happened since. Change it by hand.',
    );
  }
  return entry;
}

function undoneIn(recent: readonly AuditRow[]): ReadonlySet<string> {
  return new Set(recent.filter(({ verb }) => verb === 'undo').map(({ after }) => String(after?.['undoes'])));
}

function reversed(undoing: Undoing, entry: AuditRow): TaskChange {
  if (wasRevived(undoing, entry)) return completedAgain(undoing, entry);
  switch (entry.verb) {
    case 'pause':
      return hasFields(entry) ? editedBack(undoing, entry) : unpaused(undoing, entry);
    case 'resume':
      return hasFields(entry) ? editedBack(undoing, entry) : pausedAgain(undoing, entry);
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
      return editedBack(undoing, entry);
  }
}

function wasRevived({ scene }: Undoing, { verb, stateBefore }: AuditRow): boolean {
  return revived.has(verb) && stateBefore === 'completed' && scene.task.state === 'active';
}

/** A task that was at its end goes back to it. Nothing of it runs then, so no time of it can be past. */
function completedAgain({ scene, claims }: Undoing, { before }: AuditRow): TaskChange {
  const { task } = scene;
  const fields = toldFields.filter((field) => before !== null && field in before);
  const back: Partial<Definition> = Object.fromEntries(fields.map((field) => [field, before?.[field]]));
  const { schedule, policies, action } = back;
  return {
    ...noChange,
    claims,
    set: {
      ...back,
      ...(schedule === undefined ? {} : { minGapMs: minGapMs(schedule) }),
      ...(policies === undefined ? {} : { autoPause: policies.auto_pause ?? autoPauseDefault }),
      state: 'completed',
      nextAt: null,
    },
    stamp: 'updated',
    unskip: scene.skipped,
    scopes: action === undefined ? null : [actionScope(action.kind)],
    audit: { verb: 'undo', before: Object.fromEntries(fields.map((field) => [field, task[field]])), after: back },
  };
}

/** A pause or a resume may have come with a change of fields. */
function hasFields({ before }: AuditRow): boolean {
  return toldFields.some((field) => before !== null && field in before);
}

/** The pause ends, or gets back the end that it had before. */
function unpaused(undoing: Undoing, entry: AuditRow): TaskChange {
  const until = untilOf(entry);
  const isOver = until !== null && until <= undoing.now;
  return entry.stateBefore === 'paused' && !isOver ? planPause(undoing, until) : planResume(undoing);
}

function pausedAgain(undoing: Undoing, entry: AuditRow): TaskChange {
  const until = untilOf(entry);
  const change = planPause(undoing, until !== null && until > undoing.now ? until : null);
  const reason = entry.before?.['reason'];
  const isMoot = change.audit === null || typeof reason !== 'string';
  return isMoot ? change : { ...change, set: { ...change.set, pausedReason: reason } };
}

/** The snooze that the entry made ends, or goes back to where the entry had moved it from. */
function unsnoozed({ scene, ids, now }: Undoing, entry: AuditRow): TaskChange {
  const { snoozedTo } = scene;
  if (snoozedTo === null || snoozedTo !== instantIn(entry.after)) return noChange;
  const until = untilOf(entry);
  const isBack = until !== null && until > now;
  const change = isBack ? planSnooze(ids, scene, { until, now }) : noChange;
  return { ...change, endSnooze: 'undone', audit: { verb: 'undo', before: entry.after, after: entry.before } };
}

function untilOf({ before }: AuditRow): number | null {
  return instantIn(before);
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

/** The fields as they were, through the same checks as any other change: a time may have passed meanwhile. */
function editedBack({ rules, ...undoing }: Undoing, entry: AuditRow): TaskChange {
  const { scene, now } = undoing;
  const patch = patchBack(scene.task, entry);
  return editTask(rules, undoing, { scene, patch, now }).change;
}

function patchBack(task: Task, { before, stateBefore, stateAfter }: AuditRow): TaskPatch {
  const wasSwitched = stateBefore !== stateAfter && (stateBefore === 'active' || stateBefore === 'paused');
  const { schedule, policies, ...fields } = (before ?? {}) as Partial<Pick<Task, 'schedule' | 'policies'>>;
  return {
    ...(fields as TaskPatch),
    ...(schedule === undefined ? {} : { schedule: inputOf(schedule) }),
    ...(policies === undefined ? {} : { policies: replacing(task.policies, policies) }),
    ...(wasSwitched ? { enabled: stateBefore === 'active' } : {}),
  };
}

/** Names every policy: those that were not chosen before go back to their defaults. */
function replacing(current: Policies, before: Policies): NonNullable<TaskPatch['policies']> {
  return { ...Object.fromEntries(Object.keys(current).map((key) => [key, null])), ...before };
}
