import type { z } from 'zod';
import type { createTask } from '../../api/tasks.ts';
import { parseSchedule, type Schedule } from '../../domain/schedule/schedule.ts';
import { AppError } from '../../domain/errors.ts';
import type { Task } from '../naming.ts';
import { given, lengthOf } from '../options.ts';

/** One task in a file: what it is, and not what has become of it. */
export const fileVersion = 1;

type CreateSchema = NonNullable<typeof createTask.body>;
export type Definition = z.input<CreateSchema>;

export interface Entry extends Definition {
  readonly task_id?: string | undefined;
  readonly thread_key?: string | undefined;
  readonly enabled?: boolean | undefined;
}

type Fields = Pick<Definition, 'title' | 'instructions' | 'action' | 'schedule' | 'policies' | 'subject' | 'tags'>;

/** The fields of a schedule that belong to its kind. */
function scheduleOf(schedule: Task['schedule']): Definition['schedule'] {
  const { kind, timezone, ...rest } = schedule;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
  // What the server tells can be sent back; only the type does not know which fields belong to which kind.
  return { kind, ...known, timezone } as Definition['schedule'];
}

export function entryOf(task: Task): Entry {
  const { action, policies, subject, tags } = task;
  const hasAction = Object.keys(action).length > 1 || action.kind !== 'message';
  return {
    task_id: task.task_id,
    thread_key: task.creator_thread_key,
    title: task.title,
    instructions: task.instructions,
    ...(hasAction ? { action } : {}),
    schedule: scheduleOf(task.schedule),
    ...(Object.keys(policies).length > 0 ? { policies } : {}),
    ...(subject === null ? {} : { subject }),
    ...(tags.length > 0 ? { tags } : {}),
    ...(task.enabled ? {} : { enabled: false }),
  };
}

/** What makes two entries mean the same task where ids do not: where it is, what it is called, and what it is about. */
export function identityOf({
  title,
  subject,
  thread,
}: {
  title: string;
  subject: string | null | undefined;
  thread: string;
}): string {
  return JSON.stringify([thread, title, subject ?? null]);
}

/** The title that the server gives where none is written. */
export function titleOf({ title, instructions }: Pick<Entry, 'title' | 'instructions'>): string | null {
  return title ?? (/^[^\n]{1,60}$/.test(instructions.trim()) ? instructions.trim() : null);
}

/** The fields in which a task is not as its entry says. What an entry does not name stays as it is. */
export function differences(entry: Entry, task: Task, now: number): Partial<Fields> & { readonly enabled?: boolean } {
  const { title, instructions, action, schedule, policies = {}, subject = null, tags = [], enabled = true } = entry;
  const present = entryOf(task);
  const isSame = (one: unknown, other: unknown) => canonical(one) === canonical(other);
  const differs = {
    title: title !== undefined && title !== task.title,
    instructions: instructions !== task.instructions,
    action: action !== undefined && !isSame(action, task.action),
    schedule: !isSame(readable(schedule, now), readable(present.schedule, now)),
    policies: !isSame({ ...policies, on_existing: undefined }, task.policies),
    subject: subject !== task.subject,
    tags: !isSame(tags, task.tags),
  };
  const { on_existing: _only, ...chosen } = policies;
  const wanted = {
    title,
    instructions,
    action,
    schedule,
    policies: { ...gone(task.policies), ...chosen },
    subject,
    tags,
  };
  const changed = Object.fromEntries(
    Object.entries(wanted).filter(([field]) => differs[field as keyof typeof differs]),
  );
  return { ...(changed as Partial<Fields>), ...given({ enabled: enabled === task.enabled ? undefined : enabled }) };
}

/** Policies that an entry does not name go back to their defaults. */
function gone(policies: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.keys(policies).map((name) => [name, null]));
}

/** As the server would keep it, so that another way of writing the same is no difference. */
function readable(schedule: Definition['schedule'], now: number): Schedule | Definition['schedule'] {
  const fields = Object.fromEntries(Object.entries(schedule).filter(([, value]) => value !== null));
  try {
    const read = parseSchedule(fields as unknown as Parameters<typeof parseSchedule>[0], now);
    const isUnanchored = read.kind === 'interval' && fields['start_at'] === undefined;
    return isUnanchored ? { ...read, startAt: 0 } : read;
  } catch (error) {
    if (error instanceof AppError) return schedule;
    throw error;
  }
}

/** One text for one meaning: names in order, lengths of time and instants as numbers. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner === 'string') return plain(inner);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
}

function plain(text: string): string | number {
  if (/^PT?\d/.test(text)) return lengthOf(text) ?? text;
  return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : text;
}
