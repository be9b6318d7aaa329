import type { Actor } from '../../domain/access.ts';
import type { AccessVerb, EventKind, KindVerb, SecretVerb, TaskVerb } from '../../domain/event.ts';
import type { TaskState } from '../../domain/task.ts';
import type { Script } from '../engine/engine.ts';
import { columns, pick } from '../engine/fields.ts';
import { list, raw, sql } from '../engine/sql.ts';
import { all, insertAll, insertReturning, select, updateAll } from '../engine/statements.ts';
import { refreshCards, type CardChange } from '../outbox/cards.ts';
import { redrawSoon } from '../outbox/standing.ts';

/** An act on a task, and where the task stood before and after. */
export interface AuditEntry {
  readonly at: number;
  readonly actor: Actor;
  readonly verb: TaskVerb;
  readonly taskId: string;
  readonly stateBefore: TaskState | null;
  readonly stateAfter: TaskState;
  readonly before?: object | null;
  readonly after?: object | null;
  /** The request in whose course it was done. */
  readonly traceId?: string | null | undefined;
  /** False where the card need not be drawn anew; it is with the next change. */
  readonly hasCard?: boolean;
}

/** Verbs that change nothing on the card of a task. */
const unseen: ReadonlySet<TaskVerb> = new Set([
  'create',
  'run_now',
  'retry',
  'replay',
  'cancel',
  'answer',
  'unbind',
  'attach',
]);

/**
 * Writes audit rows, each of another task where they are several, and with each its event, which names the row; and has the
 * card of the task drawn anew. Answers the ids of the rows.
 */
export function* recordVerbs(entries: readonly AuditEntry[]): Script<string[]> {
  const chatOf = yield* chatsOf(entries.map(({ taskId }) => taskId));
  const ids = yield* insertEntries(entries.map((entry) => ({ ...entry, chatId: chatOf(entry.taskId) })));
  const named = entries.map((entry, index) => ({ ...entry, id: ids[index] ?? '' }));
  yield* tellEvents(
    named.map(({ verb, at, taskId, id }) => ({ kind: `task.${verb}`, at, taskId, ref: id, chatId: chatOf(taskId) })),
  );
  yield* redrawSoon(
    entries.filter(({ verb }) => verb === 'answer').map(({ taskId }) => taskId),
    entries[0]?.at ?? 0,
  );
  yield* refreshCards(
    named
      .filter(({ verb }) => !unseen.has(verb))
      .map((entry) => ({
        taskId: entry.taskId,
        at: entry.at,
        key: entry.id.padStart(16, '0'),
        topic: topicOf(entry),
        title: titleIn(entry),
        isAnswered: entry.actor.startsWith('telegram:user:'),
        isDrawn: entry.hasCard !== false && !isRenamedBack(entry),
      })),
  );
  return ids;
}

function* insertEntries(entries: readonly (AuditEntry & { readonly chatId: string | null })[]): Script<string[]> {
  const rows = entries.map(({ before, after, traceId = null, hasCard: _card, ...entry }) => {
    return { ...entry, before: jsonOf(before), after: jsonOf(after), traceId };
  });
  const [first, second] = rows;
  if (first === undefined) return [];
  if (second === undefined)
    return [String((yield* insertReturning('audit', first, pick(columns.audit, 'id')))?.id ?? '')];
  // One statement for all of them on Postgres, which does not say in which order it numbers them.
  yield* insertAll('audit', rows);
  const made = yield* all(
    select(pick(columns.audit, 'id', 'taskId'))`from audit
      where task_id in ${list(rows.map(({ taskId }) => taskId))} and at = ${first.at} order by id`,
  );
  const idOf = new Map(made.map(({ id, taskId }) => [taskId, String(id)]));
  return rows.map(({ taskId }) => idOf.get(taskId) ?? '');
}

/** An act about no task: its row of the audit, whose id it answers, and its event. */
export interface OtherDeed {
  readonly at: number;
  readonly actor: Actor;
  readonly verb: AccessVerb | `secret_${SecretVerb}` | `kind_${KindVerb}`;
  readonly kind: EventKind;
  /** Null for what is about no chat. */
  readonly chatId: string | null;
  readonly before?: object;
  readonly after?: object;
  readonly traceId?: string | null | undefined;
}

export function* recordOther({ kind, before, after, traceId = null, ...deed }: OtherDeed): Script<string> {
  const row = { ...deed, before: jsonOf(before), after: jsonOf(after), traceId };
  const ref = String((yield* insertReturning('audit', row, pick(columns.audit, 'id')))?.id ?? '');
  const { at, chatId } = deed;
  yield* tellEvents([{ kind, at, taskId: null, ref, chatId, data: after ?? before ?? {} }]);
  return ref;
}

/** Notes whose deed led to the reason of each occurrence, or asked for it. */
export function* nameDeed(
  as: 'deedId' | 'askedBy',
  deedId: string | undefined,
  occurrenceIds: readonly string[],
): Script<void> {
  if (deedId === undefined) return;
  yield* updateAll('occurrences', occurrenceIds, {
    set: () => ({ [as]: Number(deedId) }),
    where: (id) => sql`id = ${id}`,
  });
}

/** The name of the topic is changed back, which shows it above the card already; the card follows with the next change. */
function isRenamedBack({ verb, after }: AuditEntry): boolean {
  return verb === 'undo' && after !== null && after !== undefined && 'title' in after;
}

/** An edit and its undo name the fields that are others now. */
function titleIn({ after }: AuditEntry): string | null {
  const { title = null } = (after ?? {}) as { readonly title?: string | null };
  return title;
}

/** The topic of a task is closed with its deletion, and opened when that is taken back, by whatever verb. */
function topicOf({ stateBefore, stateAfter }: AuditEntry): CardChange['topic'] {
  if ((stateBefore === 'deleted') === (stateAfter === 'deleted')) return null;
  return stateAfter === 'deleted' ? 'close' : 'open';
}

/** Tells that these tasks are complete: nothing of them is left to run. */
export function* tellComplete(taskIds: readonly string[], now: number): Script<void> {
  yield* tellEvents(taskIds.map((taskId) => ({ kind: 'task.complete', at: now, taskId, ref: null })));
  yield* refreshCards(taskIds.map((taskId) => ({ taskId, at: now, key: `complete:${taskId}`, topic: null })));
}

export interface NewEvent {
  readonly kind: EventKind;
  readonly at: number;
  readonly taskId: string | null;
  readonly ref: string | null;
  /** The chat whose it is; looked up where whoever tells it does not know. */
  readonly chatId?: string | null;
  readonly data?: object;
}

/** The request that brought it about, for the data of an event; nothing where there was none. */
export function traced(traceId: string | null | undefined): { readonly trace_id?: string } {
  return typeof traceId === 'string' ? { trace_id: traceId } : {};
}

/** Appends events; they become readable with the commit of what they tell. */
export function* tellEvents(events: readonly NewEvent[]): Script<void> {
  const chatOf = yield* chatsOfEvents(events.filter(({ chatId }) => chatId === undefined));
  yield* insertAll(
    'events',
    events.map(({ data, chatId, ...event }) => ({ ...event, data: jsonOf(data), chatId: chatId ?? chatOf(event) })),
  );
}

/** A run and a delivery stay in the chat where they were, when their task moves. */
function* chatsOfEvents(events: readonly NewEvent[]): Script<(event: NewEvent) => string | null> {
  if (events.length === 0) return () => null;
  const known = new Map<string, string | null>();
  for (const [of, table] of [
    ['run.', 'runs'],
    ['delivery.', 'deliveries'],
  ] as const) {
    const refs = events.flatMap(({ kind, ref }) => (kind.startsWith(of) ? (ref ?? []) : []));
    if (refs.length === 0) continue;
    const found = yield* all(select(pick(columns.runs, 'id', 'chatId'))`from ${raw(table)} where id in ${list(refs)}`);
    for (const { id, chatId } of found) known.set(id, chatId);
  }
  const chatOf = yield* chatsOf(events.flatMap(({ taskId, ref }) => (known.has(ref ?? '') ? [] : (taskId ?? []))));
  return ({ ref, taskId }) => known.get(ref ?? '') ?? chatOf(taskId);
}

/** The chats in which tasks are now. */
export function* chatsOf(taskIds: readonly string[]): Script<(taskId: string | null) => string | null> {
  if (taskIds.length === 0) return () => null;
  const found = yield* all(select(pick(columns.tasks, 'id', 'chatId'))`from tasks where id in ${list(taskIds)}`);
  const known = new Map(found.map(({ id, chatId }) => [id, chatId]));
  return (taskId) => known.get(taskId ?? '') ?? null;
}

function jsonOf(value: object | null | undefined): string | null {
  return value ? JSON.stringify(value) : null;
}

interface AccessDeed {
  readonly at: number;
  readonly actor: Actor;
  readonly verb: AccessVerb;
  /** Null where it is about no chat. */
  readonly chatId: string | null;
  readonly before?: object;
  readonly after?: object;
  readonly traceId?: string | null | undefined;
}

/** Writes who was let in or shut out, a person, a group or a token, with its event. Answers the id of the row. */
export function* recordAccess(deed: AccessDeed): Script<string> {
  return yield* recordOther({ ...deed, kind: `access.${deed.verb}` });
}
