import { invalid } from '../../domain/errors.ts';
import * as limits from '../../domain/limits.ts';
import { checkSize, jsonBytes, type Task } from '../../domain/task.ts';
import { noChange, type TaskChange } from '../ports/tasks.ts';
import { refuseDeleted, type VerbScene } from './verbs.ts';

type Context = Task['context'];

/** A change of the context of a task by a person: all of it goes, or fields are set, and taken away where they are null. */
export type ContextWish = { readonly is: 'reset' } | { readonly is: 'merged'; readonly fields: Context };

/**
 * The context belongs to the runs of a task: a person who changes it does that from now on, and a run that is under way keeps its own.
 * It is no part of the definition, so no undo brings an old one back; the journal names the fields and not what stood in them.
 */
export function planContext({ scene, claims }: VerbScene, wish: ContextWish): TaskChange {
  refuseDeleted(scene);
  if (wish.is === 'merged') refuseNames(wish.fields);
  const { context: before } = scene.task;
  const after = wish.is === 'reset' ? {} : merged(before, wish.fields);
  if (JSON.stringify(before) === JSON.stringify(after)) return { ...noChange, claims };
  checkSize('context', after, limits.contextBytesMax);
  const fields = Object.keys(wish.is === 'reset' ? before : wish.fields).slice(0, fieldsToldMax);
  return {
    ...noChange,
    claims,
    set: { context: after },
    stamp: 'updated',
    audit: {
      verb: 'context',
      before: { bytes: jsonBytes(before) },
      after: { bytes: jsonBytes(after), [wish.is === 'reset' ? 'removed' : 'changed']: fields },
    },
  };
}

/** A field of this name gets lost in a copy, so no door lets it in. */
function refuseNames(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) throw invalid('context', 'context: no field may be called __proto__.');
  for (const inner of Object.values(value)) refuseNames(inner);
}

/** More names of fields are not told in the journal. */
const fieldsToldMax = 50;

function merged(before: Context, fields: Context): Context {
  return Object.fromEntries(Object.entries({ ...before, ...fields }).filter(([, value]) => value !== null));
}
